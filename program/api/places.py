"""How many files may be sent at a time: each holds one of the server's threads for as long as its reader likes."""

import threading
from http import HTTPStatus

from program.api.errors import ApiError

# When to come back while all places are taken.
RETRY_SECONDS = 5


class Places:
    """The places there are. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)

    def take(self) -> None:
        """Take a place; raise ApiError 503 with a time to come back when there is none."""
        if not self._free.acquire(blocking=False):
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{self._most} files are being read over HTTP, and there is no thread for more (api.file_streams)",
                {"Retry-After": str(RETRY_SECONDS)},
            )

    def give_back(self) -> None:
        """Give a place back."""
        self._free.release()
