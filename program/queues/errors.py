"""What can go wrong with a job besides its own work.

Final
├── InvalidJob     an unknown queue, data of the wrong type, a child that its parent may not have
└── ChildFailed    a child whose failure fails its parent
KeyHeld            another job holds the dedup id
Cancelled
└── EngineClosed   the engine takes no more jobs
"""

from __future__ import annotations

from program.errors import Cancelled, Final, RivuletError


class InvalidJob(Final):
    """The job is not what its queue takes; nothing was added."""


class ChildFailed(Final):
    """A child failed and its parent with it. error: the child's own."""

    def __init__(self, queue: str, name: str, error: BaseException) -> None:
        super().__init__(f"{queue} {name}: {error}")
        self.queue = queue
        self.name = name
        self.error = error


class KeyHeld(RivuletError):
    """The dedup id belongs to another job; wait until that one ends, or remove it."""

    def __init__(self, queue: str, dedup_id: str) -> None:
        super().__init__(f"{queue}: {dedup_id} is already at work")
        self.queue = queue
        self.dedup_id = dedup_id


class EngineClosed(Cancelled):
    """The engine is being stopped and takes no more jobs."""

    def __init__(self) -> None:
        super().__init__("the program is stopping: no more jobs are taken")
