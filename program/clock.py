"""Where time comes from. Everything that needs the time takes a `Clock`; only this module reads it."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the program asks of a clock."""

    def now(self) -> datetime:
        """Return the present instant, aware UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards; for waits only."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present instant, aware UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved; for tests and for replaying a schedule."""

    def __init__(self, start: datetime) -> None:
        self._lock = threading.Lock()
        self._now = start
        self._mono = 0.0

    def now(self) -> datetime:
        """Return the instant it was last moved to."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Return the seconds it was moved in all."""
        with self._lock:
            return self._mono

    def advance(self, step: timedelta | float) -> datetime:
        """Move forward by `step` (a number is seconds) and return the new instant."""
        delta = step if isinstance(step, timedelta) else timedelta(seconds=step)
        with self._lock:
            self._now += delta
            self._mono += delta.total_seconds()
            return self._now
