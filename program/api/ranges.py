"""Which part of a file a request wants, and whether it wants it at all; pure (RFC 9110, sections 13 and 14)."""

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from werkzeug.datastructures import Headers
from werkzeug.http import parse_date, parse_etags, parse_if_range_header, parse_range_header


@dataclass(frozen=True, slots=True)
class Content:
    """What is asked for. size: bytes; etag: strong, without quotes; modified: aware UTC, whole seconds."""

    size: int
    etag: str
    modified: datetime


@dataclass(frozen=True, slots=True)
class Part:
    """What is answered: the bytes from `start` up to `stop`, or none of them with 304, 412 or 416."""

    status: HTTPStatus
    start: int = 0
    stop: int = 0

    @property
    def has_body(self) -> bool:
        """True when bytes follow."""
        return self.status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT)


def part_for(headers: Headers, content: Content) -> Part:
    """Return what a GET or HEAD with these headers is answered. A range in a form we do not know counts as none."""
    refused = _precondition(headers, content)
    if refused is not None:
        return Part(refused)
    whole = Part(HTTPStatus.OK, 0, content.size)
    wanted = parse_range_header(headers.get("Range"))
    if wanted is None or wanted.units != "bytes" or len(wanted.ranges) != 1:
        return whole
    if not _is_still(headers.get("If-Range"), content):
        return whole
    begin, end = wanted.ranges[0]
    start = max(0, content.size + begin) if begin < 0 else begin
    stop = content.size if end is None else min(end, content.size)
    if start >= stop:
        return Part(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
    return Part(HTTPStatus.PARTIAL_CONTENT, start, stop)


def _precondition(headers: Headers, content: Content) -> HTTPStatus | None:
    """Return 304 or 412 when a condition says so; an entity tag counts more than a date."""
    match, unmodified = headers.get("If-Match"), parse_date(headers.get("If-Unmodified-Since"))
    if match is not None:
        if not parse_etags(match).contains(content.etag):
            return HTTPStatus.PRECONDITION_FAILED
    elif unmodified is not None and content.modified > unmodified:
        return HTTPStatus.PRECONDITION_FAILED
    none_match, since = headers.get("If-None-Match"), parse_date(headers.get("If-Modified-Since"))
    if none_match is not None:
        return HTTPStatus.NOT_MODIFIED if parse_etags(none_match).contains_weak(content.etag) else None
    return HTTPStatus.NOT_MODIFIED if since is not None and content.modified <= since else None


def _is_still(condition: str | None, content: Content) -> bool:
    """Return whether the file is the one that an `If-Range` names; a weak tag names none."""
    if condition is None:
        return True
    known = parse_if_range_header(condition)
    if known.date is not None:
        return known.date == content.modified
    return not condition.lstrip().startswith("W/") and known.etag == content.etag
