"""What is on its way for one file, and what is sent for next: lanes for what somebody waits for, and for what comes after it."""

from typing import Protocol

from program.vfs.chunks import CHUNK_SIZE
from program.vfs.cursors import HEAD_SIZE, LARGEST_WINDOW, SMALLEST_WINDOW, Cursor, Cursors
from program.vfs.disk_format import Loaded
from program.vfs.kept import Kept
from program.vfs.lanes import Lane
from program.vfs.lanes import Owner as LaneOwner
from program.vfs.supplies import Supplies
from program.vfs.waiters import Waiters

# A parked lane goes on once there is so much room, not for every read.
ROOM_TO_GO_ON = 2 * 1024 * 1024

# A lane that is so near will be there sooner than a new request.
NEAR_LANE = 512 * 1024

# A piece that lacks only so much is finished although its file was closed: the connection can be used again, and a scanner
# that opens a file several times finds its beginning.
WORTH_FINISHING = HEAD_SIZE


class Owner(LaneOwner, Protocol):
    """The reader that the bytes are for."""

    def loaded(self, index: int, loaded: Loaded) -> None:
        """Take what the disk had of a chunk; called without the lock."""


class Fetching:
    """The lanes of one file. Call everything with the reader's lock held."""

    def __init__(
        self, owner: Owner, supplies: Supplies, cursors: Cursors, waiters: Waiters, kept: Kept
    ) -> None:
        self._owner = owner
        self._supplies = supplies
        self._cursors = cursors
        self._waiters = waiters
        self._kept = kept
        self._lanes: list[Lane] = []

    def __bool__(self) -> bool:
        """Return whether anything is open or under way."""
        return bool(self._lanes)

    def cover(self, start: int, stop: int, cursor: Cursor | None) -> None:
        """Have every missing byte of the range on its way soon."""
        while (start := self._supplies.store.held_until(self._owner.key, start, stop)) < stop:
            lane = self._lane_at(start, NEAR_LANE)
            if lane is None and self._kept.ask(start, self._owner.loaded):
                start = min((start // CHUNK_SIZE + 1) * CHUNK_SIZE, stop)
                continue
            if lane is None:
                end = self._cursors.fetch_end(start, cursor, self._largest_window())
                lane = self._start_lane(start, max(end, stop), stop)
                if cursor is not None:
                    cursor.lane = lane
            lane.limit = max(lane.limit, stop)
            self._go_on(lane)
            start = min(lane.stop, stop)

    def read_ahead(self, cursor: Cursor) -> None:
        """Have the bytes that the cursor will come to on their way."""
        if cursor.is_probing:
            return
        largest = self._largest_window()
        target = min(cursor.target(largest), self._owner.size)
        lane = cursor.lane
        if cursor.pace.width > 1:
            self._cut_stream(cursor, largest)
        elif lane is not None and not lane.is_over and lane.position <= target <= lane.stop:
            lane.limit = max(lane.limit, target)
            if lane.limit - lane.position >= min(ROOM_TO_GO_ON, lane.stop - lane.position):
                self._go_on(lane)
            return
        start = max(cursor.covered, cursor.position)
        while (start := self._supplies.store.held_until(self._owner.key, start, target)) < target:
            lane = self._lane_at(start, largest)
            if lane is None and self._kept.ask(start, self._owner.loaded):
                start = (start // CHUNK_SIZE + 1) * CHUNK_SIZE
                continue
            if lane is None:
                lane = self._start_lane(start, self._cursors.fetch_end(start, cursor, largest), target)
            lane.limit = max(lane.limit, target)
            self._go_on(lane)
            cursor.lane = lane
            start = min(lane.stop, target)
        cursor.covered = max(cursor.covered, target)

    def call_off_unwanted(self) -> None:
        """End the lanes that bring what nobody reads next, but for those that are nearly done."""
        for lane in self._lanes:
            is_nearly_done = lane.is_running and lane.stop - lane.position <= WORTH_FINISHING
            if not (is_nearly_done or self._cursors.come_to(lane) or self._is_waited_for(lane)):
                self._call_off(lane)

    def call_off_parked(self, since: float) -> None:
        """End the lanes that nobody has needed since a moment of the monotonic clock."""
        for lane in self._lanes:
            if not lane.is_running and not lane.is_over and lane.parked_at <= since:
                self._call_off(lane)

    def call_off_all(self) -> None:
        """End every lane."""
        for lane in self._lanes:
            self._call_off(lane)

    def ended(self, lane: Lane) -> None:
        """Forget a lane."""
        lane.is_over = True
        self._lanes.remove(lane)
        self._supplies.lanes_open(-1)

    def _largest_window(self) -> int:
        return self._supplies.window(LARGEST_WINDOW, SMALLEST_WINDOW)

    def _cut_stream(self, cursor: Cursor, largest: int) -> None:
        """Leave to a stream what one of several connections fetches."""
        lane = cursor.lane
        if lane is None or lane.is_over:
            return
        stop = lane.position // CHUNK_SIZE * CHUNK_SIZE + cursor.segment(largest)
        if lane.stop > stop + CHUNK_SIZE:
            lane.stop = lane.limit = stop
            cursor.covered = min(cursor.covered, stop)
            self._go_on(lane)

    def _lane_at(self, position: int, distance: int) -> Lane | None:
        """Return a lane that will bring the byte at `position` and is at most `distance` before it."""
        for lane in self._lanes:
            if (
                not lane.is_over
                and lane.position <= position < lane.stop
                and position - lane.position <= distance
            ):
                return lane
        return None

    def _start_lane(self, start: int, stop: int, limit: int) -> Lane:
        """Return a new lane, running; it ends where bytes are there already, or on disk, or another lane begins."""
        others = [lane.position for lane in self._lanes if lane.position > start and not lane.is_over]
        stop = min(stop, self._owner.size, self._kept.next_body(start) or self._owner.size, *others)
        look_ahead = min(stop, start + LARGEST_WINDOW)
        held = self._supplies.store.next_held(self._owner.key, start, look_ahead)
        lane = Lane(self._owner, self._supplies, start, held if held < look_ahead else stop, limit)
        # A bounded piece is fetched whole, a stream is held back by its window.
        if lane.stop - start <= LARGEST_WINDOW:
            lane.limit = lane.stop
        self._lanes.append(lane)
        self._supplies.lanes_open(1)
        self._go_on(lane)
        return lane

    def _go_on(self, lane: Lane) -> None:
        """Have a parked lane run again."""
        if not lane.is_running and not lane.is_over:
            lane.is_running = True
            self._supplies.workers.submit(lane.run)

    def _call_off(self, lane: Lane) -> None:
        """End a lane soon; a parked one is run once more to close its connection."""
        if not lane.is_over:
            lane.call_off()
            if not lane.is_running:
                lane.is_running = True
                self._supplies.workers.submit(lane.run)

    def _is_waited_for(self, lane: Lane) -> bool:
        return bool(self._waiters.overlapping(lane.position, lane.stop))
