"""Media servers that look through files wait for people who watch; people never wait for them."""

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from program.clock import SystemClock
from program.vfs.cursors import Cursors
from program.vfs.guard import HOUR, TURN_SECONDS, WATCHED_SECONDS, Guard
from program.vfs.habits import FASTER_THAN_FILMS, LONG_RUN, MANY_SAMPLES, Kind
from program.vfs.reader import FileReader
from tests.support.cdn import content
from tests.vfs.conftest import MIB, Library, Mounted

SIZE = 8000 * MIB
PIECE = 128 * 1024


class Somebody:
    """Reads a long file in some manner on one handle; the time passes as the manner says."""

    def __init__(self) -> None:
        self.cursors = Cursors(SIZE)
        self.now = 1000.0

    def read(self, offset: int, count: int = PIECE, seconds: float = 0.01) -> Kind:
        """Read once; return what it was taken for."""
        self.now += seconds
        cursor = self.cursors.follow(1, offset, offset + count, self.now, 0)
        self.cursors.drop_oldest()
        return self.cursors.kind(cursor, offset)

    def read_on(self, start: int, count: int, rate: float) -> list[Kind]:
        """Read on from somewhere at so many bytes a second."""
        return [self.read(offset, seconds=PIECE / rate) for offset in range(start, start + count, PIECE)]

    def take_samples(self, count: int, step: int, seconds: float) -> list[Kind]:
        """Read a little here and there."""
        return [self.read(100 * MIB + n * step, seconds=seconds) for n in range(count)]


def test_the_ends_of_a_file_and_a_seek_are_told_apart():
    somebody = Somebody()
    assert somebody.read(0) is Kind.HEAD
    assert somebody.read(SIZE - 100_000) is Kind.TAIL
    assert somebody.read(4000 * MIB) is Kind.SEEK
    assert somebody.read_on(4000 * MIB, 8 * MIB, 5e6)[-1] is Kind.SEQUENTIAL


def test_samples_all_over_a_file_are_an_analysis():
    kinds = Somebody().take_samples(MANY_SAMPLES + 10, 30 * MIB, 0.3)
    assert kinds[: MANY_SAMPLES - 2] == [Kind.SEEK] * (MANY_SAMPLES - 2)
    assert kinds[-1] is Kind.ANALYSIS


def test_whoever_reads_faster_than_films_play_looks_through_the_file():
    kinds = Somebody().read_on(10 * MIB, LONG_RUN + 64 * MIB, FASTER_THAN_FILMS * 2)
    assert kinds[-1] is Kind.ANALYSIS
    assert Kind.ANALYSIS not in kinds[: LONG_RUN // PIECE - 1]


@pytest.mark.parametrize("rate", [1e6, 5e6, 16e6, 24e6])
def test_a_film_is_never_taken_for_an_analysis(rate: float):
    somebody = Somebody()
    # A player fills its buffer at the line's speed, then reads as it plays.
    kinds = somebody.read_on(0, 200 * MIB, 100e6) + somebody.read_on(200 * MIB, 3000 * MIB, rate)
    assert Kind.ANALYSIS not in kinds


def test_somebody_who_looks_for_a_scene_is_never_taken_for_an_analysis():
    somebody, dice = Somebody(), random.Random(1)  # noqa: S311 - repeatable
    kinds: list[Kind] = []
    for _ in range(40):
        kinds += [
            somebody.read(dice.randrange(10 * MIB, SIZE - 30 * MIB), seconds=0.5)
            for _ in range(dice.randint(1, 12))
        ]
        kinds += somebody.read_on(dice.randrange(10 * MIB, SIZE - 30 * MIB), 20 * MIB, 8e6)
    assert Kind.ANALYSIS not in kinds


def test_whoever_reads_on_after_samples_watches():
    somebody = Somebody()
    somebody.take_samples(MANY_SAMPLES * 2, 30 * MIB, 0.1)
    assert somebody.read_on(6000 * MIB, 20 * MIB, 8e6)[-1] is Kind.SEQUENTIAL


def guard(handles: int = 2, hourly: int = 0, hold: float = 0.3) -> Guard:
    return Guard(SystemClock(), handles, hourly, hold)


def test_as_many_as_like_look_through_files_while_nobody_watches():
    free = guard()
    assert all(free.allows(handle, MIB, 1000.0) for handle in range(20))


def test_a_few_look_through_files_while_somebody_watches_and_turns_pass_on():
    busy = guard()
    busy.watched(1000.0)
    assert [busy.allows(handle, MIB, 1001.0) for handle in (1, 2, 3)] == [True, True, False]
    assert busy.allows(1, MIB, 1001.0 + TURN_SECONDS)
    assert busy.allows(3, MIB, 1001.1 + TURN_SECONDS), "the turn of a handle that rests is free"
    assert not busy.allows(2, MIB, 1001.1 + TURN_SECONDS)
    assert busy.allows(2, MIB, 1001.0 + WATCHED_SECONDS), "nobody watches any more"


def test_an_hour_has_only_so_many_bytes_and_the_next_one_has_them_again():
    limited = guard(hourly=10 * MIB)
    assert all(limited.allows(1, MIB, 1000.0 + n * 60) for n in range(10))
    assert not limited.allows(1, MIB, 1600.0)
    assert limited.allows(1, MIB, 1000.0 + HOUR)


def test_what_is_held_back_goes_on_after_a_while_and_at_once_when_the_program_stops():
    limited = guard(hourly=1, hold=0.2)
    limited.hold(1, MIB)
    limited = guard(hourly=1, hold=60)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(limited.hold, 1, MIB)
        limited.stop()
        held.result(10)


def sample(reader: FileReader, handle: int, count: int) -> None:
    """Look through a file as something that draws thumbnails does."""
    for n in range(count):
        offset = 20 * MIB + n * 7 * MIB
        assert b"".join(reader.read(handle, offset, 4096)) == content("a.mkv", offset, offset + 4096)


def test_an_analysis_is_slowed_down_while_a_film_is_not(library: Library):
    readers = library.readers(guard=Guard(SystemClock(), 1, 1, 0.2))
    reader = library.reader("a.mkv", 1000 * MIB, readers)
    reader.add_handle(2)
    sample(reader, 2, MANY_SAMPLES + 5)
    held = readers.supplies.counters.counts().reads_held
    assert 4 <= held <= 8
    film = library.reader("b.mkv", 100 * MIB, readers, entry_id=2)
    for offset in range(0, 20 * MIB, PIECE):
        assert b"".join(film.read(3, offset, PIECE)) == content("b.mkv", offset, offset + PIECE)
    counts = readers.supplies.counters.counts()
    assert counts.reads_held == held
    assert counts.reads_sequential > 100
    assert counts.reads_analysis >= 4


@pytest.mark.fuse
def test_the_mount_counts_what_its_readers_do(library: Library, mount: Callable[..., Mounted]):
    mounted = mount(library.file("a.mkv", 600 * MIB, 1, "/movies/A/A.mkv"), analysis_gib_per_hour=1)
    descriptor = os.open(mounted / "/movies/A/A.mkv", os.O_RDONLY)
    try:
        for n in range(MANY_SAMPLES + 8):
            offset = 20 * MIB + n * 15 * MIB
            assert os.pread(descriptor, 4096, offset) == content("a.mkv", offset, offset + 4096)
    finally:
        os.close(descriptor)
    counts = mounted.vfs.statistics().counts
    assert counts.reads_analysis > 0
    assert counts.reads_seek >= MANY_SAMPLES - 2
    assert counts.errors == 0
