"""What a queue is: its types, its handler, its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sized
from dataclasses import dataclass
from datetime import timedelta
from math import floor
from types import UnionType

from program.queues.backoff import Backoff, back_off
from program.queues.errors import InvalidJob
from program.queues.job import Job, Outcome, matches
from program.queues.retention import FLOW_RETENTION, PLUGIN_RETENTION, Retention

# Shares of the machine's parallelism, from the specification: flows wait for others most of the time, parsing computes.
FLOW_SHARE = 1.5
PARSE_SHARE = 0.25
MAP_SHARE = 0.75
VALIDATE_SHARE = 0.25

# What a queue of plugin hooks has in its name.
PLUGIN_MARK = ".plugin["


def parallelism() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def normalised(concurrency: float) -> int:
    """Return a concurrency as the specification rounds it: floored, at least 1."""
    return max(1, floor(concurrency))


def size_of(task: object) -> int:
    """Return the length of a task that has one; any other counts as small."""
    return len(task) if isinstance(task, Sized) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limiter:
    """At most `starts` jobs of a queue begin within any `per`."""

    starts: int
    per: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDef:
    """A queue.

    input, output: the classes (or unions) of its jobs' data and value; an output of None is not checked.
    handler: does one run of a job; it may be None when there is a `sandbox`, which then gets the job's data.
    concurrency: None means floor(parallelism x share), at least 1; 1 for the queue of a plugin's hook.
    children: the queues its jobs may wait for; a trailing `*` takes every name that begins so.
    sandbox: a pure function on plain data, at module level. size: how many titles or files a task has.
    time_limit: of one sandbox task. backoff: the wait after so many failed attempts, before jitter.
    """

    name: str
    input: type | UnionType
    output: type | UnionType | None = None
    handler: Callable[[Job], Outcome] | None = None
    concurrency: int | None = None
    share: float = FLOW_SHARE
    children: frozenset[str] = frozenset()
    sandbox: Callable[..., object] | None = None
    size: Callable[..., int] = size_of
    time_limit: timedelta = timedelta(seconds=60)
    limiter: Limiter | None = None
    backoff: Backoff = back_off
    retention: Retention | None = None

    def __post_init__(self) -> None:
        if self.handler is None and self.sandbox is None:
            raise InvalidJob(f"{self.name}: a queue needs a handler or a sandbox function")

    @property
    def is_plugin(self) -> bool:
        """True for the queue of a plugin's hook."""
        return PLUGIN_MARK in self.name

    def limit(self, parallel: int) -> int:
        """Return how many of its jobs run at a time on so many cores."""
        if self.concurrency is not None:
            return max(1, self.concurrency)
        return 1 if self.is_plugin else normalised(parallel * self.share)

    def kept(self) -> Retention:
        """Return how long its finished jobs are kept."""
        return self.retention or (PLUGIN_RETENTION if self.is_plugin else FLOW_RETENTION)

    def may_have(self, child: str) -> bool:
        """Tell whether its jobs may wait for jobs of another queue."""
        return any(matches(pattern, child) for pattern in self.children)

    def check_input(self, data: object) -> None:
        """Return when the data is of the queue's type; raise `InvalidJob` otherwise."""
        if not isinstance(data, self.input):
            raise InvalidJob(f"{self.name} takes {_named(self.input)}, not {type(data).__name__}")

    def check_output(self, value: object) -> None:
        """Return when the value is of the queue's type; raise `InvalidJob` otherwise."""
        if self.output is not None and not isinstance(value, self.output):
            raise InvalidJob(f"{self.name} answers {_named(self.output)}, not {type(value).__name__}")


def _named(kind: type | UnionType) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)
