"""The chunk store: bytes are there when they were committed, and only then."""

import hypothesis.strategies as st
from hypothesis import given, settings

from program.vfs.chunks import CHUNK_SIZE, ChunkStore
from tests.support.cdn import content

MIB = CHUNK_SIZE


def put(store: ChunkStore, start: int, stop: int, file_size: int, key: str = "a") -> None:
    """Write and commit the right bytes of a range."""
    while start < stop:
        chunk = store.open_chunk(key, start, file_size)
        first = start - chunk.start
        last = min(stop - chunk.start, len(chunk.view))
        chunk.view[first:last] = content(key, start, chunk.start + last)
        store.commit(chunk, first, last)
        store.close_chunk(chunk)
        start = chunk.start + last


def get(store: ChunkStore, start: int, stop: int, key: str = "a") -> bytes | None:
    views = store.read(key, start, stop)
    return None if views is None else b"".join(views)


def test_bytes_beside_a_hole_are_not_taken_for_bytes_in_it():
    store = ChunkStore(10 * MIB)
    put(store, 0, 1000, 3 * MIB)
    put(store, 5000, 6000, 3 * MIB)
    assert get(store, 0, 1000) == content("a", 0, 1000)
    assert get(store, 5000, 6000) == content("a", 5000, 6000)
    for start, stop in ((0, 1001), (999, 5001), (0, 6000), (4999, 5001), (6000, 6001)):
        assert get(store, start, stop) is None
    put(store, 1000, 5000, 3 * MIB)
    assert get(store, 0, 6000) == content("a", 0, 6000)


def test_bytes_that_were_written_but_not_committed_are_not_there():
    store = ChunkStore(10 * MIB)
    chunk = store.open_chunk("a", 0, MIB)
    chunk.view[:100] = b"x" * 100
    assert get(store, 0, 100) is None
    store.commit(chunk, 0, 50)
    assert get(store, 0, 50) == b"x" * 50
    assert get(store, 0, 51) is None


def test_a_read_over_several_chunks_needs_all_of_them():
    store = ChunkStore(10 * MIB)
    put(store, MIB - 10, 2 * MIB + 10, 3 * MIB)
    assert get(store, MIB - 10, 2 * MIB + 10) == content("a", MIB - 10, 2 * MIB + 10)
    assert get(store, MIB - 11, 2 * MIB) is None


def test_the_least_recently_used_goes_first_and_what_is_being_written_stays():
    store = ChunkStore(3 * MIB)
    for index in range(3):
        put(store, index * MIB, (index + 1) * MIB, 10 * MIB)
    get(store, 0, 10)
    pinned = store.open_chunk("a", MIB, 10 * MIB)
    put(store, 3 * MIB, 4 * MIB, 10 * MIB)
    assert get(store, 0, 10) is not None
    assert get(store, MIB, MIB + 10) is not None
    assert get(store, 2 * MIB, 2 * MIB + 10) is None
    store.close_chunk(pinned)
    assert store.statistics().size == 3 * MIB


def test_views_outlive_the_chunk():
    store = ChunkStore(MIB)
    put(store, 0, MIB, 10 * MIB)
    views = store.read("a", 0, 1000)
    put(store, 5 * MIB, 6 * MIB, 10 * MIB)
    assert get(store, 0, 1000) is None
    assert views is not None
    assert bytes(views[0]) == content("a", 0, 1000)


def test_memory_is_used_again_once_nobody_looks_at_it():
    store = ChunkStore(MIB)
    put(store, 0, MIB, 10 * MIB)
    looked_at = store.open_chunk("a", 0, 10 * MIB)
    memory = looked_at.view.obj
    store.close_chunk(looked_at)
    put(store, 5 * MIB, 6 * MIB, 10 * MIB)
    chunk = store.open_chunk("a", 5 * MIB, 10 * MIB)
    assert chunk.view.obj is memory
    assert get(store, 0, 1) is None
    assert get(store, 5 * MIB, 6 * MIB) == content("a", 5 * MIB, 6 * MIB)


def test_what_was_in_memory_before_is_never_read():
    store = ChunkStore(MIB)
    put(store, 0, MIB, 10 * MIB)
    put(store, 5 * MIB + 10, 5 * MIB + 20, 10 * MIB)
    assert get(store, 5 * MIB, 5 * MIB + 10) is None
    assert get(store, 5 * MIB + 10, 5 * MIB + 21) is None
    assert get(store, 5 * MIB + 10, 5 * MIB + 20) == content("a", 5 * MIB + 10, 5 * MIB + 20)


def test_a_new_chunk_stays_even_when_all_others_are_being_written():
    store = ChunkStore(MIB)
    written = store.open_chunk("a", 0, 10 * MIB)
    store.commit(written, 0, MIB)
    chunk = store.open_chunk("a", MIB, 10 * MIB)
    store.commit(chunk, 0, 10)
    assert get(store, MIB, MIB + 10) is not None


def test_files_do_not_share_chunks_and_an_unused_chunk_leaves():
    store = ChunkStore(10 * MIB)
    put(store, 0, 100, MIB, "a")
    assert get(store, 0, 100, "b") is None
    store.close_chunk(store.open_chunk("b", 0, MIB))
    assert store.statistics().chunks == 1


def test_the_last_chunk_is_as_long_as_the_file():
    store = ChunkStore(10 * MIB)
    put(store, MIB, MIB + 5, MIB + 5)
    assert store.statistics().size == 5


ranges = st.tuples(st.integers(0, 3 * MIB), st.integers(1, MIB)).map(
    lambda r: (r[0], min(r[0] + r[1], 3 * MIB))
)
small = st.tuples(st.integers(MIB - 20, MIB + 20), st.integers(1, 15)).map(lambda r: (r[0], r[0] + r[1]))


@settings(max_examples=150, deadline=None)
@given(st.lists(ranges | small, max_size=8), st.lists(ranges | small, min_size=1, max_size=5))
def test_it_knows_exactly_what_has_arrived(written: list[tuple[int, int]], asked: list[tuple[int, int]]):
    size = 3 * MIB
    store, there = ChunkStore(10 * MIB), bytearray(size)
    for start, stop in written:
        if start < stop:
            put(store, start, stop, size)
            there[start:stop] = b"\1" * (stop - start)
    for start, stop in asked:
        if start >= stop:
            continue
        first_hole = there.find(b"\0", start, stop)
        assert get(store, start, stop) == (content("a", start, stop) if first_hole < 0 else None)
        assert store.held_until("a", start, stop) == (stop if first_hole < 0 else first_hole)
        first_held = there.find(b"\1", start, stop)
        assert store.next_held("a", start, stop) == (stop if first_held < 0 else first_held)
