"""A job as its queue, its handler and the views see it: values only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from program.errors import Cancelled
from program.queues.errors import InvalidJob

T = TypeVar("T")


class JobState(StrEnum):
    """Where a job stands. The last three are ends; a removed job is reported to listeners and then forgotten."""

    WAITING = "waiting"
    DELAYED = "delayed"
    ACTIVE = "active"
    WAITING_CHILDREN = "waiting-children"
    COMPLETED = "completed"
    FAILED = "failed"
    REMOVED = "removed"


class Priority(IntEnum):
    """The class of a job; the lower goes first, and a waiting job gains one every ten minutes."""

    INTERACTIVE = 0  # a player or a person waits
    FRONT = 1  # part of something already begun (`lifo` in the specification)
    NORMAL = 2
    BACKGROUND = 3  # re-index, upgrades, analysis


class ChildPolicy(Enum):
    """What the final failure of a child means to its parent."""

    FAIL_PARENT = "fail-parent"
    IGNORE = "ignore"  # the parent goes on when no child is left, and sees the failure
    CONTINUE_NOW = "continue-now"  # the parent goes on at once; what the other children bring is dropped
    FORGET = "forget"  # the parent goes on when no child is left, and sees nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """A job to be added.

    job_id: an id of its own; as long as that job is alive or kept as completed, adding it again means the same job.
    dedup_id: held until the job ends; with `dedup_ttl` it lives exactly that long, whatever becomes of the job.
    priority: None takes the parent's class, at the root NORMAL. attempts: runs in all.
    policy: what this job's failure means to its parent. deadline: how long it waits for its children once one of them
    has started (or cannot start because its queue is paused).
    """

    queue: str
    name: str
    data: object
    job_id: str | None = None
    dedup_id: str | None = None
    dedup_ttl: timedelta | None = None
    priority: Priority | None = None
    delay: timedelta = timedelta()
    attempts: int = 3
    policy: ChildPolicy = ChildPolicy.FAIL_PARENT
    children: tuple[JobSpec, ...] = ()
    deadline: timedelta | None = None


class Added(NamedTuple):
    """The answer to `add`. is_new: False when a job with that id or dedup id was already there."""

    job_id: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Done:
    """The job is complete; `value` goes to its parent."""

    value: object = None


@dataclass(frozen=True, slots=True)
class Next:
    """The same job runs again with new data: next step, attempts from one, no children, the key kept.

    reason: how far it is, for the lists.
    """

    data: object
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WaitFor:
    """The job runs again when its children have ended, or at the deadline without the late ones.

    data: replaces the job's data; None keeps it. deadline: as in `JobSpec`.
    """

    children: tuple[JobSpec, ...]
    data: object = None
    deadline: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Delay:
    """The job runs again at `until`; costs no attempt. data: replaces the job's data; None keeps it."""

    until: datetime
    reason: str
    data: object = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The job has failed for good, however many attempts are left."""

    error: Exception


Outcome: TypeAlias = Done | Next | WaitFor | Delay | Fail


class ChildValue(NamedTuple):
    """What a completed child brought."""

    name: str
    queue: str
    value: object


class ChildFailure(NamedTuple):
    """A failed child whose policy let its parent go on."""

    name: str
    queue: str
    error: Exception


class LateChild(NamedTuple):
    """A child that the parent went on without."""

    name: str
    queue: str


def matches(pattern: str, queue: str) -> bool:
    """Tell whether a queue's name is the pattern, or begins with it up to its trailing `*`."""
    return queue.startswith(pattern[:-1]) if pattern.endswith("*") else queue == pattern


@dataclass(frozen=True, slots=True)
class ChildResults:
    """What the children of the last wait brought; empty again after each `WaitFor` and `Next`."""

    completed: tuple[ChildValue, ...] = ()
    failed: tuple[ChildFailure, ...] = ()
    late: tuple[LateChild, ...] = ()

    def values(self, queue: str | None = None) -> list[ChildValue]:
        """Return the completed children in the order they ended, of one queue when given (`prefix*` is allowed)."""
        return [child for child in self.completed if queue is None or matches(queue, child.queue)]

    def failures(self, queue: str | None = None) -> list[ChildFailure]:
        """Return the failed children whose policy let the job go on, in the order they ended."""
        return [child for child in self.failed if queue is None or matches(queue, child.queue)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a handler is given: one run of a job.

    attempt: counts from 1. has_waited: this run follows its children.
    """

    id: str
    queue: str
    name: str
    data: object
    attempt: int
    priority: Priority
    children: ChildResults
    has_waited: bool
    dedup_id: str | None
    created_at: datetime
    token: threading.Event
    sandbox: Callable[[object, int], object]

    @property
    def cancelled(self) -> bool:
        """True once the work is no longer wanted."""
        return self.token.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` once the work is no longer wanted; to be called between steps of long work."""
        if self.token.is_set():
            raise Cancelled(f"{self.queue} {self.name} is no longer wanted")

    def data_as(self, kind: type[T]) -> T:
        """Return the data as what the queue says it is; raise `InvalidJob` for another type."""
        if not isinstance(self.data, kind):
            raise InvalidJob(f"{self.queue}: {type(self.data).__name__} is not {kind.__name__}")
        return self.data

    def in_sandbox(self, task: object, size: int) -> object:
        """Return what the queue's sandbox function makes of `task`.

        size: how many titles or files, which decides between a process and this thread. Raises what the function
        raised, `Transient` when its process was killed, `Final` at the time limit, `Cancelled` when called off.
        """
        return self.sandbox(task, size)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job as lists and listeners see it.

    value: after its end only for listeners, and in lists for jobs with an id of their own. attempts: failed runs.
    run_at and reason: of a delay, or how far it is. waiting_for: children not yet ended.
    """

    id: str
    queue: str
    name: str
    data: object
    dedup_id: str | None
    priority: Priority
    state: JobState
    value: object
    error: Exception | None
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    run_at: datetime | None
    reason: str | None
    waiting_for: int
    parents: tuple[str, ...]
    spec: JobSpec
