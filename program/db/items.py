"""Items: reading them as trees, finding what is due, adding what a service knows, removing.

The functions live in smaller modules; this is the one to import.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, Select, and_, bindparam, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from program.db.detail import detail
from program.db.engine import Tx
from program.db.kinds import change_kind
from program.db.lists import calendar, counts, page, stats
from program.db.lookup import find, root_of
from program.db.metadata import store_metadata
from program.db.removal import delete
from program.db.retry import LEFT_ALONE, reset_for_retry
from program.db.tables import MediaItem
from program.db.trees import portions, tree, trees
from program.db.views import Due, ItemFilter, Sort
from program.db.views import StoredMetadata as Stored
from program.db.writes import bump_revision
from program.media.item import MediaType, States

__all__ = [
    "ItemFilter",
    "Sort",
    "Stored",
    "all_roots",
    "bump_revision",
    "calendar",
    "change_kind",
    "counts",
    "delete",
    "detail",
    "due",
    "find",
    "incomplete_roots",
    "oldest_due",
    "page",
    "portions",
    "reset_for_retry",
    "retryable_roots",
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
    # One more than can be used tells whether there are more.
    wanted = limit + len(exclude) + 1
    oldest = _due(tx, now, wanted, newest=False)
    free = _free(oldest, exclude)
    if len(oldest) >= wanted:
        newest = _free(_due(tx, now, wanted, newest=True), exclude)
        free = list(dict.fromkeys((*newest[: limit // 4], *free)))
    return tuple(free[:limit])


def oldest_due(tx: Tx, now: datetime, *, exclude: AbstractSet[int] = frozenset()) -> datetime | None:
    """Return since when the longest due row has been due, None when nothing is; exclude: as for `due`."""
    found = []
    for date in (MediaItem.reindex_at, MediaItem.next_attempt_at):
        query = (
            select(MediaItem.id, MediaItem.root_id, date)
            .where(date <= now, MediaItem.is_requested.is_(True), MediaItem.paused_at.is_(None))
            .order_by(date, MediaItem.id)
        )
        rows = tx.connection.execute(query)
        found += [at for item_id, root_id, at in rows if not {item_id, root_id} & exclude][:1]
    return min((at for at in found if at is not None), default=None)


def all_roots(tx: Tx) -> tuple[int, ...]:
    """Return every film and show."""
    query = select(MediaItem.id).where(MediaItem.root_id == MediaItem.id).order_by(MediaItem.id)
    return tuple(tx.connection.scalars(query))


def retryable_roots(tx: Tx) -> tuple[int, ...]:
    """Return the films and shows with something a retry of the library starts afresh: what is not done, paused or unreleased."""
    is_leaf = MediaItem.type.in_((MediaType.MOVIE, MediaType.EPISODE))
    is_unknown = MediaItem.last_state.in_((States.Requested, States.Unknown, States.Failed))
    query = (
        select(MediaItem.root_id)
        .where(
            MediaItem.is_requested.is_(True),
            or_(
                and_(is_leaf, MediaItem.last_state.not_in((*LEFT_ALONE, States.Paused))),
                and_(MediaItem.root_id == MediaItem.id, is_unknown),
            ),
        )
        .distinct()
        .order_by(MediaItem.root_id)
    )
    return tuple(root_id for root_id in tx.connection.scalars(query) if root_id is not None)


def incomplete_roots(tx: Tx) -> tuple[int, ...]:
    """Return the requested films and shows with something left to do by itself, at the root or beneath."""
    query = (
        select(MediaItem.root_id)
        .where(MediaItem.is_requested.is_(True), MediaItem.last_state.not_in(AT_REST))
        .distinct()
        .order_by(MediaItem.root_id)
    )
    return tuple(root_id for root_id in tx.connection.scalars(query) if root_id is not None)


def _due(tx: Tx, now: datetime, count: int, *, newest: bool) -> list[Due]:
    """Return `count` due rows from one end, each once; its earlier date counts, or its later one from the new end."""
    found: dict[Due, datetime] = {}
    for query in _DUE[newest]:
        for item_id, root_id, at in tx.connection.execute(query, {"now": now, "count": count}):
            if root_id is not None and at is not None:
                row = Due(item_id, root_id)
                known = found.get(row, at)
                found[row] = max(known, at) if newest else min(known, at)
    return sorted(found, key=lambda row: (found[row], row.item_id), reverse=newest)[:count]


def _due_by(date: InstrumentedAttribute[datetime | None], *, newest: bool) -> Select[*tuple[Any, ...]]:
    ends = (date.desc(), MediaItem.id.desc()) if newest else (date.asc(), MediaItem.id.asc())
    return (
        select(MediaItem.id, MediaItem.root_id, date)
        .where(date <= bindparam("now"), MediaItem.is_requested.is_(True), MediaItem.paused_at.is_(None))
        .order_by(*ends)
        .limit(bindparam("count", type_=Integer()))
    )


# Asked after every commit, so built once: by both dates, from the old end and from the new.
_DUE = {
    newest: tuple(_due_by(date, newest=newest) for date in (MediaItem.reindex_at, MediaItem.next_attempt_at))
    for newest in (False, True)
}


def _free(rows: Iterable[Due], exclude: AbstractSet[int]) -> list[Due]:
    return [row for row in rows if row.item_id not in exclude and row.root_id not in exclude]
