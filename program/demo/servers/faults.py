"""Programmed faults: what goes wrong, for which requests, how often; and what each looks like on the wire.

A fault of kind `status`, `html`, `empty`, `reset` or `timeout` stands in for the provider: nothing happens there. The
others (`slow`, `cut`, `truncated_json`, `wrong_length`, `wrong_range`) spoil the answer of a request that was carried out.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from program.demo.servers.wire import HANG_UP, Answer, Headers, Request

INSTEAD = ("status", "html", "empty", "reset", "timeout")
SPOILING = ("slow", "cut", "truncated_json", "wrong_length", "wrong_range")
KINDS = INSTEAD + SPOILING
HTML_PAGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser.</body></html>"
# Longer than a client waits by default, short enough to end with a test.
DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_SLOW_SECONDS = 2.0
_RD_SLUGS = {
    -1: "internal_error", 5: "slow_down", 7: "unknown_ressource", 8: "bad_token", 9: "permission_denied", 14: "account_locked",
    19: "hoster_unavailable", 20: "hoster_not_free", 21: "too_many_active_downloads", 22: "ip_not_allowed", 23: "traffic_exhausted",
    24: "file_unavailable", 25: "service_unavailable", 34: "too_many_requests", 35: "infringing_file", 36: "fair_usage_limit",
    37: "disabled_endpoint",
}  # fmt: skip
_RD_USUAL = {401: 8, 403: 9, 404: 7, 429: 34, 451: 35}
_TMDB_USUAL = {
    401: (7, "Invalid API key: You must be granted a valid key."),
    403: (45, "This user has been suspended."),
    404: (34, "The resource you requested could not be found."),
    429: (25, "Your request count (#) is over the allowed limit of (40)."),
    500: (11, "Internal error: Something went wrong, contact TMDb."),
    502: (43, "Couldn't connect to the backend server."),
    503: (9, "Service offline: This service is temporarily offline, try again later."),
    504: (24, "Your request to the backend server timed out. Try again."),
}
_CDN_USUAL = {
    401: "unauthorized",
    403: "invalid_download_code",
    404: "link_not_found",
    410: "link_expired",
    503: "file_not_available",
}
JSON: Headers = (("Content-Type", "application/json; charset=utf-8"),)
HTML: Headers = (("Content-Type", "text/html; charset=utf-8"),)
PLAIN: Headers = (("Content-Type", "text/plain; charset=utf-8"),)


@dataclass(slots=True, kw_only=True)
class Fault:
    """One programmed fault.

    provider: its key, or `*`. path: a regular expression that the path with query must contain. method: or any. Of the
    requests that match, the `nth` one (counted from 1), or each `every`-th, or all. count: how often at most, None for ever.
    """

    id: int
    kind: str
    provider: str = "*"
    path: str = ""
    method: str | None = None
    nth: int | None = None
    every: int | None = None
    count: int | None = None
    status: int = 503
    retry_after: float | str | None = None
    code: int | str | None = None
    seconds: float | None = None
    bytes: int | None = None
    matched: int = 0
    fired: int = 0

    def wants(self, provider: str, request: Request) -> bool:
        """Count a request and return whether the fault strikes it. Call with the plan's lock held."""
        if self.provider not in ("*", provider) or self.method not in (None, request.method):
            return False
        if not re.search(self.path, request.target) or (self.count is not None and self.fired >= self.count):
            return False
        self.matched += 1
        hit = self.matched == self.nth if self.nth is not None else self.matched % (self.every or 1) == 0
        self.fired += hit
        return hit


class FaultPlan:
    """The faults that are programmed; threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._next_id = 1
        self._closing = threading.Event()

    def add(self, facts: dict[str, Any]) -> int:
        """Program a fault and return its id. Raises ValueError when the facts make no sense."""
        if facts.get("kind") not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}")
        try:
            re.compile(facts.get("path", ""))
            with self._lock:
                # A page that is not JSON comes with 200 unless another status is given.
                usual = {"status": 200} if facts["kind"] == "html" else {}
                fault = Fault(**{**usual, **facts, "id": self._next_id})
                self._next_id += 1
                self._faults.append(fault)
                return fault.id
        except (TypeError, re.error) as error:
            raise ValueError(str(error)) from error

    def remove(self, fault_id: int | None = None) -> int:
        """Take one fault away, or all, and return how many went."""
        with self._lock:
            before = len(self._faults)
            self._faults = [] if fault_id is None else [one for one in self._faults if one.id != fault_id]
            return before - len(self._faults)

    def listing(self) -> list[dict[str, Any]]:
        """Return the programmed faults with how often each matched and fired."""
        with self._lock:
            return [{name: getattr(one, name) for name in Fault.__slots__} for one in self._faults]

    def strike(self, provider: str, request: Request) -> Fault | None:
        """Return the fault that hits this request, the first programmed of them."""
        with self._lock:
            hits = [fault for fault in self._faults if fault.wants(provider, request)]
            return hits[0] if hits else None

    def close(self) -> None:
        """Let everything that waits go on at once."""
        self._closing.set()

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than the servers live."""
        self._closing.wait(seconds)


def afflict(plan: FaultPlan, fault: Fault, provider: str, produce: Callable[[], Answer]) -> Answer:
    """Return the answer as the fault leaves it; `produce` carries the request out where the fault lets it."""
    if fault.kind in INSTEAD:
        return _instead(plan, fault, provider)
    if fault.kind == "slow":
        plan.wait(DEFAULT_SLOW_SECONDS if fault.seconds is None else fault.seconds)
    return spoiled(produce(), fault)


def spoiled(answer: Answer, fault: Fault) -> Answer:
    """Return an answer with its body or its lengths made wrong."""
    half = answer.length // 2 if fault.bytes is None else fault.bytes
    match fault.kind:
        case "cut":
            return replace(answer, stop_after=half)
        case "truncated_json":
            return replace(answer, body=answer.body[:half])
        case "wrong_length":
            return replace(answer, declared=answer.length + (fault.bytes or 7))
        case "wrong_range":
            return replace(answer, headers=tuple(_shifted_range(pair) for pair in answer.headers))
    return answer


def refusal(
    provider: str, status: int, code: int | str | None = None, retry_after: float | str | None = None
) -> Answer:
    """Return an error as this provider words it."""
    extra: Headers = () if retry_after is None else (("Retry-After", _plain(retry_after)),)
    headers, body = _error_body(provider, status, code)
    return Answer(status=status, headers=headers + extra, body=body)


def _instead(plan: FaultPlan, fault: Fault, provider: str) -> Answer:
    match fault.kind:
        case "html":
            return Answer(status=fault.status, headers=HTML, body=HTML_PAGE)
        case "empty":
            return Answer(status=204)
        case "timeout":
            plan.wait(DEFAULT_TIMEOUT_SECONDS if fault.seconds is None else fault.seconds)
            return HANG_UP
        case "reset":
            return HANG_UP
    return refusal(provider, fault.status, fault.code, fault.retry_after)


def _error_body(provider: str, status: int, code: int | str | None) -> tuple[Headers, bytes]:
    worded = _ERROR_BODIES.get(provider)
    if worded is not None:
        return worded(status, code)
    return HTML, f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>".encode()


def _tmdb_error(status: int, code: int | str | None) -> tuple[Headers, bytes]:
    number, message = _TMDB_USUAL.get(status, (11, "Internal error: Something went wrong, contact TMDb."))
    return JSON, _json(success=False, status_code=code or number, status_message=message)


def _tvdb_error(status: int, _: int | str | None) -> tuple[Headers, bytes]:
    word = {401: "Unauthorized", 404: "NotFoundException: record not found"}.get(
        status, "InternalServerError"
    )
    return JSON, _json(status="failure", message=word, data=None)


def _overseerr_error(status: int, _: int | str | None) -> tuple[Headers, bytes]:
    if status == HTTPStatus.FORBIDDEN:
        return JSON, _json(status=403, error="You do not have permission to access this endpoint")
    return JSON, _json(message="Something went wrong.")


def _torrentio_error(status: int, _: int | str | None) -> tuple[Headers, bytes]:
    """Return the add-on's own plain text, or the page of what stands in front of it."""
    return (PLAIN, b"Too Many Requests") if status == HTTPStatus.TOO_MANY_REQUESTS else (HTML, HTML_PAGE)


def _cdn_error(status: int, _: int | str | None) -> tuple[Headers, bytes]:
    return (*HTML, ("X-Error", _CDN_USUAL.get(status, "link_not_found"))), b"<html><body>Error</body></html>"


def _jellyfin_error(_: int, __: int | str | None) -> tuple[Headers, bytes]:
    return (), b""


def _alldebrid_error(status: int, code: int | str | None) -> tuple[Headers, bytes]:
    """Return AllDebrid's envelope; a 5xx without a code is a page, as it comes from in front of the API."""
    if code is None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return HTML, f"<html><body><h1>{status} Service Temporarily Unavailable</h1></body></html>".encode()
    word = str(code or "GENERIC")
    return JSON, _json(status="error", error={"code": word, "message": word.replace("_", " ").lower()})


def _torbox_error(_: int, code: int | str | None) -> tuple[Headers, bytes]:
    """Return TorBox's envelope."""
    return JSON, _json(success=False, error=code, detail=str(code or "Something went wrong."), data=None)


def _realdebrid_error(status: int, code: int | str | None) -> tuple[Headers, bytes]:
    """Return Real-Debrid's body; a gateway's 5xx without a code is a page, as it comes from in front of the API."""
    number = _RD_USUAL.get(status) if code is None else int(code)
    if number is None:
        return HTML, f"<html><body><h1>{status} Service Temporarily Unavailable</h1></body></html>".encode()
    return JSON, _json(error=_RD_SLUGS.get(number, "unknown_error"), error_code=number)


def _shifted_range(pair: tuple[str, str]) -> tuple[str, str]:
    """Return the header, with the total of a Content-Range made larger than it is."""
    name, value = pair
    if name.lower() != "content-range":
        return pair
    front, _, total = value.rpartition("/")
    return name, f"{front}/{int(total) + 4096}"


def _plain(number: float | str) -> str:
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def _json(**fields: object) -> bytes:
    return json.dumps(fields).encode()


_ERROR_BODIES: Mapping[str, Callable[[int, int | str | None], tuple[Headers, bytes]]] = {
    "alldebrid": _alldebrid_error,
    "torbox": _torbox_error,
    "realdebrid": _realdebrid_error,
    "tmdb": _tmdb_error,
    "tvdb": _tvdb_error,
    "overseerr": _overseerr_error,
    "torrentio": _torrentio_error,
    "cdn": _cdn_error,
    "alldebrid-cdn": _cdn_error,
    "torbox-cdn": _cdn_error,
    "jellyfin": _jellyfin_error,
}
