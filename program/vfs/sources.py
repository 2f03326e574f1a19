"""Bytes from a CDN: ranged requests over connections of our own, every answer checked before a byte of it is believed.

A body that ends early is a failure, never a shorter file.
"""

import base64
import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote

from program.clock import Clock
from program.vfs.answers import (
    OK,
    PARTIAL,
    REDIRECTS,
    DeadLink,
    Passing,
    SourceError,
    Wanted,
    check_type,
    end_of_range,
    network_failure,
    origin,
    redirected,
    refusal,
    split,
    target,
)
from program.vfs.chunks import CHUNK_SIZE
from program.vfs.counters import Counters

# Skipping so much of a body whose server knows no ranges is cheaper than giving up on it.
MAX_SKIP = 4 * 1024 * 1024
MAX_REDIRECTS = 5
# An idle connection older than this has probably been closed by the other side.
KEEP_ALIVE_SECONDS = 15.0
MAX_IDLE_CONNECTIONS = 48
MAX_REMEMBERED_MOVES = 1024
# As `socket.create_connection`: place, timeout, source.
Connect = Callable[..., socket.socket]


@dataclass(slots=True, eq=False)
class _Connection:
    """One connection, and what it is good for."""

    origin: tuple[str, str]
    http: http.client.HTTPConnection
    idle_since: float = 0.0
    is_used: bool = False


class Transfer:
    """One request under way, so that another thread can end it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._socket: socket.socket | None = None
        self._cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Make whatever waits for this transfer's server end at once; nothing can be asked with it again."""
        with self._lock:
            self._cancelled = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    # Not SSLSocket.shutdown: that one lets later reads return undecrypted bytes.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def attach(self, sock: socket.socket | None) -> None:
        """Note the socket that is in use; None when it is no longer ours. Raises Passing when cancelled."""
        with self._lock:
            self._socket = sock
            if self._cancelled and sock is not None:
                raise Passing("cancelled")


class Body:
    """The body of one checked answer: exactly the bytes [start, stop) of the file."""

    def __init__(
        self,
        answer: "_Answer",
        start: int,
        stop: int,
    ) -> None:
        self.start = start
        self.stop = stop
        self._answer = answer

    def read_into(self, view: memoryview, *, at_once: bool = False) -> int:
        """Fill the view from the body; return how many bytes came, at least one. Raises Passing when it ends early.

        at_once: return what there is in place of waiting until the view is full.
        """
        try:
            count = self._read(view[: self.stop - self.start], at_once=at_once)
        except (OSError, ValueError, AttributeError, http.client.HTTPException) as error:
            raise network_failure(error) from error
        if count <= 0:
            raise Passing("the body ended early")
        self.start += count
        return count

    def _read(self, view: memoryview, *, at_once: bool) -> int:
        response = self._answer.response
        if not at_once or response.chunked or response.length is None:
            return response.readinto(view)
        count = response.fp.readinto1(view[: response.length])
        response.length -= count
        if not response.length:
            # Nothing is left to read: this lets the connection be used again.
            response.read()
        return count

    def close(self) -> None:
        """Give the connection back when the body was read to its end, else close it."""
        self._answer.close()


@dataclass(slots=True, eq=False)
class _Answer:
    """An answer whose body has not been read."""

    sources: "Sources"
    transfer: Transfer
    connection: _Connection
    response: http.client.HTTPResponse

    def close(self) -> None:
        """Give the connection back when nothing more can come on it, else close it."""
        self.transfer.attach(None)
        is_whole = (
            self.response.isclosed() and not self.response.will_close and not self.transfer.is_cancelled
        )
        self.response.close()
        self.sources.give_back(self.connection, is_reusable=is_whole)


class Sources:
    """All connections to all CDNs. stall_seconds: a server that sends nothing for so long is given up."""

    def __init__(
        self,
        clock: Clock,
        counters: Counters,
        stall_seconds: float = 10.0,
        connect: Connect = socket.create_connection,
    ) -> None:
        """Take what is handed in; connect: makes a connection, or raises OSError where it makes none."""
        self._clock = clock
        self._counters = counters
        self._stall_seconds = stall_seconds
        self._connect = connect
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._idle: list[_Connection] = []
        self._moved: dict[str, str] = {}
        self._tls: ssl.SSLContext | None = None

    def open(self, url: str, start: int, stop: int, size: int, transfer: Transfer) -> Body:
        """Ask for the bytes [start, stop) of a file of `size` bytes; return the checked body.

        The body may end before `stop` when the server says so in its Content-Range. Raises DeadLink or Passing.
        """
        wanted = Wanted(start, stop, size)
        moved = self._moved.get(url)
        if moved is not None:
            try:
                return self._follow(moved, url, wanted, transfer)
            except SourceError:
                # What the redirect led to may have gone while the link itself is alive.
                with self._lock:
                    self._moved.pop(url, None)
        return self._follow(url, url, wanted, transfer)

    def give_back(self, connection: _Connection, *, is_reusable: bool) -> None:
        """Keep a connection for the next request, or close it."""
        with self._lock:
            if is_reusable and len(self._idle) < MAX_IDLE_CONNECTIONS:
                connection.idle_since = self._clock.monotonic()
                self._idle.append(connection)
                return
        connection.http.close()

    def close_idle(self, max_age: float = KEEP_ALIVE_SECONDS) -> None:
        """Close the connections that nobody used for `max_age` seconds."""
        limit = self._clock.monotonic() - max_age
        with self._lock:
            old = [connection for connection in self._idle if connection.idle_since <= limit]
            self._idle = [connection for connection in self._idle if connection.idle_since > limit]
        for connection in old:
            connection.http.close()

    def _follow(self, url: str, link: str, wanted: Wanted, transfer: Transfer) -> Body:
        """Request `url`, follow redirects, and remember for `link` where they led."""
        address = url
        credentials = split(link)
        for _ in range(MAX_REDIRECTS + 1):
            parts = split(address)
            answer = self._request(parts, credentials, wanted, transfer)
            try:
                if answer.response.status not in REDIRECTS:
                    body = self._checked(answer, wanted)
                    break
                address = redirected(address, answer.response.getheader("Location"))
            except SourceError:
                answer.close()
                raise
            answer.close()
        else:
            raise DeadLink("too many redirects")
        if address != link:
            self._remember_move(link, address)
        return body

    def _request(
        self, parts: SplitResult, credentials: SplitResult, wanted: Wanted, transfer: Transfer
    ) -> _Answer:
        """Send the request; on a kept connection that turns out to be dead, once more on another."""
        headers = {
            "Range": f"bytes={wanted.start}-{wanted.stop - 1}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "User-Agent": "Rivulet",
        }
        if credentials.username is not None and origin(parts) == origin(credentials):
            pair = f"{unquote(credentials.username)}:{unquote(credentials.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        while True:
            connection = self._take(parts)
            try:
                if connection.http.sock is None:
                    connection.http.connect()
                transfer.attach(connection.http.sock)
                self._counters.add(requests=1)
                connection.http.request("GET", target(parts), headers=headers)
                return _Answer(self, transfer, connection, connection.http.getresponse())
            except (OSError, ValueError, http.client.HTTPException) as error:
                transfer.attach(None)
                connection.http.close()
                is_stale = connection.is_used and isinstance(
                    error, ConnectionError | http.client.BadStatusLine
                )
                if not is_stale or transfer.is_cancelled:
                    raise network_failure(error) from error
            except SourceError:
                connection.http.close()
                raise

    def _take(self, parts: SplitResult) -> _Connection:
        """Return an idle connection to the host, or a new one that is not yet connected."""
        wanted = origin(parts)
        with self._lock:
            for position in range(len(self._idle) - 1, -1, -1):
                if self._idle[position].origin == wanted:
                    connection = self._idle.pop(position)
                    connection.is_used = True
                    return connection
        host = parts.hostname or ""
        # Always with a port: without one the library looks for it in the host, and finds it in an IPv6 address.
        if parts.scheme == "https":
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                host,
                parts.port or http.client.HTTPS_PORT,
                timeout=self._stall_seconds,
                context=self._context(),
            )
        else:
            made = http.client.HTTPConnection(
                host, parts.port or http.client.HTTP_PORT, timeout=self._stall_seconds
            )
        made._create_connection = self._connect  # type: ignore[attr-defined] # noqa: SLF001 - what the library gets its socket from
        return _Connection(wanted, made)

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls

    def _checked(self, answer: _Answer, wanted: Wanted) -> Body:
        """Return the body of an answer that is what was asked for. Raises DeadLink or Passing."""
        response = answer.response
        if response.status not in (OK, PARTIAL):
            raise refusal(response, self._clock.now())
        check_type(response)
        if response.status == PARTIAL:
            return Body(answer, wanted.start, end_of_range(response, wanted))
        if response.length != wanted.size:
            raise DeadLink(f"the file is {response.length} bytes long, expected {wanted.size}")
        if wanted.start > MAX_SKIP:
            raise DeadLink("the server does not know ranges")
        body = Body(answer, 0, wanted.stop)
        while body.start < wanted.start:
            body.read_into(memoryview(bytearray(min(wanted.start - body.start, CHUNK_SIZE))))
        return body

    def _remember_move(self, url: str, address: str) -> None:
        with self._lock:
            if len(self._moved) >= MAX_REMEMBERED_MOVES:
                self._moved.clear()
            self._moved[url] = address
