"""A media server looks through a library: few requests the first time, none the second, and nobody's film waits for it."""

import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from time import monotonic

import pytest

from program.vfs.tree import TreeFile
from tests.support.cdn import Manner, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library, Mounted

pytestmark = [pytest.mark.fuse]

Mounting = Callable[..., Mounted]

SCANNERS = 4
LATENCY = 0.04
# A film starts in a tenth of a second; a machine on which everything else runs too is given ten times that.
FIRST_BYTES_SECONDS = 1.0

# Every fifth file is long enough for its end to lie apart from its beginning.
LONG, SHORT, LONG_EVERY = 5 * MIB, 150_000, 5


def library_of(library: Library, count: int) -> list[TreeFile]:
    """Put so many films on the CDN."""
    return [
        library.file(
            f"s{n}.mkv",
            (SHORT if n % LONG_EVERY else LONG) + n,
            n + 1,
            f"/movies/Film {n:05} (2031)/Film {n:05} (2031).mkv",
        )
        for n in range(count)
    ]


def look_at(mounted: Mounted, file: TreeFile) -> None:
    """Read what a media server reads of a new file: its beginning, its end, a little of its beginning again."""
    assert (mounted / file.path).stat().st_size == file.size
    descriptor = os.open(mounted / file.path, os.O_RDONLY)
    try:
        for offset in (0, 64 * 1024, 400_000, file.size - 60_000, 30_000):
            expected = content(file.identity, offset, max(min(offset + 65536, file.size), offset))
            assert os.pread(descriptor, 65536, offset) == expected
    finally:
        os.close(descriptor)


def scan(mounted: Mounted, files: list[TreeFile]) -> None:
    """Walk the library, then look at each file, several at a time."""
    found = sum(len(names) for _, _, names in os.walk(mounted.path))
    assert found >= len(files)
    with ThreadPoolExecutor(SCANNERS) as pool:
        list(pool.map(lambda file: look_at(mounted, file), files))


@dataclass
class Viewer:
    """Starts one film after the other while something else goes on, and notes how long each start took."""

    mounted: Mounted
    films: list[TreeFile]

    def __post_init__(self) -> None:
        self.seconds: list[float] = []
        self._stop = threading.Event()

    def watch(self) -> None:
        """Start films until told to stop, or until there are none left."""
        for film in self.films:
            if self._stop.wait(0.1):
                return
            begun = monotonic()
            got = self.mounted.read(film.path, 0, 65536)
            self.seconds.append(monotonic() - begun)
            assert got == content(film.identity, 0, 65536)

    def stop(self) -> None:
        """Let the film that is being started be the last."""
        self._stop.set()


def asked(library: Library) -> Counter[str]:
    """Return how many requests each scanned file cost."""
    return Counter(request.name for request in library.cdn.requests if request.name.startswith("s"))


def check_scan(library: Library, mount: Mounting, count: int) -> None:
    library.cdn.behave = lambda _: Manner(latency=LATENCY)
    files = library_of(library, count)
    films = [
        library.file(f"f{n}.mkv", 500 * MIB, 100_000 + n, f"/movies/Wanted {n}/Wanted {n}.mkv")
        for n in range(40)
    ]
    mounted = mount(*files, *films, read_timeout_seconds=30)
    viewer = Viewer(mounted, films)
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(viewer.watch)
        scan(mounted, files)
        viewer.stop()
        watching.result()
    assert median(viewer.seconds) < FIRST_BYTES_SECONDS
    costs = asked(library)
    assert len(costs) == count
    assert {name: cost for name, cost in costs.items() if cost > 2} == {}
    assert mounted.vfs.statistics().counts.errors == 0

    until(lambda: mounted.vfs.statistics().counts.edges_saved >= count, 30, "the saving of every beginning")
    mounted.vfs.stop()
    before = len(library.cdn.requests), len(library.resolved)
    again = mount(*files, read_timeout_seconds=30)
    scan(again, files)
    assert (len(library.cdn.requests), len(library.resolved)) == before, "the second scan asked the provider"


@pytest.mark.timeout(120)
def test_a_scan_costs_two_requests_a_file_and_none_after_a_restart(library: Library, mount: Mounting):
    check_scan(library, mount, 200)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_scan_of_ten_thousand_files_costs_two_requests_each_and_none_after_a_restart(
    library: Library, mount: Mounting
):
    check_scan(library, mount, 10_000)
