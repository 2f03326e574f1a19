"""The file system's calls as the kernel makes them: arguments in, plain calls out, errors as errno; nothing else.

fusepy turns an exception without a positive errno into a false end of file, so every operation goes through `as_errno`. Calls
come on foreign threads: nothing here logs, sleeps, or touches a disk or a network.
"""

import errno
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Concatenate, NoReturn, ParamSpec, TypeVar

from program.vfs.attributes import MAX_NAME, Attributes, file_system
from program.vfs.counters import Counters
from program.vfs.open_files import OpenFiles
from program.vfs.reader import ReadFailed
from program.vfs.tree import Directory, Node

P = ParamSpec("P")
R = TypeVar("R")

# What a failed call is reported with: its name and the exception.
Report = Callable[[str, BaseException], None]


class CallFailed(OSError):
    """What fusepy turns into an errno: an OSError with a positive one."""

    def __init__(self, number: int) -> None:
        super().__init__(number, os.strerror(number))


def as_errno(
    operation: "Callable[Concatenate[Operations, P], R]",
) -> "Callable[Concatenate[Operations, P], R]":
    """Return the operation with every exception turned into an errno; those nobody expected are reported."""

    @wraps(operation)
    def call(self: "Operations", /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return operation(self, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - whatever leaks would be read as a false end of file
            failure = self.failed(operation.__name__, error)
        raise failure

    return call


class Operations:
    """What fusepy calls. One instance per mount, so that the handles of a lost mount can be closed."""

    use_ns = True
    # Calls on a handle come without a path: the kernel need not look it up, and the handle says it all.
    flag_nopath = 1
    flag_nullpath_ok = 1

    def __init__(self, files: OpenFiles, attributes: Attributes, counters: Counters, report: Report) -> None:
        self._files = files
        self._attributes = attributes
        self._counters = counters
        self._report = report
        self._handles: set[int] = set()
        self._folders: dict[int, Directory] = {}
        self._numbers = itertools.count(1)

    def __call__(self, name: str, *args: object) -> object:
        """Call an operation by its name."""
        return getattr(self, name)(*args)

    @as_errno
    def getattr(self, path: str | None, handle: int | None = None) -> Mapping[str, int]:
        """Return what `stat` shows."""
        node = self._node(path) if path is not None else self._files.get(handle or 0).file
        return self._attributes.of(node)

    @as_errno
    def access(self, path: str, mode: int) -> int:
        """Return 0 when the path is there and is not to be written."""
        self._node(path)
        if mode & os.W_OK:
            raise CallFailed(errno.EROFS)
        return 0

    @as_errno
    def opendir(self, path: str) -> int:
        """Return a handle on a folder as it is now."""
        node = self._node(path)
        if not isinstance(node, Directory):
            raise CallFailed(errno.ENOTDIR)
        handle = next(self._numbers)
        self._folders[handle] = node
        return handle

    @as_errno
    def readdir(self, path: str | None, handle: int) -> Iterator[tuple[str, Mapping[str, int] | None, int]]:
        """Return the names in a folder, each with what kind of thing it is."""
        del path
        children = self._folders[handle].children.items()
        kinds = [(name, self._attributes.kind(node), 0) for name, node in children]
        return iter([(".", None, 0), ("..", None, 0), *kinds])

    @as_errno
    def releasedir(self, path: str | None, handle: int) -> int:
        """Forget a folder's handle."""
        del path
        self._folders.pop(handle, None)
        return 0

    @as_errno
    def open(self, path: str, flags: int) -> int:
        """Return a handle on a file, for reading only."""
        if flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC:
            raise CallFailed(errno.EROFS)
        handle = self._files.open(path)
        self._handles.add(handle)
        return handle

    @as_errno
    def read(self, path: str | None, size: int, offset: int, handle: int) -> list[memoryview]:
        """Return the bytes as views; the caller copies them into the kernel's buffer."""
        del path
        views = self._files.read(handle, offset, size)
        self._counters.add(reads=1, bytes_read=sum(map(len, views)))
        return views

    @as_errno
    def release(self, path: str | None, handle: int) -> int:
        """Close a handle."""
        del path
        self._handles.discard(handle)
        self._files.close(handle)
        return 0

    @as_errno
    def statfs(self, path: str) -> dict[str, int]:
        """Return the size of the library."""
        del path
        return dict(file_system(*self._files.tree.totals()))

    @as_errno
    def refuse(self, *args: object) -> NoReturn:
        """Refuse whatever would change something."""
        del args
        raise CallFailed(errno.EROFS)

    chmod = chown = create = link = mkdir = mknod = removexattr = rename = rmdir = refuse
    setxattr = symlink = truncate = unlink = utimens = write = refuse

    def close_all(self) -> None:
        """Close the handles that are left when the mount is gone: nobody else will."""
        while self._handles:
            handle = self._handles.pop()
            try:
                self._files.close(handle)
            except OSError:
                continue

    def failed(self, name: str, error: BaseException) -> CallFailed:
        """Return the error that the kernel gets."""
        number = error.errno if isinstance(error, OSError) and isinstance(error.errno, int) else 0
        if number <= 0:
            number = errno.EIO
            self._counters.add(errors=1)
            if not isinstance(error, ReadFailed):
                self._report(name, error)
        return CallFailed(number)

    def _node(self, path: str) -> Node:
        node = self._files.tree.lookup(path)
        if node is None:
            is_too_long = any(len(os.fsencode(part)) > MAX_NAME for part in path.split("/"))
            raise CallFailed(errno.ENAMETOOLONG if is_too_long else errno.ENOENT)
        return node
