"""Which torrents are being looked through right now, so that nobody deletes one that another title is about to take."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from program.errors import RetryLater

# How soon a second job for a torrent that is just being added or deleted looks again.
SAME_TORRENT = timedelta(seconds=1)


class TorrentsInHand:
    """The torrents that items hold between asking a provider for one and keeping or refusing it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by the lock: (provider, infohash) to the items that hold it, and the pairs that a job works on at its provider.
        self._holders: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._busy: set[tuple[str, str]] = set()

    def take(self, provider: str, infohash: str, item_id: int) -> None:
        """Note that an item is about to look through a torrent."""
        with self._lock:
            self._holders[provider, infohash].add(item_id)

    def drop(self, provider: str, infohash: str, item_id: int) -> None:
        """Note that an item has kept or refused a torrent."""
        with self._lock:
            self._drop((provider, infohash), item_id)

    def drop_all(self, item_id: int) -> None:
        """Note that the work for an item has ended, however it did."""
        with self._lock:
            for pair in [pair for pair, holders in self._holders.items() if item_id in holders]:
                self._drop(pair, item_id)

    def is_held(self, provider: str, infohash: str) -> bool:
        """Return whether an item holds the torrent."""
        with self._lock:
            return (provider, infohash) in self._holders

    @contextmanager
    def alone(self, provider: str, infohash: str, now: datetime) -> Iterator[None]:
        """Let one job at a time add or delete a torrent; raise RetryLater while another does."""
        pair = (provider, infohash)
        with self._lock:
            if pair in self._busy:
                raise RetryLater(
                    now + SAME_TORRENT, f"{provider}: another job is at work on the same torrent"
                )
            self._busy.add(pair)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(pair)

    def _drop(self, pair: tuple[str, str], item_id: int) -> None:
        """Call with the lock held."""
        holders = self._holders.get(pair)
        if holders is not None:
            holders.discard(item_id)
            if not holders:
                del self._holders[pair]
