"""Trees of jobs: how a child's end moves its parent, and what goes when a parent goes.

Guarded by the engine's lock; the time is an argument. The rule behind all of it: a parent whose children have all
ended is never parked.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from program.queues.errors import ChildFailed, InvalidJob
from program.queues.job import ChildFailure, ChildPolicy, ChildValue, JobState, JobView, LateChild
from program.queues.lane import Lane
from program.queues.record import Link, Record
from program.queues.waiting import Schedule


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that has ended, to be reported once the lock is free: first to those who wait for its value."""

    view: JobView
    waiters: tuple[Future[JobView], ...]


class Flows:
    """The lanes of an engine and the bonds between their jobs."""

    def __init__(self) -> None:
        self.lanes: dict[str, Lane] = {}
        self.deadlines: Schedule[Record] = Schedule()
        self.ended: list[Ended] = []

    def lane(self, queue: str) -> Lane:
        """Return a queue's lane; raise `InvalidJob` for an unknown queue."""
        try:
            return self.lanes[queue]
        except KeyError:
            raise InvalidJob(f"there is no queue {queue}") from None

    def bind(self, parent: Record, child: Record, policy: ChildPolicy) -> None:
        """Let a parent wait for a child."""
        link = Link(parent, child, policy)
        parent.children.append(link)
        child.parents.append(link)

    def end(
        self,
        record: Record,
        state: JobState,
        now: datetime,
        *,
        value: object = None,
        error: Exception | None = None,
    ) -> None:
        """End a job: free its key, keep it for the lists, tell its parents; unless completed, its children go too."""
        record.state = state
        lane = self.lane(record.queue)
        lane.leave(record)
        self.deadlines.remove(record)
        if state is not JobState.COMPLETED:
            for link in tuple(record.children):
                self._abandon(link, now)
        view = record.view(now, value, _lean(error))
        lane.keep(view, now)
        self.ended.append(Ended(view, tuple(record.waiters)))
        for link in record.parents:
            self.deliver(link, view, now)
        record.let_go()

    def call_off(self, record: Record, now: datetime) -> None:
        """Remove a job: at once with its children, or, while its handler runs, when that returns."""
        if record.has_ended:
            return
        if record.state is JobState.ACTIVE:
            record.is_called_off = True
            record.token.set()
        else:
            self.end(record, JobState.REMOVED, now)

    def deliver(self, link: Link, view: JobView, now: datetime) -> None:
        """Bring a child's end to its parent; one that comes late is dropped (it was counted when it became late)."""
        parent = link.parent
        if link in parent.children:
            parent.children.remove(link)
        if link.is_late or parent.has_ended:
            return
        if view.state is JobState.COMPLETED:
            parent.completed.append(ChildValue(view.name, view.queue, view.value))
        elif view.error is not None and view.state is JobState.FAILED:
            self._deliver_failure(parent, link.policy, view, view.error, now)
        self.resume_if_complete(parent, now)

    def resume_if_complete(self, parent: Record, now: datetime) -> None:
        """Let a parked parent go on when it waits for nobody any more."""
        if parent.state is JobState.WAITING_CHILDREN and not parent.pending():
            self._resume(parent, now)

    def arm(self, record: Record, now: datetime) -> None:
        """Start the deadlines above a job that has started, or that cannot start."""
        for parent in record.above():
            if parent.deadline is not None:
                self.deadlines.push(parent, now + parent.deadline)
                parent.deadline = None

    def expire(self, now: datetime) -> None:
        """Let the parents whose deadline is past go on without what is not there."""
        for parent in tuple(self.deadlines.due(now)):
            pending = parent.pending()
            self._go_on(parent, now)
            for link in pending:
                self._drop_late(link, now)

    def _deliver_failure(
        self, parent: Record, policy: ChildPolicy, view: JobView, error: Exception, now: datetime
    ) -> None:
        if policy is ChildPolicy.FAIL_PARENT:
            self.end(parent, JobState.FAILED, now, error=ChildFailed(view.queue, view.name, error))
            return
        if policy is not ChildPolicy.FORGET:
            parent.failed.append(ChildFailure(view.name, view.queue, error))
        if policy is ChildPolicy.CONTINUE_NOW:
            self._go_on(parent, now)

    def _go_on(self, parent: Record, now: datetime) -> None:
        for link in parent.pending():
            link.is_late = True
            if link.child is not None:
                parent.late.append(LateChild(link.child.spec.name, link.child.queue))
                self.lane(link.child.queue).late += 1
        self.resume_if_complete(parent, now)

    def _resume(self, parent: Record, now: datetime) -> None:
        parent.has_waited = True
        parent.deadline = None
        self.deadlines.remove(parent)
        lane = self.lane(parent.queue)
        earliest = parent.created_at + parent.spec.delay
        if earliest > now:
            lane.delay(parent, earliest, None)
        else:
            lane.ready(parent, now)

    def _drop_late(self, link: Link, now: datetime) -> None:
        """Take back a late child that has not started; one that has is told to stop, and may still end well."""
        child = link.child
        if child is None or child.is_wanted:
            return
        if child.state is JobState.ACTIVE:
            child.token.set()
        else:
            self.call_off(child, now)

    def _abandon(self, link: Link, now: datetime) -> None:
        link.is_late = True
        link.parent.children.remove(link)
        if link.child is not None and not link.child.is_wanted:
            self.call_off(link.child, now)


def live_children(record: Record) -> Iterator[Record]:
    """Yield the children a job waits for."""
    for link in record.pending():
        if link.child is not None:
            yield link.child


def _lean(error: Exception | None) -> Exception | None:
    """Return an error without the frames it came from, which would keep their data alive as long as it is kept."""
    if error is not None:
        error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
