"""The machines of the program's life: their tables, how they are walked, and what makes the program give up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from program import lifecycle
from program.clock import ManualClock
from program.errors import StartupError
from program.lifecycle import ERROR, OK, SCENARIO, START, STOP, Machine, together, walk
from program.vitals import Vitals

NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
TABLES = {
    "Program": lifecycle.PROGRAM,
    "Bootstrap": lifecycle.BOOTSTRAP,
    "Service": lifecycle.SERVICE,
    "Plugin registrar": lifecycle.PLUGIN_REGISTRAR,
    "Main runner": lifecycle.MAIN_RUNNER,
}


def machine(table: lifecycle.Table) -> Machine:
    return Machine("a machine", table, ManualClock(NOW))


def path(table: lifecycle.Table, *events: str) -> list[str]:
    """Return the states that a machine stands in while it is sent events."""
    found = machine(table)
    for event in events:
        found.send(event)
    return [move.state for move in found.history()]


# The tables


@pytest.mark.parametrize("name", TABLES)
def test_every_state_that_an_event_leads_to_is_in_its_table(name: str) -> None:
    table = TABLES[name]
    assert {state for moves in table.values() for state in moves.values()} <= set(table)


@pytest.mark.parametrize("name", TABLES)
def test_every_state_can_be_reached_and_leads_to_an_end(name: str) -> None:
    table = TABLES[name]
    reached, todo = set[str](), [next(iter(table))]
    while todo:
        state = todo.pop()
        if state not in reached:
            reached.add(state)
            todo += table[state].values()
    assert reached == set(table)
    assert any(not moves for moves in table.values())


def test_the_program_goes_from_idle_to_exited() -> None:
    assert path(lifecycle.PROGRAM, START, OK, STOP, OK) == [
        "Idle",
        "Bootstrapping",
        "Running",
        "Shutdown",
        "Exited",
    ]


@pytest.mark.parametrize("before", [(), (START,), (START, OK)])
def test_a_program_may_be_told_to_stop_at_any_time(before: tuple[str, ...]) -> None:
    assert path(lifecycle.PROGRAM, *before, STOP)[-1] == "Shutdown"


@pytest.mark.parametrize("before", [(START,), (START, OK)])
def test_an_error_is_the_end_of_a_program(before: tuple[str, ...]) -> None:
    assert path(lifecycle.PROGRAM, *before, ERROR, STOP, OK, START)[-1] == "Errored"


def test_bootstrap_takes_its_steps_in_the_order_of_the_specification() -> None:
    assert path(lifecycle.BOOTSTRAP, OK, OK, OK, OK, OK) == [
        "Bootstrapping database connection",
        "Clearing previous instance state",
        "Bootstrapping plugins",
        "Initialising services",
        "Bootstrapping VFS",
        "Success",
    ]


def test_a_mock_scenario_is_applied_between_clearing_and_plugins() -> None:
    assert path(lifecycle.BOOTSTRAP, OK, SCENARIO, OK)[-2:] == [
        "Applying mock scenario",
        "Bootstrapping plugins",
    ]


@pytest.mark.parametrize("state", [state for state, moves in lifecycle.BOOTSTRAP.items() if moves])
def test_every_step_of_bootstrap_may_fail(state: str) -> None:
    assert lifecycle.BOOTSTRAP[state][ERROR] == "Errored"
    assert lifecycle.BOOTSTRAP["Errored"] == {}


def test_plugins_are_registered_then_validated() -> None:
    assert path(lifecycle.PLUGIN_REGISTRAR, OK, OK) == ["Registering plugins", "Validating", "Validated"]


def test_the_main_runner_runs_until_it_is_stopped_or_cannot_go_on() -> None:
    assert path(lifecycle.MAIN_RUNNER, START, STOP) == ["Idle", "Running", "Idle"]
    assert path(lifecycle.MAIN_RUNNER, START, ERROR, START, STOP) == ["Idle", "Running", "Errored"]
    assert path(lifecycle.MAIN_RUNNER, ERROR) == ["Idle"]


def test_an_event_that_a_state_does_not_know_changes_nothing() -> None:
    found = machine(lifecycle.PROGRAM)
    assert found.send("no such event") == "Idle"
    assert found.send(OK) == "Idle"
    assert [(move.at, move.state) for move in found.history()] == [(NOW, "Idle")]


# Walking

LADDER: lifecycle.Table = {
    "first": {OK: "second", ERROR: "Errored"},
    "second": {OK: "top", ERROR: "Errored"},
    "top": {},
    "Errored": {},
}


def never() -> bool:
    return False


def test_the_work_of_each_state_is_done_in_turn() -> None:
    found, done = machine(LADDER), list[str]()

    def work(name: str) -> Callable[[], str]:
        return lambda: done.append(name) or OK  # type: ignore[func-returns-value]

    assert walk(found, {name: work(name) for name in ("first", "second")}, never)
    assert (done, found.state) == (["first", "second"], "top")


def test_work_that_fails_leads_to_errored_and_is_raised() -> None:
    found = machine(LADDER)

    def fails() -> str:
        raise StartupError("no disk")

    with pytest.raises(StartupError, match="no disk"):
        walk(found, {"first": lambda: OK, "second": fails}, never)
    assert found.state == "Errored"


def test_a_stop_is_heard_between_two_states() -> None:
    found, stop = machine(LADDER), threading.Event()

    def stopped_meanwhile() -> str:
        stop.set()
        return OK

    assert not walk(
        found, {"first": stopped_meanwhile, "second": lambda: pytest.fail("not done")}, stop.is_set
    )
    assert found.state == "second"


def test_services_start_side_by_side() -> None:
    barrier = threading.Barrier(3)

    def meets() -> str:
        barrier.wait(5)
        return OK

    group = [machine(lifecycle.SERVICE) for _ in range(3)]
    together(dict.fromkeys(group, meets))
    assert [one.state for one in group] == ["Ready"] * 3


def test_one_service_that_fails_fails_the_start_after_the_others_have_ended() -> None:
    good, bad, gate = machine(lifecycle.SERVICE), machine(lifecycle.SERVICE), threading.Event()

    def slow() -> str:
        gate.wait(5)
        return OK

    def fails() -> str:
        gate.set()
        raise StartupError("the port is in use")

    with pytest.raises(StartupError, match="the port is in use"):
        together({good: slow, bad: fails})
    assert (good.state, bad.state) == ("Ready", "Errored")


# What must not be gone for long


def test_what_is_gone_for_a_moment_is_no_reason_to_end() -> None:
    clock, well = ManualClock(NOW), [True]
    vitals = Vitals(clock, {"the database": lambda: well[0]}, 300.0)
    for is_well in (True, False, False, True, False):
        well[0] = is_well
        clock.advance(140)
        vitals.look()
        assert vitals.trouble() is None
    clock.advance(200)
    vitals.look()
    assert vitals.trouble() == "the database has been gone for more than 300 s"


def test_what_nobody_can_look_at_counts_as_gone() -> None:
    clock = ManualClock(NOW)
    vitals = Vitals(clock, {"the database": lambda: True, "the mount": lambda: True}, 300.0)
    clock.advance(301)
    assert vitals.trouble() == "the database has been gone for more than 300 s"
    vitals.look()
    assert vitals.trouble() is None


@pytest.mark.parametrize("first", ["trouble", "look"])
def test_a_program_that_was_stopped_as_a_whole_for_long_does_not_end_for_that(first: str) -> None:
    clock, well = ManualClock(NOW), [True]
    vitals = Vitals(clock, {"the database": lambda: well[0]}, 300.0)
    vitals.look()
    assert vitals.trouble() is None
    # A container that is frozen for its backup: the monotonic clock goes on, nobody is called.
    clock.advance(3600)
    well[0] = False
    if first == "look":
        vitals.look()
    assert vitals.trouble() is None
    # What is gone after that is still noticed.
    for _ in range(31):
        clock.advance(10)
        vitals.look()
    assert vitals.trouble() == "the database has been gone for more than 300 s"
