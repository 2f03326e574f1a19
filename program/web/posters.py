"""Posters: fetched from where the metadata says, through us, so that a browser tells no stranger what is in the library.

The addresses come from outside, so nothing in a private network is asked, an answer is small and is a picture by its first
bytes, whatever it says of itself.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from program.clock import Clock
from program.errors import BadAnswer, RivuletError
from program.http import DataSource, Limits, Response, interactive
from program.log import logger
from program.network import Gate, Networks, nowhere

LARGEST = 4 * 1024 * 1024
KEPT_SECONDS = timedelta(days=30).total_seconds()
TIMEOUT = (3.0, 6.0)
LIMITS = Limits(requests=600, seconds=60.0, concurrency=4)
# Metadata services keep their pictures on one or two servers each.
MOST_SERVERS = 8

# First bytes to type. No SVG: it may hold scripts.
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
)
WEBP_AT, AVIF_AT = 8, 4


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it goes to the browser."""

    kind: str
    body: bytes


def kind_of(body: bytes) -> str | None:
    """Return the type of a picture by its first bytes, None when it is none that we pass on."""
    for start, kind in SIGNATURES:
        if body.startswith(start):
            return kind
    if body.startswith(b"RIFF") and body[WEBP_AT : WEBP_AT + 4] == b"WEBP":
        return "image/webp"
    return "image/avif" if body[AVIF_AT : AVIF_AT + 8] in (b"ftypavif", b"ftypavis") else None


def _not_a_picture(answer: Response) -> Exception | None:
    """Have a web page in place of a picture refused before it is kept."""
    is_wrong = answer.status == HTTPStatus.OK and kind_of(answer.body) is None
    return BadAnswer("posters: the answer is not a picture") if is_wrong else None


class Posters:
    """Gives pictures by their address. Thread-safe. allowed: networks outside the internet that they may come from."""

    def __init__(self, folder: Path, clock: Clock, allowed: Networks = nowhere) -> None:
        self._folder = folder
        self._clock = clock
        self._gate = Gate(allowed=allowed)
        self._lock = threading.Lock()
        # Guarded by the lock; the one used last stands last.
        self._servers: OrderedDict[str, DataSource] = OrderedDict()

    def get(self, address: str) -> Picture | None:
        """Return the picture at an address, None when it cannot be had now."""
        waiting = interactive.set(True)
        try:
            parts = urlsplit(address)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
                return None
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            body = self._server(f"{parts.scheme}://{parts.netloc}").get(path, cache_seconds=KEPT_SECONDS).body
        except (RivuletError, OSError, ValueError) as error:
            logger.debug("a poster is not shown: {}", error)
            return None
        finally:
            interactive.reset(waiting)
        kind = kind_of(body)
        return Picture(kind, body) if kind else None

    def close(self) -> None:
        """End all connections."""
        with self._lock:
            servers, self._servers = tuple(self._servers.values()), OrderedDict()
        for server in servers:
            server.close()

    def _server(self, origin: str) -> DataSource:
        with self._lock:
            found = self._servers.pop(origin, None) or self._make(origin)
            self._servers[origin] = found
            oldest = self._servers.popitem(last=False)[1] if len(self._servers) > MOST_SERVERS else None
        if oldest is not None:
            oldest.close()
        return found

    def _make(self, origin: str) -> DataSource:
        return DataSource(
            f"posters {urlsplit(origin).hostname}",
            origin,
            clock=self._clock,
            limits=LIMITS,
            headers={"Accept": "image/avif,image/webp,image/*"},
            classify=_not_a_picture,
            timeout=TIMEOUT,
            cache_dir=self._folder,
            max_body=LARGEST,
            gate=self._gate,
        )
