"""The file system as the program sees it: start, change, stop, ask."""

import errno
import os
import socket
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from program.clock import Clock
from program.errors import StartupError, Transient
from program.settings.vfs import VfsSettings
from program.vfs.answers import DeadLink, SourceError
from program.vfs.chunks import ChunkStore
from program.vfs.counters import Counters, Counts
from program.vfs.disk import DiskChunks, Place
from program.vfs.guard import HOLD_SECONDS, Guard
from program.vfs.links import Links, Resolve
from program.vfs.mount import Mount
from program.vfs.open_files import FileHandle, OpenFiles, Readable
from program.vfs.readers import Readers
from program.vfs.sources import Connect, Sources, Transfer
from program.vfs.supplies import Supplies
from program.vfs.tree import STANDARD_FOLDERS, Node, Tree, TreeFile
from program.vfs.workers import Workers

__all__ = ["Resolve", "TreeFile", "Vfs", "VfsStatistics"]

MIB = 1024 * 1024

# More connections at once than this are more than a home's players and scanners need, even while a provider hangs.
MAX_READER_THREADS = 128

# A server that is silent for this part of the read's time is left, so that two others can be asked.
STALL_SHARE = 3

# Whoever brings the beginning or end of a file waits so long for a disk that cannot follow; a second scan then needs no provider.
EDGE_PATIENCE = 2.0

# The kernel hears of a change within milliseconds; it is not waited for longer than this.
ANNOUNCE_SECONDS = 5.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class VfsStatistics:
    """What happened since the start, and what there is now.

    way: `fuse` or `http`. why_not_mounted: in mode `auto`, what stood in the way of a mount. memory, disk: bytes of file contents.
    """

    way: str
    why_not_mounted: str | None
    counts: Counts
    open_handles: int
    files: int
    total_size: int
    memory: int
    disk: int


class Vfs:
    """Owns the tree, the chunk store, the readers and the mount."""

    def __init__(
        self,
        settings: VfsSettings,
        resolve: Resolve,
        clock: Clock,
        standard_folders: Iterable[str] = STANDARD_FOLDERS,
        connect: Connect = socket.create_connection,
    ) -> None:
        """Take what is handed in; standard_folders: listed even when nothing is in them; connect: makes connections to CDNs."""
        self._settings = settings
        self._clock = clock
        self._counters = Counters()
        self._links = Links(resolve, clock, self._counters)
        self._store = ChunkStore(settings.memory_mib * MIB)
        self._change = threading.Lock()
        self._stack = ExitStack()
        self._standard_folders = tuple(standard_folders)
        self._files = OpenFiles(Tree(), _no_reader, clock)
        self._mount: Mount | None = None
        self._connect = connect
        self._probes = Sources(clock, self._counters, settings.read_timeout_seconds / STALL_SHARE, connect)
        self._disk: tuple[DiskChunks | None, ...] = ()
        self._is_serving = False
        self._why_not_mounted: str | None = None

    @property
    def mount_path(self) -> Path:
        """Where the library is mounted."""
        return self._settings.mount_path

    @property
    def is_mounted(self) -> bool:
        """Whether there is a mount; else the library is served over HTTP alone."""
        return self._mount is not None

    @property
    def tree(self) -> Tree:
        """The tree as it is shown."""
        return self._files.tree

    def start(self, files: Iterable[TreeFile]) -> None:
        """Build the tree and show it in the way that the settings name; return once it can be read.

        Raises StartupError with a sentence. In mode `auto` a mount that fails is no error: the tree is then served over HTTP alone.
        """
        with ExitStack() as stack:
            readers = Readers(self._supplies(stack))
            self._files = OpenFiles(Tree(files, self._standard_folders), readers.open, self._clock)
            stack.callback(readers.stop, STOP_SECONDS)
            readers.start()
            if self._settings.is_mounting:
                self._start_mount(stack)
            # Whoever waits for bytes gets an error before the mount is taken away under them.
            stack.callback(readers.cancel)
            self._is_serving = True
            stack.callback(self._end_serving)
            self._stack = stack.pop_all()

    def apply(
        self,
        added: Iterable[TreeFile] = (),
        removed: Iterable[int] = (),
        standing: Iterable[str] | None = None,
    ) -> set[str]:
        """Change the tree; return the paths that changed, once `stat` and `readdir` show the change.

        standing: the folders to list even when nothing is in them; None leaves those as they are.

        A file that is open stays at its path until it is closed; only then does its replacement appear there.
        """
        added, removed = list(added), list(removed)
        with self._change:
            known = [self.tree.file(entry_id) for entry_id in (*removed, *(file.entry_id for file in added))]
            before = {version for file in known if file is not None for version in file.versions}
            changed, settled = self._files.apply(added, removed, standing)
            for entry_id, _, _ in before.difference(*(file.versions for file in added)):
                self._links.forget(entry_id)
        if not settled.wait(ANNOUNCE_SECONDS):
            logger.warning("the kernel has not yet taken note of {} changed paths", len(changed))
        return changed

    def stop(self) -> None:
        """Cancel every read, unmount, end every thread. A second call does nothing."""
        stack, self._stack = self._stack, ExitStack()
        stack.close()

    def healthy(self) -> bool:
        """Return whether the library can be read right now: at the mount path, or over HTTP where there is no mount."""
        return self._mount.healthy() if self._mount is not None else self._is_serving

    def place(self) -> str:
        """Return where the library is shown, for a log line."""
        return str(self.mount_path) if self._mount is not None else "/dav and /files of the API"

    def lookup(self, path: str) -> Node | None:
        """Return what is at an absolute path of the library, or None."""
        return self.tree.lookup(path)

    def open(self, path: str) -> FileHandle:
        """Return an open file for whoever reads without the mount. Raises OSError with an errno."""
        return FileHandle(self._files, path, self._counters)

    def open_entry(self, entry_id: int) -> FileHandle:
        """Return the open file of an entry. Raises OSError with an errno."""
        path = self.path_of(entry_id)
        if path is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self.open(path)

    def statistics(self) -> VfsStatistics:
        """Return the counters as they are now."""
        files, size = self.tree.totals()
        memory = self._store.statistics().size
        disk = sum(kept.size() for kept in self._disk if kept is not None)
        return VfsStatistics(
            way="fuse" if self.is_mounted else "http",
            why_not_mounted=self._why_not_mounted,
            counts=self._counters.counts(),
            open_handles=self._files.count(),
            files=files,
            total_size=size,
            memory=memory,
            disk=disk,
        )

    def path_of(self, entry_id: int) -> str | None:
        """Return where the file of an entry is shown within the mount; a collision may have given it another name."""
        return self.tree.path_of(entry_id)

    def paths_of(self, entry_id: int) -> tuple[str, ...]:
        """Return every path at which the file of an entry is shown within the mount, the main one first."""
        return self.tree.paths_of(entry_id)

    def open_handles(self, entry_id: int) -> int:
        """Return how many handles are open on the file of an entry."""
        return self._files.handles_on(entry_id)

    def trouble_at(self, url: str, size: int) -> str | None:
        """Return why a URL does not give a file of that size by its server's own word, None when its first byte came.

        Raises Transient when that cannot be told now: an outage, a limit, an error page.
        """
        try:
            body = self._probes.open(url, 0, min(size, 1), size, Transfer())
            try:
                body.read_into(memoryview(bytearray(1)))
            finally:
                body.close()
        except SourceError as error:
            if isinstance(error, DeadLink) and error.is_gone:
                return str(error)
            raise Transient(str(error)) from error
        finally:
            self._probes.close_idle(max_age=0)
        return None

    def _start_mount(self, stack: ExitStack) -> None:
        """Mount; in mode `auto`, go on without when that cannot be done. Raises StartupError."""
        mount = Mount(self._settings, self._files, self._counters)
        try:
            mount.start()
        except StartupError as error:
            if self._settings.mode != "auto":
                raise
            self._why_not_mounted = str(error)
            logger.warning("{}; the library is served at /dav and /files of the API instead", error)
            return
        self._mount = mount
        stack.callback(mount.stop)

    def _end_serving(self) -> None:
        self._is_serving = False

    def _supplies(self, stack: ExitStack) -> Supplies:
        """Return what the readers work with. Raises StartupError when the cache folder cannot be used."""
        settings, clock, counters = self._settings, self._clock, self._counters
        self._disk = (
            self._keep("edges", settings.disk_mib, stack),
            self._keep("bodies", settings.played_mib, stack),
        )
        return Supplies(
            clock=clock,
            counters=counters,
            store=self._store,
            edges=self._disk[0],
            bodies=self._disk[1],
            sources=Sources(clock, counters, settings.read_timeout_seconds / STALL_SHARE, self._connect),
            links=self._links,
            workers=Workers("reader", MAX_READER_THREADS, clock),
            read_timeout=settings.read_timeout_seconds,
            guard=Guard(
                clock,
                settings.analysis_handles,
                settings.analysis_gib_per_hour * 1024 * MIB,
                min(HOLD_SECONDS, settings.read_timeout_seconds / 4),
            ),
            connections=settings.connections,
        )

    def _keep(self, name: str, mib: int, stack: ExitStack) -> DiskChunks | None:
        """Return what keeps one kind of chunks on disk, None for no space. Raises StartupError when the folder cannot be used."""
        settings = self._settings
        if not mib:
            return None
        # The ends of files are what the next scan asks for; the rest can be fetched again.
        is_end = name == "edges"
        place = Place(
            folder=settings.cache_dir / name,
            name=name,
            limit=mib * MIB,
            keep_free=settings.keep_free_mib * MIB,
            gives_way=not is_end,
            patience=EDGE_PATIENCE if is_end else 0.0,
        )
        try:
            kept = DiskChunks(place, self._counters)
        except OSError as error:
            raise StartupError(
                f"vfs.cache_dir: {settings.cache_dir} cannot be used: {error.strerror}"
            ) from error
        stack.callback(kept.stop)
        return kept


def _no_reader(file: TreeFile, handle: int) -> Readable:
    """Refuse to open anything before the start."""
    raise OSError(f"not started: {file.path} ({handle})")
