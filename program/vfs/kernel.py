"""What the kernel knows of mounts, and how to take one away; free of `fuse`."""

import contextlib
import ctypes
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from loguru import logger

MNT_FORCE = 1
MNT_DETACH = 2

# A helper program that takes longer than this hangs.
HELPER_SECONDS = 10
# One that was killed ends at once, or never.
KILLED_SECONDS = 1
# More paths than this do not go into one command.
PATHS_AT_ONCE = 200

_STATVFS = "import os, sys\ntry: os.statvfs(sys.argv[1])\nexcept OSError as error: sys.exit(error.errno)"
_STAT = ("stat", "-c", "%i %n", "--")

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class MountEntry:
    """One line of mountinfo. device: major:minor; kind: the file system's type, e.g. `fuse.rivulet`."""

    path: str
    device: str
    kind: str


def mounts_at(path: Path) -> list[MountEntry]:
    """Return what is mounted at exactly this path in our namespace, the one on top last."""
    wanted = str(path)
    return [entry for entry in _all_mounts() if entry.path == wanted]


def unmount(path: Path) -> bool:
    """Take the mount away if nobody uses it; return whether that worked."""
    return _umount(path, 0) or (os.geteuid() != 0 and _fusermount(path, "-u"))


def detach(path: Path) -> bool:
    """Take the mount out of sight, whoever uses it; return whether that worked. As root, who uses it gets errors."""
    if os.geteuid() == 0:
        # Forcing ends the connection even when it then says that the mount is busy.
        _umount(path, MNT_FORCE)
    return _umount(path, MNT_DETACH) or _fusermount(path, "-uz") or not mounts_at(path)


def answers(path: Path, seconds: float) -> OSError | None:
    """Return None when the path can be asked, else why not; TimeoutError when it hangs.

    Asked with `statvfs`: what `stat` says may be the kernel's memory of a mount whose process is long gone.
    """
    helped = _helped([sys.executable, "-I", "-S", "-c", _STATVFS, str(path)], seconds)
    if helped is None:
        return TimeoutError("it does not answer")
    number, _ = helped
    return OSError(number, os.strerror(number), str(path)) if number else None


def can_number() -> bool:
    """Return whether `numbers` works on this machine."""
    return shutil.which(_STAT[0]) is not None


def numbers(paths: Iterable[Path]) -> dict[Path, int]:
    """Return the inode numbers of those paths that are there."""
    found: dict[Path, int] = {}
    left = iter(paths)
    while some := list(islice(left, PATHS_AT_ONCE)):
        helped = _helped([*_STAT, *map(str, some)], HELPER_SECONDS)
        for line in helped[1].splitlines() if helped else ():
            number, _, path = os.fsdecode(line).partition(" ")
            found[Path(path)] = int(number)
    return found


class Announcer:
    """A thread that tells the kernel of changes: never inside a file-system call, one after the other."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="vfs-announcer", daemon=True)
        self._thread.start()

    def put(self, task: Callable[[], None]) -> None:
        """Do this soon."""
        self._tasks.put(task)

    def stop(self, seconds: float) -> None:
        """Do what was put so far, then end."""
        self._tasks.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                task()
            except OSError as error:
                logger.debug("the kernel could not be told of a change: {}", error)


def _all_mounts() -> list[MountEntry]:
    found = []
    for line in (
        Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    ):
        fields = line.split(" ")
        dash = fields.index("-")
        found.append(MountEntry(_unescape(fields[4]), fields[2], fields[dash + 1]))
    return found


def _unescape(text: str) -> str:
    """Return a path of mountinfo, where spaces and the like are octal."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _helped(command: list[str], seconds: float) -> tuple[int, bytes] | None:
    """Run a helper; return its exit code and output, None when it hangs: then it is left behind, not we.

    A thread of ours must not ask a mount of ours: were the process killed at that moment, the thread would wait for an answer that
    nobody gives any more, and the process could neither end nor let go of the mount.
    """
    helper = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        output, _ = helper.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        helper.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            helper.communicate(timeout=KILLED_SECONDS)
        return None
    return helper.returncode, output


def _umount(path: Path, flags: int) -> bool:
    """Call umount2; return whether it worked."""
    return bool(_libc.umount2(os.fsencode(path), flags) == 0)


def _fusermount(path: Path, flag: str) -> bool:
    """Ask the helper that may unmount what its user mounted; return whether that worked."""
    helper = shutil.which("fusermount") or shutil.which("fusermount3")
    if helper is None:
        return False
    try:
        done = subprocess.run(
            [helper, flag, str(path)], capture_output=True, timeout=HELPER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
