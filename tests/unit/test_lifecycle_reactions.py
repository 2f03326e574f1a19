"""What the program itself does about events: the table, its guards and actions, and that one failure harms no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from program import scenario
from program.bus import Bus
from program.clock import ManualClock
from program.db import items
from program.db.decisions import timeline
from program.db.engine import Database
from program.errors import StartupError, Transient
from program.events import (
    CATALOGUE,
    TOLD,
    ContentServicesDue,
    CoreStarted,
    DownloadPartialSuccess,
    IndexSuccess,
    ItemRequestConflict,
    ItemRequestCreated,
    ItemRequestUpdated,
    RetryItemDownload,
    RetryLibrary,
    Told,
)
from program.media.state import Policy
from program.plugins import Registry, compose_settings
from program.queues import Engine
from program.reactions import ACTIONS, GUARDS, REACTIONS, Reactions, Scene
from program.resume import resume
from program.services.flows.context import FlowContext
from tests.support.lines import log_lines
from tests.support.sample_plugin import sources

NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)


def film(tmdb: str, **metadata: Any) -> dict[str, Any]:
    return {"movie": True, "ids": {"tmdb": tmdb}, "metadata": {"ids": {"tmdb": tmdb}, **metadata}}


def show(tvdb: str, status: str, first: str) -> dict[str, Any]:
    episodes = [
        {"service_id": f"{tvdb}-{number}", "number": number, "title": f"Part {number}", "aired_at": first}
        for number in (1, 2)
    ]
    metadata = {
        "ids": {"tvdb": tvdb},
        "title": "Pioneer One",
        "show_status": status,
        "seasons": [{"number": 1, "title": "", "episodes": episodes}],
    }
    return {"movie": False, "ids": {"tvdb": tvdb}, "metadata": metadata}


TITLES = {
    "unreleased film": film("1", title="Sintel", releases={"digital": "2031-08-01T00:00:00Z"}),
    "released film": film("2", title="Elephants Dream", releases={"digital": "2010-01-01T00:00:00Z"}),
    "unreleased show": show("3", "continuing", "2031-09-01T20:00:00Z"),
    "ongoing show": show("4", "continuing", "2031-01-01T20:00:00Z"),
    "ended show": show("5", "ended", "2010-01-01T20:00:00Z"),
    "strange show": show("6", "unknown", "2010-01-01T20:00:00Z"),
}


class Stand:
    """A library from a scenario, the reactions to its events, and what they asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = ManualClock(NOW)
        self.db = Database(f"sqlite:///{folder / 'rivulet.db'}", data_dir=folder, clock=self.clock)
        self.db.open()
        self.registry = Registry(compose_settings([])(), (), sources(self.clock), self.clock)
        self.engine = Engine(self.clock)
        self.ctx = FlowContext(
            db=self.db,
            engine=self.engine,
            registry=self.registry,
            clock=self.clock,
            settings=compose_settings([]),
            policy=Policy,
            library=None,  # type: ignore[arg-type]
            tell=lambda _event: None,
        )
        self.woken, self.polled = 0, 0
        self.reactions = Reactions(
            self.ctx, wake=self._wake, poll_content=self._poll, is_stopped=lambda: False
        )

    def _wake(self) -> None:
        self.woken += 1

    def _poll(self) -> None:
        self.polled += 1

    def fill(self, *titles: dict[str, Any]) -> list[int]:
        """Apply a scenario; return the ids of its titles in their order."""
        file = self.folder / "scenario.json"
        file.write_text(json.dumps({"titles": titles}))
        scenario.apply(scenario.load(file), self.db, NOW, Policy())
        with self.db.read() as tx:
            return list(items.all_roots(tx))

    def story(self, item_id: int) -> list[str]:
        with self.db.read() as tx:
            return [f"{row.step} {row.outcome}: {row.sentence}" for row in timeline(tx, item_id)]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    found = Stand(tmp_path)
    yield found
    found.db.close()


# The table


def test_every_told_event_has_its_cases_and_they_name_what_there_is() -> None:
    assert set(REACTIONS) == set(TOLD)
    for event, cases in REACTIONS.items():
        assert cases[-1].guard is None, f"{event.type} needs a case for everything else"
        for case in cases:
            assert case.guard is None or case.guard in GUARDS
            assert set(case.actions) <= set(ACTIONS)
    used = {action for cases in REACTIONS.values() for case in cases for action in case.actions}
    assert used == set(ACTIONS)


def test_the_reaction_to_metadata_is_that_of_the_specification() -> None:
    assert [(case.guard, case.actions) for case in REACTIONS[IndexSuccess]] == [
        ("is_unreleased_item", ("schedule_reindex", "log")),
        ("is_ongoing_item", ("schedule_reindex", "process_media_item", "log")),
        ("is_entirely_released_item", ("process_media_item", "log")),
        (None, ("log",)),
    ]


def test_events_have_the_names_of_the_specification() -> None:
    assert set(CATALOGUE) >= {
        "riven.core.started",
        "riven.core.shutdown",
        "riven-internal.request-content-services",
        "riven-internal.retry-library",
        "riven.item-request.create.success",
        "riven.item-request.create.error.conflict",
        "riven.item-request.update.success",
        "riven.media-item.index.success",
        "riven.media-item.scrape.requested",
    }


def test_no_event_stands_twice_in_the_catalogue() -> None:
    assert len(CATALOGUE) == len(set(CATALOGUE.values()))
    assert all(event.type == name for name, event in CATALOGUE.items())


@pytest.mark.parametrize(
    ("title", "guard"),
    [
        ("unreleased film", "is_unreleased_item"),
        ("unreleased show", "is_unreleased_item"),
        ("ongoing show", "is_ongoing_item"),
        ("released film", "is_entirely_released_item"),
        ("ended show", "is_entirely_released_item"),
        ("strange show", None),
    ],
)
def test_the_first_guard_that_holds_decides(stand: Stand, title: str, guard: str | None) -> None:
    (item_id,) = stand.fill(TITLES[title])
    held = (
        case.guard
        for case in REACTIONS[IndexSuccess]
        if case.guard is None or GUARDS[case.guard](Scene(stand.ctx, IndexSuccess(item_id=item_id)))
    )
    assert next(held) == guard


def test_a_title_that_is_gone_fits_no_guard(stand: Stand) -> None:
    scene = Scene(stand.ctx, IndexSuccess(item_id=99))
    assert [name for name, guard in GUARDS.items() if guard(scene)] == []


# What is done


def test_an_unreleased_film_is_told_when_it_is_looked_up_again_and_not_worked_on(stand: Stand) -> None:
    (item_id,) = stand.fill(TITLES["unreleased film"])
    stand.reactions.react(IndexSuccess(item_id=item_id, title="Sintel"))
    assert stand.story(item_id)[-1] == "index scheduled: Looked up again on 2031-08-01 at 00:30 UTC."
    assert stand.woken == 0


def test_an_ongoing_show_is_looked_up_again_and_worked_on(stand: Stand) -> None:
    (item_id,) = stand.fill(TITLES["ongoing show"])
    stand.reactions.react(IndexSuccess(item_id=item_id))
    assert stand.story(item_id)[-1] == "index scheduled: Looked up again on 2031-05-02 at 12:00 UTC."
    assert stand.woken == 1


def test_a_released_film_is_worked_on_at_once(stand: Stand) -> None:
    (item_id,) = stand.fill(TITLES["released film"])
    with log_lines() as lines:
        stand.reactions.react(
            IndexSuccess(item_id=item_id, title="Elephants Dream", sentence="Metadata stored")
        )
    assert stand.woken == 1
    assert "scheduled" not in " ".join(stand.story(item_id))
    assert lines == ["INFO Elephants Dream: riven.media-item.index.success: Metadata stored"]


def test_a_title_that_fits_nothing_is_logged(stand: Stand) -> None:
    (item_id,) = stand.fill(TITLES["strange show"])
    with log_lines() as lines:
        stand.reactions.react(IndexSuccess(item_id=item_id, title="Pioneer One"))
    assert lines == ["WARNING Pioneer One: riven.media-item.index.success"]
    assert stand.woken == 0


@pytest.mark.parametrize("event", [ItemRequestCreated(), ItemRequestUpdated(), DownloadPartialSuccess()])
def test_what_was_written_down_is_looked_at_at_once(stand: Stand, event: Told) -> None:
    stand.reactions.react(event)
    assert stand.woken == 1


def test_a_wish_for_what_is_there_already_is_only_logged(stand: Stand) -> None:
    with log_lines("DEBUG") as lines:
        stand.reactions.react(ItemRequestConflict(title="Sintel", sentence="It is in the library"))
    assert lines == ["DEBUG Sintel: riven.item-request.create.error.conflict: It is in the library"]
    assert (stand.woken, stand.polled) == (0, 0)


def test_the_start_has_content_services_asked(stand: Stand) -> None:
    stand.reactions.react(ContentServicesDue())
    assert (stand.polled, stand.woken) == (1, 0)


# Resuming


def lose_dates(stand: Stand) -> None:
    """Take every date away, as no program of ours would."""
    with stand.db.write() as tx:
        tx.connection.exec_driver_sql("UPDATE media_item SET next_attempt_at = NULL, reindex_at = NULL")


def dates(stand: Stand, item_id: int) -> tuple[datetime | None, datetime | None]:
    schedule = stand.ctx.load(item_id).item.schedule
    return schedule.next_attempt_at, schedule.reindex_at


def test_a_resume_gives_back_dates_that_were_lost_and_resets_nothing(stand: Stand) -> None:
    searched = {
        **TITLES["released film"],
        "facts": {"": {"scraped_at": "2031-05-01T11:00:00Z", "scraped_times": 3}},
    }
    one, two = stand.fill(searched, TITLES["unreleased film"])
    before = {item_id: dates(stand, item_id) for item_id in (one, two)}
    lose_dates(stand)
    assert dates(stand, one) == (None, None)
    stand.reactions.react(RetryLibrary())
    assert {item_id: dates(stand, item_id) for item_id in (one, two)} == before
    assert before[one][0] == NOW + timedelta(hours=1)
    assert stand.ctx.load(one).item.facts.scraped_times == 3
    assert stand.woken == 1


def test_a_resume_of_what_is_settled_writes_nothing(stand: Stand) -> None:
    stand.fill(*TITLES.values())
    assert resume(stand.ctx, lambda: False) == 0


def test_a_resume_ends_when_the_program_does(stand: Stand) -> None:
    stand.fill(*TITLES.values())
    lose_dates(stand)
    assert resume(stand.ctx, lambda: True) == 0


def test_one_title_can_be_looked_at_again(stand: Stand) -> None:
    one, two = stand.fill(TITLES["unreleased film"], TITLES["ongoing show"])
    lose_dates(stand)
    stand.reactions.react(RetryItemDownload(item_id=one))
    assert dates(stand, one)[1] is not None
    assert dates(stand, two)[1] is None


# One failure harms no other


def test_an_action_that_fails_is_logged_and_the_next_one_is_done(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    (item_id,) = stand.fill(TITLES["ongoing show"])

    def fails(*_: object) -> None:
        raise Transient("the database is busy")

    monkeypatch.setitem(ACTIONS, "schedule_reindex", fails)  # type: ignore[arg-type]
    with log_lines() as lines:
        stand.reactions.react(IndexSuccess(item_id=item_id, title="Pioneer One"))
    assert stand.woken == 1
    assert [line for line in lines if line.startswith("ERROR")] == [
        "ERROR the reaction schedule_reindex to riven.media-item.index.success of Pioneer One failed"
    ]


def test_a_guard_that_fails_does_not_hold(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    (item_id,) = stand.fill(TITLES["released film"])

    def fails(_scene: object) -> bool:
        raise KeyError

    monkeypatch.setitem(GUARDS, "is_unreleased_item", fails)  # type: ignore[arg-type]
    stand.reactions.react(IndexSuccess(item_id=item_id))
    assert stand.woken == 1


def test_a_listener_that_fails_keeps_no_other_from_hearing(stand: Stand) -> None:
    heard: list[Told] = []

    def fails(_event: Told) -> None:
        raise ZeroDivisionError

    bus = Bus(stand.engine, stand.registry, stand.clock)
    listeners: tuple[Callable[[Told], None], ...] = (fails, heard.append)
    for listener in listeners:
        bus.listen(listener)
    with log_lines() as lines:
        bus.publish(CoreStarted())
    assert heard == [CoreStarted()]
    assert lines == ["ERROR riven.core.started could not be taken note of"]
    assert bus.publish_and_wait(CoreStarted(), 0.0), "no plugin hooks it, so there is nothing to wait for"


# Scenarios


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"titles": [{"movie": true}]}', "titles.0.ids: Field required"),
        ('{"titles": [], "title": []}', "title: Extra inputs are not permitted"),
        (
            json.dumps({"titles": [film("1", title="x", releases={"digital": "2031-08-01T00:00:00"})]}),
            r"titles\.0\.metadata\.releases.* is a datetime without a time zone",
        ),
    ],
)
def test_a_bad_scenario_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(text)
    with pytest.raises(StartupError, match=said):
        scenario.load(file)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"s09": {"paused_at": "2031-01-01T00:00:00Z"}}, "facts for the row 's09', and there is none"),
        ({"season 1": {}}, "facts for the row 'season 1', and there is none"),
        ({"": {"paused": True}}, "paused = True for '', which is no fact"),
        ({"": {"scraped_times": "often"}}, "scraped_times = 'often' for '', which is no fact"),
        ({"s01e02": {"paused_at": "2031-01-01T00:00:00"}}, "paused_at for 's01e02' has no time zone"),
    ],
)
def test_bad_facts_of_a_scenario_are_named_and_nothing_is_applied(
    stand: Stand, facts: dict[str, Any], said: str
) -> None:
    with pytest.raises(StartupError, match=said):
        stand.fill({**TITLES["ended show"], "facts": facts})
    with stand.db.read() as tx:
        assert items.all_roots(tx) == ()


def test_a_scenario_puts_titles_into_any_state(stand: Stand) -> None:
    facts = {"s01e01": {"paused_at": "2031-01-01T00:00:00Z"}, "s01e02": {"scraped_times": 2}}
    asked_for = {"movie": True, "ids": {"tmdb": "9"}}
    one, two = stand.fill({**TITLES["ended show"], "facts": facts}, asked_for)
    first, second = stand.ctx.load(one).children[0].children
    assert (first.item.last_state.value, second.item.facts.scraped_times) == ("Paused", 2)
    assert stand.ctx.load(two).item.last_state.value == "Requested"
