"""One queue at work: who waits, who is delayed, how many run. Guarded by the engine's lock; the time is an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, islice

from program.queues.job import JobState, JobView, Priority
from program.queues.keys import Keys
from program.queues.queue import QueueDef
from program.queues.record import Record
from program.queues.retention import Finished
from program.queues.waiting import Line, Schedule, Turn

LISTED = (JobState.ACTIVE, JobState.WAITING, JobState.DELAYED, JobState.WAITING_CHILDREN)
FINISHED = (JobState.FAILED, JobState.COMPLETED)


class Lane:
    """The jobs of one queue.

    limit: how many run at a time. order: the engine's counter of arrivals. late: children that their parents went on without.
    """

    def __init__(self, definition: QueueDef, limit: int, order: Iterator[int]) -> None:
        self.definition = definition
        self.limit = limit
        self.keys = Keys()
        self.finished = Finished(definition.kept())
        self.live: dict[str, Record] = {}
        self.late = 0
        self.paused_until: datetime | None = None
        self._order = order
        self._urgent: Line[Record] = Line()
        self._ordinary: Line[Record] = Line()
        self._delayed: Schedule[Record] = Schedule()
        self._starts: deque[datetime] = deque()
        self._running = 0

    def enter(self, record: Record, now: datetime) -> None:
        """Know a new job and give it its dedup id."""
        self.live[record.id] = record
        if record.spec.dedup_id is not None:
            self.keys.hold(record.spec.dedup_id, record.id, now, record.spec.dedup_ttl)

    def leave(self, record: Record) -> None:
        """Forget a job that ends; its key is freed unless it has a ttl of its own that still counts."""
        self._take_out(record)
        del self.live[record.id]
        if record.spec.dedup_id is not None:
            is_removed = record.state is JobState.REMOVED
            self.keys.release(record.spec.dedup_id, record.id, even_with_ttl=is_removed)

    def ready(self, record: Record, now: datetime) -> None:
        """Let a job wait for its turn, at the place it has had."""
        self._take_out(record)
        record.state = JobState.WAITING
        record.run_at = record.reason = None
        turn = Turn(record.priority, record.order)
        self._line(record).push(record, turn, now)

    def delay(self, record: Record, until: datetime, reason: str | None) -> None:
        """Let a job wait until an instant."""
        self._take_out(record)
        record.state = JobState.DELAYED
        record.run_at, record.reason = until, reason
        self._delayed.push(record, until)

    def park(self, record: Record) -> None:
        """Let a job wait for its children."""
        self._take_out(record)
        record.state = JobState.WAITING_CHILDREN

    def start(self, record: Record, now: datetime) -> None:
        """Count a waiting job as running."""
        self._take_out(record)
        record.state = JobState.ACTIVE
        record.started_at = now
        self._running += 1
        if self.definition.limiter is not None:
            self._starts.append(now)

    def stop(self) -> None:
        """Count a job as no longer running."""
        self._running -= 1

    def raise_class(self, record: Record, priority: Priority, now: datetime) -> None:
        """Put a job into a better class; one already as good stays."""
        if record.priority <= priority:
            return
        if record.state is JobState.WAITING:
            self._take_out(record)
            record.priority = priority
            self.ready(record, now)
        record.priority = priority

    def promote(self, now: datetime) -> None:
        """Let the delayed jobs that are due wait for their turn, behind those that wait already."""
        for record in self._delayed.due(now):
            record.order = next(self._order)
            self.ready(record, now)

    def candidate(self, now: datetime, *, is_reserved: bool, only_urgent: bool) -> tuple[Turn, Record] | None:
        """Return who may start now; a reserved worker takes urgent jobs only, one beyond the limit."""
        if not self._urgent and not self._ordinary:
            return None
        if self._running >= self.limit + is_reserved or self.opens_at(now) is not None:
            return None
        lines = (self._urgent,) if is_reserved or only_urgent else (self._urgent, self._ordinary)
        heads = [head for line in lines if (head := line.head(now)) is not None]
        return min(heads, key=lambda head: head[0], default=None)

    def opens_at(self, now: datetime) -> datetime | None:
        """Return until when no job of the queue may start, None when one may."""
        instants = [at for at in (self.paused_until, self._limited_until(now)) if at is not None and at > now]
        return max(instants, default=None)

    def next_due(self, now: datetime) -> datetime | None:
        """Return when something happens by time alone."""
        opens_at = self.opens_at(now) if self._urgent or self._ordinary else None
        instants = [at for at in (self._delayed.next(), opens_at) if at is not None]
        return min(instants, default=None)

    def move(self, by: timedelta) -> None:
        """Let everything that waits for an instant wait for one that is later by `by`, or earlier when that is negative."""
        for waiting in (self._delayed, self._urgent, self._ordinary):
            waiting.move(by)
        for record in self.live.values():
            record.run_at = record.run_at + by if record.run_at is not None else None
        self.paused_until = self.paused_until + by if self.paused_until is not None else None
        self._starts = deque(at + by for at in self._starts)

    def is_held_up(self, record: Record, now: datetime) -> bool:
        """Tell whether a job waits for an instant rather than for its turn."""
        is_paused = self.paused_until is not None and self.paused_until > now
        return record.state is JobState.DELAYED or (record.state is JobState.WAITING and is_paused)

    def waiting(self) -> Iterator[Record]:
        """Yield the jobs that wait for their turn."""
        yield from self._urgent
        yield from self._ordinary

    def counts(self, now: datetime) -> dict[JobState, int]:
        """Return how many jobs stand where."""
        waiting = len(self._urgent) + len(self._ordinary)
        counts = {
            JobState.WAITING: waiting,
            JobState.DELAYED: len(self._delayed),
            JobState.ACTIVE: self._running,
            JobState.WAITING_CHILDREN: len(self.live) - waiting - len(self._delayed) - self._running,
        }
        return counts | self.finished.counts(now)

    def views(self, states: Collection[JobState] | None, limit: int, now: datetime) -> list[JobView]:
        """Return jobs: the running ones, those to come in their order, then the finished, the latest first."""
        wanted = (*LISTED, *FINISHED) if states is None else states
        live = [record for record in self.live.values() if record.state in wanted]
        live.sort(key=lambda record: (LISTED.index(record.state), *self._place(record)))
        views = [record.view(now) for record in live[:limit]]
        for state in FINISHED:
            if state in wanted:
                views.extend(islice(self.finished.newest(state, now), limit - len(views)))
        return views

    def keep(self, view: JobView, now: datetime) -> None:
        """Keep a finished job for the lists: without its value unless someone may ask for it again, and without its data.

        Data may hold every episode of a show, and thousands of jobs are kept. A failed job keeps its spec, to be added anew from.
        """
        if view.spec.job_id is None and view.spec.dedup_ttl is None:
            spec = view.spec if view.state is JobState.FAILED else replace(view.spec, data=None, children=())
            view = replace(view, value=None, data=None, spec=spec)
        self.finished.put(view, now)

    def _line(self, record: Record) -> Line[Record]:
        return self._urgent if record.priority is Priority.INTERACTIVE else self._ordinary

    def _take_out(self, record: Record) -> None:
        self._urgent.remove(record)
        self._ordinary.remove(record)
        self._delayed.remove(record)

    def _place(self, record: Record) -> tuple[datetime, int, int]:
        at = record.run_at or record.started_at or record.created_at
        if record.state is JobState.WAITING:
            turn = self._line(record).turn(record)
            return (datetime.min.replace(tzinfo=at.tzinfo), turn.rank, turn.order)
        return (at, 0, record.order)

    def _limited_until(self, now: datetime) -> datetime | None:
        limiter = self.definition.limiter
        if limiter is None:
            return None
        while self._starts and self._starts[0] <= now - limiter.per:
            self._starts.popleft()
        return self._starts[-limiter.starts] + limiter.per if len(self._starts) >= limiter.starts else None


def arrivals() -> Iterator[int]:
    """Return a counter shared by the lanes of one engine."""
    return count(1)
