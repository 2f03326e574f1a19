"""How fast and when a service may be called: the vendor's rate, its wish to wait, and rest while it is down.

These three know one another (a 429 is a limit, a retry and a hint of trouble), so one object keeps them. It reads no clock and does
no I/O: the caller brings the time and acts on what comes back.
"""

import threading
from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# How long a service rests after its first, second, … failure in a row; a success comes down one step.
BACK_OFF: tuple[int, ...] = (0, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400)
# Just after the start a failure is as likely ours (a network that is not up yet) as theirs: rest briefly.
GENTLE_START = timedelta(minutes=15)
GENTLE_REST_SECONDS = 60
GENTLE_LEVEL = BACK_OFF.index(GENTLE_REST_SECONDS) + 1
# What a 429 without Retry-After means at first; each further one doubles it up to the second number.
QUIET_SECONDS = 10
LONGEST_QUIET_SECONDS = 300
# A Retry-After beyond this is a mistake of the service or of its clock.
LONGEST_PAUSE = timedelta(hours=24)
# A person who waits may knock at a resting service this often: it may be back long before its rest ends.
KNOCK_SECONDS = 10.0
# While one call tests whether a service is back, the others look again after this long.
PROBE_SECONDS = 5.0
# Rates below this have no room for a share kept apart.
SMALLEST_SHARED_RATE = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """What a vendor allows: `requests` within `seconds`; concurrency: calls at a time."""

    requests: int = 200
    seconds: float = 60.0
    concurrency: int = 200


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to make one call. number: order of admission, so that a failure of an old call is told from a new one."""

    number: int
    is_probe: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """No leave yet: come back in `seconds`. is_paused: the service rests or asked for it, else it is only our pace."""

    seconds: float
    reason: str
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be remembered of a service. level: failures in a row, 0 when all is well; reason: of the last one."""

    paused_until: datetime | None
    level: int
    reason: str


class Pacer:
    """Gives leave to call one service. Thread-safe; answers at once.

    Any `seconds` long window holds at most `requests` calls; a tenth of them is kept for callers that a person waits for.
    """

    def __init__(self, limits: Limits, started_at: datetime, standing: Standing | None = None) -> None:
        # Written once.
        self._limits = limits
        self._started_at = started_at
        self._share_kept = limits.requests // 10 if limits.requests >= SMALLEST_SHARED_RATE else 0
        # Guarded by the lock.
        self._lock = threading.Lock()
        self._calls: deque[float] = deque()
        self._promised = 0.0
        self._number = 0
        self._pause_number = 0
        self._standing = standing or Standing(None, 0, "")
        self._asked_to_wait = False
        self._limited_at: datetime | None = None
        self._quiet = 0
        self._is_probing = False
        self._last_probe = float("-inf")

    def enter(self, now: datetime, mono: float, *, is_interactive: bool) -> Ticket | Wait:
        """Return leave for one call now, or how long to wait."""
        with self._lock:
            resting = self._rest(now, mono, is_interactive=is_interactive)
            if resting is not None:
                return resting
            busy = self._pace(mono, is_interactive=is_interactive)
            if busy is not None:
                return busy
            is_probe = self._is_half_open()
            if is_probe:
                self._is_probing, self._last_probe = True, mono
            self._number += 1
            self._calls.append(mono)
            return Ticket(self._number, is_probe)

    def leave(self, ticket: Ticket) -> None:
        """Take note that a call is over, however it ended; to be called after one of the verdicts below."""
        with self._lock:
            if ticket.is_probe:
                self._is_probing = False

    def succeeded(self, ticket: Ticket) -> Standing | None:
        """Take note of an answer; return the new standing when it changed."""
        with self._lock:
            # A call that began before the pause proves nothing about the time after it.
            if ticket.number <= self._pause_number:
                return None
            self._quiet = 0
            if self._standing == Standing(None, 0, ""):
                return None
            level = max(0, self._standing.level - 1)
            self._standing = Standing(None, level, self._standing.reason if level else "")
            self._asked_to_wait = False
            return self._standing

    def failed(self, ticket: Ticket, now: datetime, reason: str) -> Standing | None:
        """Take note that the service failed; return the new standing, None when this outage is known already."""
        with self._lock:
            # A knock in vain, by somebody who waits, says nothing new: else each would make the rest of all longer.
            is_resting = self._standing.paused_until is not None and now < self._standing.paused_until
            if ticket.number <= self._pause_number or is_resting:
                return None
            highest = len(BACK_OFF)
            if now - self._started_at < GENTLE_START:
                # Short rests are many: were each a step, the first long one would be the longest of all.
                highest = max(self._standing.level, GENTLE_LEVEL)
            level = min(self._standing.level + 1, highest)
            rest = BACK_OFF[level - 1]
            if now - self._started_at < GENTLE_START:
                rest = min(rest, GENTLE_REST_SECONDS)
            until = now + timedelta(seconds=rest) if rest else None
            self._pause(Standing(until, level, reason), asked=False)
            return self._standing

    def asked_to_wait(self, ticket: Ticket, now: datetime, seconds: float | None) -> datetime:
        """Return until when to pause because the service said so (429); None seconds = it did not say how long."""
        with self._lock:
            self._limited_at = now
            until = self._standing.paused_until
            if ticket.number <= self._pause_number and until is not None and seconds is None:
                return until
            if seconds is None:
                seconds = min(QUIET_SECONDS * 2**self._quiet, LONGEST_QUIET_SECONDS)
                self._quiet += 1
            wanted = now + min(timedelta(seconds=seconds), LONGEST_PAUSE)
            return max(wanted, until or wanted)

    def pause(self, until: datetime, reason: str) -> Standing | None:
        """Let nobody in before `until`; return the new standing, None when the pause is no longer than the one there is."""
        with self._lock:
            known = self._standing.paused_until
            if self._asked_to_wait and known is not None and until <= known:
                return None
            self._pause(Standing(until, self._standing.level, reason), asked=True)
            return self._standing

    def begin_anew(self) -> None:
        """Forget pauses and failures."""
        with self._lock:
            self._standing = Standing(None, 0, "")
            self._asked_to_wait = False
            self._quiet = 0

    def clock_was_set(self, by: timedelta) -> None:
        """Let a pause last as long as it would have; `by` is negative for a clock that was set back."""
        with self._lock:
            until = self._standing.paused_until
            if until is not None:
                self._standing = replace(self._standing, paused_until=until + by)
            if self._limited_at is not None:
                self._limited_at += by

    def standing(self) -> Standing:
        """Return what is remembered now."""
        with self._lock:
            return self._standing

    def limited_at(self) -> datetime | None:
        """Return when the service last asked to wait."""
        with self._lock:
            return self._limited_at

    def _pause(self, standing: Standing, *, asked: bool) -> None:
        # Call with the lock held.
        self._standing = standing
        self._asked_to_wait = asked
        self._pause_number = self._number

    def _is_half_open(self) -> bool:
        # Call with the lock held. After a rest (levels whose rest is not 0) one call tests the service before the others.
        return self._standing.level > 1 and self._standing.paused_until is not None

    def _rest(self, now: datetime, mono: float, *, is_interactive: bool) -> Wait | None:
        # Call with the lock held.
        until = self._standing.paused_until
        left = (until - now).total_seconds() if until else 0.0
        if left > 0:
            may_knock = is_interactive and not self._asked_to_wait and not self._is_probing
            if may_knock and mono - self._last_probe >= KNOCK_SECONDS:
                return None
            return Wait(left, self._standing.reason, is_paused=True)
        if self._is_half_open() and self._is_probing:
            return Wait(PROBE_SECONDS, self._standing.reason, is_paused=True)
        return None

    def _pace(self, mono: float, *, is_interactive: bool) -> Wait | None:
        # Call with the lock held.
        limits = self._limits
        while self._calls and self._calls[0] <= mono - limits.seconds:
            self._calls.popleft()
        allowed = limits.requests - (0 if is_interactive else self._share_kept)
        if len(self._calls) < allowed:
            return None
        # The call whose place becomes free for this caller is the one `allowed` calls back.
        free_at = self._calls[len(self._calls) - allowed] + limits.seconds
        if free_at - mono > 1.0 and not is_interactive:
            # Those who are sent away come back one after another, not all at once.
            free_at = max(free_at, self._promised + limits.seconds / limits.requests)
            self._promised = free_at
        return Wait(max(free_at - mono, 0.001), "calls are spread over time", is_paused=False)
