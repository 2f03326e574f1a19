"""Torrents and files that several titles share: what happens to one leaves the others what they have."""

from collections.abc import Callable
from datetime import timedelta

import requests

from program.db import entries
from program.demo.launch import Servers
from program.services.flows import names
from tests.support.meanwhile import run_to
from tests.support.pipeline import Pipeline

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SINTEL, SINTEL_RELEASE = 45745, "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"
MINUTE = timedelta(minutes=1)
DOUBLE = "Pioneer.One.S02E01E02.1080p.WEB-DL.AAC2.0.H.264-TWIN"
SHOW = "/shows/Pioneer One (2010) {tvdb-170551} [tvdbid=170551]"


def offer_double(servers: Servers) -> None:
    """Let there be nothing but one file of two episodes, and the third by itself."""
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    servers.control(
        "/catalog", {"op": "publish", "release": "Pioneer.One.S02E03.The.Long.Signal.1080p.WEB.H264-OPEN"}
    )
    row = {"name": DOUBLE, "seeders": 9, "right": True, "files": [[f"{DOUBLE}.mkv", "episode", 2, 1]]}
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": row})


def test_a_file_of_two_episodes_stays_for_the_other_when_one_is_fetched_afresh(
    pipeline: Pipeline, servers: Servers
) -> None:
    offer_double(servers)
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    first, second = pipeline.episode(show, 2, 1), pipeline.episode(show, 2, 2)
    assert {first.last_state.value, second.last_state.value} == {"Completed"}
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 2, "one file of two episodes, one of the third"

    servers.control("/catalog", {"op": "withdraw", "release": DOUBLE})
    servers.control(
        "/catalog", {"op": "publish", "release": "Pioneer.One.S02E01.Quarantine.1080p.WEB.H264-OPEN"}
    )
    pipeline.actions.retry([first.id])
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.state(first.id) == "Completed"
    assert pipeline.state(second.id) == "Completed"
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 3, "the second episode still has its file"
    assert_every_file_is_on_the_account(pipeline, servers)


def test_a_file_of_two_episodes_stays_for_the_other_when_one_is_reset(
    pipeline: Pipeline, servers: Servers
) -> None:
    offer_double(servers)
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    second = pipeline.episode(show, 2, 2)
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    pipeline.actions.reset([pipeline.episode(show, 2, 1).id])
    pipeline.run(for_=MINUTE)
    assert pipeline.state(second.id) == "Completed"
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 2


def test_a_torrent_that_lacks_one_episode_is_not_deleted_while_it_is_taken_for_another(
    pipeline: Pipeline, servers: Servers
) -> None:
    name = "Pioneer.One.S02.1080p.WEB-DL.AAC2.0.H.264-PACK"
    files = [[f"{name}/{name.replace('S02', f'S02E0{n}')}.mkv", "episode", 2, n] for n in (1, 2, 3)]
    row = {"name": name, "seeders": 99, "right": True, "files": files}
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": row})
    show = pipeline.add_show(PIONEER, seasons=(2,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    servers.control("/catalog", {"op": "drop_file", "release": name, "season": 2, "episode": 1})
    pipeline.run(for_=5 * MINUTE)
    assert {pipeline.episode(show, 2, n).last_state.value for n in (1, 2, 3)} == {"Completed"}
    assert_every_file_is_on_the_account(pipeline, servers)


def assert_every_file_is_on_the_account(pipeline: Pipeline, servers: Servers) -> None:
    held = {torrent["id"] for torrent in servers.control("/account")["torrents"]}
    with pipeline.db.read() as tx:
        ids = [entry.id for entry in entries.registered(tx)]
        used = {
            source.torrent_id for one in ids if (entry := entries.get(tx, one)) for source in entry.sources
        }
    assert used <= held


def test_a_torrent_that_the_person_had_put_there_is_never_deleted(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(downloaders__remove_torrents=True)
    put_on_account(servers, SINTEL_RELEASE)
    for _ in range(2):
        film = pipeline.add_movie(SINTEL)
        pipeline.run(for_=MINUTE)
        assert pipeline.state(film) == "Completed"
        pipeline.actions.remove([film])
        pipeline.run(for_=MINUTE)
        assert len(servers.control("/account")["torrents"]) == 1


def test_a_torrent_of_ours_goes_with_its_title_where_the_settings_say_so(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(downloaders__remove_torrents=True)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert len(servers.control("/account")["torrents"]) == 1
    pipeline.actions.remove([film])
    pipeline.run(for_=MINUTE)
    assert servers.control("/account")["torrents"] == []


def names_on_account(servers: Servers) -> set[str]:
    return {torrent["filename"] for torrent in servers.control("/account")["torrents"]}


def rule_out(pipeline: Pipeline, film: int) -> None:
    """Have the film fetched from another torrent than the one it has."""
    infohash = pipeline.item(film).facts.active_stream
    assert infohash is not None
    pipeline.actions.blacklist(film, infohash, "it stutters")
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"


def test_a_torrent_of_ours_goes_once_another_has_taken_its_place(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    (before,) = names_on_account(servers)
    rule_out(pipeline, film)
    (after,) = names_on_account(servers)
    assert after != before
    assert_every_file_is_on_the_account(pipeline, servers)


def test_a_torrent_of_the_persons_stays_when_another_has_taken_its_place(
    pipeline: Pipeline, servers: Servers
) -> None:
    put_on_account(servers, SINTEL_RELEASE)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    (before,) = names_on_account(servers)
    rule_out(pipeline, film)
    assert before in names_on_account(servers)
    assert len(names_on_account(servers)) == 2


def put_on_account(servers: Servers, release: str) -> None:
    """Add a torrent as a person does on the service's own page."""
    about = servers.ready["realdebrid"]
    infohash = next(
        one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == release
    )
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {about['key']}"
        added = session.post(
            f"{about['url']}/torrents/addMagnet", {"magnet": f"magnet:?xt=urn:btih:{infohash}"}
        )
        torrent_id = added.json()["id"]
        for _ in range(5):
            session.get(f"{about['url']}/torrents/info/{torrent_id}").raise_for_status()
        session.post(f"{about['url']}/torrents/selectFiles/{torrent_id}", {"files": "all"}).raise_for_status()
