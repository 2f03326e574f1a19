"""Every byte that a program reads from the mount is the file's, whatever the CDN does; what cannot be had is EIO soon."""

import errno
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic

import pytest

from program.vfs.tree import TreeFile
from tests.support.cdn import HONEST, Manner, Request, content
from tests.vfs.conftest import MIB, Library, Mounted

pytestmark = [pytest.mark.fuse]

Mounting = Callable[..., Mounted]

FILES = 50
THREADS = 8
WAIT_SECONDS = 5.0
# The kernel asks again, for one page, when what it read ahead failed; a loaded machine is given as much once more.
MOST_SECONDS = WAIT_SECONDS * 3

# So many requests are served on a link before it expires.
LINK_LIFE = 60
FAULTS = (
    Manner(status=503),
    Manner(status=500),
    Manner(status=404),
    Manner(cut_after=0),
    Manner(cut_after=70_000),
    Manner(shorter=1000),
    Manner(shift=MIB),
    Manner(shift=-1),
    Manner(total=5),
    Manner(content_type="text/html"),
    Manner(ignores_range=True),
    Manner(status=206, body=b"x" * 10),
    Manner(status=429, headers=(("Retry-After", "0"),)),
)


@dataclass
class Unreliable:
    """A CDN whose links expire and of whose answers a share is wrong, cut, short or refused."""

    seed: int
    share: float = 0.05
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _served: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311 - the same in every run

    def __call__(self, request: Request) -> Manner:
        with self._lock:
            self._served[request.name, request.token] += 1
            if self._served[request.name, request.token] > LINK_LIFE:
                return Manner(status=410)
            if request.stop - request.start > 1000 and self._dice.random() < self.share:
                return self._dice.choice(FAULTS)
        return HONEST


@dataclass
class Tally:
    """What the reads of one thread came to."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    errors: Counter[int] = field(default_factory=Counter)
    slowest_error: float = 0.0

    def read(self, descriptor: int, file: TreeFile, offset: int, length: int) -> None:
        """Read once and judge what came."""
        begun = monotonic()
        try:
            got = os.pread(descriptor, length, offset)
        except OSError as error:
            self.errors[error.errno or 0] += 1
            self.slowest_error = max(self.slowest_error, monotonic() - begun)
            return
        if got == content(file.identity, offset, max(min(offset + length, file.size), offset)):
            self.right += 1
        else:
            self.wrong.append(f"{file.path} {offset}+{length}: {len(got)} bytes")


def read_at_random(mounted: Mounted, files: list[TreeFile], seed: int, count: int) -> Tally:
    """Read as people and scanners do: a while in one file, here on, there anew, at any offset and length."""
    dice = random.Random(seed)  # noqa: S311 - the same in every run
    tally = Tally()
    while count > 0:
        file = dice.choice(files)
        burst = min(count, dice.randint(20, 120))
        count -= burst
        descriptor = os.open(mounted / file.path, os.O_RDONLY)
        try:
            offset = 0
            for _ in range(burst):
                length = dice.choice((1, 17, 512, 4096, 4096, 65536, 131072))
                if dice.random() < 0.08:
                    offset = dice.choice((0, dice.randrange(file.size), file.size - dice.randint(1, 70_000)))
                tally.read(descriptor, file, offset, length)
                offset = (offset + length) % (file.size + 10)
            # What the kernel has of the file would answer for us from now on.
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    return tally


def truth(library: Library, mount: Mounting, count: int) -> list[Tally]:
    """Read so often over all files and threads; return what came, a tally for each thread."""
    library.cdn.behave = Unreliable(seed=4)
    files = [
        library.file(f"{n}.mkv", (2 + n % 5) * MIB + n * 1013, n + 1, f"/movies/{n}/{n}.mkv")
        for n in range(FILES)
    ]
    mounted = mount(*files, memory_mib=32, disk_mib=48, played_mib=48, read_timeout_seconds=WAIT_SECONDS)
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [
            pool.submit(read_at_random, mounted, files, seed, count // THREADS) for seed in range(THREADS)
        ]
        return [job.result() for job in jobs]


def judge(tallies: list[Tally], count: int) -> None:
    assert [wrong for tally in tallies for wrong in tally.wrong] == []
    errors = sum((tally.errors for tally in tallies), Counter())
    assert set(errors) <= {errno.EIO}
    assert max(tally.slowest_error for tally in tallies) < MOST_SECONDS
    right = sum(tally.right for tally in tallies)
    assert right + errors.total() == count
    assert errors.total() <= count // 200, "passing faults are not for the reader to see"


@pytest.mark.timeout(120)
def test_twenty_thousand_reads_give_no_wrong_byte(library: Library, mount: Mounting):
    judge(truth(library, mount, 20_000), 20_000)


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_a_million_reads_give_no_wrong_byte(library: Library, mount: Mounting):
    judge(truth(library, mount, 1_000_000), 1_000_000)


SEEK_POINTS = 20
CLIP = "/movies/Clip/Clip.mkv"


def pictures(film: Path, into: Path) -> list[str]:
    """Return what ffmpeg decodes at each of the seek points: the hashes of a few pictures."""
    into.mkdir()
    inputs = [word for n in range(SEEK_POINTS) for word in ("-ss", str(n * 1.45 + 0.3), "-i", str(film))]
    outputs = [
        word
        for n in range(SEEK_POINTS)
        for word in ("-map", f"{n}:v", "-frames:v", "3", "-f", "framemd5", str(into / f"{n:02}"))
    ]
    command = ["ffmpeg", "-nostdin", "-v", "error", *inputs, *outputs]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return [path.read_text() for path in sorted(into.iterdir())]


@pytest.mark.timeout(120)
def test_a_player_that_seeks_shows_the_pictures_of_the_origin(
    library: Library, mount: Mounting, tmp_path: Path
):
    origin = tmp_path / "clip.mkv"
    source = ["-f", "lavfi", "-i", "testsrc2=duration=30:size=480x270:rate=10"]
    command = ["ffmpeg", "-nostdin", "-v", "error", *source, "-c:v", "mpeg4", "-b:v", "3M", str(origin)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    library.cdn.behave = Unreliable(seed=7)
    clip = library.file("clip.mkv", origin.stat().st_size, 1, CLIP)
    library.cdn.add_bytes("clip.mkv", origin.read_bytes())
    shown = pictures(mount(clip) / CLIP, tmp_path / "shown")
    expected = pictures(origin, tmp_path / "expected")
    assert len(expected) == SEEK_POINTS
    assert shown == expected


@contextmanager
def busy_machine() -> Iterator[None]:
    """Occupy every core twice."""
    burning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range((os.cpu_count() or 1) * 2)
    ]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_film_is_right_on_a_busy_machine(library: Library, mount: Mounting):
    size = 300 * MIB + 5
    mounted = mount(library.file("1.mkv", size, 1, CLIP), read_timeout_seconds=30)
    expected = sha256(content("1.mkv", 0, size)).hexdigest()
    with busy_machine():
        shown = subprocess.run(
            ["sha256sum", str(mounted / CLIP)], capture_output=True, text=True, timeout=110, check=True
        )
    assert shown.stdout.split()[0] == expected
    assert mounted.vfs.statistics().counts.errors == 0
