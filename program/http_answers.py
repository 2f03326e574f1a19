"""What an answer of a service means, whichever service it is: pure functions over a `Response`."""

import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Annotated, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from program import log
from program.errors import BadAnswer, Misconfigured, NotFound, Refused, Transient

T = TypeVar("T")

# An id that services send as a number or as a string; for us a string.
AnyId = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]

# Where a message of a service stops being a sentence.
LONGEST_MESSAGE = 200

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, *range(500, 600)})
_KEY_REFUSED = frozenset({401, 403})
_GONE = frozenset({404, 410})
_TOO_MANY, _CLOSED = 429, 503

_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@]+@")
_PARAMETER = re.compile(
    r"(?i)\b((?:\w+[-_])*(?:(?:api|auth)?(?:key|token)|password|passwd|signature|sig|secret|pin)=)[^&#;|\s\"'/]+"
)


def redact(text: str) -> str:
    """Return `text` without known secrets, credentials in addresses and values of parameters that carry keys."""
    return _PARAMETER.sub(rf"\1{log.MASK}", _USERINFO.sub(r"\1", log.redact(text)))


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer. headers: names in lower case. body: at most the data source's limit. url: without secrets."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""

    @property
    def text(self) -> str:
        """Return the body as text; bytes that are not UTF-8 are replaced."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_html(self) -> bool:
        """True when the body is a web page, whatever its headers say."""
        return self.body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"

    def data(self) -> object:
        """Return the body read as JSON, None when it is not JSON; for reading error codes."""
        try:
            return cast("object", json.loads(self.body))
        except ValueError:
            return None


class AskedToWait(Exception):
    """The service asked to wait; seconds None: it did not say how long."""

    def __init__(self, seconds: float | None, reason: str) -> None:
        super().__init__(reason)
        self.seconds = seconds
        self.reason = reason


def by_status(key: str, call: str, answer: Response, now: datetime) -> Exception | None:
    """Return what the status alone says: None for an answer, else the error. call: method and path, for the sentence."""
    status = answer.status
    if status // 100 == 2:  # noqa: PLR2004 - 2xx
        return None
    told = _retry_after(answer.headers.get("retry-after"), now)
    if status == _TOO_MANY:
        return AskedToWait(told, "asks to slow down (429)")
    if status == _CLOSED and told is not None:
        return AskedToWait(told, "is closed for a while (503)")
    if status in _PASSING:
        return Transient(f"{key}: answers {status} ({call})")
    if status in _KEY_REFUSED:
        return Misconfigured(key, "api_key", f"is refused by the service ({status}, {call})")
    return _final(key, call, answer)


def _final(key: str, call: str, answer: Response) -> Exception:
    if answer.status in _GONE:
        return NotFound(f"{key}: not known there ({answer.status}, {call})")
    if answer.status in REDIRECTS:
        return Refused(key, answer.status, None, f"redirects; set its address to where it is now ({call})")
    return Refused(key, answer.status, None, f"answers {answer.status} ({call}){_message(answer)}")


def parse(key: str, answer: Response, model: type[T] | TypeAdapter[T]) -> T:
    """Return an answer's JSON as a `model`; raise `BadAnswer` with the place when it is not one."""
    body = answer.body.removeprefix(b"\xef\xbb\xbf")
    where = urlsplit(answer.url).path or "/"
    if not body.strip():
        raise BadAnswer(f"{key}: an empty answer ({answer.status}) where JSON is due: {where}")
    if answer.is_html:
        raise BadAnswer(f"{key}: a web page where JSON is due: {where}")
    adapter = (
        model if isinstance(model, TypeAdapter) else cast("TypeAdapter[T]", _adapter(cast("Hashable", model)))
    )
    try:
        return adapter.validate_json(body)
    except ValidationError as error:
        raise BadAnswer(f"{key}: {place(error)}: {where}") from None


def place(error: ValidationError) -> str:
    """Return the first thing wrong as `results.0.id: Field required`, without the value itself."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return "JSON that breaks off" if "EOF" in first["msg"] else "an answer that is not JSON"
    return f"{'.'.join(str(part) for part in first['loc']) or 'the answer'}: {first['msg']}"


@lru_cache(maxsize=256)
def _adapter(model: Hashable) -> TypeAdapter[object]:
    return TypeAdapter(cast("type[object]", model))


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, a number or an HTTP date; None when there is none that makes sense."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    return seconds if 0 < seconds < float("inf") else None


def _message(answer: Response) -> str:
    """Return what the service says about itself in an error body, as `: text`; empty when it says nothing."""
    data = answer.data()
    fields = ("message", "status_message", "error", "detail")
    said = (
        next((data[name] for name in fields if isinstance(data.get(name), str)), "")
        if isinstance(data, dict)
        else ""
    )
    return f": {redact(said)[:LONGEST_MESSAGE]}" if said else ""


Classify = Callable[[Response], Exception | None]
