"""The two structures of a queue: what may start now, and what may start later. Pure; the time is an argument."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

# A waiting job gains a class after each of these, so that nothing waits for ever.
AGEING = timedelta(minutes=10)


class Turn(NamedTuple):
    """A job's place: the class it has reached, then the order in which it came."""

    rank: int
    order: int


class Schedule(Generic[T]):
    """Things that become due at an instant, earliest first, in the order of pushing when equal."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, T]] = []
        self._tickets: dict[T, int] = {}
        self._counter = count()

    def __len__(self) -> int:
        return len(self._tickets)

    def __contains__(self, thing: object) -> bool:
        return thing in self._tickets

    def push(self, thing: T, at: datetime) -> None:
        """Make a thing due at an instant, in place of an earlier one."""
        ticket = next(self._counter)
        self._tickets[thing] = ticket
        heapq.heappush(self._heap, (at, ticket, thing))

    def remove(self, thing: T) -> None:
        """Forget a thing; an unknown one is fine."""
        self._tickets.pop(thing, None)

    def due(self, now: datetime) -> Iterator[T]:
        """Take out and yield what is due."""
        while (at := self.next()) is not None and at <= now:
            thing = heapq.heappop(self._heap)[2]
            del self._tickets[thing]
            yield thing

    def move(self, by: timedelta) -> None:
        """Make everything due later by `by`, or earlier when that is negative."""
        self._heap = [(at + by, ticket, thing) for at, ticket, thing in self._heap]

    def next(self) -> datetime | None:
        """Return when the next thing is due, None when there is none."""
        while self._heap:
            at, ticket, thing = self._heap[0]
            if self._tickets.get(thing) == ticket:
                return at
            heapq.heappop(self._heap)
        return None


class Line(Generic[T]):
    """Things that may start now: the best class first, in a class the earliest; each gains a class with time."""

    def __init__(self) -> None:
        self._heap: list[tuple[Turn, int, T]] = []
        self._places: dict[T, tuple[Turn, int]] = {}
        self._ageing: Schedule[T] = Schedule()
        self._counter = count()

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[T]:
        return iter(self._places)

    def push(self, thing: T, turn: Turn, now: datetime) -> None:
        """Put a thing in its place."""
        ticket = next(self._counter)
        self._places[thing] = (turn, ticket)
        heapq.heappush(self._heap, (turn, ticket, thing))
        if turn.rank > 0:
            self._ageing.push(thing, now + AGEING)

    def remove(self, thing: T) -> None:
        """Take a thing out, wherever it stands; an unknown one is fine."""
        self._places.pop(thing, None)
        self._ageing.remove(thing)

    def move(self, by: timedelta) -> None:
        """Have everything gain its next class later by `by`, or earlier when that is negative."""
        self._ageing.move(by)

    def head(self, now: datetime) -> tuple[Turn, T] | None:
        """Return who is next and with what turn, None when nobody waits."""
        self._age(now)
        while self._heap:
            turn, ticket, thing = self._heap[0]
            if self._places.get(thing) == (turn, ticket):
                return turn, thing
            heapq.heappop(self._heap)
        return None

    def turn(self, thing: T) -> Turn:
        """Return the turn of a waiting thing; KeyError when it does not wait."""
        return self._places[thing][0]

    def _age(self, now: datetime) -> None:
        while (since := self._ageing.next()) is not None and since <= now:
            thing = next(self._ageing.due(since))
            turn = self._places[thing][0]
            self.push(thing, Turn(turn.rank - 1, turn.order), since)
