"""Those who wait for bytes of one file: each is woken once, by whoever brings the last of them."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from program.vfs.cursors import Cursor


@dataclass(slots=True, eq=False)
class Waiter:
    """Somebody who waits for the bytes [start, stop) since a moment of the monotonic clock."""

    start: int
    stop: int
    cursor: Cursor
    since: float
    settled: threading.Event = field(default_factory=threading.Event)
    views: list[memoryview] = field(default_factory=list)
    error: BaseException | None = None


@dataclass(slots=True)
class Waiters:
    """All who wait. Not locked; the reader does that."""

    _waiting: list[Waiter] = field(default_factory=list)

    def __iter__(self) -> Iterator[Waiter]:
        """Yield them as they are now, whoever is settled meanwhile."""
        return iter(list(self._waiting))

    def __bool__(self) -> bool:
        """Return whether anybody waits."""
        return bool(self._waiting)

    def add(self, start: int, stop: int, cursor: Cursor, now: float) -> Waiter:
        """Return somebody who waits from now on."""
        waiter = Waiter(start, stop, cursor, now)
        self._waiting.append(waiter)
        return waiter

    def settle(self, waiter: Waiter, views: list[memoryview], error: BaseException | None = None) -> None:
        """Wake one who waits, with bytes or an error, unless somebody has."""
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            waiter.views, waiter.error = views, error
            waiter.settled.set()

    def overlapping(self, start: int, stop: int) -> list[Waiter]:
        """Return those who wait for a byte of the range."""
        return [waiter for waiter in self._waiting if waiter.start < stop and start < waiter.stop]

    def wanted_next(self, position: int) -> int | None:
        """Return the offset up to which somebody waits for the bytes at `position`."""
        stops = [waiter.stop for waiter in self._waiting if waiter.start <= position < waiter.stop]
        return min(stops, default=None)
