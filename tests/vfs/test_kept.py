"""What is kept on disk of the files that people play, and what a reader takes from there."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from program.clock import SystemClock
from program.vfs.counters import Counters
from program.vfs.disk import DiskChunks, Place
from program.vfs.readers import Readers
from tests.support.cdn import Manner, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library

SIZE = 64 * MIB
# A film's pace: slow enough to be taken for one, quick enough for a test.
FILM = 10_000_000
PLAYED = 12 * MIB


def play(readers: Readers, library: Library, start: int, stop: int, identity: str = "a.mkv") -> None:
    """Open the file, read a range, compare every byte, close."""
    file = replace(library.file("a.mkv", SIZE), identity=identity)
    reader = readers.open(file, 1)
    for offset in range(start, stop, 128 * 1024):
        assert b"".join(reader.read(1, offset, 128 * 1024)) == content("a.mkv", offset, offset + 128 * 1024)
    reader.drop_handle(1)


@pytest.fixture
def played(library: Library, tmp_path: Path) -> Iterator[Path]:
    """A folder that holds what was kept of a film's first minutes; the program that played it has ended."""
    library.cdn.behave = lambda _: Manner(rate=FILM)
    readers = library.readers(disk=tmp_path, connections=1)
    play(readers, library, 0, PLAYED)
    bodies = readers.supplies.bodies
    assert bodies is not None
    until(lambda: readers.supplies.counters.counts().bodies_saved >= 6)
    assert readers.stop(10)
    bodies.stop()
    assert bodies.size() >= 6 * MIB
    library.cdn.behave = lambda _: Manner()
    library.cdn.requests.clear()
    return tmp_path


def restarted(library: Library, folder: Path) -> Readers:
    """Return readers that know what is kept in the folder."""
    readers = library.readers(disk=folder)
    until(lambda: readers.supplies.bodies and readers.supplies.bodies.size())
    return readers


class SlowClock(SystemClock):
    """Makes any machine a quick one: a copy takes a fiftieth of the time."""

    def monotonic(self) -> float:
        """Return seconds that pass slowly."""
        return super().monotonic() / 50


def values(folder: Path) -> list[Path]:
    """Return the files that hold the kept chunks."""
    return sorted((folder / "bodies").rglob("*.val"))


def test_what_was_played_needs_no_provider_after_a_restart(library: Library, played: Path):
    readers = restarted(library, played)
    play(readers, library, 6 * MIB, 9 * MIB)
    assert not [request for request in library.cdn.requests if request.start < 9 * MIB]
    assert readers.supplies.counters.counts().bodies_loaded >= 3


def test_a_stream_goes_over_what_is_kept_and_asks_for_none_of_it_again(library: Library, played: Path):
    readers = restarted(library, played)
    play(readers, library, 0, 30 * MIB)
    again = [request for request in library.cdn.requests if 4 * MIB <= request.start < 9 * MIB]
    assert not again, "kept chunks were fetched"


def test_other_contents_of_the_same_entry_get_nothing_that_is_kept(library: Library, played: Path):
    readers = restarted(library, played)
    play(readers, library, 6 * MIB, 9 * MIB, identity="another release")
    counts = readers.supplies.counters.counts()
    assert counts.bodies_loaded == 0
    assert library.cdn.requests


@pytest.mark.parametrize("damage", ["flipped", "cut", "swapped", "gone"])
def test_damaged_chunks_are_refused_and_fetched_again(library: Library, played: Path, damage: str):
    paths = values(played)
    first = paths[0].read_bytes()
    for path, following in zip(paths, [*paths[1:], paths[0]], strict=True):
        data = path.read_bytes()
        if damage == "flipped":
            path.write_bytes(data[:500_000] + bytes([data[500_000] ^ 1]) + data[500_001:])
        elif damage == "cut":
            os.truncate(path, 300_000)
        elif damage == "swapped":
            path.write_bytes(first if following == paths[0] else following.read_bytes())
        else:
            path.unlink()
    readers = restarted(library, played)
    play(readers, library, 0, PLAYED)
    counts = readers.supplies.counters.counts()
    assert counts.bodies_loaded == 0
    # Those that were fetched ahead of the end may stay unasked for.
    assert counts.kept_refused >= (0 if damage == "gone" else 6)


def test_what_is_copied_in_one_go_does_not_push_out_what_was_played(library: Library, tmp_path: Path):
    readers = library.readers(disk=tmp_path)
    readers.supplies.clock = SlowClock()
    play(readers, library, 0, SIZE)
    assert readers.supplies.counters.counts().bodies_saved == 0
    assert not values(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "bodies", "bodies", 64 * MIB, keep_free=0, gives_way=True)


def filled(place: Place, count: int) -> tuple[DiskChunks, Counters]:
    """Return a store into which chunks went."""
    counters = Counters()
    kept = DiskChunks(place, counters)
    for index in range(count):
        kept.save("a", index, 0, bytes(MIB))
        until(lambda index=index: counters.counts().bodies_saved > index or kept.size() == 0)
    return kept, counters


def test_a_full_disk_gets_nothing_more_and_what_was_played_gives_way(place: Place):
    kept, _ = filled(place, 10)
    kept.stop()
    assert kept.size() >= 10 * MIB
    disk = os.statvfs(place.folder)
    # As if somebody else had left four MiB less than there should be.
    full = replace(place, keep_free=disk.f_bavail * disk.f_frsize + 4 * MIB)
    kept, counters = DiskChunks(full, Counters()), Counters()
    kept.save("a", 99, 0, bytes(MIB))
    kept.stop()
    assert counters.counts().bodies_saved == 0
    assert not kept.has("a", 99)
    assert kept.size() <= 6 * MIB


def test_the_ends_of_files_stay_on_a_full_disk(place: Place):
    kept, _ = filled(place, 4)
    kept.stop()
    disk = os.statvfs(place.folder)
    full = replace(place, keep_free=disk.f_bavail * disk.f_frsize + 64 * MIB, gives_way=False)
    kept = DiskChunks(full, Counters())
    kept.save("a", 99, 0, bytes(MIB))
    kept.stop()
    assert kept.size() >= 4 * MIB
    assert not kept.has("a", 99)


def test_the_limit_holds_and_the_longest_unused_go_first(place: Place):
    kept, _ = filled(replace(place, limit=8 * MIB), 24)
    assert kept.size() <= 12 * MIB
    kept.stop()
