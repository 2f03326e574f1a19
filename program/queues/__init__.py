"""The in-process engine: queues, flows, workers, sandbox. It knows nothing of items, the database or providers."""

from program.queues.backoff import back_off_calls
from program.queues.engine import Engine
from program.queues.errors import ChildFailed, EngineClosed, InvalidJob, KeyHeld
from program.queues.job import (
    Added,
    ChildFailure,
    ChildPolicy,
    ChildResults,
    ChildValue,
    Delay,
    Done,
    Fail,
    Job,
    JobSpec,
    JobState,
    JobView,
    LateChild,
    Next,
    Outcome,
    Priority,
    WaitFor,
)
from program.queues.queue import (
    FLOW_SHARE,
    MAP_SHARE,
    PARSE_SHARE,
    VALIDATE_SHARE,
    Limiter,
    QueueDef,
    normalised,
    parallelism,
)
from program.queues.retention import Retention
from program.queues.sandbox import Sandbox, SandboxFailed

__all__ = [
    "FLOW_SHARE",
    "MAP_SHARE",
    "PARSE_SHARE",
    "VALIDATE_SHARE",
    "Added",
    "ChildFailed",
    "ChildFailure",
    "ChildPolicy",
    "ChildResults",
    "ChildValue",
    "Delay",
    "Done",
    "Engine",
    "EngineClosed",
    "Fail",
    "InvalidJob",
    "Job",
    "JobSpec",
    "JobState",
    "JobView",
    "KeyHeld",
    "LateChild",
    "Limiter",
    "Next",
    "Outcome",
    "Priority",
    "QueueDef",
    "Retention",
    "Sandbox",
    "SandboxFailed",
    "WaitFor",
    "back_off_calls",
    "normalised",
    "parallelism",
]
