"""Chunks of files on disk, so that a second scan, a second probe or a resumed film needs no provider.

One store keeps the beginnings and ends of files, another what was played of their middles. Each kept piece is one chunk's
longest run of bytes with a header that names what it belongs to; what does not fit its header is thrown away. All disk work of
a store happens on one thread of its own.
"""

import os
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import diskcache
from loguru import logger

from program.bytes_disk import BytesDisk
from program.vfs.counters import Counters
from program.vfs.disk_format import Loaded, pack, unpack

# Takes what a load found, on the store's own thread.
Answer: TypeAlias = Callable[[Loaded], None]

# Pieces that wait to be written; more are not worth their memory, they can be fetched again.
MAX_WAITING_SAVES = 16

_DISK_FAILURES = (OSError, sqlite3.Error, diskcache.Timeout, ValueError)


class _Cache(Protocol):
    """What we ask of the library."""

    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes) -> bool: ...
    def delete(self, key: str) -> bool: ...
    def iterkeys(self) -> Iterator[str]: ...
    def volume(self) -> int: ...
    def reset(self, key: str, value: int) -> int: ...
    def cull(self) -> int: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store keeps its pieces. name: what it keeps, as the counters call it; limit: bytes at most.

    keep_free: bytes that stay free on the disk for everybody else; gives_way: whether pieces go when there are fewer; patience:
    seconds for which whoever brings a piece waits for a disk that cannot follow.
    """

    folder: Path
    name: str
    limit: int
    keep_free: int
    gives_way: bool = False
    patience: float = 0.0


class DiskChunks:
    """The kept pieces of one kind. Calls only note what is wanted; answers come on the store's own thread."""

    def __init__(self, place: Place, counters: Counters) -> None:
        """Keep pieces in the folder, which is made for us alone. Raises OSError when it cannot be used."""
        self._place = place
        self._counters = counters
        self._changed = threading.Condition()
        # Guarded by the condition.
        self._loads: deque[tuple[str, Answer]] = deque()
        self._saves: deque[tuple[str, int, bytes]] = deque()
        self._stopped = False
        # Guarded by the condition: which chunks are kept, by the key of the contents, and how many bytes they take.
        self._kept: dict[str, set[int]] = {}
        self._size = 0
        self._make_folder()
        self._thread = threading.Thread(target=self._run, name=f"vfs-{place.name}", daemon=True)
        self._thread.start()

    def load(self, key: str, index: int, answer: Answer) -> bool:
        """Have `answer` called with what is kept of a chunk, on the store's thread; return False once it stopped."""
        with self._changed:
            if self._stopped:
                return False
            self._loads.append((_name(key, index), answer))
            self._changed.notify_all()
        return True

    def save(self, key: str, index: int, start: int, data: bytes) -> None:
        """Keep a chunk's bytes from `start` on, unless the disk is full or cannot follow."""
        with self._changed:
            self._changed.wait_for(self._takes_more, self._place.patience)
            if not self._stopped and self._takes_more():
                self._saves.append((_name(key, index), start, data))
                self._changed.notify_all()

    def has(self, key: str, index: int) -> bool:
        """Return whether a chunk is kept, as far as is known without asking the disk."""
        with self._changed:
            return index in self._kept.get(key, ())

    def next_kept(self, key: str, index: int) -> int | None:
        """Return the first kept chunk from `index` on, None when there is none."""
        with self._changed:
            return min((kept for kept in self._kept.get(key, ()) if kept >= index), default=None)

    def size(self) -> int:
        """Return how many bytes the kept pieces take on the disk."""
        return self._size

    def stop(self, timeout: float = 5.0) -> None:
        """Write what waits to be written, then end the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join(timeout)

    def _takes_more(self) -> bool:
        """Return whether one more piece may wait to be written. Call with the condition held."""
        return self._stopped or len(self._saves) < MAX_WAITING_SAVES

    def _run(self) -> None:
        """Work until stopped; without a usable cache every load finds nothing."""
        cache = self._open()
        try:
            while True:
                with self._changed:
                    while not (self._loads or self._saves or self._stopped):
                        self._changed.wait()
                    load = self._loads.popleft() if self._loads else None
                    save = self._saves.popleft() if self._saves and load is None else None
                    if save is not None:
                        self._changed.notify_all()
                if load is not None:
                    load[1](self._load(cache, load[0]))
                elif save is not None:
                    self._save(cache, *save)
                else:
                    return
        finally:
            if cache is not None:
                cache.close()

    def _open(self) -> _Cache | None:
        """Return the cache, begun anew when what is there cannot be read, or None when there can be none."""
        try:
            return self._open_folder()
        except sqlite3.OperationalError as error:
            # In use by another process, or not readable: not ours to mend.
            logger.warning("{} of files are not kept on disk: {}", self._place.name, error)
            return None
        except sqlite3.DatabaseError as error:
            logger.warning("the kept {} of files are damaged and begun anew: {}", self._place.name, error)
        except _DISK_FAILURES as error:
            logger.warning("{} of files are not kept on disk: {}", self._place.name, error)
            return None
        try:
            shutil.rmtree(self._place.folder)
            self._make_folder()
            return self._open_folder()
        except _DISK_FAILURES as error:
            logger.warning("{} of files are not kept on disk: {}", self._place.name, error)
            return None

    def _open_folder(self) -> _Cache:
        cache: _Cache = diskcache.Cache(
            str(self._place.folder),
            disk=BytesDisk,
            size_limit=self._place.limit,
            eviction_policy="least-recently-used",
            # Two go for each that comes while there are too many; the library's ten may be all there is.
            cull_limit=2,
            timeout=5,
            sqlite_cache_size=1024,
            sqlite_mmap_size=0,
        )
        for name in cache.iterkeys():
            self._note(name, is_kept=True)
        self._size = cache.volume()
        return cache

    def _make_folder(self) -> None:
        self._place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._place.folder.chmod(0o700)

    def _note(self, name: str, *, is_kept: bool) -> None:
        """Remember whether a piece is kept."""
        key, _, index = name.rpartition("/")
        if not index.isdecimal():
            return
        with self._changed:
            indices = self._kept.setdefault(key, set())
            if is_kept:
                indices.add(int(index))
            else:
                indices.discard(int(index))
            if not indices:
                del self._kept[key]

    def _load(self, cache: _Cache | None, name: str) -> Loaded:
        """Return what is kept under a name if it is ours and whole."""
        if cache is None:
            return None
        try:
            value = cache.get(name)
        except _DISK_FAILURES:
            value = b""
        found = unpack(name, value) if value is not None else None
        if found is not None:
            self._counters.add(**{f"{self._place.name}_loaded": 1})
            return found
        self._note(name, is_kept=False)
        if value is not None:
            self._counters.add(kept_refused=1)
            self._forget(cache, name)
        return None

    def _forget(self, cache: _Cache, name: str) -> None:
        try:
            cache.delete(name)
        except _DISK_FAILURES:
            logger.debug("a damaged piece could not be deleted")

    def _save(self, cache: _Cache | None, name: str, start: int, data: bytes) -> None:
        """Keep one piece; a full or failing disk only costs a fetch later."""
        if cache is None:
            return
        try:
            missing = self._place.keep_free + len(data) - self._free()
            if missing > 0:
                self._give_way(cache, missing)
                return
            cache.set(name, pack(name, start, data))
            self._size = cache.volume()
        except _DISK_FAILURES as error:
            logger.debug("a piece was not kept: {reason}", reason=type(error).__name__)
        else:
            self._note(name, is_kept=True)
            self._counters.add(**{f"{self._place.name}_saved": 1})

    def _free(self) -> int:
        """Return how many bytes others could still write. Raises OSError."""
        disk = os.statvfs(self._place.folder)
        return disk.f_bavail * disk.f_frsize

    def _give_way(self, cache: _Cache, missing: int) -> None:
        """Let pieces go until the disk has the free space it should have, those longest unused first."""
        if not self._place.gives_way:
            return
        cache.reset("size_limit", max(cache.volume() - missing, 0))
        try:
            cache.cull()
        finally:
            cache.reset("size_limit", self._place.limit)
        self._size = cache.volume()


def _name(key: str, index: int) -> str:
    """Return what a chunk is called on the disk."""
    return f"{key}/{index}"
