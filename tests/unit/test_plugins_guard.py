"""A plugin's code that hangs, fails again and again, or ends the program harms nobody but itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from program.clock import ManualClock
from program.errors import (
    BadAnswer,
    Cancelled,
    Final,
    Misconfigured,
    NotFound,
    Refused,
    RetryLater,
    Transient,
    Unavailable,
)
from program.http import interactive
from program.plugins.guard import FAILURES, RESTS, STUCK, Guard, Tripped, is_fault
from program.services.plugin import DownloadRefused
from tests.support.lines import log_lines
from tests.support.wait import until

NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
SHORT = 0.02


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def guard(clock: ManualClock) -> Guard:
    return Guard("sample", clock, 5.0)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """An event that calls hang on; it is set at the end, so that no thread is left."""
    found = threading.Event()
    yield found
    found.set()


def works() -> str:
    return "an answer"


def fails() -> str:
    raise Transient("no luck")


def fail(guard: Guard, times: int = FAILURES, call: Callable[[], object] = fails) -> None:
    for _ in range(times):
        with pytest.raises(Transient):
            guard.run("search", call)


# The deadline


def test_a_call_gives_what_it_returns_and_runs_with_the_context_of_its_caller(guard: Guard) -> None:
    waits = interactive.set(True)
    try:
        assert guard.run("search", lambda: (interactive.get(), threading.current_thread().name)) == (
            True,
            "plugin sample search",
        )
    finally:
        interactive.reset(waits)


def test_an_error_reaches_the_caller_as_it_is(guard: Guard) -> None:
    with pytest.raises(NotFound, match="no such title"):
        guard.run("search", lambda: (_ for _ in ()).throw(NotFound("no such title")))


def test_a_call_that_overruns_is_given_up_and_named(clock: ManualClock, gate: threading.Event) -> None:
    guard = Guard("sample", clock, SHORT)
    with pytest.raises(Transient, match=r"sample: search did not end within 0\.02 s"):
        guard.run("search", gate.wait)
    assert guard.health().stuck == 1
    gate.set()
    until(lambda: guard.health().stuck == 0, what="the end of the late call")
    assert guard.health().failures == 1, "what came too late changes nothing"


def test_no_more_threads_are_begun_when_many_calls_never_end(
    clock: ManualClock, gate: threading.Event
) -> None:
    guard = Guard("sample", clock, SHORT)
    for _ in range(STUCK):
        with pytest.raises(Transient):
            guard.bounded("check", gate.wait)
    begun = threading.active_count()
    with pytest.raises(Tripped, match="8 of its calls never ended"):
        guard.bounded("check", gate.wait)
    assert threading.active_count() == begun
    gate.set()
    until(lambda: guard.health().stuck == 0, what="the end of the late calls")
    assert guard.bounded("check", works) == "an answer"


def test_a_plugin_cannot_end_the_program(guard: Guard) -> None:
    with pytest.raises(RuntimeError, match="it raised SystemExit"):
        guard.run("search", lambda: sys.exit(3))
    assert guard.health().failures == 1


# Failures in a row


def test_a_plugin_that_fails_again_and_again_rests_and_says_why_once(guard: Guard) -> None:
    asked: list[int] = []
    with log_lines() as lines:
        fail(guard)
        for _ in range(3):
            with pytest.raises(Tripped) as refusal:
                guard.run("search", lambda: asked.append(1))
    assert asked == []
    assert str(refusal.value) == "sample: rests after 5 failures in a row, the last: no luck"
    assert refusal.value.at == NOW + RESTS[0]
    assert lines == ["WARNING sample failed 5 times in a row and rests, the last time at search: no luck"]
    fault = guard.health().last_fault
    assert fault is not None
    assert (fault.at, fault.what, fault.sentence) == (NOW, "search", "no luck")


def test_one_success_makes_the_count_begin_anew(guard: Guard) -> None:
    fail(guard, FAILURES - 1)
    guard.run("search", works)
    assert guard.health().failures == 0
    assert guard.health().worked_at == NOW
    fail(guard, FAILURES - 1)
    assert guard.health().rests_until is None


def test_after_its_rest_one_call_is_let_through_and_success_ends_it(guard: Guard, clock: ManualClock) -> None:
    fail(guard)
    clock.advance(RESTS[0])
    with log_lines() as lines:
        assert guard.run("search", works) == "an answer"
        assert guard.run("search", works) == "an answer"
    assert lines == ["INFO sample works again"]
    assert guard.health().rests_until is None


def test_each_failed_test_makes_the_rest_longer_up_to_an_hour(guard: Guard, clock: ManualClock) -> None:
    fail(guard)
    rests = []
    for _ in range(len(RESTS) + 2):
        until_ = guard.health().rests_until
        assert until_ is not None
        rests.append(until_ - clock.now())
        clock.advance(until_ - clock.now())
        fail(guard, 1)
    assert rests == [*RESTS, RESTS[-1], RESTS[-1]]
    assert RESTS[-1] == timedelta(hours=1)


def test_while_one_call_tests_the_others_are_refused(
    guard: Guard, clock: ManualClock, gate: threading.Event
) -> None:
    fail(guard)
    clock.advance(RESTS[0])
    entered = threading.Event()

    def slow() -> str:
        entered.set()
        gate.wait(5)
        return "late"

    answers: list[str] = []
    test = threading.Thread(target=lambda: answers.append(guard.run("search", slow)))
    test.start()
    assert entered.wait(5)
    with pytest.raises(Tripped) as refusal:
        guard.run("search", works)
    assert refusal.value.at == clock.now() + timedelta(seconds=5)
    gate.set()
    test.join(5)
    assert answers == ["late"]
    assert guard.run("search", works) == "an answer"


def test_whoever_waits_may_knock_at_a_plugin_that_rests(guard: Guard, clock: ManualClock) -> None:
    fail(guard)
    waits = interactive.set(True)
    try:
        fail(guard, 1)
        with pytest.raises(Tripped):
            guard.run("search", works)
        clock.advance(10)
        assert guard.run("search", works) == "an answer"
    finally:
        interactive.reset(waits)
    assert guard.health().rests_until is None


def test_a_test_that_is_asked_to_wait_leaves_things_as_they_are(guard: Guard, clock: ManualClock) -> None:
    fail(guard)
    clock.advance(RESTS[0])
    with pytest.raises(Unavailable, match="slow down"):
        guard.run("search", lambda: (_ for _ in ()).throw(Unavailable("sample", NOW, "slow down")))
    assert guard.health().failures == FAILURES
    assert guard.run("search", works) == "an answer", "the next call may test"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (None, False),
        (NotFound("not there"), False),
        (Refused("sample", 409, None, "no"), False),
        (DownloadRefused("sample", "dead", "nobody has it"), False),
        (Final("no"), False),
        (RetryLater(NOW, "soon"), None),
        (Unavailable("sample", NOW, "limited"), None),
        (Cancelled("not wanted"), None),
        (Transient("broke off"), True),
        (OSError("no route"), True),
        (BadAnswer("HTML"), True),
        (Misconfigured("sample", "api_key", "wrong"), True),
        (KeyError("x"), True),
    ],
)
def test_what_speaks_against_a_plugin(error: BaseException | None, *, verdict: bool | None) -> None:
    assert is_fault(error) is verdict
