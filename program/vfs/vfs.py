"""The file system as the program sees it: start, change, stop, ask."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from program.clock import Clock
from program.media.entry import Link
from program.settings.vfs import VfsSettings
from program.vfs.tree import Tree, TreeFile

# Given an entry and, when one failed, the dead URL, return where its bytes can be read now. May block up to the read
# deadline and raise any RivuletError; a URL equal to the dead one means that there is no other.
Resolve: TypeAlias = Callable[[int, str | None], Link]


@dataclass(frozen=True, slots=True)
class VfsStatistics:
    """Counters since the start."""

    bytes_read: int = 0
    bytes_from_cache: int = 0
    bytes_fetched: int = 0
    requests: int = 0
    links_resolved: int = 0
    errors: int = 0
    open_handles: int = 0
    files: int = 0
    total_size: int = 0


class Vfs:
    """Owns the tree, the chunk store, the readers and the mount."""

    def __init__(self, settings: VfsSettings, resolve: Resolve, clock: Clock) -> None:
        self._settings = settings
        self._resolve = resolve
        self._clock = clock
        self._lock = threading.Lock()
        self._tree = Tree()

    def start(self, files: Iterable[TreeFile]) -> None:
        """Build the tree and mount it; return once it can be read. Raises StartupError with a sentence."""
        self._tree = Tree(files)

    def apply(self, added: Iterable[TreeFile] = (), removed: Iterable[int] = ()) -> set[str]:
        """Change the tree; return the paths that changed, once `stat` and `readdir` show the change.

        A file that is open stays at its path until it is closed; only then does its replacement appear there.
        """
        with self._lock:
            return self._tree.apply(added, removed, at=self._clock.now())

    def stop(self) -> None:
        """Cancel every read, unmount, end every thread. Never raises; a second call does nothing."""

    def healthy(self) -> bool:
        """Return whether the library can be read at the mount path right now."""
        return False

    def statistics(self) -> VfsStatistics:
        """Return the counters as they are now."""
        files, size = self._tree.totals()
        return VfsStatistics(files=files, total_size=size)

    def open_handles(self, entry_id: int) -> int:
        """Return how many handles are open on the file of an entry."""
        del entry_id
        return 0
