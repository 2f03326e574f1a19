"""Server-sent events: what happens, what is finished, and the log, as it is written.

Each event is one line of JSON behind `data: `. A beat in between shows both sides that the other is there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime

from flask import Response
from pydantic import JsonValue

from program.api.context import ApiContext
from program.api.routes import Route
from program.api.streams import EVENTS, FINISHED, LOG
from program.db import items
from program.events import Snapshot, Told
from program.services.flows.plugin_hook import snapshot_of

TAG = "streams"
MEDIA = "text/event-stream"
# A stream that had nothing to say for so long is ended; a page that is still there asks again.
QUIET_SECONDS = 300.0
# People look at a quiet log for longer.
QUIET_LOG_SECONDS = 1800.0
# A comment, which every client of event streams leaves alone.
BEAT = b": still here\n\n"
# For clients that relay lines with data only and would never notice that nobody reads any more.
NULL_BEAT = b"data: null\n\n"

Payload = Mapping[str, JsonValue]


def events(context: ApiContext) -> Response:
    """Send every event of the program, from now on."""
    return _stream(context, EVENTS, lambda told: _event(told, context.clock.now()), BEAT, QUIET_SECONDS)


def notifications(context: ApiContext) -> Response:
    """Send what is finished, from now on."""
    return _stream(context, FINISHED, lambda told: _notification(context, told), NULL_BEAT, QUIET_SECONDS)


def logging(context: ApiContext) -> Response:
    """Send the lines of the log, from now on."""
    return _stream(context, LOG, _line, NULL_BEAT, QUIET_LOG_SECONDS)


def _stream(
    context: ApiContext, topic: str, shape: Callable[[object], Payload | None], beat: bytes, quiet: float
) -> Response:
    listener = context.streams.open(topic)

    def chunks() -> Iterator[bytes]:
        # So that the other side knows at once that it is connected.
        yield BEAT
        for what in listener.heard(quiet):
            payload = shape(what) if what is not None else None
            yield beat if payload is None else event_line(payload)

    return streaming(chunks(), listener.close)


def event_line(payload: Payload) -> bytes:
    """Return an event: one line of JSON."""
    return f"data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode()


def streaming(chunks: Iterator[bytes], close: Callable[[], None]) -> Response:
    """Return an answer that goes on; `close` is called at its end, also when the other side went before it began."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = Response(chunks, mimetype=MEDIA, headers=headers)
    response.call_on_close(close)
    return response


def _event(told: object, now: datetime) -> Payload | None:
    if not isinstance(told, Told):
        return None
    own = {field.name: getattr(told, field.name) for field in fields(told) if field.name != "item"}
    return {"type": told.type, "at": now.isoformat(), **own}


def _notification(context: ApiContext, told: object) -> Payload | None:
    """Return a finished title as the toast of a web client; None when it is gone."""
    if not isinstance(told, Told) or told.item_id is None:
        return None
    item, now = _snapshot(context, told.item_id), context.clock.now()
    if item is None:
        return None
    title = item.title if item.episode is None else f"{item.title} S{item.season or 0:02d}E{item.episode:02d}"
    duration = (now - item.since).total_seconds() if item.since else 0.0
    return {
        "title": title,
        "type": item.type.value,
        "log_string": title,
        "timestamp": now.isoformat(),
        "year": item.year,
        "duration": round(duration),
        "imdb_id": item.ids.imdb,
    }


def _snapshot(context: ApiContext, item_id: int) -> Snapshot | None:
    with context.db.read() as tx:
        root_id = items.root_of(tx, [item_id]).get(item_id, 0)
        root = items.tree(tx, root_id, context.clock.now(), context.providers())
    return snapshot_of(root, item_id) if root is not None else None


def _line(line: object) -> Payload | None:
    return line if isinstance(line, dict) else None


def _get(rule: str, handle: Callable[[ApiContext], Response], summary: str) -> Route:
    return Route(method="GET", rule=rule, handle=handle, summary=summary, tag=TAG, media=MEDIA)


ROUTES = (
    _get("/stream/events", events, "Listen to what happens (server-sent events)"),
    _get("/stream/notifications", notifications, "Listen to what is finished (server-sent events)"),
    _get("/stream/logging", logging, "Listen to the log (server-sent events)"),
)
