"""How things stand: health, counts, providers, accounts, the lifecycle, the calendar, the log."""

import math
from collections import deque
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, cast

from flask import request
from pydantic import BaseModel, JsonValue
from pydantic_core import to_jsonable_python

from program import __version__
from program.api import shapes
from program.api.answers.overviews import CalendarBody, StatsBody, YearBody
from program.api.answers.state import (
    AccountBody,
    AccountsBody,
    HealthBody,
    LifecycleBody,
    LogsBody,
    MachineBody,
    MoveBody,
    ProviderBody,
    ProvidersBody,
    ServicesBody,
)
from program.api.auth import webhook_token
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.payloads import CalendarQuery, LogsQuery
from program.api.routes import PREFIX, Access, Handler, Payload, Route
from program.db import items
from program.errors import RivuletError
from program.http import interactive
from program.log import redact
from program.media.item import MediaType, States
from program.plugins import PluginState
from program.services.plugin import ContentService, Downloader

TAG = "status"
RUNNING = "Running"
# What the calendar shows when nobody says otherwise.
DAYS_BACK, DAYS_AHEAD = 92, 366
LONGEST_CALENDAR = timedelta(days=3 * 366)


def health(context: ApiContext) -> tuple[HealthBody, int]:
    """Return whether the program works: 200 when it is ready, 503 when not; that it answers says that it is live."""
    state, database, vfs = context.state, context.db.healthy(), context.vfs_healthy()
    ready = state == RUNNING and database and vfs
    body = HealthBody(
        status="ok" if ready else "not ready",
        live=True,
        ready=ready,
        state=state,
        database=database,
        vfs=vfs,
        version=__version__,
    )
    return body, 200 if ready else 503


def stats(context: ApiContext) -> StatsBody:
    """Return counts of what is asked for."""
    with context.db.read() as tx:
        found = items.stats(tx, context.clock.now().year)
    return StatsBody(
        total_items=found.total,
        total_movies=found.by_type[MediaType.MOVIE],
        total_shows=found.by_type[MediaType.SHOW],
        total_seasons=found.by_type[MediaType.SEASON],
        total_episodes=found.by_type[MediaType.EPISODE],
        total_symlinks=found.states[States.Symlinked] + found.states[States.Completed],
        incomplete_items=found.incomplete,
        states={state.value: count for state, count in found.states.items()},
        activity={day.isoformat(): count for day, count in found.activity.items()},
        media_year_releases=[YearBody(year=year, count=count) for year, count in found.years],
    )


def services(context: ApiContext) -> ServicesBody:
    """Return service to true, false, or null while it was not checked yet."""
    marks = {PluginState.VALID: True, PluginState.PENDING: None}
    found: dict[str, bool | None] = {"database": context.db.healthy(), "vfs": context.vfs_healthy()}
    found |= {status.key: marks.get(status.state, False) for status in context.registry.statuses()}
    return ServicesBody(found)


def providers(context: ApiContext) -> ProvidersBody:
    """Return every enabled provider with its state and reason."""
    hooked = {plugin.key for plugin in context.registry.of(ContentService)}
    return ProvidersBody(
        providers=[
            ProviderBody(
                key=status.key,
                title=status.title,
                section=status.section,
                state=status.state.value,
                reason=redact(status.reason) if status.reason else None,
                next_check_at=status.next_check_at,
                webhook=webhook_path(context, status.key) if status.key in hooked else None,
            )
            for status in context.registry.statuses()
        ]
    )


def webhook_path(context: ApiContext, key: str) -> str:
    """Return the path at which a content service can send events without a header."""
    return f"{request.script_root}{PREFIX}/webhook/{key}/{webhook_token(context, key)}"


def accounts(context: ApiContext) -> AccountsBody:
    """Return the accounts of the debrid services; one that does not answer is in the list with its reason."""
    waiting = interactive.set(True)
    try:
        return AccountsBody(
            services=[_account(plugin, context.clock.now()) for plugin in context.registry.of(Downloader)]
        )
    finally:
        interactive.reset(waiting)


def _account(plugin: Downloader[Any], now: datetime) -> AccountBody:
    try:
        found = plugin.account()
    except (RivuletError, OSError) as error:
        return AccountBody(service=plugin.key, premium_status="unknown", error=redact(str(error)))
    return AccountBody(
        service=plugin.key,
        username=found.username,
        user_id=found.username,
        premium_status="premium" if found.is_premium else "free",
        premium_expires_at=found.expires_at,
        premium_days_left=_days_left(found.expires_at, now),
        points=found.points,
    )


def _days_left(expires_at: str | None, now: datetime) -> int | None:
    try:
        end = datetime.fromisoformat(expires_at or "")
    except ValueError:
        return None
    end = end if end.tzinfo else end.replace(tzinfo=UTC)
    return max(0, math.ceil((end - now) / timedelta(days=1)))


def lifecycle(context: ApiContext) -> LifecycleBody:
    """Return where the program stands."""
    return LifecycleBody(
        machines=[
            MachineBody(
                name=machine.name,
                state=machine.state,
                history=[MoveBody(state=move.state, at=move.at) for move in machine.history()],
            )
            for machine in context.machines
        ],
        vfs=cast("dict[str, JsonValue]", to_jsonable_python(context.vfs_statistics())),
    )


def calendar(context: ApiContext, query: CalendarQuery) -> CalendarBody:
    """Return what comes out between two days."""
    today = context.clock.now().date()
    start = query.start or today - timedelta(days=DAYS_BACK)
    end = query.end or max(start, today) + timedelta(days=DAYS_AHEAD)
    if end < start:
        raise ApiError(422, f"end: must not be before {start}")
    if end - start > LONGEST_CALENDAR:
        raise ApiError(422, f"end: must be at most {LONGEST_CALENDAR.days} days after start")
    with context.db.read() as tx:
        rows = items.calendar(tx, _midnight(start), _midnight(end) + timedelta(days=1))
    return CalendarBody(data={str(row.item_id): shapes.calendar_entry(row) for row in rows})


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def logs(context: ApiContext, query: LogsQuery) -> LogsBody:
    """Return the last lines of the log file; none when there is no file."""
    return LogsBody(logs=log_lines(context, query.limit))


def log_lines(context: ApiContext, limit: int) -> list[str]:
    """Return the last lines of the log file, the oldest first, secrets masked."""
    file = context.store.folder / "logs" / "rivulet.log"
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            last = deque(lines, maxlen=limit)
    except OSError:
        return []
    return [redact(line.rstrip("\n")) for line in last]


def _get(
    rule: str, handle: Handler, summary: str, answer: type[BaseModel], query: type[Payload] | None = None
) -> Route:
    return Route(method="GET", rule=rule, handle=handle, summary=summary, tag=TAG, answer=answer, query=query)


def _health(*, is_bare: bool) -> Route:
    return Route(
        method="GET",
        rule="/health",
        handle=health,
        summary="Say whether the program works",
        tag=TAG,
        answer=HealthBody,
        access=Access.EVERYBODY,
        is_bare=is_bare,
    )


ROUTES = (
    _health(is_bare=True),
    _health(is_bare=False),
    _get("/stats", stats, "Count the library", StatsBody),
    _get("/services", services, "Say which services work", ServicesBody),
    _get("/providers", providers, "Say how every provider stands, and why", ProvidersBody),
    _get("/downloader_user_info", accounts, "Show the debrid accounts", AccountsBody),
    _get("/lifecycle", lifecycle, "Say where the program stands", LifecycleBody),
    _get("/calendar", calendar, "Say what comes out when", CalendarBody, CalendarQuery),
    _get("/logs", logs, "Show the last lines of the log", LogsBody, LogsQuery),
)
