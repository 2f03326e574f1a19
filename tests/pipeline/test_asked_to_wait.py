"""A service that answers 429 is left alone for as long as it says: one pause for all, no attempt used, no thread held."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from program.demo.launch import Servers
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.queues import JobState
from program.resume import forget_waits
from program.services.flows import names
from tests.support.journal import Journal
from tests.support.meanwhile import change_settings
from tests.support.pipeline import Pipeline
from tests.support.wait import until

# Films of the catalog.
FILMS = (10378, 45745, 133701, 358332, 593048)
SECOND = timedelta(seconds=1)
SCRAPE = names.plugin_queue("riven.media-item.scrape.requested", "torrentio")


def ask_for_all(pipeline: Pipeline, servers: Servers) -> list[int]:
    """Ask for every film of the catalog; return their ids."""
    known = [film["tmdb"] for film in servers.control("/catalog")["films"]]
    wishes = [ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(tmdb))) for tmdb in known]
    return [result.item_id for result in pipeline.actions.add(wishes) if result.item_id is not None]


def limit(servers: Servers, provider: str, seconds: float | str) -> None:
    """Have the next request to a provider answered with 429 and how long to wait."""
    servers.control(
        "/faults", {"provider": provider, "kind": "status", "status": 429, "retry_after": seconds, "count": 1}
    )


def test_what_one_key_was_asked_to_wait_for_does_not_hold_up_another(
    pipeline: Pipeline, servers: Servers
) -> None:
    limit(servers, "realdebrid", 3 * 3600)
    film = pipeline.add_movie(45745)
    pipeline.run(for_=SECOND)
    assert pipeline.state(film) == "Scraped"
    assert "asks to slow down" in str(pipeline.item(film).schedule.next_reason)

    change_settings(pipeline, downloaders__realdebrid__url=f"{pipeline.settings.downloaders.realdebrid.url}/")  # type: ignore[attr-defined]
    forget_waits(pipeline.db)
    pipeline.run(for_=10 * SECOND)
    assert pipeline.state(film) == "Completed"
    standing = pipeline.registry.get("realdebrid").http.statistics()
    assert (standing.paused_until, standing.level) == (None, 0)


def test_a_short_wait_is_waited_for_once_by_all_and_costs_no_attempt(
    pipeline: Pipeline, servers: Servers
) -> None:
    limit(servers, "torrentio", 20)
    journal = Journal(servers, pipeline)
    films = ask_for_all(pipeline, servers)
    pipeline.run(for_=19 * SECOND, step=SECOND)
    journal.look()
    assert [one.status for one in journal.of("torrentio")] == [429], "one of them asked, and for all"
    waiting = pipeline.engine.jobs(SCRAPE, [JobState.DELAYED, JobState.WAITING])
    assert {job.attempts for job in waiting} == {0}
    assert len(waiting) == len(films)
    assert [job.state for job in waiting].count(JobState.DELAYED) == 1, (
        "the others need not find out one by one"
    )
    paused = pipeline.engine.paused()[SCRAPE] - journal.began
    assert paused / SECOND == pytest.approx(20, abs=2)

    pipeline.run(for_=5 * SECOND, step=SECOND)
    journal.look()
    assert {one.status for one in journal.of("torrentio")[1:]} == {200}
    assert len({one.path for one in journal.of("torrentio")}) == len(films)
    for film in films:
        facts = pipeline.item(film).facts
        assert (facts.failures, facts.hold_reason) == (0, None)
    assert pipeline.states_of(films) == {"Completed"}


def test_a_long_wait_is_a_date_of_every_title_and_costs_no_attempt(
    pipeline: Pipeline, servers: Servers
) -> None:
    limit(servers, "torrentio", 600)
    journal = Journal(servers, pipeline)
    films = ask_for_all(pipeline, servers)
    pipeline.run(for_=9 * 60 * SECOND, step=30 * SECOND)
    journal.look()
    assert [one.status for one in journal.of("torrentio")] == [429]
    for film in films:
        item = pipeline.item(film)
        assert (item.last_state.value, item.facts.failures, item.facts.scraped_times) == ("Indexed", 0, 0)
        assert item.schedule.next_attempt_at is not None
        wait = (item.schedule.next_attempt_at - journal.began) / SECOND
        assert wait == pytest.approx(600, abs=2)
        assert "Torrentio" in (item.schedule.next_reason or "")
    assert pipeline.engine.counts()[SCRAPE][JobState.DELAYED] == 0, "nothing stays parked for ten minutes"

    pipeline.run(for_=2 * 60 * SECOND, step=10 * SECOND)
    assert pipeline.states_of(films) == {"Completed"}


@pytest.mark.parametrize("provider", ["tmdb", "realdebrid"])
def test_whoever_asks_to_wait_it_costs_no_attempt(
    pipeline: Pipeline, servers: Servers, provider: str
) -> None:
    limit(servers, provider, 300)
    journal = Journal(servers, pipeline)
    films = ask_for_all(pipeline, servers)
    pipeline.run(for_=4 * 60 * SECOND, step=30 * SECOND)
    journal.look()
    assert [one.status for one in journal.of(provider) if one.status == 429] == [429]
    first = next(place for place, one in enumerate(journal.of(provider)) if one.status == 429)
    assert len(journal.of(provider)) == first + 1, "nothing after it"
    assert {(item.facts.failures, item.facts.index_failures) for item in map(pipeline.item, films)} == {
        (0, 0)
    }
    pipeline.run(for_=3 * 60 * SECOND, step=10 * SECOND)
    assert pipeline.states_of(films) == {"Completed"}


def test_while_it_waits_no_thread_does(pipeline: Pipeline, servers: Servers) -> None:
    # Two searches may be under way before the first is told to wait, so each request is told until all are parked.
    limited = {"provider": "torrentio", "kind": "status", "status": 429, "retry_after": 25}
    fault = servers.control("/faults", limited)
    films = ask_for_all(pipeline, servers)
    pipeline.engine.start()

    def is_parked() -> bool:
        pipeline.loop.turn()
        counts = pipeline.engine.counts()
        waiting = counts[SCRAPE][JobState.DELAYED] + counts[SCRAPE][JobState.WAITING]
        return waiting == len(films) and not any(each[JobState.ACTIVE] for each in counts.values())

    until(is_parked, 60.0, "every search waits")
    servers.control(f"/faults/{fault['id']}", method="DELETE")
    counts = pipeline.engine.counts()
    assert sum(each[JobState.ACTIVE] for each in counts.values()) == 0, "no worker has a job in hand"
    assert counts[names.PARSE_SCRAPE_RESULTS][JobState.WAITING_CHILDREN] == len(films)
    pipeline.clock.advance(26)

    def are_done() -> bool:
        pipeline.loop.turn()
        return pipeline.states_of(films) == {"Completed"}

    until(are_done, 60.0, "it goes on")


def test_a_429_without_a_time_is_ten_seconds_at_first(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline()
    servers.control("/faults", {"provider": "torrentio", "kind": "status", "status": 429, "count": 2})
    journal = Journal(servers, pipeline)
    pipeline.add_movie(FILMS[1])
    for _ in range(40):
        pipeline.run()
        journal.look()
        pipeline.clock.advance(1)
    waits = [round((one.at - journal.began) / SECOND) for one in journal.of("torrentio")]
    assert waits[:3] == pytest.approx([0, 10, 30], abs=1), "ten seconds, then twenty"
