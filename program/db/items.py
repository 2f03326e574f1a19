"""Items: reading them as trees, finding what is due, adding what a service knows, removing.

The functions live in smaller modules; this is the one to import.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import datetime
from operator import itemgetter

from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute

from program.db.detail import detail
from program.db.engine import Tx
from program.db.lists import calendar, page, stats
from program.db.lookup import find, root_of
from program.db.metadata import store_metadata
from program.db.removal import delete
from program.db.retry import reset_for_retry
from program.db.tables import MediaItem
from program.db.trees import tree, trees
from program.db.views import Due, ItemFilter, Sort
from program.db.views import StoredMetadata as Stored
from program.db.writes import bump_revision
from program.media.item import States

__all__ = [
    "ItemFilter",
    "Sort",
    "Stored",
    "all_roots",
    "bump_revision",
    "calendar",
    "delete",
    "detail",
    "due",
    "find",
    "incomplete_roots",
    "page",
    "reset_for_retry",
    "root_of",
    "stats",
    "store_metadata",
    "tree",
    "trees",
]

# States in which a title waits for nothing, or for a person.
AT_REST = (States.Completed, States.Failed, States.Paused)


def due(
    tx: Tx, now: datetime, limit: int = 200, *, exclude: AbstractSet[int] = frozenset()
) -> tuple[Due, ...]:
    """Return rows whose next attempt or re-index is due, the longest due first; ancestors that are paused are not looked at.

    exclude: items with a live job; they and, for a root, everything beneath are left out and do not count. When more rows are due
    than fit, a quarter of them, first, are those that became due last, so that a new wish does not wait behind a backlog.
    """
    wanted = limit + len(exclude)
    found: dict[int, tuple[datetime, Due]] = {}
    is_full = False
    for date in (MediaItem.reindex_at, MediaItem.next_attempt_at):
        rows = _read_due(tx, _due(date, now).order_by(date, MediaItem.id).limit(wanted))
        is_full = is_full or len(rows) == wanted
        for at, row in rows:
            found.setdefault(row.item_id, (at, row))
    oldest = _free((row for _, row in sorted(found.values(), key=itemgetter(0))), exclude)
    if not is_full and len(oldest) <= limit:
        return tuple(oldest)
    date = MediaItem.next_attempt_at
    latest = _read_due(tx, _due(date, now).order_by(date.desc(), MediaItem.id.desc()).limit(wanted))
    newest = _free((row for _, row in latest), exclude)
    return tuple(dict.fromkeys((*newest[: limit // 4], *oldest)))[:limit]


def all_roots(tx: Tx) -> tuple[int, ...]:
    """Return every film and show."""
    query = select(MediaItem.id).where(MediaItem.root_id == MediaItem.id).order_by(MediaItem.id)
    return tuple(tx.connection.scalars(query))


def incomplete_roots(tx: Tx) -> tuple[int, ...]:
    """Return the requested films and shows with something left to do by itself, at the root or beneath."""
    query = (
        select(MediaItem.root_id)
        .where(MediaItem.is_requested.is_(True), MediaItem.last_state.not_in(AT_REST))
        .distinct()
        .order_by(MediaItem.root_id)
    )
    return tuple(root_id for root_id in tx.connection.scalars(query) if root_id is not None)


def _due(
    date: InstrumentedAttribute[datetime | None], now: datetime
) -> Select[int, int | None, datetime | None]:
    return select(MediaItem.id, MediaItem.root_id, date).where(
        date <= now, MediaItem.is_requested.is_(True), MediaItem.paused_at.is_(None)
    )


def _read_due(tx: Tx, query: Select[int, int | None, datetime | None]) -> list[tuple[datetime, Due]]:
    return [
        (at, Due(item_id, root_id))
        for item_id, root_id, at in tx.connection.execute(query)
        if root_id is not None and at is not None
    ]


def _free(rows: Iterable[Due], exclude: AbstractSet[int]) -> list[Due]:
    return [row for row in rows if row.item_id not in exclude and row.root_id not in exclude]
