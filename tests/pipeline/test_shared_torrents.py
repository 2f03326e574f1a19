"""Torrents and files that several titles share: what happens to one leaves the others what they have."""

from datetime import timedelta

from program.db import entries
from program.demo.launch import Servers
from program.services.flows import names
from tests.support.meanwhile import run_to
from tests.support.pipeline import Pipeline

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
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
