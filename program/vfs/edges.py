"""Beginnings and ends of files on disk, so that a second scan, a second probe or a resumed film needs no provider.

Each kept piece is one chunk's longest run of bytes with a header that names what it belongs to; what does not fit its header is
thrown away. All disk work happens on one thread of our own.
"""

import hashlib
import os
import shutil
import sqlite3
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import diskcache
from loguru import logger

from program.vfs.counters import Counters

# What a load answers: where in the chunk the bytes begin, and the bytes; None when nothing usable is kept.
Loaded: TypeAlias = tuple[int, bytes] | None
Answer: TypeAlias = Callable[[Loaded], None]

# A quarter of a gibibyte stays free for everybody else on the disk.
FREE_BYTES = 256 * 1024 * 1024
# Pieces that wait to be written; more are not worth their memory, they can be fetched again.
MAX_WAITING_SAVES = 16

_MAGIC = b"RVE1"
# magic, digest of the key, where the bytes begin in the chunk, how many, checksum
_HEADER = struct.Struct("<4s16sIII")


_DISK_FAILURES = (OSError, sqlite3.Error, diskcache.Timeout, ValueError)


class _Cache(Protocol):
    """What we ask of the library."""

    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes) -> bool: ...
    def delete(self, key: str) -> bool: ...
    def close(self) -> None: ...


class BytesDisk(diskcache.Disk):  # type: ignore[misc] # the library is not typed
    """How the cache stores: `str` keys and `bytes` values, nothing else and never a pickle."""

    def put(self, key: object) -> tuple[str, bool]:
        """Return the key as the database holds it. Raises TypeError for other kinds."""
        if type(key) is not str:
            raise TypeError("keys are str")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return the key from the database. Raises ValueError for one that we did not write."""
        if type(key) is not str or not raw:
            raise ValueError("not a key of ours")
        return key

    def store(self, value: object, read: object, key: object = diskcache.UNKNOWN) -> object:
        """Return the row of a value. Raises TypeError for other kinds."""
        if type(value) is not bytes or read:
            raise TypeError("values are bytes")
        return super().store(value, read, key=key)

    def fetch(self, mode: int, filename: object, value: object, read: object) -> bytes:
        """Return a value. Raises ValueError for a row that we did not write; a pickle is never opened."""
        if mode not in (diskcache.core.MODE_RAW, diskcache.core.MODE_BINARY):
            raise ValueError("not a value of ours")
        fetched = super().fetch(mode, filename, value, read)
        if type(fetched) is not bytes:
            raise ValueError("not a value of ours")
        return fetched


class Edges:
    """The kept pieces. Calls only note what is wanted; answers come on the cache's own thread."""

    def __init__(self, folder: Path, limit: int, counters: Counters) -> None:
        """Keep at most `limit` bytes in the folder, which is made for us alone. Raises OSError when it cannot be used."""
        self._folder = folder
        self._limit = limit
        self._counters = counters
        self._changed = threading.Condition()
        # Guarded by the condition.
        self._loads: deque[tuple[str, Answer]] = deque()
        self._saves: deque[tuple[str, int, bytes]] = deque()
        self._stopped = False
        self._make_folder()
        self._thread = threading.Thread(target=self._run, name="vfs-cache", daemon=True)
        self._thread.start()

    def load(self, key: str, answer: Answer) -> bool:
        """Have `answer` called with what is kept under the key, on the cache's thread; return False once it stopped."""
        with self._changed:
            if self._stopped:
                return False
            self._loads.append((key, answer))
            self._changed.notify()
        return True

    def save(self, key: str, start: int, data: bytes) -> None:
        """Keep a chunk's bytes from `start` on, unless the disk is full or cannot follow."""
        with self._changed:
            if not self._stopped and len(self._saves) < MAX_WAITING_SAVES:
                self._saves.append((key, start, data))
                self._changed.notify()

    def stop(self, timeout: float = 5.0) -> None:
        """Write what waits to be written, then end the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join(timeout)

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
            logger.warning("beginnings and ends of files are not kept: {}", error)
            return None
        except sqlite3.DatabaseError as error:
            logger.warning("the kept beginnings and ends of files are damaged and begun anew: {}", error)
        except _DISK_FAILURES as error:
            logger.warning("beginnings and ends of files are not kept: {}", error)
            return None
        try:
            shutil.rmtree(self._folder)
            self._make_folder()
            return self._open_folder()
        except _DISK_FAILURES as error:
            logger.warning("beginnings and ends of files are not kept: {}", error)
            return None

    def _open_folder(self) -> _Cache:
        cache: _Cache = diskcache.Cache(
            str(self._folder),
            disk=BytesDisk,
            size_limit=self._limit,
            eviction_policy="least-recently-used",
            # Two go for each that comes while there are too many; the library's ten may be all there is.
            cull_limit=2,
            timeout=5,
            sqlite_cache_size=1024,
            sqlite_mmap_size=0,
        )
        return cache

    def _make_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.chmod(0o700)

    def _load(self, cache: _Cache | None, key: str) -> Loaded:
        """Return what is kept under a key if it is ours and whole."""
        if cache is None:
            return None
        try:
            value = cache.get(key)
        except _DISK_FAILURES:
            value = b""
        if value is None:
            return None
        found = _unpack(key, value)
        if found is None:
            self._forget(cache, key)
        else:
            self._counters.add(edges_loaded=1)
        return found

    def _forget(self, cache: _Cache, key: str) -> None:
        try:
            cache.delete(key)
        except _DISK_FAILURES:
            logger.debug("a damaged piece could not be deleted")

    def _save(self, cache: _Cache | None, key: str, start: int, data: bytes) -> None:
        """Keep one piece; a full or failing disk only costs a fetch later."""
        try:
            disk = os.statvfs(self._folder)
            if cache is not None and disk.f_bavail * disk.f_frsize > FREE_BYTES + len(data):
                cache.set(key, _pack(key, start, data))
                self._counters.add(edges_saved=1)
        except _DISK_FAILURES as error:
            logger.debug("a piece was not kept: {reason}", reason=type(error).__name__)


def _pack(key: str, start: int, data: bytes) -> bytes:
    """Return the bytes with a header that says what they belong to."""
    return _HEADER.pack(_MAGIC, _digest(key), start, len(data), zlib.crc32(data)) + data


def _unpack(key: str, value: bytes) -> Loaded:
    """Return what `_pack` was given, or None when the value is damaged or another key's."""
    if len(value) < _HEADER.size:
        return None
    magic, digest, start, length, checksum = _HEADER.unpack_from(value)
    data = value[_HEADER.size :]
    is_ours = (
        magic == _MAGIC and digest == _digest(key) and len(data) == length and zlib.crc32(data) == checksum
    )
    return (start, data) if is_ours else None


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
