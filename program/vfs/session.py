"""One mounted file system: libfuse keeps what the kernel knows, fusepy calls our operations, our own threads serve (`serving.py`).

fusepy's own constructor blocks inside libfuse's `main`, which installs signal handlers and, on its way out, gives SIGPIPE back
its deadly default. So the session is built from libfuse's parts in place of that. Reads do not go through libfuse at all: they need
nothing that it knows, and the bytes go to the kernel from where they are.
"""

import ctypes
import errno
import logging
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from struct import Struct
from typing import Any

from program.vfs.kernel import can_number
from program.vfs.libfuse import LibFuse, arguments
from program.vfs.operations import Operations
from program.vfs.serving import Buffer, Serving

try:
    from fuse import FUSE, _libfuse, c_stat, c_timespec, fuse_operations
except OSError:
    # fusepy looks for libfuse when it is imported; without it the program still has to say so in a sentence.
    FUSE, _libfuse, c_stat, c_timespec, fuse_operations = object, None, None, None, None

NO_LIBFUSE = "libfuse 2 is missing: install it (apt-get install libfuse2, on Debian 13 libfuse2t64)"

# The kernel's protocol, in the machine's byte order. A request begins with its length, what it is, its number, and who asks.
REQUEST = Struct("=IIQ24x")
# What follows in a read: the handle, the offset, how much.
READ_REQUEST = Struct("=QQI")
# An answer begins with its length, a negative errno, and the request's number.
REPLY = Struct("=IiQ")
READ, INTERRUPT = 15, 36

NANOSECONDS = 10**9

# fusepy logs on threads that are not ours, which costs one thread object each.
logging.getLogger("fuse").disabled = True


def is_there() -> bool:
    """Return whether libfuse is installed."""
    return _libfuse is not None


class Session(FUSE):  # type: ignore[misc] # the library is not typed
    """One mounted file system until it is unmounted by whomever."""

    def __init__(self, operations: Operations, path: Path, options: str) -> None:
        """Mount. Raises OSError when the system refuses; libfuse says on stderr why."""
        self.operations = operations
        self.raw_fi = False
        self.encoding = "utf-8"
        self.use_ns = True
        self._nothing = c_stat()
        self._path = os.fsencode(path)
        self._lib = LibFuse(_libfuse)
        # libfuse calls into this table for as long as the session lives.
        self._table = self._operations_table()
        words = arguments(options)
        self._channel = self._lib.mount(self._path, words)
        if not self._channel:
            raise OSError("the system refused the mount")
        self._descriptor = self._lib.descriptor(self._channel)
        os.set_inheritable(self._descriptor, False)
        table = ctypes.addressof(self._table)
        self._fuse = self._lib.new(self._channel, words, table, ctypes.sizeof(self._table), None)
        if not self._fuse:
            self._lib.unmount(self._path, self._channel)
            raise OSError("libfuse refused the options")
        self._session = self._lib.session(self._fuse)
        serving = Serving(self._descriptor, self._lib.largest_request(self._channel), self._answer)
        self.start, self.is_alive, self.join = serving.start, serving.is_alive, serving.join

    def close(self) -> None:
        """Give back what libfuse holds. Only after the threads have ended."""
        self.operations.close_all()
        self._lib.unmount(self._path, self._channel)
        self._lib.destroy(self._fuse)

    def getattr(self, path: bytes, buffer: Any) -> int:
        """Fill in what `stat` shows of a path; asked for each name that a scanner looks at."""
        return self.fgetattr(path, buffer, None)

    def fgetattr(self, path: bytes | None, buffer: Any, info: Any) -> int:
        """Fill in what `stat` shows of a path, or of the open file where there is none."""
        handle = info.contents.fh if info else None
        found = self.operations.getattr(self._decode_optional_path(path), handle)
        buffer[0] = self._nothing
        stat = buffer.contents
        stat.st_mode, stat.st_nlink = found["st_mode"], found["st_nlink"]
        stat.st_uid, stat.st_gid = found["st_uid"], found["st_gid"]
        stat.st_size, stat.st_blocks = found["st_size"], found["st_blocks"]
        moment = c_timespec(*divmod(found["st_mtime"], NANOSECONDS))
        stat.st_mtimespec = stat.st_ctimespec = stat.st_atimespec = moment
        return 0

    def forget(self, parent: int, node: int | None, name: str, *, is_gone: bool) -> None:
        """Make the kernel forget what it knows of `name` in a folder. parent, node: their inode numbers below the mount.

        An inode's number is libfuse's own, since `use_ino` is off.
        """
        self._lib.forget_inode(self._channel, parent, -1, 0)
        if node is not None:
            self._lib.forget_inode(self._channel, node, 0, 0)
        if is_gone:
            encoded = name.encode()
            self._lib.forget_entry(self._channel, parent, encoded, len(encoded))

    def can_forget(self) -> bool:
        """Return whether the kernel takes such news at all."""
        return can_number() and self._lib.forget_inode(self._channel, 1, -1, 0) == 0

    def _answer(self, buffer: Buffer, count: int) -> None:
        """Answer one request: a read right here, anything else through libfuse."""
        _, kind, number = REQUEST.unpack_from(buffer)
        if kind == READ:
            self._read(number, *READ_REQUEST.unpack_from(buffer, REQUEST.size))
        # An answer comes within bounded time in any case, so nobody's impatience is passed on.
        elif kind != INTERRUPT:
            self._lib.process(self._session, ctypes.addressof(buffer), count, self._channel)

    def _read(self, number: int, handle: int, offset: int, size: int) -> None:
        """Send the bytes to the kernel from where they are."""
        views: list[memoryview] = []
        error = 0
        try:
            views = self.operations.read(None, size, offset, handle)
        except OSError as failure:
            error = -(failure.errno or errno.EIO)
        header = REPLY.pack(REPLY.size + sum(map(len, views)), error, number)
        # Refused when whoever asked is gone.
        with suppress(OSError):
            os.writev(self._descriptor, [header, *views])

    def _decode_optional_path(self, path: bytes | None) -> str | None:
        """Return the path; bytes that are no UTF-8 make a name that nothing has, not an error of its own."""
        return None if path is None else path.decode(self.encoding, "surrogateescape")

    def _operations_table(self) -> ctypes.Structure:
        """Return the table of callbacks, as fusepy makes it."""
        table: ctypes.Structure = fuse_operations()
        for name, prototype, *_ in fuse_operations._fields_:
            known = name[1:] if name in ("ftruncate", "fgetattr") else name
            value = getattr(self.operations, known, None) if name != "read" else None
            if value is not None and hasattr(prototype, "argtypes"):
                value = prototype(partial(self._wrapper, getattr(self, name)))
            if value is not None:
                setattr(table, name, value)
        return table
