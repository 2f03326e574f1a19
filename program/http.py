"""Every call to an outside service goes through a `DataSource`: pacing, retries, classification, caching, redaction.

What a caller may see: `RetryLater` (our own pace; costs no attempt), `Unavailable` (the service asked to wait, or rests after
failures), `Transient` (connection, time-out, 408, 425, 5xx), `Misconfigured` (401, 403, a broken address), `NotFound` (404, 410),
`Refused` (other 4xx), `BadAnswer` (HTML, cut JSON, nothing where JSON is due, a missing field), `Cancelled` (the program stops).
A provider's own codes are read first. No text made here holds a secret.
"""

import json
import logging
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar, Unpack
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

import requests
import urllib3
from loguru import logger
from pydantic import TypeAdapter
from requests.adapters import HTTPAdapter

from program import http_answers, log
from program.answer_cache import AnswerCache
from program.clock import Clock
from program.errors import (
    BadAnswer,
    Cancelled,
    Misconfigured,
    Refused,
    RetryLater,
    RivuletError,
    Transient,
    Unavailable,
)
from program.http_answers import REDIRECTS, AnyId, AskedToWait, Classify, Response, place, redact
from program.network import Forbidden, Gate
from program.pacing import Limits, Pacer, Standing, Ticket

__all__ = [
    "AnyId",
    "AskedToWait",
    "DataSource",
    "Limits",
    "Response",
    "Statistics",
    "StatusStore",
    "interactive",
    "job_memo",
    "place",
    "redact",
]

T = TypeVar("T")

# What it says of each connection that could not be made, a data source says once, in a sentence.
logging.getLogger("urllib3").setLevel(logging.ERROR)

USER_AGENT = "Rivulet/0.1"
# A wait up to this long may hold a worker; a longer one parks the job.
LONGEST_BLOCK_SECONDS = 1.0
MAX_BODY = 32 * 1024 * 1024
PIECE = 64 * 1024
# A pause that a service asks for and that is over sooner is everyday life.
WORTH_A_LINE = timedelta(seconds=30)
MAX_REDIRECTS = 5
# More connections than threads that could use them.
POOL_SIZE = 32
_OK, _NOT_MODIFIED = 200, 304

# True while a player or a person waits for what the running job does.
interactive: ContextVar[bool] = ContextVar("interactive", default=False)
# GET answers the running job has had, kept by the worker while the job is parked so that its re-run does not repeat them.
job_memo: ContextVar[dict[str, Response] | None] = ContextVar("job_memo", default=None)


class _How(TypedDict, total=False):
    """Options of every call. params: None values are left out. ok: statuses beside 2xx that are answers."""

    params: Mapping[str, str | int | None]
    headers: Mapping[str, str]
    ok: tuple[int, ...]
    timeout: tuple[float, float]


class GetOptions(_How, total=False):
    """Options of a GET.

    cache_seconds: how long an answer may be used again. fresh: neither share a call under way nor use what this job has had
    before; for looking whether something changed.
    """

    cache_seconds: float
    fresh: bool


class SendOptions(_How, total=False):
    """Options of a call with a body: one of `json`, `form`, `body`."""

    json: object
    form: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a data source did since the start.

    requests: by status, or `timeout`, `connection`; merged, cached: calls saved. limited_at: when the service last asked to wait.
    """

    requests: Mapping[str, int]
    merged: int
    cached: int
    paused_until: datetime | None
    level: int
    reason: str
    limited_at: datetime | None = None


class StatusStore(Protocol):
    """Where pauses and failures of data sources are kept, so that a restart does not hammer a site."""

    def load(self, key: str) -> tuple[datetime | None, int]:
        """Return until when the source is paused and its failure level."""

    def save(self, key: str, paused_until: datetime | None, level: int, reason: str) -> None:
        """Keep the pause and the level."""


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    path: str
    url: str
    headers: Mapping[str, str]
    data: bytes | None
    timeout: tuple[float, float]
    ok: frozenset[int]

    @property
    def name(self) -> str:
        return f"{self.method} {redact(self.path)}"


class DataSource:
    """A plugin's way to its service. Thread-safe.

    key: the plugin's, used in messages. secrets: never printed anywhere. classify: reads the service's own error codes.
    timeout: seconds to connect and to wait for the next byte; their sum bounds the whole answer. status: where pauses are kept.
    cache_dir: where GET answers may be kept. stopping: set when the program stops, ends every wait. gate: which addresses are
    connected to, also after redirects; None: all. A proxy connects for itself.
    """

    def __init__(
        self,
        key: str,
        base_url: str,
        *,
        clock: Clock,
        limits: Limits | None = None,
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        classify: Classify | None = None,
        timeout: tuple[float, float] = (5.0, 20.0),
        status: StatusStore | None = None,
        cache_dir: Path | None = None,
        max_body: int = MAX_BODY,
        proxies: Mapping[str, str] | None = None,
        verify: bool | str = True,
        stopping: threading.Event | None = None,
        gate: Gate | None = None,
    ) -> None:
        passwords = (found for url in (base_url, *(proxies or {}).values()) for found in _passwords(url))
        log.hide(form for secret in (*secrets, *passwords) for form in (secret, quote(secret, safe="")))
        limits = limits or Limits()
        self.key = key
        self._base = base_url.rstrip("/")
        self._clock = clock
        self._headers = {"User-Agent": USER_AGENT, "Accept": "application/json", **(headers or {})}
        self._classify = classify
        self._timeout = timeout
        self._status = status
        self._cache = AnswerCache(cache_dir) if cache_dir else None
        self._max_body = max_body
        self._proxies = dict(proxies or {})
        self._verify = verify
        self._session = _session(gate)
        self._stopping = stopping or threading.Event()
        self._owns_stopping = stopping is None
        self._pacer = Pacer(limits, clock.now(), _stored(status, key))
        self._slots = threading.BoundedSemaphore(limits.concurrency)
        # Guarded by the lock.
        self._lock = threading.Lock()
        self._flights: dict[tuple[str, bool], Future[Response]] = {}
        self._counts: Counter[str] = Counter()
        self._is_away = False

    def get(self, path: str, **how: Unpack[GetOptions]) -> Response:
        """Return the answer; 2xx and the statuses of `ok` are answers, everything else is raised.

        The same GET at the same time is one call, unless it is to be fresh.
        """
        call = self._prepare("GET", path, how)
        memo, note, fresh = job_memo.get(), f"{self.key} {call.url}", how.get("fresh", False)
        if memo is not None and not fresh and note in memo:
            self._count("cached")
            return memo[note]
        answer = self._perform(call) if fresh else self._cached(call, how.get("cache_seconds", 0))
        if memo is not None and answer.status == _OK:
            memo[note] = answer
        return answer

    def post(self, path: str, **how: Unpack[SendOptions]) -> Response:
        """Send once and return the answer; errors as for `get`."""
        return self._send("POST", path, how)

    def put(self, path: str, **how: Unpack[SendOptions]) -> Response:
        """Send once and return the answer; errors as for `get`."""
        return self._send("PUT", path, how)

    def delete(self, path: str, **how: Unpack[SendOptions]) -> Response:
        """Send once and return the answer; errors as for `get`."""
        return self._send("DELETE", path, how)

    def read(self, path: str, model: type[T] | TypeAdapter[T], **how: Unpack[GetOptions]) -> T:
        """Return the JSON of a GET as a `model`; raise `BadAnswer` with the place when it is not one."""
        return self.parse(self.get(path, **how), model)

    def parse(self, answer: Response, model: type[T] | TypeAdapter[T]) -> T:
        """Return an answer's JSON as a `model`; raise `BadAnswer` with the place when it is not one."""
        return http_answers.parse(self.key, answer, model)

    def wait(self, seconds: float) -> None:
        """Return after `seconds`; raise `Cancelled` as soon as the program stops."""
        if self._stopping.wait(seconds):
            raise Cancelled("the program is stopping")

    def statistics(self) -> Statistics:
        """Return the counts and the standing."""
        standing = self._pacer.standing()
        with self._lock:
            counts = dict(self._counts)
        merged, cached = counts.pop("merged", 0), counts.pop("cached", 0)
        return Statistics(
            counts,
            merged,
            cached,
            standing.paused_until,
            standing.level,
            standing.reason,
            self._pacer.limited_at(),
        )

    def begin_anew(self) -> None:
        """Forget pauses and failures, also those of an earlier source: they need not hold for other settings."""
        self._pacer.begin_anew()
        self._keep(self._pacer.standing())

    def clock_was_set(self, by: timedelta) -> None:
        """Let a pause last as long as it would have; `by` is negative for a clock that was set back."""
        self._pacer.clock_was_set(by)

    def close(self) -> None:
        """End waits and connections; calls under way end by themselves."""
        if self._owns_stopping:
            self._stopping.set()
        self._session.close()
        if self._cache is not None:
            self._cache.close()

    def _send(self, method: str, path: str, how: SendOptions) -> Response:
        data, kind = how.get("body"), None
        if "json" in how:
            data, kind = json.dumps(how["json"]).encode(), "application/json"
        elif "form" in how:
            data, kind = urlencode(how["form"]).encode(), "application/x-www-form-urlencoded"
        call = self._prepare(method, path, how, data, {"Content-Type": kind} if kind else {})
        # A write may change what was read before.
        memo = job_memo.get()
        for note in [note for note in memo or () if note.startswith(f"{self.key} ")]:
            (memo or {}).pop(note, None)
        return self._perform(call)

    def _prepare(
        self,
        method: str,
        path: str,
        how: _How,
        data: bytes | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> _Call:
        params = {name: value for name, value in how.get("params", {}).items() if value is not None}
        url = f"{self._base}/{path.lstrip('/')}" + (
            f"?{urlencode(params, quote_via=quote)}" if params else ""
        )
        headers = {**self._headers, **(typed or {}), **how.get("headers", {})}
        return _Call(
            method, path, url, headers, data, how.get("timeout", self._timeout), frozenset(how.get("ok", ()))
        )

    def _cached(self, call: _Call, seconds: float) -> Response:
        if self._cache is None or seconds <= 0:
            return self._single(call)
        kept = self._cache.get(call.url, self._clock.now())
        if kept is not None and kept.is_fresh:
            self._count("cached")
            return Response(_OK, kept.headers, kept.body, redact(call.url))
        if kept is not None and kept.conditions:
            conditional = replace(
                call, headers={**call.headers, **kept.conditions}, ok=call.ok | {_NOT_MODIFIED}
            )
            answer = self._single(conditional)
            if answer.status == _NOT_MODIFIED:
                answer = Response(_OK, {**kept.headers, **answer.headers}, kept.body, answer.url)
        else:
            answer = self._single(call)
        if answer.status == _OK:
            self._cache.put(call.url, answer.headers, answer.body, self._clock.now(), seconds)
        return answer

    def _single(self, call: _Call) -> Response:
        """Perform a call, or wait for the same one that is under way."""
        flight = (f"{call.url} {sorted(call.headers.items())}", interactive.get())
        mine: Future[Response] = Future()
        with self._lock:
            running = self._flights.setdefault(flight, mine)
        if running is not mine:
            self._count("merged")
            return running.result()
        try:
            answer = self._perform(call)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._flights[flight]

    def _perform(self, call: _Call) -> Response:
        with self._admitted() as ticket:
            try:
                answer = self._exchange(call)
            except Transient as error:
                self._remember(self._pacer.failed(ticket, self._clock.now(), self._reason(error)))
                raise
            return self._judge(call, ticket, answer)

    @contextmanager
    def _admitted(self) -> Iterator[Ticket]:
        if not self._slots.acquire(timeout=LONGEST_BLOCK_SECONDS):
            raise RetryLater(self._in(LONGEST_BLOCK_SECONDS), f"{self.key}: all its calls are under way")
        try:
            ticket = self._admit()
            try:
                yield ticket
            finally:
                self._pacer.leave(ticket)
        finally:
            self._slots.release()

    def _admit(self) -> Ticket:
        patience = LONGEST_BLOCK_SECONDS
        while True:
            now, mono = self._clock.now(), self._clock.monotonic()
            verdict = self._pacer.enter(now, mono, is_interactive=interactive.get())
            if isinstance(verdict, Ticket):
                return verdict
            if verdict.seconds > patience:
                if verdict.is_paused:
                    raise Unavailable(self.key, self._in(verdict.seconds), verdict.reason)
                raise RetryLater(self._in(verdict.seconds), f"{self.key}: {verdict.reason}")
            self.wait(verdict.seconds)
            patience -= verdict.seconds

    def _exchange(self, call: _Call) -> Response:
        """Return the answer whatever its status; raise `Transient`, `Misconfigured`, `BadAnswer`, `Refused`."""
        try:
            return self._follow(call)
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
            self._count("timeout")
            raise Transient(f"{self.key}: no answer within {sum(call.timeout):g} s ({call.name})") from None
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            self._count("connection")
            raise _unsent(self.key, call.name, error) from None

    def _follow(self, call: _Call) -> Response:
        deadline = self._clock.monotonic() + sum(call.timeout)
        url, headers = call.url, dict(call.headers)
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._once(call, url, headers, deadline)
            location = answer.headers.get("location")
            if call.method != "GET" or answer.status not in REDIRECTS or not location:
                return answer
            target = urljoin(url, location)
            if not _is_same_service(url, target):
                # Keys are for the service they were given for.
                headers = {name: headers[name] for name in ("User-Agent", "Accept") if name in headers}
            url = target
            if self._clock.monotonic() > deadline:
                raise urllib3.exceptions.TimeoutError
        raise Refused(self.key, answer.status, None, f"redirects without end ({call.name})")

    def _once(self, call: _Call, url: str, headers: Mapping[str, str], deadline: float) -> Response:
        request = self._session.prepare_request(
            requests.Request(call.method, url, headers=headers, data=call.data)
        )
        try:
            return self._transfer(request, call, deadline)
        except requests.exceptions.ConnectionError as error:
            # A kept connection that the service had closed: nothing was done, and a GET may be asked twice.
            if call.method != "GET" or not isinstance(_innermost(error), urllib3.exceptions.ProtocolError):
                raise
            return self._transfer(request, call, deadline)

    def _transfer(self, request: requests.PreparedRequest, call: _Call, deadline: float) -> Response:
        with self._session.send(
            request,
            stream=True,
            timeout=call.timeout,
            allow_redirects=False,
            proxies=self._proxies,
            verify=self._verify,
        ) as raw:
            body = self._body(raw, call, deadline)
            headers = {name.lower(): value for name, value in raw.headers.items()}
            self._count(str(raw.status_code))
            return Response(raw.status_code, headers, body, redact(request.url or ""))

    def _body(self, raw: requests.Response, call: _Call, deadline: float) -> bytes:
        pieces, size = [], 0
        while piece := raw.raw.read1(PIECE, decode_content=True):
            pieces.append(piece)
            size += len(piece)
            if size > self._max_body:
                raise BadAnswer(f"{self.key}: an answer of more than {self._max_body} bytes ({call.name})")
            if self._clock.monotonic() > deadline:
                raise urllib3.exceptions.TimeoutError
        return b"".join(pieces)

    def _judge(self, call: _Call, ticket: Ticket, answer: Response) -> Response:
        """Return an answer that is one; raise what else it means, and take note of it."""
        now = self._clock.now()
        verdict: Exception | None = None
        if answer.status not in call.ok:
            verdict = (self._classify and self._classify(answer)) or http_answers.by_status(
                self.key, call.name, answer, now
            )
        if isinstance(verdict, Unavailable):
            verdict = AskedToWait((verdict.at - now).total_seconds(), self._reason(verdict))
        if isinstance(verdict, AskedToWait):
            until = self._pacer.asked_to_wait(ticket, now, verdict.seconds)
            self._remember(self._pacer.pause(until, verdict.reason))
            raise Unavailable(self.key, until, verdict.reason)
        if isinstance(verdict, Transient):
            self._remember(self._pacer.failed(ticket, now, self._reason(verdict)))
        else:
            self._remember(self._pacer.succeeded(ticket))
        if verdict is not None:
            raise verdict
        return answer

    def _remember(self, standing: Standing | None) -> None:
        """Log and keep a changed standing; a store that fails costs only the memory of it."""
        if standing is None:
            return
        self._tell(standing)
        self._keep(standing)

    def _keep(self, standing: Standing) -> None:
        if self._status is None:
            return
        try:
            self._status.save(self.key, standing.paused_until, standing.level, standing.reason)
        except RivuletError as error:
            logger.bind(provider=self.key).warning("{}: its standing is not stored: {}", self.key, error)

    def _tell(self, standing: Standing) -> None:
        """Log once that the service went away and once that it is back."""
        until = standing.paused_until
        is_well = standing.level == 0 and until is None
        is_short = until is not None and standing.level == 0 and until - self._clock.now() < WORTH_A_LINE
        with self._lock:
            is_news = self._is_away if is_well else not (self._is_away or is_short)
            if is_news:
                self._is_away = not is_well
        line = "answers again" if is_well else standing.reason
        if until is not None:
            line += f"; paused until {until:%H:%M:%S} UTC"
        level = ("INFO" if is_well else "WARNING") if is_news else "DEBUG"
        logger.bind(provider=self.key).log(level, "{}: {}", self.key, line)

    def _reason(self, error: Exception) -> str:
        return str(error).removeprefix(f"{self.key}: ")

    def _in(self, seconds: float) -> datetime:
        return self._clock.now() + timedelta(seconds=seconds)

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1


class _Barred(urllib3.exceptions.NewConnectionError):
    """A connection that is not made."""

    def __init__(self, connection: urllib3.connection.HTTPConnection, cause: Forbidden) -> None:
        super().__init__(connection, str(cause))
        self.cause = cause


class _Gated(urllib3.connection.HTTPConnection):
    """A connection to one of those addresses of a name that the gate lets pass, and to no other."""

    gate = Gate()

    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        try:
            addresses = self.gate.resolve(name, self.port)
        except Forbidden as error:
            raise _Barred(self, error) from None
        except (OSError, UnicodeError) as error:
            raise urllib3.exceptions.NameResolutionError(name, self, error) from error  # type: ignore[arg-type]
        trouble: Exception = urllib3.exceptions.NewConnectionError(self, "it has no address")
        for address in addresses:
            # What it connects to; the certificate is that of the name.
            self._dns_host = address
            try:
                return super()._new_conn()
            except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
                trouble = error
            finally:
                self._dns_host = name
        raise trouble


class _GatedTls(_Gated, urllib3.connection.HTTPSConnection):
    """The same, encrypted."""


def _pools(gate: Gate) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    """Return what makes connections through a gate, by scheme."""
    plain = type("Plain", (_Gated,), {"gate": gate})
    tls = type("Tls", (_GatedTls,), {"gate": gate})
    return {
        "http": type("PlainPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("TlsPool", (urllib3.HTTPSConnectionPool,), {"ConnectionCls": tls}),
    }


def _session(gate: Gate | None) -> requests.Session:
    session = requests.Session()
    # Neither .netrc nor proxies of the environment: what is sent where is the settings' matter.
    session.trust_env = False
    session.headers.clear()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    # A connection that could not be made is tried again; whatever was sent is not.
    retries = urllib3.Retry(
        total=1,
        connect=1,
        read=False,
        redirect=False,
        status=False,
        other=False,
        backoff_factor=0.1,
        respect_retry_after_header=False,
    )
    adapter = HTTPAdapter(pool_connections=4, pool_maxsize=POOL_SIZE, max_retries=retries)
    if gate is not None:
        adapter.poolmanager.pool_classes_by_scheme = _pools(gate)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _stored(status: StatusStore | None, key: str) -> Standing | None:
    if status is None:
        return None
    until, level = status.load(key)
    return Standing(until, level, "rests after failures" if level else "asked to wait")


def _passwords(url: str) -> tuple[str, ...]:
    password = urlsplit(url).password
    return (unquote(password),) if password else ()


def _is_same_service(url: str, target: str) -> bool:
    """Return whether keys for `url` may go to `target`: the same host, at most changed from http to https."""
    ours, theirs = urlsplit(url), urlsplit(target)
    if ours.hostname != theirs.hostname:
        return False
    if (ours.scheme, ours.port) == (theirs.scheme, theirs.port):
        return True
    return (
        ours.scheme == "http"
        and theirs.scheme == "https"
        and ours.port in (None, 80)
        and theirs.port in (None, 443)
    )


def _innermost(error: BaseException) -> BaseException:
    """Return what urllib3 said beneath a requests exception."""
    inner = error.args[0] if error.args and isinstance(error.args[0], BaseException) else error
    reason = getattr(inner, "reason", None)
    return reason if isinstance(reason, BaseException) else inner


def _unsent(key: str, call: str, error: Exception) -> RivuletError:
    """Return what an exchange that gave no answer means."""
    inner = _innermost(error)
    if isinstance(inner, _Barred):
        said = str(inner.cause)
        return Misconfigured(key, "url", said) if inner.cause.is_own else BadAnswer(f"{key}: {said} ({call})")
    if isinstance(error, ValueError) or isinstance(inner, urllib3.exceptions.LocationValueError):
        return Misconfigured(key, "url", "is not an address that can be called")
    if isinstance(inner, urllib3.exceptions.DecodeError):
        return BadAnswer(f"{key}: an answer that cannot be unpacked ({call})")
    troubles: tuple[tuple[type[Exception], str], ...] = (
        (urllib3.exceptions.NameResolutionError, "its name is not known"),
        (urllib3.exceptions.NewConnectionError, "cannot be reached"),
        (urllib3.exceptions.SSLError, "its certificate is not accepted"),
        (urllib3.exceptions.ProxyError, "the proxy does not let us through"),
    )
    told = next((text for kind, text in troubles if isinstance(inner, kind)), "the connection broke off")
    return Transient(f"{key}: {told} ({call})")
