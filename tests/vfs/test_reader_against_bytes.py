"""Whatever is read in whatever order from whatever server: the bytes of the file, or an error."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from program.vfs.reader import ReadFailed
from tests.support.cdn import HONEST, Cdn, Manner, Request, content
from tests.vfs.conftest import MIB, Library

FAULTS = [
    Manner(status=503),
    Manner(status=500),
    Manner(status=404),
    Manner(cut_after=70_000),
    Manner(cut_after=0),
    Manner(content_type="text/html"),
    Manner(shift=MIB),
    Manner(shift=-1),
    Manner(total=5),
    Manner(shorter=1000),
    Manner(ignores_range=True),
    Manner(status=429, headers=(("Retry-After", "0"),)),
]


def faulty(seed: int, share: float) -> Callable[[Request], Manner]:
    dice = random.Random(seed)  # noqa: S311 - repeatable
    return lambda request: (
        dice.choice(FAULTS) if request.stop - request.start > 1000 and dice.random() < share else HONEST
    )


steps = st.lists(
    st.tuples(
        st.sampled_from(["seek", "on", "back", "end"]),
        st.integers(0, 9 * MIB),
        st.sampled_from([1, 4096, 65536, 131072, 3 * MIB]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(steps, st.integers(1, 9 * MIB), st.sampled_from([16, 6]), st.integers(0, 2))
def test_any_order_of_reads_gives_the_files_bytes(
    wanted: list[tuple[str, int, int]], size: int, memory: int, faults: int
):
    with Cdn() as cdn, ExitStack() as stack:
        library = Library(cdn, stack)
        cdn.behave = faulty(size, faults * 0.1)
        reader = library.reader("a.mkv", size, library.readers(memory=memory * MIB, timeout=2))
        position = 0
        for kind, number, length in wanted:
            position = {
                "seek": number,
                "on": position,
                "back": max(position - number, 0),
                "end": max(size - length, 0),
            }[kind]
            try:
                got = b"".join(reader.read(1, position, length))
            except ReadFailed:
                assert faults, "an honest server gave an error"
                continue
            assert got == content("a.mkv", position, max(min(position + length, size), position))
            position += length


@pytest.mark.parametrize("seed", range(3))
def test_many_threads_on_a_bad_server_get_right_bytes_or_an_error(library: Library, seed: int):
    library.cdn.behave = faulty(seed, 0.15)
    readers = library.readers(memory=16 * MIB, timeout=5)
    opened = {n: library.reader(f"{n}.mkv", 6 * MIB + n, readers, entry_id=n) for n in range(1, 5)}
    failures: list[ReadFailed] = []

    def some(number: int) -> None:
        dice = random.Random(seed * 100 + number)  # noqa: S311 - repeatable
        for _ in range(120):
            name, reader = dice.choice(list(opened.items()))
            offset, length = dice.randrange(reader.size), dice.choice([1, 4096, 131072])
            try:
                got = b"".join(reader.read(1, offset, length))
            except ReadFailed as error:
                failures.append(error)
            else:
                assert got == content(f"{name}.mkv", offset, min(offset + length, reader.size))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(some, range(8)))
    assert len(failures) < 48
