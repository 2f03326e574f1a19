"""Bytes from a CDN: ranged requests over connections of our own, every answer checked before a byte of it is believed.

Two kinds of failure leave here. `DeadLink`: this URL will not give these bytes, ask for another. `Passing`: it may do so in a
moment. A body that ends early is a `Passing`, never a shorter file.
"""

import base64
import contextlib
import http.client
import re
import socket
import ssl
import threading
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from program.clock import Clock
from program.vfs.chunks import CHUNK_SIZE
from program.vfs.counters import Counters

# Skipping so much of a body whose server knows no ranges is cheaper than giving up on it.
MAX_SKIP = 4 * 1024 * 1024
MAX_REDIRECTS = 5
# An idle connection older than this has probably been closed by the other side.
KEEP_ALIVE_SECONDS = 15.0
MAX_IDLE_CONNECTIONS = 16
MAX_REMEMBERED_MOVES = 1024

_DEAD_STATUSES = frozenset({401, 403, 404, 410, 416, 451, 503, 509})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_NOT_A_FILE = frozenset({"text/html", "application/xhtml+xml"})
_OK, _PARTIAL, _TOO_MANY, _SERVER_ERROR = 200, 206, 429, 500
# Client errors that say "later", one of them a provider's own.
_LATER_STATUSES = frozenset({408, 425, 447})


class SourceError(Exception):
    """The bytes did not come. `str()` says why, without the URL."""


class DeadLink(SourceError):
    """This URL does not give these bytes: expired, gone, refused, or something else than the file."""


class Passing(SourceError):
    """The same URL may work later. wait: seconds the server asked for; stalled: nothing came for the whole time-out."""

    def __init__(self, reason: str, *, wait: float | None = None, stalled: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.stalled = stalled


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
            raise _network_failure(error) from error
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

    def __init__(self, clock: Clock, counters: Counters, stall_seconds: float = 10.0) -> None:
        self._clock = clock
        self._counters = counters
        self._stall_seconds = stall_seconds
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._idle: list[_Connection] = []
        self._moved: dict[str, str] = {}
        self._tls: ssl.SSLContext | None = None

    def open(self, url: str, start: int, stop: int, size: int, transfer: Transfer) -> Body:
        """Ask for the bytes [start, stop) of a file of `size` bytes; return the checked body.

        The body may end before `stop` when the server says so in its Content-Range. Raises DeadLink or Passing.
        """
        wanted = _Wanted(start, stop, size)
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

    def _follow(self, url: str, link: str, wanted: "_Wanted", transfer: Transfer) -> Body:
        """Request `url`, follow redirects, and remember for `link` where they led."""
        target = url
        credentials = _split(link)
        for _ in range(MAX_REDIRECTS + 1):
            parts = _split(target)
            answer = self._request(parts, credentials, wanted, transfer)
            try:
                if answer.response.status not in _REDIRECTS:
                    body = self._checked(answer, wanted)
                    break
                target = _redirected(target, answer.response.getheader("Location"))
            except SourceError:
                answer.close()
                raise
            answer.close()
        else:
            raise DeadLink("too many redirects")
        if target != link:
            self._remember_move(link, target)
        return body

    def _request(
        self, parts: SplitResult, credentials: SplitResult, wanted: "_Wanted", transfer: Transfer
    ) -> _Answer:
        """Send the request; on a kept connection that turns out to be dead, once more on another."""
        headers = {
            "Range": f"bytes={wanted.start}-{wanted.stop - 1}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "User-Agent": "Rivulet",
        }
        if credentials.username is not None and _origin(parts) == _origin(credentials):
            pair = f"{unquote(credentials.username)}:{unquote(credentials.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        while True:
            connection = self._take(parts)
            try:
                if connection.http.sock is None:
                    connection.http.connect()
                transfer.attach(connection.http.sock)
                self._counters.add(requests=1)
                connection.http.request("GET", _target(parts), headers=headers)
                return _Answer(self, transfer, connection, connection.http.getresponse())
            except (OSError, ValueError, http.client.HTTPException) as error:
                transfer.attach(None)
                connection.http.close()
                is_stale = connection.is_used and isinstance(
                    error, ConnectionError | http.client.BadStatusLine
                )
                if not is_stale or transfer.is_cancelled:
                    raise _network_failure(error) from error
            except SourceError:
                connection.http.close()
                raise

    def _take(self, parts: SplitResult) -> _Connection:
        """Return an idle connection to the host, or a new one that is not yet connected."""
        origin = _origin(parts)
        with self._lock:
            for position in range(len(self._idle) - 1, -1, -1):
                if self._idle[position].origin == origin:
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
        return _Connection(origin, made)

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls

    def _checked(self, answer: _Answer, wanted: "_Wanted") -> Body:
        """Return the body of an answer that is what was asked for. Raises DeadLink or Passing."""
        response = answer.response
        if response.status not in (_OK, _PARTIAL):
            raise self._refusal(response)
        _check_type(response)
        if response.status == _PARTIAL:
            return Body(answer, wanted.start, _end_of_range(response, wanted))
        if response.length != wanted.size:
            raise DeadLink(f"the file is {response.length} bytes long, expected {wanted.size}")
        if wanted.start > MAX_SKIP:
            raise DeadLink("the server does not know ranges")
        body = Body(answer, 0, wanted.stop)
        while body.start < wanted.start:
            body.read_into(memoryview(bytearray(min(wanted.start - body.start, CHUNK_SIZE))))
        return body

    def _refusal(self, response: http.client.HTTPResponse) -> SourceError:
        """Return what a status other than success means."""
        status = response.status
        if status == _TOO_MANY:
            return Passing("HTTP 429", wait=self._retry_after(response.getheader("Retry-After")))
        if status in _LATER_STATUSES or (status >= _SERVER_ERROR and status not in _DEAD_STATUSES):
            return Passing(f"HTTP {status}", wait=self._retry_after(response.getheader("Retry-After")))
        return DeadLink(f"HTTP {status}")

    def _retry_after(self, value: str | None) -> float | None:
        """Return the seconds that a Retry-After header asks for, None when it says nothing that can be read."""
        if value is None:
            return None
        if value.strip().isdecimal():
            return float(value)
        try:
            return max((parsedate_to_datetime(value) - self._clock.now()).total_seconds(), 0.0)
        except (TypeError, ValueError):
            return None

    def _remember_move(self, url: str, target: str) -> None:
        with self._lock:
            if len(self._moved) >= MAX_REMEMBERED_MOVES:
                self._moved.clear()
            self._moved[url] = target


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The bytes [start, stop) of a file of `size` bytes."""

    start: int
    stop: int
    size: int


def _end_of_range(response: http.client.HTTPResponse, wanted: _Wanted) -> int:
    """Return where the range of a 206 ends, at most where it was to end. Raises DeadLink when it is another range."""
    found = _CONTENT_RANGE.fullmatch((response.getheader("Content-Range") or "").strip())
    if found is None:
        raise DeadLink("a partial answer that does not say which part it is")
    first, last, total = (int(number) for number in found.groups())
    if total != wanted.size:
        raise DeadLink(f"the file is {total} bytes long, expected {wanted.size}")
    if first != wanted.start or not first <= last < total:
        raise DeadLink(f"bytes {first}-{last} came where {wanted.start}-{wanted.stop - 1} were asked for")
    if response.length is not None and response.length != last - first + 1:
        raise DeadLink(f"{response.length} bytes came for the range {first}-{last}")
    return min(last + 1, wanted.stop)


def _check_type(response: http.client.HTTPResponse) -> None:
    """Raise DeadLink for an error page in disguise and for bytes that would have to be decoded first."""
    kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    if kind in _NOT_A_FILE or kind.startswith("multipart/"):
        raise DeadLink(f"{kind} in place of the file")
    encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
    if encoding != "identity":
        raise DeadLink(f"an answer encoded as {encoding}")


def _network_failure(error: Exception) -> Passing:
    """Return the failure with a sentence of ours: the library's may hold the URL."""
    if isinstance(error, TimeoutError):
        return Passing("the server sends nothing", stalled=True)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Passing("the server's certificate is not valid")
    return Passing(f"connection failed ({type(error).__name__})")


def _split(url: str) -> SplitResult:
    """Return the parts of a URL that can be asked. Raises DeadLink for any other."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise DeadLink("an address that is not http or https")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str]:
    """Return what two URLs must share to be asked on one connection, and to be shown the same credentials."""
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _target(parts: SplitResult) -> str:
    """Return what stands in the request line: path and query, other than ASCII encoded, what is encoded left alone."""
    path = quote(parts.path or "/", safe="/%:=&?~+!$,;'@()*[]|")
    return f"{path}?{quote(parts.query, safe='/%:=&?~+!$,;@()*[]|')}" if parts.query else path


def _redirected(url: str, location: str | None) -> str:
    """Return the address that a redirect leads to. Raises DeadLink for one that must not be followed."""
    if not location:
        raise DeadLink("a redirect without an address")
    target = urljoin(url, location)
    if _split(url).scheme == "https" and _split(target).scheme != "https":
        raise DeadLink("a redirect from https to http")
    return target
