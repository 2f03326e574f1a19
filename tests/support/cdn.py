"""A CDN on loopback that speaks Range, for tests: it can be slow, wrong, dead or lying, and counts what it is asked."""

import random
import re
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Self

# A prime, so that bytes from a wrong place, most of all from a neighbouring chunk, never look right.
PERIOD = 1_000_003
_RANDOM = random.Random(20310601).randbytes(PERIOD).replace(b"\0", b"\1")  # noqa: S311 - the same in every run
_TILES = _RANDOM * 3


def content(name: str, start: int, stop: int) -> bytes:
    """Return the bytes [start, stop) of the file `name`; every file differs, no byte is zero, any size is possible."""
    shift = sum(name.encode()) * 7919
    parts: list[bytes] = []
    while start < stop:
        first = (start + shift) % PERIOD
        length = min(stop - start, 2 * PERIOD)
        parts.append(_TILES[first : first + length])
        start += length
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it. number: from 0; stop: exclusive; token: the folder before the name."""

    number: int
    name: str
    token: str
    start: int
    stop: int
    headers: dict[str, str] = field(repr=False)
    has_range: bool = True


@dataclass(frozen=True, slots=True)
class Manner:
    """How a request is answered.

    latency: seconds before the answer; rate: bytes a second on this connection; cut_after: bytes of the body after which the
    connection is reset; hang_after: bytes after which nothing more comes; shift: how far Content-Range lies; total: the size
    it claims; shorter: how many bytes fewer than asked for it offers.
    """

    latency: float = 0.0
    rate: float | None = None
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    cut_after: int | None = None
    hang_after: int | None = None
    ignores_range: bool = False
    shift: int = 0
    total: int | None = None
    content_type: str = "video/x-matroska"
    shorter: int = 0


HONEST = Manner()

# The token of the link that a test gets first.
FIRST = "t0"


class Cdn:
    """The server; `behave` decides how each request is answered."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Speak http, or https with a server's context."""
        self.scheme = "https" if tls else "http"
        self.behave: Callable[[Request], Manner] = lambda _: HONEST
        self.sizes: dict[str, int] = {}
        self.blobs: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.requests: list[Request] = []
        self.bytes_sent = 0
        self.connections = 0
        self.open_connections = 0
        self.answering = 0
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.cdn = self
        if tls:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="cdn", daemon=True
        )

    def add(self, name: str, size: int) -> str:
        """Serve a file; return its URL."""
        self.sizes[name] = size
        return self.url(name)

    def add_bytes(self, name: str, data: bytes) -> str:
        """Serve these bytes; return their URL."""
        self.blobs[name] = data
        return self.add(name, len(data))

    def url(self, name: str, token: str = FIRST, host: str = "127.0.0.1") -> str:
        """Return the URL of a file; what stands for the token is up to the test."""
        return f"{self.scheme}://{host}:{self._server.server_address[1]}/{token}/{name}"

    def asked(self, name: str) -> list[Request]:
        """Return the requests for one file."""
        with self.lock:
            return [request for request in self.requests if request.name == name]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.close_all()
        self._server.server_close()
        self._thread.join(5)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    cdn: Cdn

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.sockets: set[socket.socket] = set()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is what these tests are about."""

    def close_all(self) -> None:
        with self.cdn.lock:
            sockets = list(self.sockets)
        for sock in sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.server.cdn.lock:
            self.server.cdn.connections += 1
            self.server.cdn.open_connections += 1
            self.server.sockets.add(self.request)

    def finish(self) -> None:
        with self.server.cdn.lock:
            self.server.cdn.open_connections -= 1
            self.server.sockets.discard(self.request)
        try:
            super().finish()
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        cdn = self.server.cdn
        with cdn.lock:
            cdn.answering += 1
        try:
            self._get(cdn)
        finally:
            with cdn.lock:
                cdn.answering -= 1

    def _get(self, cdn: Cdn) -> None:
        _, token, name = self.path.split("?")[0].split("/", 2)
        size = cdn.sizes.get(name)
        if size is None:
            self._answer_plain(replace(HONEST, status=404), "none", 0)
            return
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        stop = min(int(found[2]) + 1, size) if found and found[2] else size
        with cdn.lock:
            request = Request(
                len(cdn.requests),
                name,
                token,
                start,
                stop,
                dict(self.headers.items()),
                has_range=found is not None,
            )
            cdn.requests.append(request)
        manner = cdn.behave(request)
        if cdn.stopping.wait(manner.latency) if manner.latency else False:
            return
        if manner.status is None and start >= size:
            manner = replace(manner, status=416)
        if manner.status is not None:
            self._answer_plain(manner, name, size)
        else:
            self._answer(manner, request, size)

    def _answer_plain(self, manner: Manner, name: str, size: int) -> None:
        self.send_response(manner.status or 200)
        for key, value in manner.headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(manner.body)))
        self.end_headers()
        self.wfile.write(manner.body)

    def _answer(self, manner: Manner, request: Request, size: int) -> None:
        start, stop = (0, size) if manner.ignores_range else (request.start, request.stop - manner.shorter)
        self.send_response(200 if manner.ignores_range or not request.has_range else 206)
        self.send_header("Content-Type", manner.content_type)
        self.send_header("Content-Length", str(stop - start))
        if not manner.ignores_range and request.has_range:
            first = start + manner.shift
            self.send_header(
                "Content-Range", f"bytes {first}-{stop - 1 + manner.shift}/{manner.total or size}"
            )
        for key, value in manner.headers:
            self.send_header(key, value)
        self.end_headers()
        self._send(manner, request.name, start, stop)

    def _send(self, manner: Manner, name: str, start: int, stop: int) -> None:
        cdn, sent = self.server.cdn, 0
        piece = 256 * 1024 if manner.rate is None else max(int(manner.rate * 0.01), 1)
        limit = min(x for x in (manner.cut_after, manner.hang_after, stop - start) if x is not None)
        while sent < limit:
            first, last = start + sent, start + min(sent + piece, limit)
            data = cdn.blobs[name][first:last] if name in cdn.blobs else content(name, first, last)
            self.wfile.write(data)
            sent += len(data)
            with cdn.lock:
                cdn.bytes_sent += len(data)
            if manner.rate is not None and cdn.stopping.wait(len(data) / manner.rate):
                return
        if manner.hang_after is not None and sent < stop - start:
            self.close_connection = True
            cdn.stopping.wait(120)
        elif sent < stop - start:
            self.close_connection = True
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
