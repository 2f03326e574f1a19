"""Reading one file: what is in memory at once, what is not by the lanes that fetch it.

Each position that somebody reads on from is a cursor with a lane of its own (`cursors.py`), so a stray read, or a second reader
far away, disturbs no other. Whoever needs bytes that are not there waits, and is woken once, by whoever brings the last of them.
"""

import threading

from loguru import logger

from program.errors import RivuletError
from program.vfs.answers import SourceError
from program.vfs.chunks import CHUNK_SIZE, Chunk
from program.vfs.cursors import Cursor, Cursors
from program.vfs.disk_format import Loaded
from program.vfs.fetching import Fetching
from program.vfs.habits import Kind
from program.vfs.kept import NOTHING, Kept
from program.vfs.lanes import Lane
from program.vfs.supplies import Supplies
from program.vfs.tree import TreeFile
from program.vfs.waiters import Waiter, Waiters

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
        self._is_stopped = False
        self._arrived = 0
        self._arrived_at = 0.0
        self._kept = Kept(self.key, file.size, supplies.edges, supplies.bodies)
        self._fetching = Fetching(self, supplies, self._cursors, self._waiters, self._kept)

    def add_handle(self, handle: int) -> None:
        """Note that a handle was opened."""
        with self.lock:
            self._handles.add(handle)

    def drop_handle(self, handle: int) -> None:
        """Note that a handle was closed: what was fetched for it alone is called off."""
        with self.lock:
            self._handles.discard(handle)
            self._cursors.drop_handle(handle)
            self._fetching.call_off_unwanted()

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
            self._fetching.call_off_parked(oldest)
            return self._is_idle()

    def is_idle(self) -> bool:
        """Return whether nothing is open or under way."""
        with self.lock:
            return self._is_idle()

    def stop(self) -> None:
        """Call everything off; whoever waits gets an error at once."""
        with self.lock:
            self._is_stopped = True
            self._fetching.call_off_all()
            for waiter in self._waiters:
                self._waiters.settle(waiter, [], ReadFailed("the file system is stopping"))

    # What the lanes and the disk tell.

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
            was_called_off = lane.is_over
            self._fetching.ended(lane)
            for waiter in self._waiters:
                gap = self._supplies.store.held_until(self.key, waiter.start, waiter.stop)
                if error is not None and not was_called_off and lane.position <= gap < lane.stop:
                    self._waiters.settle(waiter, [], error)
                    logger.bind(entry=self.entry_id).warning("reading at {} failed: {}", gap, _reason(error))
                else:
                    self._fetching.cover(waiter.start, waiter.stop, None)

    def loaded(self, index: int, loaded: Loaded) -> None:
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
                self._fetching.cover(waiter.start, waiter.stop, None)
        store.close_chunk(chunk)

    # Call everything below with the lock held, but for the last.

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
            self._fetching.cover(start, stop, cursor)
        self._fetching.read_ahead(cursor)
        return got

    def _is_idle(self) -> bool:
        return not (self._handles or self._fetching or self._waiters)

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
            self._fetching.call_off_unwanted()
        kind = self._cursors.kind(cursor, offset)
        if kind is Kind.SEQUENTIAL:
            self._supplies.guard.watched(now)
        return cursor, kind

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
