"""A series: packs, partial packs, single episodes, what is not out yet, pauses."""

from collections.abc import Callable
from datetime import timedelta

from program.db import shelves
from program.demo.launch import Servers
from program.edits import Edit
from program.events import DownloadPartialSuccess
from program.queues import Priority
from program.services.flows import process_item_request
from tests.support.pipeline import Pipeline

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
PACK = "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)


def states_of(pipeline: Pipeline, show: int) -> dict[tuple[int, int], str]:
    return {
        (season.item.number or 0, leaf.item.number or 0): leaf.item.last_state.value
        for season in pipeline.tree(show).children
        for leaf in season.children
        if leaf.item.is_requested
    }


def hashes_of(servers: Servers) -> list[str]:
    return [torrent["hash"] for torrent in servers.control("/account")["torrents"]]


def test_a_series_comes_by_pack_and_by_episodes_and_waits_for_what_is_not_out(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(PIONEER)
    pipeline.run(for_=MINUTE)
    states = states_of(pipeline, show)
    assert {key for key, state in states.items() if state == "Completed"} == {
        *((1, number) for number in range(1, 7)),
        *((2, number) for number in range(1, 4)),
    }
    assert states[2, 4] == "Unreleased"
    assert pipeline.state(show) == "Ongoing"
    assert pipeline.season(show, 1).last_state.value == "Completed"
    assert not [key for key in states if key[0] == 0], "specials are not asked for"
    reindex = pipeline.tree(show).item.schedule.reindex_at
    assert reindex is not None
    assert reindex > pipeline.clock.now()
    hashes = hashes_of(servers)
    assert len(hashes) == len(set(hashes)), "no torrent twice on the account"
    assert len(hashes) == 4, "one pack and three episodes"


def test_a_season_that_is_wanted_later_is_fetched_and_one_that_is_not_any_more_is_left_alone(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    before = len(hashes_of(servers))
    pipeline.actions.edit(show, Edit(seasons=frozenset({1})), "by a person")
    pipeline.run(for_=MINUTE)
    states = states_of(pipeline, show)
    assert states == {(1, number): "Completed" for number in range(1, 7)}
    assert len(hashes_of(servers)) == before + 1, "the pack of the first season and nothing else"
    # The files of the second season stay; its next episode is nobody's wish any more.
    assert len(pipeline.listing("/shows")) == 1
    assert not pipeline.episode(show, 2, 4).is_requested
    assert pipeline.episode(show, 2, 4).schedule.next_attempt_at is None
    told = [row.sentence for row in pipeline.story(show) if row.outcome == "edited"]
    assert told == ["Edited by a person: season 1 is wanted now; season 2 is not wanted any more."]


def test_only_the_seasons_that_were_asked_for_are_fetched(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    assert {key for key, state in states_of(pipeline, show).items() if state == "Completed"} == {
        (2, 1),
        (2, 2),
        (2, 3),
    }
    pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    assert pipeline.season(show, 1).last_state.value == "Completed"


def test_a_pack_that_lacks_two_episodes_is_kept_and_the_two_are_found_singly(
    pipeline: Pipeline, servers: Servers
) -> None:
    for episode in (2, 5):
        servers.control("/catalog", {"op": "drop_file", "release": PACK, "season": 1, "episode": episode})
        servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": single(1, episode)})
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=5 * MINUTE)
    assert set(states_of(pipeline, show).values()) == {"Completed"}
    taken = {
        row.data["infohash"]
        for n in (1, 2, 5)
        for row in pipeline.story(pipeline.episode(show, 1, n).id)
        if row.outcome == "taken"
    }
    assert len(taken) == 3, "the pack and two single episodes"


def test_a_media_server_hears_of_the_episodes_that_are_there_while_others_are_lacking(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    servers.control("/catalog", {"op": "publish", "release": PACK})
    servers.control("/catalog", {"op": "drop_file", "release": PACK, "season": 1, "episode": 5})
    pipeline = make_pipeline(updaters__plex__enabled=True)
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    (partly,) = [event for event in pipeline.told if isinstance(event, DownloadPartialSuccess)]
    assert partly.item_id == pipeline.season(show, 1).id
    asked = {n for n in range(1, 7) if pipeline.episode(show, 1, n).facts.confirmations}
    assert asked == {1, 2, 3, 4, 6}, "the server is asked for what is there, and for nothing else"


def test_an_episode_is_fetched_when_it_comes_out(pipeline: Pipeline, servers: Servers) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": single(2, 4)})
    pipeline.run_until(
        lambda: pipeline.episode(show, 2, 4).last_state.value == "Completed",
        within=timedelta(days=9),
        step=timedelta(hours=1),
    )


def test_a_paused_show_keeps_the_states_of_its_episodes_and_goes_on_when_unpaused(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    show = pipeline.add_show(PIONEER)
    pipeline.run(for_=MINUTE)
    pipeline.actions.pause([show])
    before = states_of(pipeline, show)
    assert pipeline.state(show) == "Paused"
    searches = len(servers.control("/requests?provider=torrentio")["requests"])
    servers.control("/catalog", {"op": "publish", "title": PIONEER_IMDB})
    pipeline.run(for_=timedelta(hours=8), step=10 * MINUTE)
    assert states_of(pipeline, show) == before
    assert len(servers.control("/requests?provider=torrentio")["requests"]) == searches

    pipeline.actions.unpause([show])
    pipeline.run(for_=timedelta(hours=8), step=10 * MINUTE)
    assert pipeline.season(show, 1).last_state.value == "Completed"


def single(season: int, episode: int) -> dict[str, object]:
    """Return a release of one episode, as in the catalog."""
    name = f"Pioneer.One.S{season:02d}E{episode:02d}.1080p.WEB-DL.AAC2.0.H.264-OPEN"
    return {"name": name, "seeders": 20, "right": True, "episode": [season, episode]}


def test_a_service_that_lists_no_episodes_for_a_while_costs_no_episode(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    show = pipeline.add_show(PIONEER)
    pipeline.run(for_=MINUTE)
    paused = pipeline.episode(show, 1, 2).id
    pipeline.actions.pause([paused])
    before = states_of(pipeline, show)
    assert len(before) == 10

    servers.control("/faults", {"provider": "tvdb", "kind": "status", "path": "/episodes/", "status": 404})
    pipeline.actions.reindex([show])
    pipeline.run(for_=MINUTE)
    assert states_of(pipeline, show) == before
    assert pipeline.episode(show, 1, 2).id == paused
    lost = [made.sentence for made in pipeline.story(show) if made.step == "index"][-1]
    assert lost == "Looked up: the answer lists no episodes, although 11 are known; what is known is kept."

    servers.control("/faults", method="DELETE")
    pipeline.actions.reindex([show])
    pipeline.run()
    last = [made.sentence for made in pipeline.story(show) if made.step == "index"][-1]
    assert last.startswith("Found “Pioneer One”")


def test_a_show_is_rated_by_another_service_and_keeps_that_when_it_does_not_answer(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    rules = {"good": {"path": "/good", "rules": {"min_rating": 6.5}}}
    pipeline = make_pipeline(vfs__profiles=rules)
    show = pipeline.add_show(PIONEER, (1,))
    pipeline.run(for_=MINUTE)
    assert rated(pipeline, show) == 7.0
    asked = [row["path"] for row in servers.control("/requests?provider=tmdb")["requests"]]
    assert len(asked) == 1
    assert {root for file in pipeline.library.load() for root in file.roots} == {"", "/good"}

    servers.control("/faults", {"provider": "tmdb", "kind": "status", "status": 503})
    pipeline.clock.advance(DAY.total_seconds())
    pipeline.engine.add(process_item_request.job(pipeline.tree(show), Priority.INTERACTIVE))
    pipeline.run(for_=MINUTE)
    assert [row.outcome for row in pipeline.story(show) if row.step == "index"] == ["indexed", "indexed"]
    assert rated(pipeline, show) == 7.0


def rated(pipeline: Pipeline, show: int) -> float | None:
    with pipeline.db.read() as tx:
        facts = shelves.facts_of(tx, show)
    assert facts is not None
    return facts.rating
