"""What each use of a file asks of its provider: pinned numbers, so that a change of them is seen and meant."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from program.vfs.readers import Readers
from tests.support.cdn import HONEST, Manner, Request, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library

KIB = 1024
SIZE = 700 * MIB
TAIL = 158 * KIB


@dataclass(frozen=True, slots=True)
class Cost:
    """requests: to the CDN; sent: bytes that it sent; links: calls of the provider for an address."""

    requests: int
    sent: int
    links: int


COSTS = {
    "a film is opened for the first time": Cost(1, 2 * MIB, 1),
    "the same film once more, after a restart": Cost(0, 0, 0),
    "its beginning and its end are looked at": Cost(2, 2 * MIB + TAIL, 1),
    "the same once more, after a restart": Cost(0, 0, 0),
    "twenty-five seeks": Cost(25, 25 * 512 * KIB, 1),
    "a film whose link has died": Cost(2, 2 * MIB, 2),
}

Use = Callable[["Costs"], None]


class Costs:
    """One film and what is done with it; each restart begins with what the disk has kept."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library, self._folder = library, folder
        self._file = library.file("a.mkv", SIZE)
        self._readers: Readers | None = None

    def read(self, *pieces: tuple[int, int]) -> None:
        """Open the film, read pieces (offset, size) of it, close it, and wait until nothing more comes."""
        readers = self._readers = self._readers or self.library.readers(disk=self._folder)
        reader = readers.open(self._file, 1)
        for offset, size in pieces:
            assert b"".join(reader.read(1, offset, size)) == content("a.mkv", offset, offset + size)
        reader.drop_handle(1)
        until(lambda: self._is_quiet(readers))

    def _is_quiet(self, readers: Readers) -> bool:
        """Return whether no reader is at work: those that are not are forgotten."""
        readers.tidy()
        return not readers.count()

    def restart(self) -> None:
        """End the program and forget what it cost so far."""
        assert self._readers is not None
        assert self._readers.stop(10)
        edges = self._readers.supplies.edges
        assert edges is not None
        edges.stop()
        self._readers = None
        self.library.cdn.requests.clear()
        self.library.resolved.clear()
        self.library.cdn.bytes_sent = 0

    def so_far(self) -> Cost:
        """Return what it cost."""
        cdn = self.library.cdn
        return Cost(len(cdn.requests), cdn.bytes_sent, len(self.library.resolved))


def open_it(costs: Costs) -> None:
    costs.read((0, 64 * KIB))


def look(costs: Costs) -> None:
    costs.read(*((offset, 128 * KIB) for offset in range(0, 768 * KIB, 128 * KIB)), (SIZE - TAIL, TAIL))


def seek(costs: Costs) -> None:
    costs.read(*((20 * MIB + n * 25 * MIB, 4 * KIB) for n in range(25)))


def again(use: Use) -> Use:
    def twice(costs: Costs) -> None:
        use(costs)
        costs.restart()
        use(costs)

    return twice


def die(costs: Costs) -> None:
    def gone(request: Request) -> Manner:
        return Manner(status=410) if request.token == "t0" else HONEST

    costs.library.cdn.behave = gone
    open_it(costs)


USES: dict[str, Use] = {
    "a film is opened for the first time": open_it,
    "the same film once more, after a restart": again(open_it),
    "its beginning and its end are looked at": look,
    "the same once more, after a restart": again(look),
    "twenty-five seeks": seek,
    "a film whose link has died": die,
}


@pytest.mark.parametrize("use", COSTS)
def test_a_use_costs_what_is_written_down(library: Library, tmp_path: Path, use: str):
    costs = Costs(library, tmp_path)
    USES[use](costs)
    # The server counts what it has sent a moment after it has arrived.
    until(lambda: library.cdn.bytes_sent >= COSTS[use].sent)
    assert costs.so_far() == COSTS[use]
