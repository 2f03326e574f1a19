"""Who looks through files waits for those who watch: at most so many at once meanwhile, and so many bytes an hour in all.

Nobody is refused. A read that is held back goes on after a few seconds in any case, so that an analysis gets slow and never fails.
"""

import threading
from collections import deque
from dataclasses import dataclass, field

from program.clock import Clock

# Somebody who read on so lately is still watching: players fill their buffer and rest.
WATCHED_SECONDS = 30.0

# A handle keeps its turn for so long after its last read.
TURN_SECONDS = 2.0

# How long a read is held back at most, and how often it looks whether it may go on.
HOLD_SECONDS, LOOK_SECONDS = 5.0, 0.1

HOUR, MINUTE = 3600.0, 60.0


@dataclass(slots=True)
class Guard:
    """The turns of all handles that look through files. handles: at once; hourly: bytes, 0 for any number."""

    clock: Clock
    handles: int
    hourly: int
    hold_seconds: float = HOLD_SECONDS
    _stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # Guarded by the lock: when each handle that has a turn last read, and the bytes of each minute of the last hour.
    _turns: dict[int, float] = field(default_factory=dict)
    _spent: deque[tuple[float, int]] = field(default_factory=deque)
    _sum: int = 0
    _watched_at: float = -HOUR

    def watched(self, now: float) -> None:
        """Note that somebody watches. now: monotonic seconds."""
        self._watched_at = now

    def allows(self, handle: int, count: int, now: float) -> bool:
        """Return whether a handle that looks through a file may fetch `count` bytes now; if so they are counted."""
        with self._lock:
            self._forget(now)
            is_crowded = handle not in self._turns and len(self._turns) >= self.handles
            if is_crowded and now - self._watched_at < WATCHED_SECONDS:
                return False
            if self.hourly and self._sum + count > self.hourly:
                return False
            self._count(handle, count, now)
            return True

    def hold(self, handle: int, count: int) -> None:
        """Wait until the handle may fetch, a few seconds at most."""
        begun = self.clock.monotonic()
        while not self._stopping.wait(LOOK_SECONDS):
            now = self.clock.monotonic()
            if self.allows(handle, count, now):
                return
            if now - begun >= self.hold_seconds:
                break
        with self._lock:
            self._count(handle, count, self.clock.monotonic())

    def stop(self) -> None:
        """Let everybody go on."""
        self._stopping.set()

    # Call everything below with the lock held.

    def _count(self, handle: int, count: int, now: float) -> None:
        self._turns[handle] = now
        self._sum += count
        if self._spent and now - self._spent[-1][0] < MINUTE:
            since, before = self._spent.pop()
            self._spent.append((since, before + count))
        else:
            self._spent.append((now, count))

    def _forget(self, now: float) -> None:
        """Drop turns that were not used, and what was spent more than an hour ago."""
        for handle in [handle for handle, last in self._turns.items() if now - last > TURN_SECONDS]:
            del self._turns[handle]
        while self._spent and now - self._spent[0][0] >= HOUR:
            self._sum -= self._spent.popleft()[1]
