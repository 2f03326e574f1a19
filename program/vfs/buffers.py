"""Memory for the pieces of files, used again: the system cleans what it gives anew, and a heap keeps more than is used."""

import mmap
from dataclasses import dataclass, field

# So many that nobody uses are kept: a stream takes one whenever it lets go of another.
SPARE = 4


@dataclass(slots=True)
class Buffers:
    """Pieces of memory of `size` bytes each. Not locked; the store does that."""

    size: int
    _spare: list[mmap.mmap] = field(default_factory=list)

    def take(self, length: int) -> memoryview:
        """Return memory of `length` bytes, at most `size`, in which anything may stand."""
        while self._spare:
            memory = self._spare.pop()
            if _is_unused(memory):
                return memoryview(memory)[:length]
        # Private, or it would be a file in memory that takes twice as long to fill.
        return memoryview(mmap.mmap(-1, self.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))[:length]

    def give_back(self, view: memoryview) -> None:
        """Take memory back; it is not used again before the last view of it is gone."""
        memory = view.obj
        view.release()
        if len(self._spare) < SPARE and isinstance(memory, mmap.mmap):
            self._spare.append(memory)


def _is_unused(memory: mmap.mmap) -> bool:
    """Return whether nobody has a view of the memory."""
    try:
        # Python refuses this, to the size that it has, while there is a view.
        memory.resize(len(memory))
    except BufferError:
        return False
    return True
