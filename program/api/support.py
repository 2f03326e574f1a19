"""A file for whoever helps: everything that explains a fault, and nothing that is a secret."""

import io
import json
import platform
import zipfile
from collections.abc import Iterator
from datetime import datetime

from flask import Response
from pydantic import Field

from program import __version__
from program.api import shapes
from program.api.context import ApiContext
from program.api.doctor import findings
from program.api.payloads import ItemId
from program.api.plugins import plugins
from program.api.routes import Payload, Route
from program.api.status import lifecycle, log_lines, stats
from program.api.where import where
from program.db import decisions, items, overview
from program.errors import NotFound
from program.log import redact
from program.settings.document import to_text

MEDIA = "application/zip"
LINES = 5000
STEPS = 200


class BundleQuery(Payload):
    """item_id: a title whose story is to be in it. quick: without asking any service."""

    item_id: ItemId | None = Field(default=None)
    quick: bool = False


def bundle(context: ApiContext, query: BundleQuery) -> Response:
    """Send a zip file with the settings (secrets masked), the doctor's findings, the log, the queues, and stories."""
    now = context.clock.now()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in _parts(context, query, now):
            file.writestr(zipfile.ZipInfo(name, now.timetuple()[:6]), redact(text))
    answer = Response(made.getvalue(), mimetype=MEDIA)
    answer.headers["Content-Disposition"] = f'attachment; filename="rivulet-support-{now:%Y%m%d-%H%M%S}.zip"'
    return answer


def _parts(context: ApiContext, query: BundleQuery, now: datetime) -> Iterator[tuple[str, str]]:
    about = {
        "version": __version__,
        "made_at": now.isoformat(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "database": "sqlite" if context.db.file is not None else "postgresql",
    }
    yield "about.json", _json(about)
    yield "settings.json", to_text(context.store.masked())
    yield "doctor.json", _json([one.as_dict() for one in findings(context, quick=query.quick)])
    yield "lifecycle.json", lifecycle(context).model_dump_json(indent=1)
    yield "plugins.json", plugins(context).model_dump_json(indent=1)
    yield "stats.json", stats(context).model_dump_json(indent=1)
    yield "queues.json", _json(context.engine.counts())
    with context.db.read() as tx:
        happened = overview.happenings(tx, STEPS)
    yield "happenings.txt", "".join(f"{one}\n" for one in happened)
    if query.item_id is not None:
        yield f"item-{query.item_id}.json", _item(context, query.item_id)
    yield "rivulet.log", "".join(f"{line}\n" for line in log_lines(context, LINES))


def _item(context: ApiContext, item_id: int) -> str:
    with context.db.read() as tx:
        found = items.detail(tx, item_id)
        story = decisions.timeline(tx, item_id, STEPS, with_descendants=True)
    if found is None:
        raise NotFound(f"no item has the id {item_id}")
    steps = [shapes.step(row).model_dump(mode="json") for row in story]
    return _json(
        {
            "item": shapes.detail(found, where(context), extended=True).model_dump(mode="json"),
            "timeline": steps,
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


ROUTES = (
    Route(
        method="GET",
        rule="/support/bundle",
        handle=bundle,
        summary="Save a support bundle, without secrets",
        tag="status",
        query=BundleQuery,
        media=MEDIA,
    ),
)
