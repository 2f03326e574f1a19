"""Finished jobs: how many are kept, and for how long."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.queues.job import JobState, JobView

KEPT = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How many finished jobs of a queue are kept and for how long; an age of None is without limit."""

    completed: int = KEPT
    completed_age: timedelta | None = None
    failed: int = KEPT
    failed_age: timedelta | None = timedelta(hours=24)


FLOW_RETENTION = Retention()
PLUGIN_RETENTION = Retention(completed_age=timedelta(hours=6))


class Shelf:
    """The finished jobs of one kind, oldest first, cut to a count and an age whenever it is touched."""

    def __init__(self, count: int, age: timedelta | None) -> None:
        self._count = count
        self._age = age
        self._views: OrderedDict[str, JobView] = OrderedDict()

    def __len__(self) -> int:
        return len(self._views)

    def put(self, view: JobView, now: datetime) -> None:
        """Keep a finished job; the same id again replaces the older one."""
        self._views.pop(view.id, None)
        self._views[view.id] = view
        self.sweep(now)

    def get(self, job_id: str) -> JobView | None:
        """Return the finished job, None when it is not kept."""
        return self._views.get(job_id)

    def drop(self, job_id: str) -> JobView | None:
        """Forget a finished job and return it, None when it was not kept."""
        return self._views.pop(job_id, None)

    def newest(self) -> Iterator[JobView]:
        """Yield what is kept, the latest end first."""
        return reversed(self._views.values())

    def sweep(self, now: datetime) -> None:
        """Forget what is too many or too old."""
        while self._views and self._is_over(next(iter(self._views.values())), now):
            self._views.popitem(last=False)

    def _is_over(self, oldest: JobView, now: datetime) -> bool:
        if len(self._views) > self._count:
            return True
        finished = oldest.finished_at or now
        return self._age is not None and now - finished > self._age


class Finished:
    """The finished jobs of one queue."""

    def __init__(self, retention: Retention) -> None:
        self._shelves = {
            JobState.COMPLETED: Shelf(retention.completed, retention.completed_age),
            JobState.FAILED: Shelf(retention.failed, retention.failed_age),
        }

    def put(self, view: JobView, now: datetime) -> None:
        """Keep a finished job; a removed one is not kept."""
        shelf = self._shelves.get(view.state)
        if shelf is not None:
            shelf.put(view, now)

    def get(self, job_id: str, now: datetime) -> JobView | None:
        """Return the finished job, the completed one before a failed one of the same id."""
        self.sweep(now)
        found = (shelf.get(job_id) for shelf in self._shelves.values())
        return next((view for view in found if view is not None), None)

    def drop(self, job_id: str) -> JobView | None:
        """Forget a finished job and return it."""
        dropped = [shelf.drop(job_id) for shelf in self._shelves.values()]
        return next((view for view in dropped if view is not None), None)

    def newest(self, state: JobState, now: datetime) -> Iterator[JobView]:
        """Yield the kept jobs of a state, the latest end first."""
        self.sweep(now)
        shelf = self._shelves.get(state)
        return iter(()) if shelf is None else shelf.newest()

    def counts(self, now: datetime) -> dict[JobState, int]:
        """Return how many are kept by state."""
        self.sweep(now)
        return {state: len(shelf) for state, shelf in self._shelves.items()}

    def sweep(self, now: datetime) -> None:
        """Forget what is too old."""
        for shelf in self._shelves.values():
            shelf.sweep(now)
