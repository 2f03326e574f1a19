"""`python main.py mount MANIFEST.json DIR`: a JSON list of files mounted without the rest of the program.

    [{"path": "/movies/Demo (2031)/Demo (2031).mkv", "size": 734003200, "urls": ["http://127.0.0.1:8000/demo.mkv"]}]

Runs in the foreground and reads nothing but the manifest and the defaults of the file system's settings; SIGTERM and SIGINT
unmount. Several URLs are several sources of the same bytes: when one fails the next takes over.
"""

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from program import log
from program.clock import SystemClock
from program.errors import NotFound, StartupError
from program.media.entry import Link
from program.settings.vfs import VfsSettings
from program.vfs.vfs import TreeFile, Vfs

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ManifestFile(BaseModel):
    """One line of the manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    path: str = Field(min_length=1, description="Where the file stands in the mount")
    size: int = Field(ge=0, description="Its size in bytes")
    urls: list[str] = Field(min_length=1, description="Where its bytes are; the first that works is used")


def run(manifest: Path, directory: Path) -> int:
    """Mount the manifest's files at the directory until a signal comes; return the exit code.

    What is wrong with the manifest or the directory is one sentence on stderr and the code 1.
    """
    stopped = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopped.set()) for number in STOP_SIGNALS}
    try:
        with tempfile.TemporaryDirectory(prefix="rivulet-") as cache:
            _serve(read(manifest), directory, Path(cache), stopped)
    except (StartupError, OSError) as error:
        sys.stderr.write(f"rivulet: {error}\n")
        return 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def read(manifest: Path) -> list[ManifestFile]:
    """Return the files of a manifest. Raises StartupError that says what is wrong and where."""
    try:
        files = TypeAdapter(list[ManifestFile]).validate_json(manifest.read_bytes())
    except OSError as error:
        raise StartupError(f"{manifest}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise StartupError(f"{manifest}: {place}: {first['msg']}") from error
    for number, file in enumerate(files):
        for position, url in enumerate(file.urls):
            if not _is_web_address(url):
                raise StartupError(f"{manifest}: {number}.urls.{position}: not an http or https address")
    return files


def _serve(files: list[ManifestFile], directory: Path, cache: Path, stopped: threading.Event) -> None:
    """Mount until told to stop. Raises StartupError."""
    settings = VfsSettings(mount_path=directory, cache_dir=cache)
    # The same in every run: media servers take a new time for a new file.
    modified = datetime(2000, 1, 1, tzinfo=UTC)
    vfs = Vfs(settings, _Urls(files).resolve, SystemClock(), standard_folders=())
    vfs.start(TreeFile(file.path, number, file.size, modified) for number, file in enumerate(files))
    try:
        stopped.wait()
    finally:
        vfs.stop()


class _Urls:
    """The URLs of each file, the one in use first."""

    def __init__(self, files: list[ManifestFile]) -> None:
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._urls = [list(file.urls) for file in files]

    def resolve(self, entry_id: int, dead_url: str | None) -> Link:
        """Return the first URL that is not the dead one, which goes to the end. Raises NotFound for an unknown file."""
        with self._lock:
            if not 0 <= entry_id < len(self._urls):
                raise NotFound("no such file in the manifest")
            urls = self._urls[entry_id]
            if urls[0] == dead_url:
                urls.append(urls.pop(0))
            return Link(urls[0], None, "manifest")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line (this process's when None) and run; return the exit code."""
    log.set_up()
    parser = argparse.ArgumentParser(prog="mount", description="Mount the files of a manifest")
    parser.add_argument("manifest", type=Path, help="JSON list of {path, size, urls}")
    parser.add_argument("directory", type=Path, help="empty folder to mount at")
    given = parser.parse_args(arguments)
    return run(given.manifest, given.directory)


if __name__ == "__main__":
    raise SystemExit(main())
