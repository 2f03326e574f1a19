"""What the file system counts."""

import threading
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums since the start. bytes_from_cache: of those read, what needed no waiting; bytes_fetched: what came from CDNs.

    edges, bodies: chunks of the ends and of the middles of files that came from the disk or went there; kept_refused: those on
    the disk that were damaged, or not what their name says. reads_*: by what they are part of (`habits.py`); reads_held: those of
    an analysis that had to wait for those who watch.
    """

    reads: int = 0
    bytes_read: int = 0
    bytes_from_cache: int = 0
    bytes_fetched: int = 0
    requests: int = 0
    links_resolved: int = 0
    links_replaced: int = 0
    errors: int = 0
    edges_loaded: int = 0
    edges_saved: int = 0
    bodies_loaded: int = 0
    bodies_saved: int = 0
    kept_refused: int = 0
    reads_head: int = 0
    reads_tail: int = 0
    reads_seek: int = 0
    reads_sequential: int = 0
    reads_analysis: int = 0
    reads_held: int = 0


class Counters:
    """The sums of one file system, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums = {field.name: 0 for field in fields(Counts)}

    def add(self, **more: int) -> None:
        """Add to the sums of these names. Raises KeyError for a name that is not counted."""
        with self._lock:
            for name, amount in more.items():
                self._sums[name] += amount

    def counts(self) -> Counts:
        """Return the sums as they are now."""
        with self._lock:
            return replace(Counts(), **self._sums)
