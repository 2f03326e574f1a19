"""Which pieces of one file's ends are on disk, as far as its reader knows; pure."""

from dataclasses import dataclass, field

from program.vfs.chunks import CHUNK_SIZE, Span
from program.vfs.cursors import HEAD_SIZE

EDGE_CHUNKS = HEAD_SIZE // CHUNK_SIZE

NOTHING: Span = (0, 0)


@dataclass(slots=True)
class KeptEdges:
    """What was asked of the disk and what it has, by chunk. Not locked; the reader does that."""

    size: int
    _coming: set[int] = field(default_factory=set)
    _kept: dict[int, Span] = field(default_factory=dict)

    def is_edge(self, index: int) -> bool:
        """Return whether a chunk is one of the file's first or last."""
        return index < EDGE_CHUNKS or index >= (self.size - 1) // CHUNK_SIZE + 1 - EDGE_CHUNKS

    def is_coming(self, index: int) -> bool:
        """Return whether the disk is being asked for a chunk."""
        return index in self._coming

    def may_have(self, index: int, offset: int) -> bool:
        """Return whether a byte (offset within the chunk) may be on disk: it is, or nobody has looked."""
        first, last = self._kept.get(index, (0, CHUNK_SIZE))
        return self.is_edge(index) and first <= offset < last

    def asked(self, index: int) -> None:
        """Note that the disk is being asked."""
        self._coming.add(index)

    def came(self, index: int, span: Span) -> None:
        """Note what the disk had."""
        self._coming.discard(index)
        self._kept[index] = span

    def improve(self, index: int, span: Span) -> bool:
        """Return whether a span is worth keeping in place of what is kept, and note it if so."""
        first, last = self._kept.get(index, NOTHING)
        if not self.is_edge(index) or span[1] - span[0] <= last - first:
            return False
        self._kept[index] = span
        return True
