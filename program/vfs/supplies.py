"""What all readers share."""

import threading
from dataclasses import dataclass, field

from program.clock import Clock
from program.vfs.chunks import ChunkStore
from program.vfs.counters import Counters
from program.vfs.disk import DiskChunks
from program.vfs.guard import Guard
from program.vfs.links import Links
from program.vfs.sources import Sources
from program.vfs.workers import Workers


@dataclass(slots=True)
class Supplies:
    """The stores, the connections and the threads that readers work with.

    edges: keeps the ends of files on disk; bodies: keeps what was played of the rest; None keeps nothing. read_timeout: seconds
    until a read without data fails; guard: holds back those who look through files; connections: for one reader at most.
    """

    clock: Clock
    counters: Counters
    store: ChunkStore
    edges: DiskChunks | None
    bodies: DiskChunks | None
    sources: Sources
    links: Links
    workers: Workers
    read_timeout: float
    guard: Guard
    connections: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # Guarded by the lock.
    _lanes: int = 0

    def lanes_open(self, more: int) -> None:
        """Count the lanes of all files."""
        with self._lock:
            self._lanes += more

    def window(self, largest: int, smallest: int) -> int:
        """Return how far a reader may fetch ahead, so that all of them together use half of the memory."""
        return max(smallest, min(largest, self.store.limit // 2 // max(self._lanes, 1)))
