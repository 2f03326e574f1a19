"""Reading one file: what is in memory at once, what is not by the lanes that fetch it.

Each position that somebody reads on from is a cursor with a lane of its own (`cursors.py`), so a stray read, or a second reader
far away, disturbs no other. Whoever needs bytes that are not there waits, and is woken once, by whoever brings the last of them.
"""

import threading

from loguru import logger

from program.errors import RivuletError
from program.vfs.answers import SourceError
from program.vfs.chunks import CHUNK_SIZE, Chunk
from program.vfs.cursors import HEAD_SIZE, LARGEST_WINDOW, SMALLEST_WINDOW, Cursor, Cursors
from program.vfs.disk_format import Loaded
from program.vfs.habits import Kind
from program.vfs.kept import NOTHING, Kept
from program.vfs.lanes import Lane
from program.vfs.supplies import Supplies
from program.vfs.tree import TreeFile
from program.vfs.waiters import Waiter, Waiters

# A parked lane goes on once there is so much room, not for every read.
ROOM_TO_GO_ON = 2 * 1024 * 1024

# A lane that is so near will be there sooner than a new request.
NEAR_LANE = 512 * 1024

# A piece that lacks only so much is finished although its file was closed: the connection can be used again, and a scanner
# that opens a file several times finds its beginning.
WORTH_FINISHING = HEAD_SIZE

# A server from which bytes came so lately is alive.
SERVED_SECONDS = 2.0

# The connection of a lane that was parked so long is closed.
PARKED_SECONDS = 20.0


class ReadFailed(Exception):
    """The bytes could not be had within the time; `str()` says why."""


class FileReader:
    """All reading of one version of one file, for every handle that is open on it."""

    def __init__(self, file: TreeFile, supplies: Supplies) -> None:
        self.entry_id = file.entry_id
        self.size = file.size
        self.key = content_key(file)
        self.lock = threading.Lock()
        self._supplies = supplies
        # Guarded by the lock.
        self._handles: set[int] = set()
        self._waiters = Waiters()
        self._cursors = Cursors(file.size, supplies.connections)
        self._lanes: list[Lane] = []
        self._is_stopped = False
        self._arrived = 0
        self._arrived_at = 0.0
        self._kept = Kept(self.key, file.size, supplies.edges, supplies.bodies)

    def add_handle(self, handle: int) -> None:
        """Note that a handle was opened."""
        with self.lock:
            self._handles.add(handle)

    def drop_handle(self, handle: int) -> None:
        """Note that a handle was closed: what was fetched for it alone is called off."""
        with self.lock:
            self._handles.discard(handle)
            self._cursors.drop_handle(handle)
            self._call_off_unwanted()

    def read(self, handle: int, offset: int, size: int) -> list[memoryview]:
        """Return the bytes of the range, fewer only at the file's end. Raises ReadFailed, in bounded time."""
        stop = min(offset + size, self.size)
        if offset >= stop:
            return []
        guard, now = self._supplies.guard, self._supplies.clock.monotonic()
        with self.lock:
            cursor, kind = self._follow(handle, offset, stop, now)
            is_held = kind is Kind.ANALYSIS and not guard.allows(handle, stop - offset, now)
            got = self._take(offset, stop, now, None if is_held else cursor)
        is_there = isinstance(got, list)
        self._supplies.counters.add(
            **{kind: 1}, reads_held=got is None, bytes_from_cache=stop - offset if is_there else 0
        )
        if got is None:
            guard.hold(handle, stop - offset)
            with self.lock:
                got = self._take(offset, stop, now, cursor) or []
        return self._wait(got) if isinstance(got, Waiter) else got

    def tidy(self) -> bool:
        """Close connections that were idle for long; return whether nothing is open or under way any more."""
        oldest = self._supplies.clock.monotonic() - PARKED_SECONDS
        with self.lock:
            for lane in self._lanes:
                if not lane.is_running and not lane.is_over and lane.parked_at <= oldest:
                    self._call_off(lane)
            return self._is_idle()

    def is_idle(self) -> bool:
        """Return whether nothing is open or under way."""
        with self.lock:
            return self._is_idle()

    def stop(self) -> None:
        """Call everything off; whoever waits gets an error at once."""
        with self.lock:
            self._is_stopped = True
            for lane in self._lanes:
                self._call_off(lane)
            for waiter in self._waiters:
                self._waiters.settle(waiter, [], ReadFailed("the file system is stopping"))

    # What the lanes tell.

    def wanted_next(self, position: int) -> int | None:
        """Return the offset up to which somebody waits for the bytes at `position`. Called with the lock held."""
        return self._waiters.wanted_next(position)

    def arrived(self, lane: Lane, count: int) -> None:
        """Move the lane on and serve whoever waited for the last of these bytes."""
        with self.lock:
            before = lane.position
            lane.position += count
            self._arrived += count
            self._arrived_at = self._supplies.clock.monotonic()
            self._serve(before, lane.position)

    def is_crowded(self, lane: Lane) -> bool:
        """Return whether other lanes are served while the server refuses this one; the reader then does with fewer."""
        with self.lock:
            is_served = self._supplies.clock.monotonic() - self._arrived_at < SERVED_SECONDS
            if is_served:
                self._cursors.refused(lane)
            return is_served

    def filled(self, chunk: Chunk) -> None:
        """Keep a chunk on disk when that is worth while."""
        with self.lock:
            wanted = self._kept.worth_saving(chunk, is_played=self._cursors.play_at(chunk.start))
        if wanted is not None:
            store, (start, stop) = wanted
            store.save(self.key, chunk.index, start, bytes(chunk.view[start:stop]))

    def over(self, lane: Lane, error: BaseException | None) -> None:
        """Forget the lane; when it failed, whoever depends on it gets the error."""
        with self.lock:
            was_called_off, lane.is_over = lane.is_over, True
            self._lanes.remove(lane)
            self._supplies.lanes_open(-1)
            for waiter in self._waiters:
                gap = self._supplies.store.held_until(self.key, waiter.start, waiter.stop)
                if error is not None and not was_called_off and lane.position <= gap < lane.stop:
                    self._waiters.settle(waiter, [], error)
                    logger.bind(entry=self.entry_id).warning("reading at {} failed: {}", gap, _reason(error))
                else:
                    self._cover(waiter.start, waiter.stop, None)

    # Call everything below with the lock held.

    def _take(
        self, start: int, stop: int, now: float, cursor: Cursor | None
    ) -> list[memoryview] | Waiter | None:
        """Return the bytes, or who waits for them; without a cursor nothing is fetched, and None stands for what is not there.

        Raises ReadFailed.
        """
        if self._is_stopped:
            raise ReadFailed("the file system is stopping")
        views = self._supplies.store.read(self.key, start, stop)
        if cursor is None:
            return views
        got: list[memoryview] | Waiter | None = views
        if views is None:
            got = self._waiters.add(start, stop, cursor, now)
            self._cover(start, stop, cursor)
        self._read_ahead(cursor)
        return got

    def _is_idle(self) -> bool:
        return not (self._handles or self._lanes or self._waiters)

    def _serve(self, start: int, stop: int) -> None:
        """Answer those who waited for the last bytes of the range."""
        for waiter in self._waiters.overlapping(start, stop):
            views = self._supplies.store.read(self.key, waiter.start, waiter.stop)
            if views is not None:
                waiter.cursor.pace.waited(self._supplies.clock.monotonic() - waiter.since)
                self._waiters.settle(waiter, views)

    def _follow(self, handle: int, offset: int, stop: int, now: float) -> tuple[Cursor, Kind]:
        """Return the cursor that the read belongs to, and what it is; let go of what nobody needs now that it has moved."""
        cursor = self._cursors.follow(handle, offset, stop, now, self._arrived)
        behind = self._cursors.left_behind(cursor)
        if behind is not None:
            self._supplies.store.discard(self.key, behind)
        if self._cursors.drop_oldest():
            self._call_off_unwanted()
        kind = self._cursors.kind(cursor, offset)
        if kind is Kind.SEQUENTIAL:
            self._supplies.guard.watched(now)
        return cursor, kind

    def _largest_window(self) -> int:
        return self._supplies.window(LARGEST_WINDOW, SMALLEST_WINDOW)

    def _cover(self, start: int, stop: int, cursor: Cursor | None) -> None:
        """Have every missing byte of the range on its way soon."""
        while (start := self._supplies.store.held_until(self.key, start, stop)) < stop:
            lane = self._lane_at(start, NEAR_LANE)
            if lane is None and self._kept.ask(start, self._loaded):
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

    def _read_ahead(self, cursor: Cursor) -> None:
        """Have the bytes that the cursor will come to on their way."""
        if cursor.is_probing:
            return
        largest = self._largest_window()
        target = min(cursor.target(largest), self.size)
        lane = cursor.lane
        if cursor.pace.width > 1:
            self._cut_stream(cursor, largest)
        elif lane is not None and not lane.is_over and lane.position <= target <= lane.stop:
            lane.limit = max(lane.limit, target)
            if lane.limit - lane.position >= min(ROOM_TO_GO_ON, lane.stop - lane.position):
                self._go_on(lane)
            return
        start = max(cursor.covered, cursor.position)
        while (start := self._supplies.store.held_until(self.key, start, target)) < target:
            lane = self._lane_at(start, largest)
            if lane is None and self._kept.ask(start, self._loaded):
                start = (start // CHUNK_SIZE + 1) * CHUNK_SIZE
                continue
            if lane is None:
                lane = self._start_lane(start, self._cursors.fetch_end(start, cursor, largest), target)
            lane.limit = max(lane.limit, target)
            self._go_on(lane)
            cursor.lane = lane
            start = min(lane.stop, target)
        cursor.covered = max(cursor.covered, target)

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
        stop = min(stop, self.size, self._kept.next_body(start) or self.size, *others)
        look_ahead = min(stop, start + LARGEST_WINDOW)
        held = self._supplies.store.next_held(self.key, start, look_ahead)
        lane = Lane(self, self._supplies, start, held if held < look_ahead else stop, limit)
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

    def _call_off_unwanted(self) -> None:
        """End the lanes that bring what nobody reads next, but for those that are nearly done."""
        for lane in self._lanes:
            is_nearly_done = lane.is_running and lane.stop - lane.position <= WORTH_FINISHING
            if not (is_nearly_done or self._cursors.come_to(lane) or self._is_waited_for(lane)):
                self._call_off(lane)

    def _is_waited_for(self, lane: Lane) -> bool:
        return bool(self._waiters.overlapping(lane.position, lane.stop))

    def _loaded(self, index: int, loaded: Loaded) -> None:
        """Take what the disk had, on the disk's thread and without the lock; fetch what it had not."""
        store = self._supplies.store
        start, stop = index * CHUNK_SIZE, min((index + 1) * CHUNK_SIZE, self.size)
        span = (loaded[0], loaded[0] + len(loaded[1])) if loaded else NOTHING
        chunk = store.open_chunk(self.key, start, self.size)
        if loaded is not None and span[1] <= len(chunk.view):
            chunk.view[slice(*span)] = loaded[1]
            store.commit(chunk, *span)
        else:
            span = NOTHING
        with self.lock:
            self._kept.came(index, span)
            self._serve(start, stop)
            for waiter in self._waiters:
                self._cover(waiter.start, waiter.stop, None)
        store.close_chunk(chunk)

    def _wait(self, waiter: Waiter) -> list[memoryview]:
        """Return the bytes once they are there; called without the lock. Raises ReadFailed."""
        if not waiter.settled.wait(self._supplies.read_timeout):
            late = ReadFailed(f"no data within {self._supplies.read_timeout:g} s")
            with self.lock:
                self._waiters.settle(waiter, [], late)
        if waiter.error is not None:
            raise ReadFailed(_reason(waiter.error)) from waiter.error
        return waiter.views


def content_key(file: TreeFile) -> str:
    """Return what names the file's contents in memory and on disk."""
    return f"{file.entry_id}-{file.size}-{file.identity}"


def _reason(error: BaseException) -> str:
    """Return why, in words that hold no address."""
    return str(error) if isinstance(error, SourceError | RivuletError | ReadFailed) else type(error).__name__
