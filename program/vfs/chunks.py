"""The contents that are in memory: pieces of 1 MiB, shared by all readers of a file, under one limit for all files.

A chunk knows exactly which of its bytes have arrived. Bytes beside a hole are never taken for bytes in it: a read is answered
only when every byte it asks for has been committed.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from program.vfs.buffers import Buffers

# Large enough that Python's price per piece does not matter, small enough for a few hundred in memory.
CHUNK_SIZE = 1024 * 1024

Span: TypeAlias = tuple[int, int]


@dataclass(slots=True, eq=False)
class Chunk:
    """One piece of a file. spans: what has arrived, as sorted, disjoint offsets within the piece; pins: writers at work."""

    key: str
    index: int
    view: memoryview
    spans: tuple[Span, ...] = ()
    pins: int = 0

    @property
    def start(self) -> int:
        """Where in the file this piece begins."""
        return self.index * CHUNK_SIZE

    def holds(self, start: int, stop: int) -> bool:
        """Return whether every byte of the range (offsets within the piece) has arrived."""
        return any(first <= start and stop <= last for first, last in self.spans)


@dataclass(slots=True)
class ChunkStatistics:
    """What the store holds: chunks and bytes."""

    chunks: int = 0
    size: int = 0


@dataclass(slots=True)
class ChunkStore:
    """All chunks in memory, least recently used first; `limit` bytes, more only while all the rest is being written."""

    limit: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # Guarded by the lock: memory, the chunks in the order of their last use, and the sum of their sizes.
    _buffers: Buffers = field(default_factory=lambda: Buffers(CHUNK_SIZE))
    _chunks: OrderedDict[tuple[str, int], Chunk] = field(default_factory=OrderedDict)
    _size: int = 0

    def read(self, key: str, start: int, stop: int) -> list[memoryview] | None:
        """Return the bytes of the range as views, or None when one of them has not arrived."""
        views: list[memoryview] = []
        with self._lock:
            for index, first, last in _pieces(start, stop):
                chunk = self._chunks.get((key, index))
                if chunk is None or not chunk.holds(first, last):
                    return None
                self._chunks.move_to_end((key, index))
                views.append(chunk.view[first:last])
        return views

    def held_until(self, key: str, start: int, limit: int) -> int:
        """Return the offset, at most `limit`, up to which every byte from `start` on has arrived."""
        with self._lock:
            for index, first, last in _pieces(start, limit):
                chunk = self._chunks.get((key, index))
                ends = [end for begin, end in chunk.spans if begin <= first < end] if chunk else []
                if not ends:
                    return index * CHUNK_SIZE + first
                if ends[0] < last:
                    return index * CHUNK_SIZE + ends[0]
        return limit

    def next_held(self, key: str, start: int, limit: int) -> int:
        """Return the first offset from `start` on that has arrived; `limit` when none before it has."""
        with self._lock:
            for index, first, last in _pieces(start, limit):
                chunk = self._chunks.get((key, index))
                begins = [begin for begin, end in chunk.spans if end > first] if chunk else []
                if begins and begins[0] < last:
                    return index * CHUNK_SIZE + max(begins[0], first)
        return limit

    def open_chunk(self, key: str, offset: int, file_size: int) -> Chunk:
        """Return the chunk around `offset`, made when missing, pinned so that it stays until `close_chunk`."""
        index = offset // CHUNK_SIZE
        length = min(CHUNK_SIZE, file_size - index * CHUNK_SIZE)
        with self._lock:
            chunk = self._chunks.get((key, index))
            if chunk is None:
                self._make_room(length)
                chunk = Chunk(key, index, self._buffers.take(length))
                self._chunks[key, index] = chunk
                self._size += length
            else:
                self._chunks.move_to_end((key, index))
            chunk.pins += 1
        return chunk

    def commit(self, chunk: Chunk, start: int, stop: int) -> None:
        """Note that the bytes of the range (offsets within the chunk) have been written into it."""
        with self._lock:
            chunk.spans = _with_span(chunk.spans, (start, stop))

    def close_chunk(self, chunk: Chunk) -> None:
        """Let the chunk go; a chunk into which nothing was written leaves."""
        with self._lock:
            chunk.pins -= 1
            if not chunk.pins and not chunk.spans:
                self._drop(chunk)
            self._make_room(0)

    def discard(self, key: str, index: int) -> None:
        """Forget a chunk that nobody will want again, unless it is being written."""
        with self._lock:
            chunk = self._chunks.get((key, index))
            if chunk is not None and not chunk.pins:
                self._drop(chunk)

    def clear(self) -> None:
        """Forget everything that is not being written."""
        with self._lock:
            for chunk in [chunk for chunk in self._chunks.values() if not chunk.pins]:
                self._drop(chunk)

    def statistics(self) -> ChunkStatistics:
        """Return how much is held now."""
        with self._lock:
            return ChunkStatistics(len(self._chunks), self._size)

    def _make_room(self, length: int) -> None:
        """Forget the least recently used until so much more is within the limit. Call with the lock held."""
        while self._size + length > self.limit:
            oldest = next((chunk for chunk in self._chunks.values() if not chunk.pins), None)
            if oldest is None:
                return
            self._drop(oldest)

    def _drop(self, chunk: Chunk) -> None:
        """Forget a chunk; readers that hold views of it keep them. Call with the lock held."""
        if self._chunks.pop((chunk.key, chunk.index), None) is not None:
            self._size -= len(chunk.view)
            self._buffers.give_back(chunk.view)


def _pieces(start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield (index, first, last) for each chunk that the range touches, first and last within the chunk."""
    while start < stop:
        index, first = divmod(start, CHUNK_SIZE)
        last = min(CHUNK_SIZE, first + stop - start)
        yield index, first, last
        start += last - first


def _with_span(spans: tuple[Span, ...], new: Span) -> tuple[Span, ...]:
    """Return the spans and the new one, joined where they touch; an empty one adds nothing."""
    start, stop = new
    if start >= stop:
        return spans
    apart: list[Span] = []
    for first, last in spans:
        if last < start or first > stop:
            apart.append((first, last))
        else:
            start, stop = min(start, first), max(stop, last)
    return tuple(sorted((*apart, (start, stop))))
