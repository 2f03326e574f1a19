"""What comes and what has come, for calendars and feed readers: they can send no header, so a token stands in the address."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Response, request, url_for

from program.api.answers.overviews import FeedsBody
from program.api.auth import address_token, same
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import PREFIX, Access, Route
from program.db import arrivals, items
from program.db.arrivals import Arrival
from program.db.views import CalendarRow
from program.media.item import MediaType

TAG = "feeds"
ICAL, RSS = "text/calendar", "application/rss+xml"
PURPOSE = "feeds"
DECLARATION = b'<?xml version="1.0" encoding="utf-8"?>\n'
DAYS_BACK, DAYS_AHEAD = 30, 366
MOST_ARRIVALS = 100
# A line of a calendar has at most so many bytes; what is longer goes on in the next one.
LONGEST_LINE = 74


def addresses(context: ApiContext) -> FeedsBody:
    """Return the addresses of both feeds; they change with the API key."""
    folder = f"{request.script_root}{PREFIX}/feeds/{address_token(context, PURPOSE)}"
    return FeedsBody(calendar=f"{folder}/calendar.ics", arrivals=f"{folder}/arrivals.rss")


def calendar(context: ApiContext, token: str) -> Response:
    """Send what comes out from a month back to a year ahead as a calendar."""
    _check(context, token)
    now = context.clock.now()
    with context.db.read() as tx:
        rows = items.calendar(tx, now - timedelta(days=DAYS_BACK), now + timedelta(days=DAYS_AHEAD))
    text = "".join(_folded(line) for line in _calendar_lines(rows, now))
    return Response(text, mimetype=ICAL, headers={"Cache-Control": "no-store"})


def feed(context: ApiContext, token: str) -> Response:
    """Send what has come last as RSS."""
    _check(context, token)
    with context.db.read() as tx:
        found = arrivals.latest(tx, MOST_ARRIVALS)
    return Response(_rss(found), mimetype=RSS, headers={"Cache-Control": "no-store"})


def _check(context: ApiContext, token: str) -> None:
    if not same(token, address_token(context, PURPOSE)):
        raise ApiError(401, "this is not the address of a feed")


def name_of(kind: MediaType, show: str, title: str, season: int | None, episode: int | None) -> str:
    """Return what a row is called, e.g. `Pioneer One S01E02 The Man From Mars`."""
    if kind is not MediaType.EPISODE:
        return title or show
    return f"{show} S{season or 0:02d}E{episode or 0:02d} {title}".strip()


def _calendar_lines(rows: Iterable[CalendarRow], now: datetime) -> Iterator[str]:
    yield from ("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Rivulet//Calendar//EN", "X-WR-CALNAME:Rivulet")
    for row in rows:
        name = name_of(row.type, row.show_title, row.title, row.season, row.episode)
        yield "BEGIN:VEVENT"
        yield f"UID:item-{row.item_id}@rivulet"
        yield f"DTSTAMP:{now:%Y%m%dT%H%M%SZ}"
        if row.type is MediaType.EPISODE:
            yield f"DTSTART:{row.aired_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        else:
            yield f"DTSTART;VALUE=DATE:{row.aired_at.astimezone(UTC):%Y%m%d}"
        yield f"SUMMARY:{_escaped(name)}"
        yield f"DESCRIPTION:{_escaped(row.last_state.value)}"
        yield "END:VEVENT"
    yield "END:VCALENDAR"


def _escaped(text: str) -> str:
    """Return a text for a calendar; a title may hold anything, and a line break in it would be a line of its own."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")


def _folded(line: str) -> str:
    parts, left = [], line
    while len(left.encode()) > LONGEST_LINE:
        cut = LONGEST_LINE
        while len(left[:cut].encode()) > LONGEST_LINE:
            cut -= 1
        parts.append(left[:cut])
        left = f" {left[cut:]}"
    return "\r\n".join([*parts, left]) + "\r\n"


def _rss(found: Iterable[Arrival]) -> bytes:
    root = Element("rss", version="2.0")
    channel = SubElement(root, "channel")
    SubElement(channel, "title").text = "Rivulet: what has come"
    SubElement(channel, "link").text = url_for("web.library", _external=True)
    SubElement(channel, "description").text = "Films and episodes that are in the library now"
    for arrival in found:
        item = SubElement(channel, "item")
        name = name_of(arrival.type, arrival.show_title, arrival.title, arrival.season, arrival.episode)
        SubElement(item, "title").text = _printable(name)
        SubElement(item, "link").text = url_for("web.item", item_id=arrival.item_id, _external=True)
        SubElement(
            item, "guid", isPermaLink="false"
        ).text = f"item-{arrival.item_id}-{arrival.at:%Y%m%d%H%M%S}"
        SubElement(item, "pubDate").text = format_datetime(arrival.at.astimezone(UTC))
    return DECLARATION + tostring(root)


def _printable(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


ROUTES = (
    Route(
        method="GET",
        rule="/feeds",
        handle=addresses,
        summary="Give the addresses of the calendar and of the feed",
        tag=TAG,
        answer=FeedsBody,
    ),
    Route(
        method="GET",
        rule="/feeds/<token>/calendar.ics",
        handle=calendar,
        summary="Send what comes out when (iCalendar)",
        tag=TAG,
        media=ICAL,
        access=Access.ADDRESS,
    ),
    Route(
        method="GET",
        rule="/feeds/<token>/arrivals.rss",
        handle=feed,
        summary="Send what has come last (RSS)",
        tag=TAG,
        media=RSS,
        access=Access.ADDRESS,
    ),
)
