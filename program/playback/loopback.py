"""Where ffmpeg reads from: a small server on this machine that knows only the files of the conversions under way.

ffmpeg needs to seek, so a pipe will not do; and the mount need not be there. An address holds a token that cannot be guessed and
ends with the conversion, since every user of the machine can see the arguments of a process.
"""

import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from program.vfs.open_files import FileHandle
from program.vfs.reader import ReadFailed

TOKEN_BYTES = 24
# A reader that takes nothing for so long has gone.
IDLE_SECONDS = 30.0
# So much is read at a time.
PIECE = 256 * 1024
# Opens the file of an entry. Raises OSError when it is not in the library.
Opener: TypeAlias = Callable[[int], FileHandle]
_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?")


class Loopback:
    """Serves files by token. Thread-safe. Starts with the first file."""

    def __init__(self, open_file: Opener) -> None:
        self._open_file = open_file
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._entries: dict[str, int] = {}
        self._server: ThreadingHTTPServer | None = None

    @contextmanager
    def address_of(self, entry_id: int) -> Iterator[str]:
        """Give the file of an entry an address for as long as the block runs."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            port = self._started().server_address[1]
            self._entries[token] = entry_id
        try:
            yield f"http://127.0.0.1:{port}/{token}"
        finally:
            with self._lock:
                del self._entries[token]

    def close(self) -> None:
        """Stop serving."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def open(self, token: str) -> FileHandle | None:
        """Return the file of a token, None when there is none, or none any more."""
        with self._lock:
            entry_id = self._entries.get(token)
        if entry_id is None:
            return None
        try:
            return self._open_file(entry_id)
        except OSError:
            return None

    def _started(self) -> ThreadingHTTPServer:
        """Return the server. Call with the lock held."""
        if self._server is None:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
            self._server.daemon_threads = True
            threading.Thread(target=self._server.serve_forever, name="playback", daemon=True).start()
        return self._server


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = IDLE_SECONDS

        def do_GET(self) -> None:
            _answer(self, loopback.open(self.path.removeprefix("/")))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base names it
            """Say nothing: the address is a secret."""

    return Handler


def _answer(request: BaseHTTPRequestHandler, file: FileHandle | None) -> None:
    if file is None:
        request.send_error(HTTPStatus.NOT_FOUND)
        return
    try:
        start, stop = _wanted(request.headers.get("Range", ""), file.file.size)
        request.send_response(HTTPStatus.PARTIAL_CONTENT)
        request.send_header("Content-Range", f"bytes {start}-{stop - 1}/{file.file.size}")
        request.send_header("Content-Length", str(stop - start))
        request.send_header("Accept-Ranges", "bytes")
        request.end_headers()
        while start < stop and (piece := file.read(start, min(PIECE, stop - start))):
            request.wfile.write(piece)
            start += len(piece)
    except (OSError, ReadFailed):
        # The reader went, or no bytes came: either way it is told by a connection that ends.
        request.close_connection = True
    finally:
        file.close()


def _wanted(text: str, size: int) -> tuple[int, int]:
    """Return the first byte that is asked for and the one behind the last."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return 0, size
    start = min(int(found[1]), size - 1)
    stop = int(found[2]) + 1 if found[2] else size
    return start, max(start + 1, min(stop, size))
