"""What stands between the program and a plugin's code: a thread of its own, a deadline, and rest after failures in a row.

A thread cannot be killed. So each call runs on a thread of its own while the caller waits until the deadline and no longer; what
comes later is dropped. A plugin may have `STUCK` such calls that never ended; then none is begun until one of them does.

working ──`FAILURES` in a row──▶ tripped: calls are refused ──time is up──▶ one call is let through
   ╰───◀──────────────success──────────────╯──────────────◀──failure──────────────╯
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar, cast

from program.clock import Clock
from program.errors import (
    BadAnswer,
    Cancelled,
    Final,
    Misconfigured,
    RetryLater,
    Transient,
    Unavailable,
    sentence_of,
)
from program.http import interactive
from program.log import in_context, logger
from program.pacing import KNOCK_SECONDS

T = TypeVar("T")

# So many failures in a row, and a plugin gets a rest.
FAILURES = 5
# Calls that overran and still run, beyond which no more are begun.
STUCK = 8
# How long the first, second, … rest lasts; then always the last.
RESTS = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300, 900, 1800, 3600))
# While one call tests whether a plugin works again, the others come back after this.
PROBE = timedelta(seconds=5)


class Tripped(Unavailable):
    """A plugin rests after too many failures in a row."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a call of a plugin last failed by."""

    at: datetime
    what: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Health:
    """How a plugin's calls went. failures: in a row; stuck: calls that overran and still run; rests_until: when it is tripped."""

    failures: int = 0
    stuck: int = 0
    rests_until: datetime | None = None
    last_fault: Fault | None = None
    worked_at: datetime | None = None


class Guard:
    """Calls one plugin's code. Thread-safe. key: the plugin's; deadline: seconds that one call may take."""

    def __init__(self, key: str, clock: Clock, deadline: float) -> None:
        self._key = key
        self._clock = clock
        self.deadline = deadline
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._failures = 0
        self._trips = 0
        self._stuck = 0
        self._is_probing = False
        self._probed_at = float("-inf")
        self._rests_until: datetime | None = None
        self._last_fault: Fault | None = None
        self._worked_at: datetime | None = None

    def run(self, what: str, call: Callable[[], T]) -> T:
        """Return what `call` returns, and keep count of how it ended.

        Raises what it raised, `Transient` when it did not end in time, `Tripped` when the plugin rests.
        """
        is_probe = self._admit()
        try:
            value = self.bounded(what, call)
        except BaseException as error:
            self._ended(what, error, is_probe=is_probe)
            raise
        self._ended(what, None, is_probe=is_probe)
        return value

    def bounded(self, what: str, call: Callable[[], T], seconds: float | None = None) -> T:
        """Return what `call` returns, whether the plugin rests or not; it may take `seconds`, else the plugin's deadline.

        Raises what it raised, `Transient` when it did not end in time, `Tripped` when too many calls never ended.
        """
        with self._lock:
            if self._stuck >= STUCK:
                raise Tripped(
                    self._key, self._clock.now() + RESTS[0], f"{self._stuck} of its calls never ended"
                )
        with logger.contextualize(provider=self._key, event=what):
            running = _Running(in_context(call), f"{self._key} {what}", self._freed)
        running.start()
        seconds = self.deadline if seconds is None else seconds
        if not running.done.wait(seconds) and self._give_up(running):
            raise Transient(f"{self._key}: {what} did not end within {seconds:g} s")
        return running.value()

    def clock_was_set(self, by: timedelta) -> None:
        """Let a rest last as long as it would have; `by` is negative for a clock that was set back."""
        with self._lock:
            if self._rests_until is not None:
                self._rests_until += by

    def health(self) -> Health:
        """Return how its calls went."""
        with self._lock:
            return Health(self._failures, self._stuck, self._rests_until, self._last_fault, self._worked_at)

    def _admit(self) -> bool:
        """Return whether the call tests if the plugin works again; raise `Tripped` when it may not be made."""
        with self._lock:
            now = self._clock.now()
            if self._rests_until is None:
                return False
            # Somebody who waits may knock: it may be back long before its rest ends.
            may_knock = interactive.get() and self._clock.monotonic() - self._probed_at >= KNOCK_SECONDS
            if self._is_probing or (now < self._rests_until and not may_knock):
                until = max(self._rests_until, now + PROBE)
                raise Tripped(
                    self._key, until, f"rests after {self._failures} failures in a row{self._last()}"
                )
            self._is_probing, self._probed_at = True, self._clock.monotonic()
            return True

    def _last(self) -> str:
        # Call with the lock held.
        return f", the last: {self._last_fault.sentence}" if self._last_fault else ""

    def _give_up(self, running: "_Running[T]") -> bool:
        with self._lock:
            if not running.abandon():
                return False
            self._stuck += 1
        return True

    def _freed(self) -> None:
        """Take note that a call which was given up has ended after all."""
        with self._lock:
            self._stuck -= 1

    def _ended(self, what: str, error: BaseException | None, *, is_probe: bool) -> None:
        fault = is_fault(error)
        with self._lock:
            self._is_probing = self._is_probing and not is_probe
            if fault is None:
                return
            line = self._failed(what, error, is_probe=is_probe) if fault and error else self._worked()
        if line:
            logger.bind(provider=self._key).log("WARNING" if fault else "INFO", "{}", line)

    def _failed(self, what: str, error: BaseException, *, is_probe: bool) -> str | None:
        # Call with the lock held. Returns the line to write when that is news.
        now, sentence = self._clock.now(), sentence_of(error)
        self._failures += 1
        self._last_fault = Fault(now, what, sentence)
        is_resting = self._rests_until is not None
        if self._failures < FAILURES or (is_resting and not is_probe):
            return None
        self._rests_until = now + RESTS[min(self._trips, len(RESTS) - 1)]
        self._trips += 1
        failed = f"{self._key} failed {self._failures} times in a row and rests, the last time at {what}: {sentence}"
        return None if is_resting else failed

    def _worked(self) -> str | None:
        # Call with the lock held. Returns the line to write when that is news.
        was_resting = self._rests_until is not None
        self._failures = self._trips = 0
        self._rests_until = None
        self._worked_at = self._clock.now()
        return f"{self._key} works again" if was_resting else None


def is_fault(error: BaseException | None) -> bool | None:
    """Return whether a call that ended so speaks against the plugin; None when it says nothing about it."""
    if error is None:
        return False
    # It asks to wait, or was called off.
    if isinstance(error, RetryLater | Cancelled):
        return None
    # "Not known there", "we will not hold that": the service works and says no.
    return isinstance(error, BadAnswer | Misconfigured) or not isinstance(error, Final)


class _Running(threading.Thread, Generic[T]):
    """One call on its own thread. freed: called at its end when it was given up before."""

    def __init__(self, call: Callable[[], T], name: str, freed: Callable[[], None]) -> None:
        super().__init__(name=f"plugin {name}", daemon=True)
        self.done = threading.Event()
        self._call = call
        self._freed = freed
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._is_over = False
        self._is_abandoned = False
        # Read only once done.
        self._value: T | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Make the call and keep what came of it."""
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001 - a plugin's error is raised again in the thread that waits for it
            self._error = error
        with self._lock:
            self._is_over = True
            is_late = self._is_abandoned
        self.done.set()
        if is_late:
            self._freed()

    def abandon(self) -> bool:
        """Have nobody wait for it any more; False when it has just ended."""
        with self._lock:
            self._is_abandoned = not self._is_over
            return self._is_abandoned

    def value(self) -> T:
        """Return what the call returned or raise what it raised; it has ended."""
        self.done.wait()
        if isinstance(self._error, Exception):
            raise self._error
        if self._error is not None:
            # It wanted to end the program.
            raise RuntimeError(f"it raised {type(self._error).__name__}") from self._error
        return cast("T", self._value)
