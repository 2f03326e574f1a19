"""The threads that do the jobs, and one run of a job."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Protocol, TypeAlias

from loguru import logger

from program.errors import RivuletError, sentence_of
from program.queues.backoff import Retry, Verdict, judge
from program.queues.errors import InvalidJob
from program.queues.job import Delay, Done, Fail, Job, Outcome
from program.queues.queue import QueueDef
from program.queues.record import Record
from program.queues.sandbox import Sandbox

Handler: TypeAlias = Callable[[Job], Outcome]
Around: TypeAlias = Callable[[Job, Callable[[], Outcome]], Outcome]


class Source(Protocol):
    """Where a worker gets jobs from."""

    def next_job(self, *, is_reserved: bool) -> Record | None:
        """Wait for a job that may start and return it, None when the engine has closed."""

    def work(self, record: Record) -> None:
        """Do a started job and settle it."""


class Worker(threading.Thread):
    """Does one job after another until the engine closes; a reserved one takes interactive jobs only."""

    def __init__(self, source: Source, number: int, *, is_reserved: bool) -> None:
        super().__init__(name=f"{'reserved' if is_reserved else 'worker'}-{number}", daemon=True)
        self._source = source
        self._is_reserved = is_reserved

    def run(self) -> None:
        """Work until there will be no more."""
        while (record := self._source.next_job(is_reserved=self._is_reserved)) is not None:
            self._source.work(record)


class Ticker(threading.Thread):
    """Calls `tick` whenever it says that something is due; `tick` waits by itself and answers False at the end."""

    def __init__(self, tick: Callable[[], bool]) -> None:
        super().__init__(name="queue-ticker", daemon=True)
        self._tick = tick

    def run(self) -> None:
        """Tick until the engine closes."""
        while self._tick():
            pass


def run_job(job: Job, handler: Handler, around: Around) -> tuple[Verdict, BaseException | None]:
    """Return what one run of a job comes to, and what it raised, if anything.

    The run has a context of its own: log fields and context variables that a handler sets end with it.
    """

    def run() -> Outcome:
        with logger.contextualize(queue=job.queue, job=job.name, attempt=job.attempt):
            return around(job, lambda: handler(job))

    try:
        outcome = contextvars.copy_context().run(run)
    except BaseException as error:  # noqa: BLE001 - the worker outlives every job, and no job stays active for ever
        return judge(error), error
    return outcome, None


def job_of(record: Record, definition: QueueDef, sandbox: Sandbox) -> Job:
    """Return what the handler of a started job is given; to be called with the engine's lock held."""
    return Job(
        id=record.id,
        queue=record.queue,
        name=record.spec.name,
        data=record.data,
        attempt=record.failures + 1,
        priority=record.priority,
        children=record.results(),
        has_waited=record.has_waited,
        dedup_id=record.spec.dedup_id,
        created_at=record.created_at,
        token=record.token,
        sandbox=partial(_in_sandbox, definition, sandbox, record.token),
    )


def handler_of(definition: QueueDef) -> Handler:
    """Return the queue's handler; without one, its sandbox function gets the job's data."""
    if definition.handler is not None:
        return definition.handler
    return lambda job: Done(job.in_sandbox(job.data, definition.size(job.data)))


def _in_sandbox(
    definition: QueueDef, sandbox: Sandbox, token: threading.Event, task: object, size: int
) -> object:
    if definition.sandbox is None:
        raise InvalidJob(f"{definition.name} has no sandbox function")
    limit = definition.time_limit.total_seconds()
    return sandbox.run(definition.sandbox, task, size=size, timeout=limit, token=token)


def directly(_job: Job, run: Callable[[], Outcome]) -> Outcome:
    """Run a handler with nothing around it."""
    return run()


def report(job: Job, verdict: Verdict, raised: BaseException | None, attempts: int, now: datetime) -> None:
    """Write the log line of a run that did not do what it was to do."""
    bound = logger.bind(queue=job.queue, job=job.name, attempt=job.attempt)
    match verdict:
        case Retry(error) if job.attempt < attempts:
            bound.info("failed, will be tried again: {}", sentence_of(error))
        case Retry(error):
            bound.warning("failed after {} attempts: {}", job.attempt, sentence_of(error))
        case Fail(error) if raised is not None and not isinstance(raised, RivuletError):
            bound.opt(exception=raised).error("failed by a fault in the program: {}", sentence_of(error))
        case Fail(error):
            bound.info("failed: {}", sentence_of(error))
        case Delay(until, reason) if raised is not None:
            bound.info("again in {:.0f} s: {}", (until - now).total_seconds(), reason)
        case _:
            pass
