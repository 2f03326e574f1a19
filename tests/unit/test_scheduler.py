"""The clockwork, when the clock that it counts by is set, or the machine slept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from time import monotonic

import pytest

from program.clock import SystemClock
from program.scheduler import Scheduler
from tests.support.wait import until

EVERY = timedelta(milliseconds=20)


class SetClock(SystemClock):
    """The machine's clock, which somebody sets."""

    off = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.off


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Return the machine's clock, also as APScheduler reads it."""
    found = SetClock()

    class Read(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return found.now().astimezone(tz or UTC)

    monkeypatch.setattr("apscheduler.schedulers.base.datetime", Read)
    return found


@pytest.fixture
def ticks(clock: SetClock) -> Iterator[list[float]]:
    """Return when a small function was called, which is due again and again."""
    called: list[float] = []
    scheduler = Scheduler(clock)
    scheduler.every(EVERY, "tick", lambda: called.append(monotonic()))
    scheduler.start()
    until(lambda: len(called) > 1, what="the first calls")
    yield called
    scheduler.stop()


def test_a_clock_that_is_set_back_does_not_hold_up_what_is_due(clock: SetClock, ticks: list[float]) -> None:
    clock.off = -timedelta(hours=3)
    before = len(ticks)
    until(lambda: len(ticks) > before + 3, 5.0, what="calls under the new time")


def test_a_sleep_of_years_is_not_gone_through_call_by_call(clock: SetClock, ticks: list[float]) -> None:
    clock.off = timedelta(days=365 * 20)
    before = len(ticks)
    until(lambda: len(ticks) > before + 3, 5.0, what="calls under the new time")
