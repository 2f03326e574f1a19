"""HTTP/1.1 over a socket of our own, so that an answer can also be cut, reset, slow or wrong in its length.

Connections are kept alive, each has a thread. An endpoint gets a `Request` and gives back an `Answer`.
"""

import contextlib
import http
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

Headers = tuple[tuple[str, str], ...]

# A kept-alive connection that says nothing for so long is closed.
IDLE_SECONDS = 60
# How much of a file goes out between two looks at the pace.
SLICE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """What came in. target: path with query, as sent; headers: names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """Return the path without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """Return the query, the last value of each name."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A part of a file to be sent as the body. bytes_per_second 0: as fast as it goes."""

    path: Path
    start: int
    length: int
    bytes_per_second: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes out. status 0: nothing at all, the connection is reset.

    declared: a Content-Length other than the true one. stop_after: so many bytes of the body, then the connection is reset.
    """

    status: int
    headers: Headers = ()
    body: bytes = b""
    file: FileSlice | None = None
    declared: int | None = None
    stop_after: int | None = None

    @property
    def length(self) -> int:
        """Return how long the body is."""
        return self.file.length if self.file else len(self.body)

    def header(self, name: str) -> str | None:
        """Return a header's value by its name in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


HANG_UP = Answer(status=0)


class Exchange(Protocol):
    """What a server does with a request."""

    def answer(self, request: Request) -> Answer:
        """Return what to send."""

    def sent(self, request: Request, answer: Answer) -> None:
        """Be told that the answer has left."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    exchange: Exchange

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        answer = self.exchange.answer(request)
        if not self._send(answer):
            reset(self.connection)
            self.close_connection = True
        self.exchange.sent(request, answer)

    # The names are what http.server looks for.
    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _serve  # noqa: N815

    def _send(self, answer: Answer) -> bool:
        """Send and return whether the connection may go on."""
        if answer.status == 0:
            return False
        bare = answer.status in (http.HTTPStatus.NO_CONTENT, http.HTTPStatus.NOT_MODIFIED)
        head = self._head(answer, bare=bare)
        if bare or self.command == "HEAD":
            self.connection.sendall(head)
            return True
        if answer.file:
            self.connection.sendall(head)
            self._send_file(answer.file, answer.stop_after)
        else:
            self.connection.sendall(head + answer.body[: answer.stop_after])
        return answer.stop_after is None and answer.declared in (None, answer.length)

    def _head(self, answer: Answer, *, bare: bool) -> bytes:
        try:
            reason = http.HTTPStatus(answer.status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {answer.status} {reason}", f"Date: {self.date_time_string()}"]
        lines += [f"{name}: {value}" for name, value in answer.headers if name.lower() != "content-length"]
        if not bare:
            lines.append(f"Content-Length: {answer.length if answer.declared is None else answer.declared}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", errors="replace")

    def _send_file(self, part: FileSlice, stop_after: int | None) -> None:
        left = part.length if stop_after is None else min(part.length, stop_after)
        with part.path.open("rb") as file:
            if not part.bytes_per_second:
                if left:
                    self.connection.sendfile(file, part.start, left)
                return
            file.seek(part.start)
            pause = threading.Event()
            while left and (data := file.read(min(SLICE, left))):
                self.connection.sendall(data)
                left -= len(data)
                pause.wait(len(data) / part.bytes_per_second)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is http.server's)
        """Say nothing; the journal keeps what is worth keeping."""


class WireServer(socketserver.ThreadingMixIn, HTTPServer):
    """One provider's server on a loopback port of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, exchange: Exchange, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"exchange": exchange})
        super().__init__(("127.0.0.1", port), handler)

    @property
    def root(self) -> str:
        """Return scheme, host and port."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self, name: str) -> None:
        """Serve in a thread until `shutdown`."""
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.2}, name=name, daemon=True
        ).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Let go of a connection whose client went away; anything else is a mistake of ours and is shown."""
        error = _current_error()
        if not isinstance(error, OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def reset(connection: socket.socket) -> None:
    """Close so that the other side sees a reset, not an orderly end."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
    with contextlib.suppress(OSError):
        connection.close()


def _current_error() -> BaseException | None:
    return sys.exception()


Endpoint = Callable[[Request], Answer]
