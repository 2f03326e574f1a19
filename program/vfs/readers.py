"""The readers of all files: made on the first open, kept a while after the last close, since players and scanners come back."""

import threading
from dataclasses import dataclass, field

from program.vfs.reader import FileReader, content_key
from program.vfs.supplies import Supplies
from program.vfs.tree import TreeFile

# How often connections that nobody needs are looked for.
TIDY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BlobReader:
    """Reads a file that is in memory as a whole."""

    blob: bytes

    def drop_handle(self, handle: int) -> None:
        """Nothing is kept per handle."""

    def read(self, handle: int, offset: int, size: int) -> list[memoryview]:
        """Return the bytes of the range, fewer only at the end."""
        del handle
        return [memoryview(self.blob)[offset : offset + size]]


@dataclass(slots=True)
class Readers:
    """One reader per version of a file."""

    supplies: Supplies
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    # Guarded by the lock.
    _readers: dict[str, FileReader] = field(default_factory=dict)
    _is_stopped: bool = False

    def start(self) -> None:
        """Begin to close what is idle."""
        self._thread = threading.Thread(target=self._tidy_forever, name="vfs-housekeeper", daemon=True)
        self._thread.start()

    def open(self, file: TreeFile, handle: int) -> FileReader | BlobReader:
        """Return the reader of a file's contents, with one handle more on it."""
        if file.blob is not None:
            return BlobReader(file.blob)
        key = content_key(file)
        with self._lock:
            reader = self._readers.get(key)
            if reader is None:
                reader = self._readers[key] = FileReader(file, self.supplies)
                if self._is_stopped:
                    reader.stop()
            reader.add_handle(handle)
            return reader

    def tidy(self) -> None:
        """Close idle connections and forget readers that have been idle since the last time."""
        with self._lock:
            readers = dict(self._readers)
        idle = [key for key, reader in readers.items() if reader.tidy()]
        with self._lock:
            for key in idle:
                reader = self._readers.get(key)
                if reader is not None and reader.is_idle():
                    del self._readers[key]
        self.supplies.sources.close_idle()

    def count(self) -> int:
        """Return how many files are being read, or were lately."""
        with self._lock:
            return len(self._readers)

    def cancel(self) -> None:
        """Call every read off; reads that come later fail at once."""
        self._stopping.set()
        self.supplies.guard.stop()
        with self._lock:
            self._is_stopped = True
            readers = list(self._readers.values())
        for reader in readers:
            reader.stop()

    def stop(self, timeout: float) -> bool:
        """Call every read off and end every thread; return whether all ended within the time."""
        self.cancel()
        ended = self.supplies.workers.stop(timeout)
        if self._thread is not None:
            self._thread.join(timeout)
        self.supplies.sources.close_idle(max_age=0)
        return ended

    def _tidy_forever(self) -> None:
        while not self._stopping.wait(TIDY_SECONDS):
            self.tidy()
