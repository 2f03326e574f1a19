"""The library as STRM files in a folder: each holds the address of one video, for media servers on hosts without a mount.

A thread of its own compares what the tree shows with what it wrote. Folders of the tree never change once published, so what is the
same object as before needs no look. It knows what it wrote by the contents: nobody else's file is changed or removed.
"""

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from loguru import logger

from program.media.naming import STRM, fit, is_subtitle, strm_name
from program.vfs.claims import NOTHING
from program.vfs.tree import Directory, TreeFile

# How often the tree is looked at, and after how long a folder that could not be written to is tried again.
LOOK_SECONDS = 1.0
RETRY_SECONDS = 30.0
STOP_SECONDS = 5.0
# An address of ours, under whatever name the host was known and with whatever token.
OURS = re.compile(rb"https?://\S+/strm/[0-9a-f]{32}/\d+/\S+\s*")
LONGEST = 4096
# What a file is called until it is whole.
UNFINISHED = ".strm-"


class StrmExport:
    """Keeps a folder in step with a tree, from `start` to `stop`."""

    def __init__(
        self, folder: Path, root: Callable[[], Directory], prefix: Callable[[], str], file_mode: int
    ) -> None:
        """Take what is handed in; root: the tree as it is now; prefix: what addresses begin with, without a slash at the end."""
        self._folder = folder
        self._root = root
        self._prefix = prefix
        self._file_mode = file_mode
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="strm", daemon=True)

    def start(self) -> None:
        """Begin to write, on a thread of our own."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the files stay."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        written, prefix, wait = NOTHING, "", 0.0
        while not self._stopping.wait(wait):
            root, wanted = self._root(), self._prefix()
            wait = LOOK_SECONDS
            if root is written and wanted == prefix:
                continue
            try:
                if wanted != prefix:
                    written = NOTHING
                    self._clear(root)
                self._follow(self._folder, written, root, wanted)
            except OSError as error:
                # What was written so far is not known, so the next look is at everything.
                prefix, wait = "", RETRY_SECONDS
                logger.warning("vfs.strm_path: {} cannot be written: {}", self._folder, error.strerror)
            else:
                written, prefix = root, wanted

    def _clear(self, root: Directory) -> None:
        """Remove the files of ours that the tree no longer has, it changed while nobody wrote, and those never finished."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in tuple(self._folder.rglob(f"{UNFINISHED}????????")):
            name.unlink(missing_ok=True)
        wanted = set(_paths(root, self._folder))
        for name in tuple(self._folder.rglob(f"*{STRM}")):
            if name not in wanted:
                self._remove(name)
                self._prune(name.parent)

    def _follow(self, folder: Path, before: Directory, after: Directory, prefix: str) -> None:
        """Make the folder hold what `after` has; `before` is what was written there last. Raises OSError."""
        if before is after:
            return
        old, new = _files(before), _files(after)
        for name in old.keys() - new.keys():
            self._remove(folder / name)
        for name, file in new.items():
            if old.get(name) is not file:
                self._write(folder / name, file, prefix)
        for name, child in _folders(after).items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            self._follow(folder / name, _folders(before).get(name, NOTHING), child, prefix)
        for name, child in _folders(before).items():
            if name not in _folders(after):
                self._follow(folder / name, child, NOTHING, prefix)
                _remove_if_empty(folder / name)

    def _write(self, path: Path, file: TreeFile, prefix: str) -> None:
        """Write one file, whole or not at all, unless it is as it should be, or somebody else's. Raises OSError."""
        text = f"{prefix}/{file.entry_id}/{quote(file.path.rpartition('/')[2])}\n".encode()
        there = _contents(path)
        if there == text:
            return
        if there is not None and not OURS.fullmatch(there):
            logger.warning("{} is somebody else's file and stays as it is", path)
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text)
                os.fchmod(stream.fileno(), self._file_mode)
            os.utime(name, (file.modified.timestamp(),) * 2)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _remove(self, path: Path) -> None:
        """Remove a file if it is ours. Raises OSError."""
        there = _contents(path)
        if there is not None and OURS.fullmatch(there):
            path.unlink(missing_ok=True)

    def _prune(self, folder: Path) -> None:
        """Remove folders that a removed file left empty, up to our own."""
        while folder != self._folder and _remove_if_empty(folder):
            folder = folder.parent


def _files(folder: Directory) -> dict[str, TreeFile]:
    """Return the videos of a folder by the names of their STRM files; two that differ in their extension only both get one."""
    found: dict[str, TreeFile] = {}
    for name, child in sorted(folder.children.items()):
        if isinstance(child, TreeFile) and child.blob is None and not is_subtitle(name):
            short = strm_name(name)
            found[short if short not in found else fit(name, STRM)] = child
    return found


def _folders(folder: Directory) -> dict[str, Directory]:
    return {name: child for name, child in folder.children.items() if isinstance(child, Directory)}


def _paths(folder: Directory, place: Path) -> Iterator[Path]:
    """Yield the path of every STRM file that a folder of the tree is to have at a place."""
    yield from (place / name for name in _files(folder))
    for name, child in _folders(folder).items():
        yield from _paths(child, place / name)


def _contents(path: Path) -> bytes | None:
    """Return the beginning of a file, None when there is none. Raises OSError when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(LONGEST)
    except FileNotFoundError:
        return None


def _remove_if_empty(folder: Path) -> bool:
    """Return whether the folder was empty and is gone."""
    with contextlib.suppress(OSError):
        folder.rmdir()
        return True
    return False
