"""What comes out when: what comes next as a list of days, a month as a sheet."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from flask import request

from program.api import feeds
from program.api.answers.overviews import FeedsBody
from program.db import items
from program.db.views import CalendarRow
from program.web import pages, times, words
from program.web.pages import Answer, Page, Web

FIRST_YEAR, LAST_YEAR = 1880, 2199
FORM = "%Y-%m"
# What is shown of the past and of the future when nobody asks for a month.
BACK, AHEAD = timedelta(days=7), timedelta(days=62)


@dataclass(frozen=True, slots=True)
class Day:
    """A day with what comes out on it; in a month there are days with nothing."""

    word: str
    on: date
    is_past: bool
    rows: tuple[tuple[CalendarRow, words.Chip], ...]


def calendar(web: Web) -> Answer:
    """Show a month, or what comes next when the address names none."""
    zone = pages.zone()
    today = web.now.astimezone(zone).date()
    month = _month(request.args.get("month", ""))
    start = month or today - BACK
    end = _beside(month, 1) if month else today + AHEAD
    with web.api.db.read() as tx:
        rows = items.calendar(tx, times.midnight(start, zone), times.midnight(end, zone))
    found = {
        on: tuple((row, _chip(web, row)) for row in group)
        for on, group in groupby(rows, key=lambda row: row.aired_at.astimezone(zone).date())
    }
    shown = (start + timedelta(days=number) for number in range((end - start).days)) if month else found
    days = tuple(Day(times.day(on, today), on, on < today, found.get(on, ())) for on in shown)
    before = _beside(month, -1) if month else today
    after = _beside(month or today.replace(day=1), 1)
    around: Mapping[str, str] = {"before": f"{before:{FORM}}", "after": f"{after:{FORM}}"}
    return pages.render(
        "calendar.html",
        month=month,
        days=days,
        is_empty=not found,
        around=around,
        today=today,
        feeds=_feeds(web),
    )


def _chip(web: Web, row: CalendarRow) -> words.Chip:
    return words.chip(row.last_state, now=web.now, zone=pages.zone())


def _feeds(web: Web) -> FeedsBody:
    """Return the whole addresses of the feeds, as this viewer reaches the server."""
    paths = feeds.addresses(web.api)
    host = request.host_url.rstrip("/")
    return FeedsBody(calendar=host + paths.calendar, arrivals=host + paths.arrivals)


def _month(text: str) -> date | None:
    """Return the first day of the month that an address names, None when it names none."""
    try:
        month = datetime.strptime(text, FORM).replace(tzinfo=UTC).date()
    except ValueError:
        return None
    return month if FIRST_YEAR <= month.year <= LAST_YEAR else None


def _beside(month: date, step: int) -> date:
    inside = month + timedelta(days=31) if step > 0 else month - timedelta(days=1)
    return inside.replace(day=1)


PAGES = (Page(rule="/calendar", name="calendar", handle=calendar),)
