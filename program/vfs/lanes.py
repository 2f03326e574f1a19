"""One ranged request that fills a file's chunks, survives its link, and stops when told to."""

import threading
from typing import Protocol

from program.clock import Clock
from program.errors import Cancelled, RivuletError
from program.vfs.answers import DeadLink, Passing, SourceError
from program.vfs.chunks import Chunk, ChunkStore
from program.vfs.counters import Counters
from program.vfs.links import Links
from program.vfs.patience import Patience
from program.vfs.sources import Body, Sources, Transfer

# How much is read from the connection at a time: as much as comes in about this many seconds, within these bounds.
PIECE_SECONDS = (0.005, 0.02)
SMALLEST_PIECE = 64 * 1024
LARGEST_PIECE = 1024 * 1024


class Supply(Protocol):
    """What a lane works with."""

    clock: Clock
    counters: Counters
    links: Links
    sources: Sources
    store: ChunkStore
    read_timeout: float


class Owner(Protocol):
    """The reader that a lane fills; `lock` guards the lane's `position`, `limit`, `is_running`, `is_over`."""

    key: str
    entry_id: int
    size: int
    lock: threading.Lock

    def wanted_next(self, position: int) -> int | None:
        """Return the offset up to which somebody waits for the bytes at `position`. Called with the lock held."""

    def arrived(self, lane: "Lane", count: int) -> None:
        """Take note of bytes that were committed; called without the lock."""

    def is_crowded(self, lane: "Lane") -> bool:
        """Return whether the server that refused the lane still serves others of this file; called without the lock."""

    def filled(self, chunk: Chunk) -> None:
        """Take note that the lane leaves a chunk; called without the lock."""

    def over(self, lane: "Lane", error: BaseException | None) -> None:
        """Take note that the lane has ended; called without the lock."""


class Lane:
    """Fetches the bytes from `position` to `stop`, not beyond `limit` for the moment.

    While it is at its limit it is parked: no thread works on it, its connection stays open.
    """

    def __init__(self, owner: Owner, supply: Supply, start: int, stop: int, limit: int) -> None:
        # Guarded by the owner's lock; the end may come nearer while it runs.
        self.stop = stop
        self.position = start
        self.limit = limit
        self.is_running = False
        self.is_over = False
        self.parked_at = 0.0
        # Used by the thread that runs the lane only.
        self._owner = owner
        self._supply = supply
        self._transfer = Transfer()
        self._called_off = threading.Event()
        self._body: Body | None = None
        self._chunk: Chunk | None = None
        self._patience = Patience(supply.read_timeout)
        self._dead_url: str | None = None
        self._url: str | None = None
        self._trouble: SourceError | None = None
        self._piece = SMALLEST_PIECE

    def call_off(self) -> None:
        """End the lane soon. Call with the lock held; a parked lane has to be run once more to tidy up."""
        self.is_over = True
        self._called_off.set()
        self._transfer.cancel()

    def run(self) -> None:
        """Fetch until parked or over; in the latter case the owner is told."""
        error: BaseException | None = None
        is_parked = False
        try:
            while not (self._is_at_its_end() or (is_parked := self._park())):
                self._fetch_piece()
        except (SourceError, RivuletError) as failure:
            error = failure
        except BaseException as failure:
            error = failure
            raise
        finally:
            if not is_parked:
                self._close_body()
                self._leave_chunk()
                self._owner.over(self, error)

    def _is_at_its_end(self) -> bool:
        return self._called_off.is_set() or self.position >= self.stop

    def _park(self) -> bool:
        """Stop running if there is nothing to fetch for the moment; return whether that is so."""
        with self._owner.lock:
            if self.is_over or self.position < self.limit:
                return False
            self.is_running = False
            self.parked_at = self._supply.clock.monotonic()
            return True

    def _fetch_piece(self) -> None:
        """Bring the next bytes into their chunk."""
        body = self._body or self._open()
        chunk = self._chunk_at(self.position)
        first = self.position - chunk.start
        size, is_waited_for = self._next_piece()
        view = chunk.view[first : first + min(size, max(self.stop - self.position, 1))]
        before = self._supply.clock.monotonic()
        try:
            count = body.read_into(view, at_once=is_waited_for or self._patience.failures > 0)
        except Passing as error:
            self._close_body()
            self._retry_after(error)
            return
        self._adapt(self._supply.clock.monotonic() - before, is_full=count == len(view))
        self._supply.store.commit(chunk, first, first + count)
        self._supply.counters.add(bytes_fetched=count)
        self._patience.came(count)
        self._trouble = None
        self._owner.arrived(self, count)
        if body.start >= body.stop:
            self._close_body()

    def _open(self) -> Body:
        """Return a body that begins at the position; asks for links and tries again as patience allows."""
        while True:
            try:
                if self._called_off.is_set():
                    raise Cancelled("the file was closed")
                link = self._supply.links.get(self._owner.entry_id, self._dead_url)
                self._url = link.url
                body = self._supply.sources.open(
                    link.url, self.position, self.stop, self._owner.size, self._transfer
                )
            except (SourceError, RivuletError) as error:
                self._retry_after(error)
            else:
                self._body = body
                return body

    def _retry_after(self, error: SourceError | RivuletError) -> None:
        """Wait as long as the failure asks for; raises it when there is no use in trying again."""
        if isinstance(error, SourceError):
            self._trouble = error
        retry = self._patience.after(error, self._supply.clock.now(), self._supply.clock.monotonic())
        if retry is None or self._called_off.is_set():
            raise self._whole_story(error)
        is_crowded = isinstance(error, Passing) and error.crowded and self._owner.is_crowded(self)
        if retry.replace and not is_crowded:
            self._dead_url = self._url
        self._called_off.wait(retry.delay)

    def _whole_story(self, error: SourceError | RivuletError) -> SourceError | RivuletError:
        """Return the error; where no other link could be had, with what was wrong with the last one."""
        if self._trouble is None or isinstance(error, SourceError):
            return error
        return DeadLink(f"{self._trouble}; {error}")

    def _chunk_at(self, position: int) -> Chunk:
        """Return the chunk that holds the position, pinned."""
        chunk = self._chunk
        if chunk is None or not chunk.start <= position < chunk.start + len(chunk.view):
            self._leave_chunk()
            chunk = self._chunk = self._supply.store.open_chunk(self._owner.key, position, self._owner.size)
        return chunk

    def _next_piece(self) -> tuple[int, bool]:
        """Return how much to read at most, and whether somebody waits for it: as much as comes in a moment, or what he needs."""
        with self._owner.lock:
            wanted = self._owner.wanted_next(self.position)
        needed = wanted - self.position if wanted is not None else 0
        return max(needed, self._piece), wanted is not None

    def _adapt(self, seconds: float, *, is_full: bool) -> None:
        """Read larger pieces from a fast server, smaller ones from a slow one."""
        shortest, longest = PIECE_SECONDS
        if seconds > longest:
            self._piece = max(self._piece // 2, SMALLEST_PIECE)
        elif seconds < shortest and is_full:
            self._piece = min(self._piece * 2, LARGEST_PIECE)

    def _leave_chunk(self) -> None:
        chunk, self._chunk = self._chunk, None
        if chunk is not None:
            self._owner.filled(chunk)
            self._supply.store.close_chunk(chunk)

    def _close_body(self) -> None:
        body, self._body = self._body, None
        if body is not None:
            body.close()
