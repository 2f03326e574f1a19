"""The threads that answer the kernel: each takes a request and answers it, and one more than are busy stands ready.

libfuse has a loop of its own, but on threads that Python does not know and has to make itself ready for at every call.
"""

import contextlib
import ctypes
import errno
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

# So many threads stay though they have nothing to do.
SPARE_THREADS = 8

# What the kernel says of a request that was called off before anybody took it.
_CALLED_OFF = frozenset({errno.ENOENT, errno.EINTR, errno.EAGAIN})

# Memory that a request is read into.
Buffer: TypeAlias = "ctypes.Array[Any]"

# Answers the request in the buffer's first so many bytes.
Answer: TypeAlias = Callable[[Buffer, int], None]


class Serving:
    """Takes requests from the kernel until the mount is gone. size: bytes of the largest request."""

    def __init__(self, descriptor: int, size: int, answer: Answer) -> None:
        self._descriptor = descriptor
        self._size = size
        self._answer = answer
        self._ended = threading.Event()
        self._lock = threading.Lock()
        # Guarded by the lock: the threads, how many of them live, and how many of those wait for a request.
        self._threads: set[threading.Thread] = set()
        self._running = 0
        self._free = 0
        self._made = 0

    def start(self) -> None:
        """Begin to take requests."""
        with self._lock:
            self._add_thread()

    def is_alive(self) -> bool:
        """Return whether requests are still taken, or one is still being answered."""
        return self._running > 0

    def join(self, seconds: float) -> None:
        """Wait until every thread has ended, at most so long."""
        if self._ended.wait(seconds):
            for thread in list(self._threads):
                thread.join()

    def _run(self) -> None:
        """Take requests while there are any, and not too many other threads do nothing but wait for one."""
        # Most requests are small, and memory that nobody touches costs nothing.
        buffer = ctypes.create_string_buffer(self._size)
        is_spare = False
        try:
            while not is_spare and (count := self._receive(buffer)):
                self._begin()
                self._answer(buffer, count)
                is_spare = self._is_spare()
        finally:
            self._leave(is_spare=is_spare)

    def _receive(self, buffer: Buffer) -> int:
        """Return the bytes of the next request, 0 when the mount is gone."""
        while True:
            try:
                return os.readv(self._descriptor, [buffer])
            except OSError as error:
                if error.errno not in _CALLED_OFF:
                    return 0

    def _begin(self) -> None:
        """Note that this thread is busy; have another stand ready."""
        with self._lock:
            self._free -= 1
            if not self._free:
                self._add_thread()

    def _is_spare(self) -> bool:
        """Note that this thread is done; return whether enough others stand ready."""
        with self._lock:
            if self._free >= SPARE_THREADS:
                return True
            self._free += 1
            return False

    def _leave(self, *, is_spare: bool) -> None:
        """Note that this thread ends."""
        with self._lock:
            self._running -= 1
            if is_spare:
                self._threads.discard(threading.current_thread())
            elif not self._running:
                self._ended.set()

    def _add_thread(self) -> None:
        """Have another thread take requests. Call with the lock held."""
        self._made += 1
        thread = threading.Thread(target=self._run, name=f"fuse-{self._made}", daemon=True)
        # Where the system allows no more threads, those there are have to do.
        with contextlib.suppress(RuntimeError):
            thread.start()
            self._threads.add(thread)
            self._running += 1
            self._free += 1
