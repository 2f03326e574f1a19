"""What a person does while work for the same title is under way."""

import os
from datetime import timedelta

from program import housekeeping
from program.db import entries
from program.demo.launch import Servers
from program.events import DownloadRequested
from program.library import Links
from program.services.flows import names
from tests.support.meanwhile import change_settings, run_to
from tests.support.pipeline import Pipeline
from tests.support.wait import until

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SINTEL = 45745
DOWNLOAD = names.plugin_queue(DownloadRequested.type, "realdebrid")
MINUTE = timedelta(minutes=1)


def test_an_episode_that_is_paused_while_its_season_is_fetched_is_left_out_and_the_rest_comes(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    pipeline.actions.pause([pipeline.episode(show, 1, 2).id])
    pipeline.run(for_=5 * MINUTE)
    states = {number: pipeline.episode(show, 1, number).last_state.value for number in range(1, 7)}
    assert states == {1: "Completed", 2: "Paused", **dict.fromkeys(range(3, 7), "Completed")}


def test_a_season_that_is_asked_for_while_another_is_fetched_stops_nothing(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.season(show, 1).last_state.value == "Completed"
    assert pipeline.episode(show, 2, 3).last_state.value == "Completed"


def test_work_that_was_begun_for_less_than_is_wanted_now_is_called_off_at_once(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    season = pipeline.season(show, 1).id
    assert pipeline.engine.held(names.PROCESS_MEDIA_ITEM) == {f"process-season-{season}"}
    pipeline.add_show(PIONEER, seasons=(1,))
    assert pipeline.engine.held(names.PROCESS_MEDIA_ITEM), "nothing new is wanted"
    pipeline.add_show(PIONEER, seasons=(2,))
    assert pipeline.engine.held(names.PROCESS_MEDIA_ITEM) == frozenset()


def test_a_debrid_service_that_is_switched_off_while_it_is_asked_costs_nothing_but_time(
    pipeline: Pipeline,
) -> None:
    film = pipeline.add_movie(SINTEL)
    run_to(pipeline, DOWNLOAD)
    change_settings(pipeline, downloaders__realdebrid__enabled=False)
    pipeline.run(for_=MINUTE)
    item = pipeline.item(film)
    assert item.last_state.value == "Scraped"
    assert item.schedule.next_attempt_at is not None
    assert "no debrid service is set up" in (item.schedule.next_reason or "")
    assert not [row.sentence for row in pipeline.story(film) if "out of range" in row.sentence]

    change_settings(pipeline, downloaders__realdebrid__enabled=True)
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    assert pipeline.state(film) == "Completed"


def test_two_episodes_that_find_the_same_torrent_at_once_take_it_once_and_nobody_reports_an_error(
    pipeline: Pipeline, servers: Servers
) -> None:
    name = "Pioneer.One.S02.1080p.WEB-DL.AAC2.0.H.264-PACK"
    files = [[f"{name}/{name.replace('S02', f'S02E0{n}')}.mkv", "episode", 2, n] for n in (1, 2, 3)]
    row = {"name": name, "seeders": 99, "right": True, "files": files}
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": row})
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    episodes = [pipeline.episode(show, 2, number) for number in (1, 2, 3)]
    assert {episode.last_state.value for episode in episodes} == {"Completed"}
    assert len(servers.control("/account")["torrents"]) == 1
    stories = [row for episode in episodes for row in pipeline.story(episode.id)]
    assert not [row.sentence for row in stories if row.outcome == "error"]


def test_a_film_that_is_fetched_afresh_stays_readable_for_who_has_it_open(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    with pipeline.db.read() as tx:
        (old,) = entries.for_items(tx, [film])
    pipeline.vfs.start(pipeline.library.load())
    try:
        handle = os.open(pipeline.library.places(old)[0], os.O_RDONLY)
        servers.control("/catalog", {"op": "withdraw", "release": "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"})
        pipeline.actions.retry([film])
        pipeline.run(for_=MINUTE)
        assert pipeline.state(film) == "Completed"
        assert len(pipeline.listing("/movies")) == 1
        assert Links(pipeline.engine).resolve(old.id, None).url, "the reader can still ask for an address"
        os.close(handle)
        until(lambda: not pipeline.vfs.open_handles(old.id))
        housekeeping.tidy(pipeline.ctx)
    finally:
        pipeline.vfs.stop()
    with pipeline.db.read() as tx:
        assert [entry.id for entry in entries.for_items(tx, [film])] != [old.id]
        assert entries.get(tx, old.id) is None


def test_a_film_that_is_removed_just_when_its_file_appears_leaves_no_file(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)

    def remove_once() -> None:
        if pipeline.rows() and pipeline.state(film) == "Symlinked":
            pipeline.actions.remove([film])

    pipeline.db.on_commit(remove_once)
    pipeline.run(for_=MINUTE)
    assert pipeline.rows() == ()
    assert pipeline.vfs.tree.totals() == (0, 0)
