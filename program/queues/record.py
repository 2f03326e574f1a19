"""A live job inside the engine, and the bonds between parents and children. Guarded by the engine's lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from program.queues.job import (
    ChildFailure,
    ChildPolicy,
    ChildResults,
    ChildValue,
    JobSpec,
    JobState,
    JobView,
    LateChild,
    Priority,
)

ENDS = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.REMOVED})


@dataclass(slots=True, eq=False)
class Link:
    """A parent that waits for a child; late when it no longer does."""

    parent: Record
    child: Record | None
    policy: ChildPolicy
    is_late: bool = False


@dataclass(slots=True, eq=False)
class Record:
    """One live job.

    order: its place among those of its class. is_root: wanted for itself, not only by a parent.
    children: every child that has not ended, the late ones too. is_called_off: removed while its handler runs.
    """

    spec: JobSpec
    id: str
    order: int
    data: object
    priority: Priority
    created_at: datetime
    state: JobState = JobState.WAITING
    is_root: bool = False
    is_called_off: bool = False
    has_waited: bool = False
    failures: int = 0
    started_at: datetime | None = None
    run_at: datetime | None = None
    reason: str | None = None
    deadline: timedelta | None = None
    token: threading.Event = field(default_factory=threading.Event)
    parents: list[Link] = field(default_factory=list)
    children: list[Link] = field(default_factory=list)
    completed: list[ChildValue] = field(default_factory=list)
    failed: list[ChildFailure] = field(default_factory=list)
    late: list[LateChild] = field(default_factory=list)
    waiters: list[Future[JobView]] = field(default_factory=list)

    @property
    def queue(self) -> str:
        """Return the name of its queue."""
        return self.spec.queue

    @property
    def has_ended(self) -> bool:
        """True once it is completed, failed or removed."""
        return self.state in ENDS

    @property
    def is_wanted(self) -> bool:
        """True while somebody waits for its value, or it was added for itself."""
        return self.is_root or any(not link.is_late for link in self.parents)

    def pending(self) -> list[Link]:
        """Return the children it waits for."""
        return [link for link in self.children if not link.is_late]

    def results(self) -> ChildResults:
        """Return what its children brought so far."""
        return ChildResults(tuple(self.completed), tuple(self.failed), tuple(self.late))

    def start_over(self) -> None:
        """Forget attempts and children, as a new step or a new wait does; children still at work become late."""
        self.failures = 0
        self.has_waited = False
        self.completed, self.failed, self.late = [], [], []
        for link in self.children:
            link.is_late = True

    def let_go(self) -> None:
        """Forget everybody it knew, so that an ended job keeps no other's data alive."""
        self.completed, self.failed, self.waiters = [], [], []
        self.parents, self.children = [], []

    def above(self) -> Iterator[Record]:
        """Yield the parents that wait for it, and theirs."""
        for link in self.parents:
            if not link.is_late:
                yield link.parent
                yield from link.parent.above()

    def view(self, now: datetime, value: object = None, error: Exception | None = None) -> JobView:
        """Return it as lists and listeners see it."""
        return JobView(
            id=self.id,
            queue=self.queue,
            name=self.spec.name,
            data=self.data,
            dedup_id=self.spec.dedup_id,
            priority=self.priority,
            state=self.state,
            value=value,
            error=error,
            attempts=self.failures,
            created_at=self.created_at,
            started_at=self.started_at,
            finished_at=now if self.has_ended else None,
            run_at=self.run_at,
            reason=self.reason,
            waiting_for=len(self.pending()),
            parents=tuple(link.parent.id for link in self.parents),
            spec=self.spec,
        )
