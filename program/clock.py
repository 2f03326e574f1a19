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


# Less is a clock that is being set right little by little, or a thread that was held up between two readings.
SMALLEST_JUMP = timedelta(seconds=2)


class JumpWatch:
    """Notices when the clock was set, or the machine slept. To be asked every few seconds, by one thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.now(), clock.monotonic()

    def look(self) -> timedelta | None:
        """Return how far the clock has moved beside the time that passed since the last look; None when it kept pace."""
        then, since = self._last
        self._last = now, seconds = self._clock.now(), self._clock.monotonic()
        jump = (now - then) - timedelta(seconds=seconds - since)
        return jump if abs(jump) >= SMALLEST_JUMP else None


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
