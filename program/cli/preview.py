"""`preview-ranking`: what changed ranking settings would choose, on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

from program.api.ranking_preview import ChangeBody, ChoiceBody, PreviewBody, answer
from program.clock import Clock
from program.db.engine import Database
from program.errors import SettingsError
from program.program import database_url
from program.services.flows.ranking_preview import Bounds, Preview
from program.settings.store import SettingsStore

# Whoever asks here can wait; the whole library is looked at, a part at a time.
PART = Bounds(limit=200, seconds=60.0)


def preview(store: SettingsStore, file: Path, clock: Clock) -> Iterator[PreviewBody]:
    """Yield what would be chosen differently with the `ranking` section in `file`. Raises SettingsError, OSError."""
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SettingsError(str(file), f"is no JSON: {error}") from error
    changed = store.preview({"ranking": given.get("ranking", given) if isinstance(given, dict) else given})
    database = Database(database_url(store), data_dir=store.folder, clock=clock)
    database.open()
    try:
        compared = Preview(database, clock, (), store.current, changed)
        after: int | None = 0
        while after is not None:
            page = answer(compared, Bounds(after, PART.limit, PART.seconds))
            yield page
            after = page.next_after
    finally:
        database.close()


def lines(page: PreviewBody) -> Iterator[str]:
    """Yield it for reading, a title in three lines."""
    for change in page.changes:
        yield from _lines(change)


def _lines(change: ChangeBody) -> Iterator[str]:
    yield change.title
    yield f"  now   {_said(change.now)}"
    yield f"  then  {_said(change.then)}"


def _said(choice: ChoiceBody | None) -> str:
    return f"{choice.raw_title} ({choice.rank} points)" if choice is not None else "nothing"
