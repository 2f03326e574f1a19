"""Where in a file somebody reads on from, and how much is fetched for them; pure.

A read that continues nothing is a probe: a bounded piece is fetched (the head, the tail, or a little around a seek). Whoever goes
on gets larger pieces ahead, then one stream to the end of the file that stays a window ahead, and where one connection is too
slow for them (`pace.py`) segments on several.
"""

from dataclasses import dataclass, field

from program.vfs.chunks import CHUNK_SIZE
from program.vfs.habits import FASTER_THAN_FILMS, LONG_RUN, Habits, Kind
from program.vfs.lanes import Lane
from program.vfs.pace import SEGMENT, Pace

MIB = 1024 * 1024

# What a scan reads of a file's beginning.
HEAD_SIZE = 2 * MIB

# What a read elsewhere fetches, since its neighbours are often next.
PROBE_SIZE = 512 * 1024

# A reader that went on so far is taken for a player: one stream to the end in place of ever larger pieces.
STREAM_AFTER = 4 * MIB

# How far ahead of a reader is fetched, and how much behind it is kept; more was measured to be slower.
SMALLEST_WINDOW = MIB
LARGEST_WINDOW = 8 * MIB
KEEP_BEHIND = 16 * MIB

# Bytes so near before or behind a cursor belong to it: the kernel reads ahead with several requests at once.
NEAR_CURSOR = MIB

MAX_CURSORS = 8

# Nobody watches so many bytes a second: who reads faster copies the file, or looks through it, and will not come back.
FASTEST_PLAY = 16 * MIB


@dataclass(slots=True, eq=False)
class Cursor:
    """A place somebody reads on from. run: bytes read in a row; probe: bytes fetched at first; covered: up to where bytes are
    there or on their way; lane: what brings them, the first of them where it has several connections.
    """

    handle: int
    position: int
    run: int
    probe: int
    pace: Pace
    covered: int = 0
    lane: Lane | None = None

    @property
    def is_probing(self) -> bool:
        """Whether most of what was fetched at first is still unread: a scan stops about there, a player goes on."""
        return self.run * 4 < self.probe * 3

    def window(self, largest: int) -> int:
        """Return how far ahead bytes should be there: the further the longer somebody has read on."""
        return max(min(self.run, largest), SMALLEST_WINDOW)

    def segment(self, largest: int) -> int:
        """Return how much each of several connections fetches, in whole chunks."""
        return max(min(SEGMENT, largest) // CHUNK_SIZE, 1) * CHUNK_SIZE

    def target(self, largest: int) -> int:
        """Return up to where bytes should be there or on their way."""
        width = self.pace.width
        return self.position + (self.segment(largest) * width if width > 1 else self.window(largest))

    def comes_to(self, lane: Lane) -> bool:
        """Return whether the lane brings what is read next."""
        return lane is self.lane or self.position - SEGMENT <= lane.position < self.covered


@dataclass(slots=True)
class Cursors:
    """The cursors in one file of `size` bytes, the most recently used last. Not locked; the reader does that.

    connections: what each of them may have at most.
    """

    size: int
    connections: int = 1
    _cursors: list[Cursor] = field(default_factory=list)
    _habits: dict[int, Habits] = field(default_factory=dict)

    def follow(self, handle: int, offset: int, stop: int, now: float, arrived: int) -> Cursor:
        """Return the cursor that a read belongs to, moved on; a new one when it continues none.

        now: monotonic seconds; arrived: bytes that have come for the file so far.
        """
        near = [cursor for cursor in self._cursors if abs(offset - cursor.position) <= NEAR_CURSOR]
        if near:
            cursor = min(near, key=lambda cursor: abs(offset - cursor.position))
            self._cursors.remove(cursor)
            cursor.handle = handle
            cursor.position = max(cursor.position, stop)
            cursor.run += stop - offset
        else:
            pace = Pace(self.connections, now)
            cursor = Cursor(handle, stop, stop - offset, self.probe_end(offset) - offset, pace)
        cursor.pace.read(stop - offset, now, arrived)
        if HEAD_SIZE <= offset < self.size - HEAD_SIZE:
            self._habits.setdefault(handle, Habits()).read(stop - offset, now, is_jump=not near)
        self._cursors.append(cursor)
        return cursor

    def kind(self, cursor: Cursor, offset: int) -> Kind:
        """Return what the read at `offset`, which moved the cursor, is part of."""
        habits = self._habits.get(cursor.handle)
        is_racing = cursor.run >= LONG_RUN and cursor.pace.average > FASTER_THAN_FILMS
        if is_racing or (habits is not None and habits.is_sampling):
            return Kind.ANALYSIS
        if cursor.run >= STREAM_AFTER:
            return Kind.SEQUENTIAL
        if offset < HEAD_SIZE:
            return Kind.HEAD
        return Kind.TAIL if offset >= self.size - HEAD_SIZE else Kind.SEEK

    def drop_oldest(self) -> bool:
        """Forget the least recently used when there are too many; return whether one was."""
        if len(self._cursors) <= MAX_CURSORS:
            return False
        del self._cursors[0]
        return True

    def drop_handle(self, handle: int) -> None:
        """Forget the cursors of a handle."""
        self._habits.pop(handle, None)
        self._cursors = [cursor for cursor in self._cursors if cursor.handle != handle]

    def play_at(self, position: int) -> bool:
        """Return whether somebody reads on around a position at the pace of a film."""
        return any(
            abs(cursor.position - position) <= KEEP_BEHIND * 2 and 0 < cursor.pace.average < FASTEST_PLAY
            for cursor in self._cursors
        )

    def refused(self, lane: Lane) -> None:
        """Note that the server refused the lane of a reader that others serve."""
        for cursor in self._cursors:
            if cursor.comes_to(lane):
                cursor.pace.refused()

    def come_to(self, lane: Lane) -> bool:
        """Return whether the lane brings what somebody reads next."""
        return any(cursor.comes_to(lane) for cursor in self._cursors)

    def probe_end(self, offset: int) -> int:
        """Return how far a read at `offset` that continues nothing fetches."""
        if offset >= self.size - HEAD_SIZE:
            return self.size
        return HEAD_SIZE if offset < HEAD_SIZE else offset + PROBE_SIZE

    def fetch_end(self, start: int, cursor: Cursor | None, largest: int) -> int:
        """Return where a new lane at `start` should end; largest: the window that memory allows."""
        if cursor is None or cursor.is_probing:
            return self.probe_end(start)
        if cursor.pace.width > 1:
            return start // CHUNK_SIZE * CHUNK_SIZE + cursor.segment(largest)
        if cursor.run >= STREAM_AFTER:
            return self.size
        return start + cursor.window(largest) * 2

    def left_behind(self, cursor: Cursor) -> int | None:
        """Return the chunk that a cursor which reads on has left behind, if no other will come to it."""
        index = (cursor.position - KEEP_BEHIND) // CHUNK_SIZE - 1
        if cursor.run < KEEP_BEHIND or index < 0:
            return None
        start = index * CHUNK_SIZE
        others = (other.position for other in self._cursors if other is not cursor)
        return None if any(start - KEEP_BEHIND <= other < start + CHUNK_SIZE for other in others) else index
