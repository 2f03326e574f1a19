"""Which chunks of one file are on disk, as far as its reader knows, and which are worth keeping there."""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from program.vfs.chunks import CHUNK_SIZE, Chunk, Span
from program.vfs.cursors import HEAD_SIZE
from program.vfs.disk import DiskChunks
from program.vfs.disk_format import Loaded

EDGE_CHUNKS = HEAD_SIZE // CHUNK_SIZE

NOTHING: Span = (0, 0)


class Taker(Protocol):
    """Takes what the disk had of a chunk, on the disk's thread."""

    def __call__(self, index: int, loaded: Loaded) -> None:
        """Take what was kept of a chunk."""


@dataclass(slots=True)
class Kept:
    """What was asked of the disk and what it has, by chunk. Guarded by the reader's lock.

    edges: keeps the file's first and last chunks, any part of them; bodies: keeps whole chunks of the rest.
    """

    key: str
    size: int
    edges: DiskChunks | None
    bodies: DiskChunks | None
    _coming: set[int] = field(default_factory=set)
    _spans: dict[int, Span] = field(default_factory=dict)

    def ask(self, position: int, take: Taker) -> bool:
        """Return whether the byte at `position` may come from the disk; if so `take` gets its chunk."""
        index, offset = divmod(position, CHUNK_SIZE)
        if index in self._coming:
            return True
        store = self._store(index)
        if store is None or not self._may_have(store, index, offset):
            return False
        if not store.load(self.key, index, partial(take, index)):
            return False
        self._coming.add(index)
        return True

    def came(self, index: int, span: Span) -> None:
        """Note what the disk had."""
        self._coming.discard(index)
        self._spans[index] = span

    def next_body(self, position: int) -> int | None:
        """Return the offset of the first kept chunk that begins after `position`, apart from the file's ends."""
        if self.bodies is None:
            return None
        index = self.bodies.next_kept(self.key, position // CHUNK_SIZE + 1)
        return None if index is None else index * CHUNK_SIZE

    def worth_saving(self, chunk: Chunk, *, is_played: bool) -> tuple[DiskChunks, Span] | None:
        """Return where a chunk's longest run of bytes should be kept and what that is; None when it should not.

        is_played: whether somebody watches this part of the file, as opposed to copying it.
        """
        store = self._store(chunk.index)
        if store is None or not chunk.spans:
            return None
        span = max(chunk.spans, key=lambda span: span[1] - span[0])
        if store is self.bodies:
            is_whole = span == (0, len(chunk.view))
            is_wanted = is_played and is_whole and not store.has(self.key, chunk.index)
            return (store, span) if is_wanted else None
        first, last = self._spans.get(chunk.index, NOTHING)
        if span[1] - span[0] <= last - first:
            return None
        self._spans[chunk.index] = span
        return store, span

    def _store(self, index: int) -> DiskChunks | None:
        """Return what keeps a chunk."""
        is_edge = index < EDGE_CHUNKS or index >= (self.size - 1) // CHUNK_SIZE + 1 - EDGE_CHUNKS
        return self.edges if is_edge else self.bodies

    def _may_have(self, store: DiskChunks, index: int, offset: int) -> bool:
        """Return whether a byte (offset within the chunk) may be on disk: it is, or nobody has looked."""
        if store is self.bodies:
            return store.has(self.key, index)
        first, last = self._spans.get(index, (0, CHUNK_SIZE))
        return first <= offset < last
