"""Every call of a read-only file system on the real mount, with the error that it is to end with; and reads at every edge."""

# The calls themselves are what is tested.
# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH115, PTH116, PTH208, PTH211, PLW0108

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.cdn import content
from tests.vfs.conftest import MIB, Library, Mounted

pytestmark = [pytest.mark.fuse, pytest.mark.timeout(60)]

FOLDER = "movies/Demo (2031)"
FILM = f"{FOLDER}/Demo (2031).mkv"
NEW = f"{FOLDER}/new"
LONG = f"movies/{'x' * 256}"
SIZE = 3 * MIB + 17
FINE = 0

Mounting = Callable[..., Mounted]
# What is done with the mount's path, and the errno it is to end with; FINE for none.
Call = tuple[str, Callable[[Path], object], int]


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def on(name: str, flags: int, call: Callable[[int], object]) -> Callable[[Path], object]:
    """Return a call on an open file or folder."""

    def run(root: Path) -> object:
        with opened(root / name, flags) as descriptor:
            return call(descriptor)

    return run


def opening(name: str, flags: int) -> Callable[[Path], object]:
    return on(name, flags, lambda _: None)


def reading(call: Callable[[int], object]) -> Callable[[Path], object]:
    return on(FILM, os.O_RDONLY, call)


def listing(call: Callable[[int], object]) -> Callable[[Path], object]:
    return on(FOLDER, os.O_RDONLY | os.O_DIRECTORY, call)


def mapped(flags: int, protection: int) -> Callable[[int], object]:
    return lambda descriptor: mmap.mmap(descriptor, 4096, flags, protection).close()


def refused_closed(root: Path) -> None:
    """Read from a descriptor that was closed."""
    with opened(root / FILM) as descriptor:
        closed = os.dup(descriptor)
        os.close(closed)
        os.pread(closed, 1, 0)


LOOKS: tuple[Call, ...] = (
    ("stat of the root", lambda root: os.stat(root), FINE),
    ("stat of a folder", lambda root: os.stat(root / FOLDER), FINE),
    ("stat of a file", lambda root: os.stat(root / FILM), FINE),
    ("lstat of a file", lambda root: os.lstat(root / FILM), FINE),
    ("stat of nothing", lambda root: os.stat(root / "movies/none"), errno.ENOENT),
    ("stat below nothing", lambda root: os.stat(root / "none/none"), errno.ENOENT),
    ("stat below a file", lambda root: os.stat(root / FILM / "none"), errno.ENOTDIR),
    ("stat of a name too long", lambda root: os.stat(root / LONG), errno.ENAMETOOLONG),
    ("stat of a path too long", lambda root: os.stat(f"{root}/{'x/' * 2100}"), errno.ENAMETOOLONG),
    ("stat of bytes that are no text", lambda root: os.stat(os.fsencode(root) + b"/\xff"), errno.ENOENT),
    ("stat with a letter of another case", lambda root: os.stat(root / "Movies"), errno.ENOENT),
    ("open only to name", opening(FILM, os.O_PATH), FINE),
    ("a link that is none", lambda root: os.readlink(root / FILM), errno.EINVAL),
    ("a link to nothing", lambda root: os.readlink(root / "movies/none"), errno.ENOENT),
    ("statfs", lambda root: os.statvfs(root / FILM), FINE),
    ("statfs of nothing", lambda root: os.statvfs(root / "none"), errno.ENOENT),
    ("listing a folder", lambda root: os.listdir(root / FOLDER), FINE),
    ("listing a file", lambda root: os.listdir(root / FILM), errno.ENOTDIR),
    ("listing nothing", lambda root: os.listdir(root / "none"), errno.ENOENT),
    ("listing an open folder", listing(os.listdir), FINE),
    ("an attribute of a file", lambda root: os.getxattr(root / FILM, "user.x"), errno.EOPNOTSUPP),
    ("the attributes of a file", lambda root: os.listxattr(root / FILM), errno.EOPNOTSUPP),
)

OPENS: tuple[Call, ...] = (
    ("open to read", opening(FILM, os.O_RDONLY), FINE),
    ("open without following links", opening(FILM, os.O_RDONLY | os.O_NOFOLLOW), FINE),
    ("open past the cache", opening(FILM, os.O_RDONLY | os.O_DIRECT), FINE),
    ("open a folder as a folder", opening(FOLDER, os.O_RDONLY | os.O_DIRECTORY), FINE),
    ("open a file as a folder", opening(FILM, os.O_RDONLY | os.O_DIRECTORY), errno.ENOTDIR),
    ("open nothing", opening("movies/none", os.O_RDONLY), errno.ENOENT),
    ("open below a file", opening(f"{FILM}/none", os.O_RDONLY), errno.ENOTDIR),
    ("open a name too long", opening(LONG, os.O_RDONLY), errno.ENAMETOOLONG),
    ("open to write", opening(FILM, os.O_WRONLY), errno.EROFS),
    ("open to read and write", opening(FILM, os.O_RDWR), errno.EROFS),
    ("open to append", opening(FILM, os.O_WRONLY | os.O_APPEND), errno.EROFS),
    ("open to empty", opening(FILM, os.O_RDONLY | os.O_TRUNC), errno.EROFS),
    ("open a folder to write", opening(FOLDER, os.O_WRONLY), errno.EISDIR),
    ("open to create", opening(NEW, os.O_WRONLY | os.O_CREAT), errno.EROFS),
    ("open to create what is there", opening(FILM, os.O_RDONLY | os.O_CREAT), FINE),
    ("open to create alone", opening(FILM, os.O_RDONLY | os.O_CREAT | os.O_EXCL), errno.EEXIST),
    ("open a nameless file", opening(FOLDER, os.O_RDWR | os.O_TMPFILE), errno.EROFS),
)

READS: tuple[Call, ...] = (
    ("read", reading(lambda fd: os.read(fd, 10)), FINE),
    ("read nothing", reading(lambda fd: os.pread(fd, 0, 5)), FINE),
    ("read behind the end", reading(lambda fd: os.pread(fd, 10, SIZE + 5)), FINE),
    ("read from before the beginning", reading(lambda fd: os.pread(fd, 10, -1)), errno.EINVAL),
    ("read into pieces", reading(lambda fd: os.readv(fd, [bytearray(3), bytearray(5)])), FINE),
    ("read what is closed", refused_closed, errno.EBADF),
    ("read a folder as a file", listing(lambda fd: os.read(fd, 10)), errno.EISDIR),
    ("seek", reading(lambda fd: os.lseek(fd, 0, os.SEEK_END)), FINE),
    ("seek before the beginning", reading(lambda fd: os.lseek(fd, -1, os.SEEK_SET)), errno.EINVAL),
    ("seek to data", reading(lambda fd: os.lseek(fd, 5, os.SEEK_DATA)), FINE),
    ("seek to a hole", reading(lambda fd: os.lseek(fd, 5, os.SEEK_HOLE)), FINE),
    ("seek to data behind the end", reading(lambda fd: os.lseek(fd, SIZE, os.SEEK_DATA)), errno.ENXIO),
    ("map to read", reading(mapped(mmap.MAP_PRIVATE, mmap.PROT_READ)), FINE),
    ("map to share", reading(mapped(mmap.MAP_SHARED, mmap.PROT_READ)), FINE),
    ("map to write", reading(mapped(mmap.MAP_SHARED, mmap.PROT_WRITE)), errno.EACCES),
    ("sync", reading(os.fsync), FINE),
    ("say what comes", reading(lambda fd: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)), FINE),
    ("lock to read", reading(lambda fd: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)), FINE),
    ("lock a range to read", reading(lambda fd: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)), FINE),
    (
        "lock a range to write",
        reading(lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)),
        errno.EBADF,
    ),
    ("an unknown control", reading(lambda fd: fcntl.ioctl(fd, 0x5401)), errno.ENOTTY),
)

WRITES: tuple[Call, ...] = (
    ("write", reading(lambda fd: os.write(fd, b"x")), errno.EBADF),
    ("shorten", lambda root: os.truncate(root / FILM, 5), errno.EROFS),
    ("shorten what is open", reading(lambda fd: os.ftruncate(fd, 5)), errno.EINVAL),
    ("shorten a folder", lambda root: os.truncate(root / FOLDER, 5), errno.EISDIR),
    ("reserve room", reading(lambda fd: os.posix_fallocate(fd, 0, 5)), errno.EBADF),
    ("make a folder", lambda root: os.mkdir(root / NEW), errno.EROFS),
    ("make a folder that is there", lambda root: os.mkdir(root / FOLDER), errno.EEXIST),
    ("make a folder below nothing", lambda root: os.mkdir(root / "none/none"), errno.ENOENT),
    ("remove a folder", lambda root: os.rmdir(root / FOLDER), errno.EROFS),
    ("remove a file", lambda root: os.unlink(root / FILM), errno.EROFS),
    ("remove nothing", lambda root: os.unlink(root / "movies/none"), errno.EROFS),
    ("rename", lambda root: os.rename(root / FILM, root / NEW), errno.EROFS),
    ("rename a folder", lambda root: os.rename(root / FOLDER, root / NEW), errno.EROFS),
    ("move away", lambda root: os.rename(root / FILM, root.parent / "new"), errno.EXDEV),
    ("link", lambda root: os.link(root / FILM, root / NEW), errno.EROFS),
    ("link from elsewhere", lambda root: os.link(root / FILM, root.parent / "new"), errno.EXDEV),
    ("link by name", lambda root: os.symlink("x", root / NEW), errno.EROFS),
    ("make a pipe", lambda root: os.mkfifo(root / NEW), errno.EROFS),
    ("make a device", lambda root: os.mknod(root / NEW, stat.S_IFCHR, 0), errno.EROFS),
    ("change the mode", lambda root: os.chmod(root / FILM, 0o600), errno.EROFS),
    ("change the mode of what is open", reading(lambda fd: os.fchmod(fd, 0o600)), errno.EROFS),
    ("change the owner", lambda root: os.chown(root / FILM, 0, 0), errno.EROFS),
    ("change the owner of what is open", reading(lambda fd: os.fchown(fd, 0, 0)), errno.EROFS),
    ("change the time", lambda root: os.utime(root / FILM), errno.EROFS),
    ("change the time of a folder", lambda root: os.utime(root / FOLDER), errno.EROFS),
    ("change the time of what is open", reading(os.utime), errno.EROFS),
    ("set an attribute", lambda root: os.setxattr(root / FILM, "user.x", b"x"), errno.EROFS),
    ("remove an attribute", lambda root: os.removexattr(root / FILM, "user.x"), errno.EROFS),
)


def outcome(call: Callable[[Path], object], root: Path) -> int:
    try:
        call(root)
    except OSError as error:
        return error.errno or -1
    return FINE


def test_every_call_ends_as_a_read_only_file_system_is_to_end_it(library: Library, mount: Mounting):
    root = mount(library.file("1.mkv", SIZE, 1, f"/{FILM}")).path
    calls = (*LOOKS, *OPENS, *READS, *WRITES)
    ends = [(name, outcome(call, root), expected) for name, call, expected in calls]
    wrong = [
        f"{name}: {errno.errorcode.get(got, got)} and not {errno.errorcode.get(expected, expected)}"
        for name, got, expected in ends
        if got != expected
    ]
    assert not wrong
    assert len(calls) >= 60
    assert (root / FILM).read_bytes() == content("1.mkv", 0, SIZE)
    assert sorted(os.listdir(root)) == ["movies", "shows"]


def test_others_may_read_and_nobody_may_write_or_run_what_the_mode_forbids(library: Library, mount: Mounting):
    root = mount(library.file("1.mkv", SIZE, 1, f"/{FILM}"), file_mode=0o644, umask=0).path
    assert os.access(root / FILM, os.R_OK)
    assert not os.access(root / FILM, os.W_OK)
    assert not os.access(root / FILM, os.X_OK)
    assert os.access(root / FOLDER, os.R_OK | os.X_OK)
    assert not os.access(root / "none", os.F_OK)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDONLY | os.O_DIRECT], ids=["cached", "direct"])
def test_reads_at_every_edge_are_exact(library: Library, mount: Mounting, flags: int):
    root = mount(library.file("1.mkv", SIZE, 1, f"/{FILM}")).path
    edges = {0, 1, 511, 512, 4095, 4096, 4097, 131_071, 131_072, MIB - 1, MIB, MIB + 1}
    edges |= {SIZE - edge for edge in (*edges, 2)} | {SIZE, SIZE + 1, SIZE + MIB}
    lengths = (0, 1, 2, 511, 513, 4096, 4099, 131_073)
    with opened(root / FILM, flags) as descriptor:
        for offset in sorted(edges):
            for length in lengths:
                expected = content("1.mkv", offset, min(offset + length, SIZE)) if offset < SIZE else b""
                got = read_at(descriptor, offset, length, direct=bool(flags & os.O_DIRECT))
                assert got == expected, (offset, length)


def read_at(descriptor: int, offset: int, length: int, *, direct: bool) -> bytes:
    """Return what a read gives; past the page cache it goes into memory that begins at a page."""
    if not direct or not length:
        return os.pread(descriptor, length, offset)
    with mmap.mmap(-1, length) as memory:
        return memory[: os.preadv(descriptor, [memory], offset)]


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097])
def test_small_files_end_where_they_end(library: Library, mount: Mounting, size: int):
    root = mount(library.file("1.mkv", size, 1, f"/{FILM}")).path
    assert (root / FILM).stat().st_size == size
    assert (root / FILM).read_bytes() == (content("1.mkv", 0, size) if size else b"")
    with opened(root / FILM) as descriptor:
        assert os.pread(descriptor, 1, size) == b""
