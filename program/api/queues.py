"""The queues: how many jobs stand where, what runs, what comes next, what failed and why; a job can be tried again or removed."""

import heapq
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Literal, get_args

from pydantic import Field

from program.api.answers.base import Body, Instant, MessageBody
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Payload, Route
from program.log import redact
from program.queues.errors import EngineClosed, KeyHeld
from program.queues.job import JobState, JobView

TAG = "queues"
# How many of the running, of the delayed and of the failed jobs the overview shows.
SHOWN = 20
StateName = Literal["waiting", "delayed", "active", "waiting-children", "completed", "failed"]


class JobBody(Body):
    """One job. run_at, reason: of a delay, or how far it is. age, running: seconds since it was added, since this run began."""

    id: str
    queue: str
    name: str
    state: str
    priority: str
    attempts: int
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    run_at: Instant | None
    reason: str | None
    error: str | None
    waiting_for: int
    age: float
    running: float | None


class JobsBody(Body):
    """The jobs of one queue."""

    queue: str
    jobs: list[JobBody]


class QueuesBody(Body):
    """Jobs by queue and state, and the most telling ones of all queues.

    running: the longest first. delayed: the next first. failed: the latest first. paused: queues that start no job, until when.
    """

    queues: dict[str, dict[str, int]]
    running: list[JobBody]
    delayed: list[JobBody]
    failed: list[JobBody]
    paused: dict[str, Instant]


class RetriedBody(Body):
    """A failed job that was added anew, with its new id."""

    message: str
    id: str


class JobsQuery(Payload):
    """Which jobs and how many; without a state all of them."""

    state: tuple[StateName, ...] = ()
    limit: int = Field(default=50, ge=1, le=1000)


def overview(context: ApiContext) -> QueuesBody:
    """Return jobs by queue and state, what runs, what is next and what failed last."""
    counts = context.engine.counts()
    return QueuesBody(
        queues={queue: {state.value: n for state, n in states.items()} for queue, states in counts.items()},
        running=_some(context, counts, JobState.ACTIVE, lambda view: _stamp(view.started_at)),
        delayed=_some(context, counts, JobState.DELAYED, lambda view: _stamp(view.run_at)),
        failed=_some(context, counts, JobState.FAILED, lambda view: -_stamp(view.finished_at)),
        paused=dict(context.engine.paused()),
    )


def _some(
    context: ApiContext, queues: Iterable[str], state: JobState, order: Callable[[JobView], float]
) -> list[JobBody]:
    """Return the first jobs of a state over all queues, in an order."""
    found = (view for queue in queues for view in context.engine.jobs(queue, (state,), SHOWN))
    now = context.clock.now()
    return [_job(view, now) for view in heapq.nsmallest(SHOWN, found, key=order)]


def _stamp(at: datetime | None) -> float:
    return at.timestamp() if at is not None else 0.0


def jobs(context: ApiContext, queue: str, query: JobsQuery) -> JobsBody:
    """Return the jobs of one queue: running, to come in their order, delayed, waiting for others, failed, completed."""
    _known(context, queue)
    now = context.clock.now()
    states = frozenset(JobState(name) for name in query.state or get_args(StateName))
    found = context.engine.jobs(queue, states, query.limit)
    return JobsBody(queue=queue, jobs=[_job(view, now) for view in found])


def retry(context: ApiContext, queue: str, job_id: str) -> RetriedBody:
    """Add a failed job anew, as it was first added; 409 when another job holds its key."""
    _known(context, queue)
    try:
        added = context.engine.retry(queue, job_id)
    except KeyHeld as error:
        raise ApiError(409, str(error)) from None
    except EngineClosed as error:
        raise ApiError(503, str(error), {"Retry-After": "30"}) from None
    if added is None:
        raise ApiError(404, f"{queue} has no failed job {job_id}")
    return RetriedBody(message="It is tried again", id=added.job_id)


def remove(context: ApiContext, queue: str, job_id: str) -> MessageBody:
    """Remove a job with its children; a running one is called off. What it was for is looked at again when it is due."""
    _known(context, queue)
    if not context.engine.remove(queue, job_id):
        raise ApiError(404, f"{queue} has no job {job_id}")
    return MessageBody(message="Removed")


def _known(context: ApiContext, queue: str) -> None:
    if queue not in context.engine.counts():
        raise ApiError(404, f"there is no queue {queue}")


def _job(view: JobView, now: datetime) -> JobBody:
    is_running = view.state is JobState.ACTIVE and view.started_at is not None
    return JobBody(
        id=view.id,
        queue=view.queue,
        name=view.name,
        state=view.state.value,
        priority=view.priority.name.lower(),
        attempts=view.attempts,
        created_at=view.created_at,
        started_at=view.started_at,
        finished_at=view.finished_at,
        run_at=view.run_at,
        reason=redact(view.reason) if view.reason else None,
        error=redact(str(view.error) or type(view.error).__name__) if view.error else None,
        waiting_for=view.waiting_for,
        age=((view.finished_at or now) - view.created_at).total_seconds(),
        running=(now - view.started_at).total_seconds() if is_running and view.started_at else None,
    )


ROUTES = (
    Route(
        method="GET",
        rule="/queues",
        handle=overview,
        summary="Count jobs; show what runs, what is next, what failed last",
        tag=TAG,
        answer=QueuesBody,
    ),
    Route(
        method="GET",
        rule="/queues/<queue>/jobs",
        handle=jobs,
        summary="List the jobs of a queue",
        tag=TAG,
        answer=JobsBody,
        query=JobsQuery,
    ),
    Route(
        method="POST",
        rule="/queues/<queue>/jobs/<job_id>/retry",
        handle=retry,
        summary="Try a failed job again",
        tag=TAG,
        answer=RetriedBody,
    ),
    Route(
        method="DELETE",
        rule="/queues/<queue>/jobs/<job_id>",
        handle=remove,
        summary="Remove a job",
        tag=TAG,
        answer=MessageBody,
    ),
)
