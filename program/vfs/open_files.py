"""Which files are open, and the rule that a path keeps its file while it is open.

The kernel's page cache and its idea of a size belong to the path. A file that took the place of an open one would be read with
old bytes, or cut at the old size. So a replacement waits until the last handle on the path is closed; and an open waits until
the kernel was told to forget what it knew of a path that changed.
"""

import errno
import itertools
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from program.clock import Clock
from program.vfs.counters import Counters
from program.vfs.tree import Directory, Tree, TreeFile, Version

# Tells the kernel of changed paths, soon, on another thread; then calls back.
Announce: TypeAlias = Callable[[set[str], Callable[[], None]], None]

# An open waits so long for the kernel to forget; it takes milliseconds.
SETTLE_SECONDS = 10.0


class Readable(Protocol):
    """What a handle reads from."""

    def drop_handle(self, handle: int) -> None:
        """Note that a handle was closed."""

    def read(self, handle: int, offset: int, size: int) -> list[memoryview]:
        """Return the bytes of the range."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One handle."""

    path: str
    file: TreeFile
    source: Readable


class OpenFiles:
    """The handles, and the changes of the tree that have to respect them."""

    def __init__(self, tree: Tree, open_reader: Callable[[TreeFile, int], Readable], clock: Clock) -> None:
        self.tree = tree
        self._open_reader = open_reader
        self._clock = clock
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        # Guarded by the lock: handles by number, how many there are by path, which version is open at a path, and the paths
        # of which the kernel does not know yet that they changed.
        self._handles: dict[int, OpenFile] = {}
        self._holders: Counter[str] = Counter()
        self._versions: dict[str, Version] = {}
        self._unsettled: dict[str, threading.Event] = {}
        self._announce: Announce | None = None

    def announce_with(self, announce: Announce | None) -> None:
        """Tell changes to the kernel in this way from now on; None while there is no mount."""
        with self._lock:
            self._announce = announce

    def open(self, path: str) -> int:
        """Return a new handle on the file at `path`. Raises OSError with an errno."""
        while True:
            with self._lock:
                unsettled = self._unsettled.get(path)
                if unsettled is None:
                    return self._open(path)
            if not unsettled.wait(SETTLE_SECONDS):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def get(self, handle: int) -> OpenFile:
        """Return an open handle. Raises OSError (EBADF) for one that is not open."""
        found = self._handles.get(handle)
        if found is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return found

    def read(self, handle: int, offset: int, size: int) -> list[memoryview]:
        """Return the bytes of the range, fewer only at the file's end. Raises OSError or ReadFailed."""
        return self.get(handle).source.read(handle, offset, size)

    def close(self, handle: int) -> None:
        """Close a handle; when it was the last on its path, what waited for that appears. Raises OSError (EBADF)."""
        with self._lock:
            found = self._handles.pop(handle, None)
            if found is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            self._holders[found.path] -= 1
            if not self._holders[found.path]:
                del self._holders[found.path], self._versions[found.path]
                self._tell(self.tree.thaw(found.path, self._versions, self._clock.now()))
        found.source.drop_handle(handle)

    def apply(
        self, added: Iterable[TreeFile], removed: Iterable[int], standing: Iterable[str] | None = None
    ) -> tuple[set[str], threading.Event]:
        """Change the tree but for what is open; return the changed paths and what is set once the kernel knows of them."""
        with self._lock:
            now = self._clock.now()
            changed = self.tree.apply(added, removed, standing=standing, frozen=self._versions, at=now)
            return changed, self._tell(changed)

    def handles_on(self, entry_id: int) -> int:
        """Return how many handles are open on an entry's file, or on what stands beside it."""
        with self._lock:
            return sum(
                entry_id in (found.file.entry_id, found.file.owner) for found in self._handles.values()
            )

    def count(self) -> int:
        """Return how many handles are open."""
        return len(self._handles)

    def _open(self, path: str) -> int:
        """Return a new handle. Call with the lock held."""
        node = self.tree.lookup(path)
        if node is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if isinstance(node, Directory):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        handle = next(self._numbers)
        self._handles[handle] = OpenFile(path, node, self._open_reader(node, handle))
        self._holders[path] += 1
        self._versions[path] = node.version
        return handle

    def _tell(self, changed: set[str]) -> threading.Event:
        """Have the kernel told; until it was, files at these paths are not opened. Call with the lock held."""
        settled = threading.Event()
        if not changed or self._announce is None:
            settled.set()
            return settled
        files = [path for path in changed if isinstance(self.tree.lookup(path), TreeFile)]
        self._unsettled.update(dict.fromkeys(files, settled))
        self._announce(changed, lambda: self._settle(files, settled))
        return settled

    def _settle(self, files: list[str], settled: threading.Event) -> None:
        """Let files be opened again, but for those that changed once more meanwhile."""
        with self._lock:
            for path in files:
                if self._unsettled.get(path) is settled:
                    del self._unsettled[path]
        settled.set()


class FileHandle:
    """An open file for whoever reads without the mount; to be closed. It holds its path as a handle of the kernel does."""

    def __init__(self, files: OpenFiles, path: str, counters: Counters) -> None:
        """Open the file at `path`. Raises OSError with an errno."""
        self._files = files
        self._counters = counters
        self._number = files.open(path)
        self.file = files.get(self._number).file

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes of the range, fewer only at the file's end. Raises ReadFailed in bounded time."""
        data = b"".join(self._files.read(self._number, offset, size))
        self._counters.add(reads=1, bytes_read=len(data))
        return data

    def close(self) -> None:
        """Close it; a second time raises OSError (EBADF)."""
        self._files.close(self._number)
