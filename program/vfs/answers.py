"""What a CDN's answer means; pure.

Two kinds of failure leave here. `DeadLink`: this URL will not give these bytes, ask for another. `Passing`: it may do so in a
moment. An answer that is not exactly what was asked for is one of the two, never data.
"""

import http.client
import re
import ssl
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from program.network import Forbidden

OK, PARTIAL = 200, 206
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_TOO_MANY, _SERVER_ERROR = 429, 500
_DEAD_STATUSES = frozenset({401, 403, 404, 410, 416, 451, 503, 509})
_GONE_STATUSES = frozenset({404, 410, 451})
# Client errors that say "later", one of them a provider's own.
_LATER_STATUSES = frozenset({408, 425, 447})
_NOT_A_FILE = frozenset({"text/html", "application/xhtml+xml"})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class SourceError(Exception):
    """The bytes did not come. `str()` says why, without the URL."""


class DeadLink(SourceError):
    """This URL does not give these bytes: expired, gone, refused, or something else than the file.

    is_gone: by the server's own word; a refusal, a limit or an error page may pass.
    """

    def __init__(self, reason: str, *, is_gone: bool = False) -> None:
        super().__init__(reason)
        self.is_gone = is_gone


class Passing(SourceError):
    """The same URL may work later. wait: seconds the server asked for; stalled: nothing came for the whole time-out;

    crowded: the server has too many requests or connections of ours.
    """

    def __init__(
        self, reason: str, *, wait: float | None = None, stalled: bool = False, crowded: bool = False
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.stalled = stalled
        self.crowded = crowded


@dataclass(frozen=True, slots=True)
class Wanted:
    """The bytes [start, stop) of a file of `size` bytes."""

    start: int
    stop: int
    size: int


def end_of_range(response: http.client.HTTPResponse, wanted: Wanted) -> int:
    """Return where the range of a 206 ends, at most where it was to end. Raises DeadLink when it is another range."""
    found = _CONTENT_RANGE.fullmatch((response.getheader("Content-Range") or "").strip())
    if found is None:
        raise DeadLink("a partial answer that does not say which part it is")
    first, last, total = (int(number) for number in found.groups())
    if total != wanted.size:
        raise DeadLink(f"the file is {total} bytes long, expected {wanted.size}", is_gone=True)
    if first != wanted.start or not first <= last < total:
        raise DeadLink(f"bytes {first}-{last} came where {wanted.start}-{wanted.stop - 1} were asked for")
    if response.length is not None and response.length != last - first + 1:
        raise DeadLink(f"{response.length} bytes came for the range {first}-{last}")
    return min(last + 1, wanted.stop)


def check_type(response: http.client.HTTPResponse) -> None:
    """Raise DeadLink for an error page in disguise and for bytes that would have to be decoded first."""
    kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    if kind in _NOT_A_FILE or kind.startswith("multipart/"):
        raise DeadLink(f"{kind} in place of the file")
    encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
    if encoding != "identity":
        raise DeadLink(f"an answer encoded as {encoding}")


def network_failure(error: Exception) -> SourceError:
    """Return the failure with a sentence of ours: the library's may hold the URL."""
    if isinstance(error, Forbidden):
        return DeadLink(f"the link {error}")
    if isinstance(error, TimeoutError):
        return Passing("the server sends nothing", stalled=True)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Passing("the server's certificate is not valid")
    return Passing(f"connection failed ({type(error).__name__})")


def split(url: str) -> SplitResult:
    """Return the parts of a URL that can be asked. Raises DeadLink for any other."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise DeadLink("an address that is not http or https")
    return parts


def origin(parts: SplitResult) -> tuple[str, str]:
    """Return what two URLs must share to be asked on one connection, and to be shown the same credentials."""
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def target(parts: SplitResult) -> str:
    """Return what stands in the request line: path and query, other than ASCII encoded, what is encoded left alone."""
    path = quote(parts.path or "/", safe="/%:=&?~+!$,;'@()*[]|")
    return f"{path}?{quote(parts.query, safe='/%:=&?~+!$,;@()*[]|')}" if parts.query else path


def redirected(url: str, location: str | None) -> str:
    """Return the address that a redirect leads to. Raises DeadLink for one that must not be followed."""
    if not location:
        raise DeadLink("a redirect without an address")
    address = urljoin(url, location)
    if split(url).scheme == "https" and split(address).scheme != "https":
        raise DeadLink("a redirect from https to http")
    return address


def refusal(response: http.client.HTTPResponse, now: datetime) -> SourceError:
    """Return what a status other than success means."""
    status = response.status
    if (
        status == _TOO_MANY
        or status in _LATER_STATUSES
        or (status >= _SERVER_ERROR and status not in _DEAD_STATUSES)
    ):
        wait = _retry_after(response.getheader("Retry-After"), now)
        return Passing(f"HTTP {status}", wait=wait, crowded=status == _TOO_MANY)
    return DeadLink(f"HTTP {status}", is_gone=status in _GONE_STATUSES)


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, None when it says nothing that can be read."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - now).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
