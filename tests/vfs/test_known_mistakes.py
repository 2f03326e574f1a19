"""Three mistakes that file systems over HTTP make while every throughput test passes; and that these tests would find them."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import process_time

import pytest

from program.vfs import chunks, cursors
from program.vfs.chunks import Span
from program.vfs.reader import FileReader, ReadFailed
from program.vfs.waiters import Waiter
from tests.support.cdn import HONEST, Manner, Request, content
from tests.vfs.conftest import MIB, Library

PIECE = 128 * 1024

# What a mebibyte may cost in processor time, the server's share included; a busy machine makes it longer, not dearer.
MOST_CPU = 0.35


def check_far_apart_readers(library: Library) -> None:
    """Two readers of one handle, far apart, are both served, without starting requests in turn for ever."""
    library.cdn.behave = lambda _: Manner(rate=30_000_000)
    reader = library.reader("a.mkv", 300 * MIB, library.readers(connections=1))

    def go(start: int) -> None:
        for offset in range(start, start + 10 * MIB, PIECE):
            assert b"".join(reader.read(1, offset, PIECE)) == content("a.mkv", offset, offset + PIECE)
            assert len(library.cdn.requests) <= 12, "the readers fight for the stream"

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(go, [0, 200 * MIB]))


def check_holes(library: Library) -> None:
    """Streams that start again further on in a chunk never make what lies between pass for data."""

    def cut_often(request: Request) -> Manner:
        return Manner(cut_after=150_000) if request.number % 2 else HONEST

    library.cdn.behave = cut_often
    readers = library.readers(memory=16 * MIB)
    size = 12 * MIB + 777
    reader = library.reader("a.mkv", size, readers)
    wrong: list[int] = []

    def some(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - repeatable
        for _ in range(80):
            offset, length = dice.randrange(size), dice.choice([1, 4096, PIECE])
            with suppress(ReadFailed):
                got = b"".join(reader.read(seed, offset, length))
                if got != content("a.mkv", offset, min(offset + length, size)):
                    wrong.append(offset)
            if wrong:
                return

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(some, range(6)))
    assert not wrong, f"wrong bytes at {wrong}"


def check_waiting(library: Library) -> None:
    """Many who wait for a slow server cost next to nothing."""
    library.cdn.behave = lambda _: Manner(rate=1_500_000)
    reader = library.reader("a.mkv", 50 * MIB)
    reader.read(1, 0, 4096)
    before = process_time()

    def go(_: int) -> None:
        for offset in range(0, MIB, PIECE):
            if process_time() - before < MOST_CPU:
                reader.read(1, offset, PIECE)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(go, range(4)))
    spent = process_time() - before
    assert spent < MOST_CPU, f"waiting occupies a core: {spent:.2f} s"


Check = Callable[[Library], None]


def test_two_readers_far_apart_do_not_fight(library: Library):
    check_far_apart_readers(library)


def test_no_hole_is_delivered_as_data(library: Library):
    check_holes(library)


def test_waiting_on_a_slow_server_does_not_occupy_a_core(library: Library):
    check_waiting(library)


def over_the_hole(spans: tuple[Span, ...], new: Span) -> tuple[Span, ...]:
    """The mistake: one fill mark for the whole chunk."""
    starts, stops = zip(*spans, new, strict=True)
    return ((min(starts), max(stops)),)


def wake_each_other(self: FileReader, waiter: Waiter) -> list[memoryview]:
    """The mistake: whoever waits looks again and again."""
    while not waiter.settled.wait(0):
        pass
    return waiter.views


def test_these_tests_find_readers_that_fight(library: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cursors, "MAX_CURSORS", 1)
    monkeypatch.setattr(cursors, "PROBE_SIZE", PIECE)
    monkeypatch.setattr("program.vfs.fetching.WORTH_FINISHING", 0)
    with pytest.raises(AssertionError, match="fight"):
        check_far_apart_readers(library)


def test_these_tests_find_holes(library: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chunks, "_with_span", over_the_hole)
    with pytest.raises(AssertionError, match="wrong bytes"):
        check_holes(library)


def test_these_tests_find_busy_waiting(library: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FileReader, "_wait", wake_each_other)
    with pytest.raises(AssertionError, match="core"):
        check_waiting(library)
