"""What the tests of the file system share: a CDN, a reader's supplies, links that point at the CDN."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from program.clock import SystemClock
from program.media.entry import Link
from program.settings.vfs import VfsSettings
from program.vfs.chunks import ChunkStore
from program.vfs.counters import Counters
from program.vfs.disk import DiskChunks, Place
from program.vfs.guard import Guard
from program.vfs.kernel import mounts_at
from program.vfs.links import Links
from program.vfs.reader import FileReader
from program.vfs.readers import Readers
from program.vfs.sources import Sources
from program.vfs.supplies import Supplies
from program.vfs.tree import TreeFile
from program.vfs.vfs import Vfs
from program.vfs.workers import Workers
from tests.support.cdn import Cdn

MIB = 1024 * 1024
JUNE = datetime(2031, 6, 1, tzinfo=UTC)


class Library:
    """Files on the CDN, what resolves their links, and readers for them."""

    def __init__(self, cdn: Cdn, stack: ExitStack) -> None:
        self.cdn = cdn
        self.files: dict[int, str] = {}
        self.resolved: list[tuple[int, str | None]] = []
        self.resolver: Callable[[int, str | None], Link] = self.link
        self._stack = stack
        self._lock = threading.Lock()

    def link(self, entry_id: int, dead_url: str | None) -> Link:
        """Return the next link of the entry: each replacement has a new token."""
        with self._lock:
            number = sum(entry == entry_id for entry, _ in self.resolved) - 1
        return Link(self.cdn.url(self.files[entry_id], f"t{number}"), None, "demo")

    def resolve(self, entry_id: int, dead_url: str | None) -> Link:
        """Count and resolve."""
        with self._lock:
            self.resolved.append((entry_id, dead_url))
        return self.resolver(entry_id, dead_url)

    def file(self, name: str, size: int, entry_id: int = 1, path: str = "") -> TreeFile:
        """Put a file on the CDN and return it as the tree knows it."""
        self.cdn.add(name, size)
        self.files[entry_id] = name
        return TreeFile(path or f"/movies/{name}/{name}", entry_id, size, JUNE, identity=name)

    def readers(
        self,
        memory: int = 96 * MIB,
        timeout: float = 10.0,
        stall: float = 3.0,
        disk: Path | None = None,
        connections: int = 6,
        guard: Guard | None = None,
    ) -> Readers:
        """Return readers of their own; they are stopped when the test ends."""
        clock, counters = SystemClock(), Counters()
        edges, bodies = (
            DiskChunks(Place(disk / name, name, 64 * MIB, 0), counters) if disk else None
            for name in ("edges", "bodies")
        )
        supplies = Supplies(
            clock,
            counters,
            ChunkStore(memory),
            edges,
            bodies,
            Sources(clock, counters, stall),
            Links(self.resolve, clock, counters),
            Workers("reader", 32, clock),
            timeout,
            guard or Guard(clock, 2, 0),
            connections,
        )
        readers = Readers(supplies)
        self._stack.callback(self._stop, readers)
        return readers

    def _stop(self, readers: Readers) -> None:
        assert readers.stop(10), "a reader's thread did not end"
        for kept in (readers.supplies.edges, readers.supplies.bodies):
            if kept is not None:
                kept.stop()

    def reader(self, name: str, size: int, readers: Readers | None = None, entry_id: int = 1) -> FileReader:
        """Return a reader with one handle, 1, open on a new file."""
        reader = (readers or self.readers()).open(self.file(name, size, entry_id), 1)
        assert isinstance(reader, FileReader)
        return reader


@pytest.fixture
def cdn() -> Iterator[Cdn]:
    with Cdn() as server:
        yield server


@pytest.fixture
def library(cdn: Cdn) -> Iterator[Library]:
    with ExitStack() as stack:
        yield Library(cdn, stack)


class Mounted:
    """A library that is mounted, and what the test does with it."""

    def __init__(self, library: Library, settings: VfsSettings) -> None:
        self.library = library
        self.settings = settings
        self.path = settings.mount_path
        self.vfs = Vfs(settings, library.resolve, SystemClock())

    def __truediv__(self, path: str) -> Path:
        return self.path / path.lstrip("/")

    def read(self, path: str, offset: int, size: int) -> bytes:
        """Read a piece of a file with a handle of its own."""
        descriptor = os.open(self / path, os.O_RDONLY)
        try:
            return os.pread(descriptor, size, offset)
        finally:
            os.close(descriptor)


@pytest.fixture
def mount(library: Library, tmp_path: Path) -> Iterator[Callable[..., Mounted]]:
    """Return what mounts files; options are settings."""
    with ExitStack() as stack:

        def make(*files: TreeFile, **options: Any) -> Mounted:
            wanted = {
                "mount_path": tmp_path / "mnt",
                "cache_dir": tmp_path / "cache",
                "read_timeout_seconds": 5,
                **options,
            }
            mounted = Mounted(library, VfsSettings(**wanted))
            stack.callback(mounted.vfs.stop)
            mounted.vfs.start(files)
            return mounted

        yield make
    assert not mounts_at(tmp_path / "mnt"), "the mount was left behind"
