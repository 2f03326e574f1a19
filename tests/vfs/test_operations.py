"""Every operation, every kind of exception: always an errno, never a false answer."""

import errno
import http.client
import json
import os
import socket
import ssl
from collections.abc import Iterator

import pytest
import requests

from program.clock import SystemClock
from program.errors import Final, RetryLater
from program.settings.vfs import VfsSettings
from program.vfs.attributes import Attributes
from program.vfs.counters import Counters
from program.vfs.open_files import OpenFiles
from program.vfs.operations import CallFailed, Operations
from program.vfs.reader import ReadFailed
from program.vfs.tree import Node, Tree, TreeFile
from tests.vfs.conftest import JUNE

FILM = "/movies/A/A.mkv"

CALLS: dict[str, tuple[object, ...]] = {
    "getattr": (FILM, None),
    "access": (FILM, os.R_OK),
    "opendir": ("/movies",),
    "readdir": (None, 1),
    "releasedir": (None, 1),
    "open": (FILM, os.O_RDONLY),
    "read": (None, 10, 0, 1),
    "release": (None, 1),
    "statfs": ("/",),
}
WRITES = [
    *("chmod", "chown", "create", "link", "mkdir", "mknod", "removexattr", "rename", "rmdir"),
    *("setxattr", "symlink", "truncate", "unlink", "utimens", "write"),
]
EXCEPTIONS: list[BaseException] = [
    OSError(),
    OSError("no number"),
    OSError(0, "zero"),
    OSError(-5, "negative"),
    TimeoutError(),
    ConnectionResetError(),
    requests.ConnectionError("x"),
    requests.exceptions.ChunkedEncodingError("x"),
    http.client.IncompleteRead(b"x"),
    ssl.SSLError("x"),
    socket.gaierror(-2, "unknown host"),
    ReadFailed("no data"),
    Final("x"),
    RetryLater(JUNE, "x"),
    json.JSONDecodeError("x", "", 0),
    ValueError("x"),
    KeyError("x"),
    MemoryError(),
    RecursionError(),
    AssertionError(),
    StopIteration(),
    GeneratorExit(),
    KeyboardInterrupt(),
    SystemExit(1),
]


class Exploding:
    """Stands for whatever an operation asks; every use raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getattr__(self, name: str) -> object:
        raise self.error

    def __getitem__(self, key: object) -> object:
        raise self.error

    def __setitem__(self, key: object, value: object) -> None:
        raise self.error

    def pop(self, *args: object) -> object:
        raise self.error


def operations(files: object, reports: list[str] | None = None) -> Operations:
    settings = VfsSettings()
    report = reports if reports is not None else []
    return Operations(files, Attributes(settings), Counters(), lambda name, _: report.append(name))  # type: ignore[arg-type]


def open_files(reader: object = None) -> OpenFiles:
    tree = Tree([TreeFile(FILM, 1, 10, JUNE)])
    return OpenFiles(tree, lambda _file, _handle: reader, SystemClock())  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("error", EXCEPTIONS, ids=repr)
@pytest.mark.parametrize("name", CALLS)
def test_an_exception_in_an_operation_is_an_errno(name: str, error: BaseException):
    reports: list[str] = []
    leaking = operations(Exploding(error), reports)
    leaking._folders = Exploding(error)  # type: ignore[assignment]
    with pytest.raises(CallFailed) as caught:
        leaking(name, *CALLS[name])
    assert caught.value.errno == errno.EIO
    assert reports == ([] if isinstance(error, ReadFailed) else [name])


@pytest.mark.parametrize("name", CALLS)
def test_an_errno_is_passed_on(name: str):
    leaking = operations(Exploding(OSError(errno.EACCES, "no")))
    leaking._folders = Exploding(OSError(errno.EACCES, "no"))  # type: ignore[assignment]
    with pytest.raises(CallFailed) as caught:
        leaking(name, *CALLS[name])
    assert caught.value.errno == errno.EACCES


@pytest.mark.parametrize("name", WRITES)
def test_whatever_writes_is_refused(name: str):
    with pytest.raises(CallFailed) as caught:
        operations(open_files())(name, FILM, 1, 2)
    assert caught.value.errno == errno.EROFS


def test_every_operation_that_fusepy_may_call_is_tried_here():
    named = {name for name in dir(Operations) if not name.startswith("_")}
    own = {"use_ns", "flag_nopath", "flag_nullpath_ok", "close_all", "failed", "refuse"}
    assert named - own == {*CALLS, *WRITES}


class Short:
    """Reads from memory."""

    def drop_handle(self, handle: int) -> None:
        """Nothing to drop."""

    def read(self, handle: int, offset: int, size: int) -> list[memoryview]:
        return [memoryview(b"0123456789")[offset : offset + size]]


def test_a_handle_is_good_until_its_release():
    calls = operations(open_files(Short()))
    handle = calls.open(FILM, os.O_RDONLY)
    assert b"".join(calls.read(None, 4, 2, handle)) == b"2345"
    assert calls.getattr(None, handle)["st_size"] == 10
    calls.release(None, handle)
    for call in (lambda: calls.read(None, 4, 2, handle), lambda: calls.release(None, handle)):
        with pytest.raises(CallFailed, match=os.strerror(errno.EBADF)):
            call()


def test_a_listing_is_of_the_moment_the_folder_was_opened():
    files = open_files()
    calls = operations(files)
    first, second = calls.opendir("/movies"), calls.opendir("/movies")
    files.apply([TreeFile("/movies/B/B.mkv", 2, 10, JUNE)], [1])
    calls.releasedir(None, first)
    assert [name for name, _, _ in calls.readdir(None, second)] == [".", "..", "A"]
    assert [name for name, _, _ in calls.readdir(None, calls.opendir("/movies"))] == [".", "..", "B"]


def test_what_is_left_open_is_closed_with_the_mount():
    files = open_files(Short())
    calls = operations(files)
    for _ in range(3):
        calls.open(FILM, os.O_RDONLY)
    assert files.count() == 3
    calls.close_all()
    assert files.count() == 0


def nodes(tree: Tree) -> Iterator[Node]:
    yield tree.root
    yield from tree.root.children.values()


def test_attributes_do_not_change_from_one_look_to_the_next():
    tree = Tree([TreeFile(FILM, 1, 10, JUNE)])
    attributes = Attributes(VfsSettings())
    assert [attributes.of(node) for node in nodes(tree)] == [attributes.of(node) for node in nodes(tree)]
