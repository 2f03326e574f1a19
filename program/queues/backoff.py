"""When a failed job runs again, and what a failure means. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from program.errors import Cancelled, RetryLater, Transient
from program.queues.job import Delay, Fail, Outcome

# Waits after the first, the second and every later failed attempt: long enough for a busy database or a restarted
# service, short enough for a person who watches.
WAITS = (timedelta(seconds=5), timedelta(seconds=30))
# The wait after the first failed call of an outside service, from the specification; each further one is twice as long.
CALL_WAIT = timedelta(seconds=10)
# Up to this share is added, so that jobs which failed together do not come back together.
JITTER = 0.2

Backoff: TypeAlias = Callable[[int], timedelta]


@dataclass(frozen=True, slots=True)
class Removed:
    """The judgement on a job that was called off."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The judgement on a failed attempt that a repetition may heal."""

    error: Exception


Verdict: TypeAlias = Outcome | Removed | Retry


def back_off(failures: int) -> timedelta:
    """Return the wait after so many failed attempts (1 or more), without jitter."""
    return WAITS[min(failures, len(WAITS)) - 1]


def back_off_calls(failures: int) -> timedelta:
    """Return the wait after so many failed calls of an outside service (1 or more), without jitter."""
    return CALL_WAIT * (1 << (failures - 1))


def with_jitter(wait: timedelta, chance: random.Random) -> timedelta:
    """Return the wait, lengthened by up to a fifth."""
    return wait * (1 + JITTER * chance.random())


def judge(error: BaseException) -> Verdict:
    """Return what an exception of a handler means.

    Only a transient error is worth another attempt: a bug or a refusal gives the same answer again.
    """
    if isinstance(error, RetryLater):
        return Delay(error.at, error.reason)
    if isinstance(error, Cancelled):
        return Removed()
    if isinstance(error, Transient | OSError):
        return Retry(error)
    if isinstance(error, Exception):
        return Fail(error)
    return Fail(RuntimeError(f"ended by {type(error).__name__}"))
