"""Small playable clips that stand in for the films.

One base clip per film and episode is made by ffmpeg, once, in parallel, into a cache folder. The files of the many releases
are copies of a base in which a mark of fixed length (the clip's title tag) is replaced: each has bytes and a SHA-256 of its
own, and all of them play.
"""

import fcntl
import hashlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from program.demo.catalog import Catalog, ClipSpec

# Raised when the way clips are made changes, so that an old cache is not used.
VERSION = 1
# What stands in a base clip where a file's own mark goes: as long as a SHA-1 in hex.
PLACEHOLDER = b"rivulet-demo-clip-placeholder-0123456789"
ENCODE_SECONDS = 60
# Files that are not video: how many bytes they have.
PLAIN_SIZES = {"text": 420, "blob": 40_000}
SIZES = {"sample": "160x90", "extra": "320x180"}


class ClipError(Exception):
    """A clip could not be made; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A file that is ready to be served. seconds: 0 when it is not video."""

    path: Path
    size: int
    sha256: str
    seconds: float


def default_cache() -> Path:
    """Return the folder that keeps the clips between runs: one per user, in the folder for temporary files."""
    return Path(tempfile.gettempdir()) / f"rivulet-demo-clips-{os.getuid()}"


class ClipStore:
    """Hands out clips by what a release says of its files; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"v{VERSION}"
        self._lock = threading.Lock()
        self._clips: dict[ClipSpec, Clip] = {}
        self._sizes: dict[Path, int] = {}

    def prepare(self, catalog: Catalog) -> None:
        """Make every base clip that the catalog needs and that is not there yet. Raises ClipError."""
        specs = {file.clip for release in catalog.releases.values() for file in release.files}
        self.prepare_specs(specs)

    def prepare_specs(self, specs: Iterable[ClipSpec]) -> None:
        """Make the base clips of these; other processes that do the same wait for each other. Raises ClipError."""
        _private_folder(self._folder)
        bases = {self._base_path(spec): spec for spec in specs}
        with _only_one(self._folder / ".lock"):
            missing = [(path, spec) for path, spec in bases.items() if not path.exists()]
            if not missing:
                return
            with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
                list(pool.map(lambda one: _make_base(*one), missing))

    def size(self, spec: ClipSpec) -> int:
        """Return the length in bytes, without making the marked copy."""
        base = self._base_path(spec)
        with self._lock:
            if base not in self._sizes:
                self._sizes[base] = base.stat().st_size
            return self._sizes[base]

    def clip(self, spec: ClipSpec) -> Clip:
        """Return the file with this mark, made when it is asked for the first time. Raises ClipError."""
        with self._lock:
            known = self._clips.get(spec)
        if known is not None:
            return known
        made = self._marked(spec)
        with self._lock:
            return self._clips.setdefault(spec, made)

    def _base_path(self, spec: ClipSpec) -> Path:
        return self._folder / f"{spec.base}{spec.suffix}"

    def _marked(self, spec: ClipSpec) -> Clip:
        base = self._base_path(spec)
        if not base.exists():
            self.prepare_specs([spec])
        data = base.read_bytes()
        path = base
        if spec.mark:
            data = data.replace(PLACEHOLDER, spec.mark.encode())
            path = self._folder / f"{spec.mark}{spec.suffix}"
            if not path.exists():
                _write_whole(path, data)
        return Clip(path, len(data), hashlib.sha256(data).hexdigest(), spec.seconds)


def _make_base(path: Path, spec: ClipSpec) -> None:
    if spec.seconds == 0:
        _write_whole(path, _plain_bytes(spec.base, PLAIN_SIZES.get(spec.base, 420)))
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / path.name
        try:
            subprocess.run(_encoder(spec, draft), check=True, capture_output=True, timeout=ENCODE_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", b"") or b""
            raise ClipError(
                f"ffmpeg could not make the clip {path.name}: {error} {said.decode(errors='replace')}"
            ) from error
        # Anything else would make all files of this base alike.
        if draft.read_bytes().count(PLACEHOLDER) != 1:
            raise ClipError(f"the clip {path.name} does not hold its mark exactly once")
        draft.replace(path)


def _encoder(spec: ClipSpec, target: Path) -> list[str]:
    """Return the ffmpeg call; the picture and the tone differ from clip to clip."""
    number = int(hashlib.sha1(spec.base.encode(), usedforsecurity=False).hexdigest()[:6], 16)
    size = SIZES.get(spec.base, "480x270")
    picture = f"testsrc2=size={size}:rate=25:duration={spec.seconds},hue=h={number % 360}"
    tone = f"sine=frequency={220 + number % 660}:duration={spec.seconds}"
    container = ["-movflags", "+faststart"] if spec.suffix == ".mp4" else ["-write_crc32", "0"]
    return [
        *("ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", tone),
        *("-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", "-threads", "1", "-pix_fmt", "yuv420p"),
        *(
            "-c:a",
            "aac",
            "-b:a",
            "96k",
            "-fflags",
            "+bitexact",
            "-flags:v",
            "+bitexact",
            "-flags:a",
            "+bitexact",
        ),
        *("-metadata", f"title={PLACEHOLDER.decode()}", *container, str(target)),
    ]


def _plain_bytes(word: str, length: int) -> bytes:
    """Return bytes that look like nothing, with the mark at the front."""
    out = PLACEHOLDER + b"\n"
    counter = 0
    while len(out) < length:
        out += hashlib.sha256(f"{word}-{counter}".encode()).hexdigest().encode()
        counter += 1
    return out[:length]


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(draft).replace(path)


def _private_folder(folder: Path) -> None:
    """Make the cache folder; refuse one that belongs to somebody else, whose files we would serve."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.parent.stat().st_uid != os.getuid():
        raise ClipError(
            f"the folder {folder.parent} belongs to another user; remove it or give another with --clips"
        )


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold a file lock, so that several runs at once make each clip once."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
