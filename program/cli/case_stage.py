"""A library mounted for one case, and what is looked at there."""

import errno
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from program.cli.case_origin import Origin
from program.cli.case_values import Json
from program.clock import SystemClock
from program.media.release import JsonValue
from program.settings.vfs import VfsSettings
from program.vfs.vfs import TreeFile, Vfs

# What was seen, in the words of what is expected, and what was tried.
Got = tuple[dict[str, JsonValue], dict[str, JsonValue]]

MODIFIED = datetime(2000, 1, 1, tzinfo=UTC)
# A read that gets nothing in a case fails soon.
READ_TIMEOUT = 6.0
LONGEST_WAIT = 20.0


@dataclass(slots=True)
class Stage:
    """A mounted library. origin: where its bytes come from."""

    vfs: Vfs
    origin: Origin
    root: Path
    paths: dict[int, str] = field(default_factory=dict)

    def path(self, entry_id: int = 1) -> Path:
        """Return where a file stands on this machine."""
        return self.root / self.paths[entry_id].lstrip("/")

    def show(self, entry_id: int, path: str, size: int, removed: Sequence[int] = ()) -> None:
        """Show a file, in place of others."""
        self.paths[entry_id] = path
        self.vfs.apply([TreeFile(path, entry_id, size, MODIFIED, identity=path)], removed)


@contextmanager
def staged() -> Iterator[Stage]:
    """A library without files, mounted in a folder of its own. Raises StartupError when this machine cannot mount."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rivulet-case-")))
        root, origin = folder / "mount", Origin(folder / "origin")
        origin.folder.mkdir()
        server = origin.start()
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        settings = VfsSettings(
            mount_path=root,
            cache_dir=folder / "cache",
            read_timeout_seconds=READ_TIMEOUT,
            disk_mib=0,
            played_mib=0,
        )
        vfs = Vfs(settings, origin.link, SystemClock())
        vfs.start(())
        stack.callback(vfs.stop)
        yield Stage(vfs, origin, root)


def kept_promises(expected: Json, promises: dict[str, bool]) -> dict[str, JsonValue]:
    """Return what is expected where a promise was kept, and that it was not so elsewhere."""
    return {
        name: expected[name] if kept else f"not so: {expected[name]}"
        for name, kept in promises.items()
        if name in expected
    }


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A file opened for reading; yields its descriptor."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def names_in(folder: Path) -> list[str]:
    """Return what a folder lists."""
    return sorted(path.name for path in folder.iterdir())


def stat_of(path: Path) -> str:
    """Return `ok`, or the name of the error that `stat` ends in."""
    try:
        path.stat()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")
    return "ok"


def until(is_so: Callable[[], bool], pause_seconds: float) -> bool:
    """Return whether something comes true within the longest wait."""
    pause, clock = threading.Event(), SystemClock()
    end = clock.monotonic() + LONGEST_WAIT
    while not is_so():
        if clock.monotonic() > end:
            return False
        pause.wait(pause_seconds)
    return True


def only_expected(got: dict[str, JsonValue], expected: Json) -> dict[str, JsonValue]:
    """Return of what was seen that which the case asks for."""
    return {name: value for name, value in got.items() if name in expected}
