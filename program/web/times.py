"""Instants and sizes in a person's words. The zone and `now` are arguments."""

import contextlib
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86400, 7 * 86400
UNITS = ("B", "KB", "MB", "GB", "TB")
STEP = 1000
# How reasons that programs read write an instant.
INSTANT, WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "%Y-%m-%d %H:%M UTC"
# Zones have names such as America/Argentina/ComodRivadavia.
LONGEST_ZONE = 64


def zone_named(name: str) -> tzinfo | None:
    """Return the zone that a browser named; None, for this machine's own, when there is no such zone."""
    if not name or len(name) > LONGEST_ZONE:
        return None
    with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(name)
    return None


def moment(at: datetime, now: datetime, zone: tzinfo | None) -> str:
    """Return an instant as one says it: relative within a day, then weekday and hour, then the date."""
    seconds = (at - now).total_seconds()
    distance = abs(seconds)
    if distance < MINUTE:
        return "just now" if seconds <= 0 else "in a moment"
    if distance < DAY:
        amount = f"{int(distance // MINUTE)} min" if distance < HOUR else f"{round(distance / HOUR)} h"
        return f"in {amount}" if seconds > 0 else f"{amount} ago"
    local = at.astimezone(zone)
    if distance < WEEK:
        return f"{local:%a %H:%M}"
    return day(local.date(), now.astimezone(zone).date())


def day(on: date, today: date) -> str:
    """Return a day as one says it, e.g. `Today`, `12 May`, `12 May 2027`."""
    near = {0: "Today", 1: "Tomorrow", -1: "Yesterday"}.get((on - today).days)
    if near:
        return near
    return f"{on.day} {on:%b}" if on.year == today.year else f"{on.day} {on:%b} {on.year}"


def midnight(on: date, zone: tzinfo | None) -> datetime:
    """Return the instant at which a day begins for the viewer, in UTC."""
    local = datetime.combine(on, time())
    return (local.replace(tzinfo=zone) if zone else local.astimezone()).astimezone(UTC)


def exact(at: datetime, zone: tzinfo | None) -> str:
    """Return an instant to the second with its zone, for whoever wants to know."""
    return f"{at.astimezone(zone):%A, %d %B %Y, %H:%M:%S %Z}"


def machine(at: datetime) -> str:
    """Return an instant for programs."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def duration(span: timedelta) -> str:
    """Return a span of time, e.g. `12 days`, `3 h`, `5 min`."""
    seconds = span.total_seconds()
    if seconds >= 2 * DAY:
        return f"{round(seconds / DAY)} days"
    if seconds >= HOUR:
        return f"{round(seconds / HOUR)} h"
    return f"{max(1, round(seconds / MINUTE))} min"


def size(count: int | None) -> str:
    """Return a number of bytes, e.g. `4.2 GB`; empty when it is not known."""
    if count is None:
        return ""
    value, unit = float(count), 0
    while value >= STEP and unit < len(UNITS) - 1:
        value, unit = value / STEP, unit + 1
    return f"{value:.1f} {UNITS[unit]}" if unit > 1 else f"{value:.0f} {UNITS[unit]}"


def minutes(count: int | None) -> str:
    """Return a running time, e.g. `1 h 52 min`; empty when it is not known."""
    if not count:
        return ""
    hours, rest = divmod(count, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest else "") if part)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, e.g. `1 release`, `41 releases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def with_moments(text: str, now: datetime, zone: tzinfo | None) -> str:
    """Return a sentence in which instants such as `2031-05-01 12:00 UTC` are as the viewer says them."""

    def said(found: re.Match[str]) -> str:
        try:
            return moment(datetime.strptime(found[0], WRITTEN).replace(tzinfo=UTC), now, zone)
        except ValueError:
            return found[0]

    return INSTANT.sub(said, text)
