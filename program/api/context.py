"""What the API works with."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from program.actions import Actions
from program.api.places import Places
from program.api.streams import Streams
from program.clock import Clock
from program.db.engine import Database
from program.lifecycle import Machine
from program.manual.manual import Manual
from program.media.state import Policy
from program.metrics import LoopReading, Metrics
from program.playback.hls import Converter
from program.plugins import Broken, Registry
from program.queues.job import Added, JobState, JobView
from program.settings.store import SettingsStore
from program.vfs.open_files import FileHandle
from program.vfs.tree import Node

# The machine whose state says whether the program works.
PROGRAM_MACHINE = "Program"


class Queues(Protocol):
    """What the API asks of the queue engine."""

    def counts(self) -> Mapping[str, Mapping[JobState, int]]:
        """Return jobs by queue and state."""

    def jobs(self, queue: str, states: Collection[JobState] | None = None, limit: int = 50) -> list[JobView]:
        """Return jobs of one queue."""

    def paused(self) -> Mapping[str, datetime]:
        """Return the queues that start no job now, with the instant until which."""

    def late(self) -> Mapping[str, int]:
        """Return by queue how many children their parents went on without."""

    def retry(self, queue: str, job_id: str) -> Added | None:
        """Add a failed job anew; None when it is not kept. Raises `KeyHeld`, `EngineClosed`."""

    def remove(self, queue: str, job_id: str) -> bool:
        """Remove a job; False when it is not there."""

    def held(self, queue: str) -> frozenset[str]:
        """Return the dedup ids held now."""


class SharedFiles(Protocol):
    """The library as files, for whoever reads it over HTTP."""

    def lookup(self, path: str) -> Node | None:
        """Return what is at an absolute path, or None."""

    def open(self, path: str) -> FileHandle:
        """Return an open file. Raises OSError with an errno."""

    def path_of(self, entry_id: int) -> str | None:
        """Return where the file of an entry is shown, None when it is not."""

    def paths_of(self, entry_id: int) -> tuple[str, ...]:
        """Return every path at which the file of an entry is shown, the main one first."""

    @property
    def is_mounted(self) -> bool:
        """Whether there is a mount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiContext:
    """The objects behind the API.

    machines: of the lifecycle, one of them named `Program`. providers: keys of debrid services. vfs_statistics: a mapping or a
    dataclass of counters. loop: how the loop does. files, places: the library over HTTP, and how much of it at a time. streams: who
    listens live. broken: what should have been a plugin.
    """

    db: Database
    engine: Queues
    registry: Registry
    store: SettingsStore
    actions: Actions
    manual: Manual
    converter: Converter
    clock: Clock
    policy: Callable[[], Policy]
    providers: Callable[[], tuple[str, ...]]
    machines: tuple[Machine, ...]
    vfs_healthy: Callable[[], bool]
    vfs_statistics: Callable[[], object]
    metrics: Metrics
    loop: Callable[[], LoopReading]
    files: SharedFiles
    places: Places
    streams: Streams = field(default_factory=Streams)
    broken: tuple[Broken, ...] = ()

    @property
    def state(self) -> str:
        """Return where the program stands, e.g. `Running`."""
        return next(
            (machine.state for machine in self.machines if machine.name == PROGRAM_MACHINE), "Running"
        )
