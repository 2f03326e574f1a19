"""Titles as trees of snapshots, in a fixed number of statements however many seasons and episodes there are."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
)

from program.db.engine import Tx
from program.db.rows import ITEM, NOTHING, Extras, forest, item_of
from program.db.tables import EntryItem, MediaItem, ServerConfirmation, Source, Stream, StreamBlock
from program.media.item import Confirmation, Node


def tree(tx: Tx, root_id: int, now: datetime, providers: tuple[str, ...]) -> Node | None:
    """Return a film or show with everything beneath it, None when there is no such root.

    providers: keys of the enabled downloaders; a release blocked at all of them is not usable.
    """
    return next(iter(trees(tx, (root_id,), now, providers)), None)


def trees(tx: Tx, root_ids: Collection[int], now: datetime, providers: tuple[str, ...]) -> tuple[Node, ...]:
    """Return the trees of `root_ids` in that order; ids that are not roots are left out."""
    wanted = {"root_ids": tuple(root_ids)}
    rows = tx.connection.execute(_ROWS, wanted).all()
    if not rows:
        return ()
    extras = _extras(tx, wanted, now, providers)
    roots = forest(item_of(row, extras.get(row.id, NOTHING)) for row in rows)
    return tuple(roots[root_id] for root_id in dict.fromkeys(root_ids) if root_id in roots)


def portions(tx: Tx, root_ids: Collection[int], rows: int) -> list[list[int]]:
    """Return titles in their order, in portions of at most so many rows, or of one title that has more; ids of none are left out.

    A title may have a thousand rows, and as many titles as there are would be much to read at once.
    """
    counted = tx.connection.execute(_SIZES, {"root_ids": tuple(root_ids)})
    sizes = {row[0]: row[1] for row in counted}
    found: list[list[int]] = []
    room = 0
    for root_id in dict.fromkeys(root_ids):
        size = sizes.get(root_id, 0)
        if not size:
            continue
        if size > room:
            found.append([])
            room = rows
        found[-1].append(root_id)
        room -= size
    return found


def is_usable(now: datetime, providers: tuple[str, ...]) -> ColumnElement[bool]:
    """Return the condition that a stream (joined with its item) can be downloaded.

    It passes the rules, no person said no, it was found since the last retry, and an enabled provider has not refused it.
    """
    if not providers:
        return _PASSES
    return _passes_at(literal(now), providers, literal(len(set(providers))))


def _passes_at(
    now: ColumnElement[datetime],
    providers: Collection[str] | BindParameter[Sequence[str]],
    count: ColumnElement[int],
) -> ColumnElement[bool]:
    """Return the condition that a stream passes and that fewer than all the providers have refused it."""
    refusals = (
        select(func.count())
        .where(
            StreamBlock.item_id == Stream.item_id,
            StreamBlock.infohash == Stream.infohash,
            StreamBlock.provider.in_(providers),
            or_(StreamBlock.until.is_(None), StreamBlock.until > now),
        )
        .scalar_subquery()
    )
    return _PASSES & (refusals < count)


_PASSES = and_(
    Stream.rejection_code.is_(None),
    Stream.blacklisted.is_(None),
    or_(MediaItem.restarted_at.is_(None), Stream.found_at > MediaItem.restarted_at),
)

# A title is read some thirty times on its way. These statements are built once: building them anew took longer than running them.
_BELOW = MediaItem.root_id.in_(bindparam("root_ids", expanding=True))
_ROWS = select(*ITEM).where(_BELOW).order_by(MediaItem.root_id, MediaItem.number, MediaItem.id)
_SIZES = select(MediaItem.root_id, func.count()).where(_BELOW).group_by(MediaItem.root_id)
_USABLE_ANYWHERE = (
    select(Stream.item_id, func.count())
    .join(MediaItem, MediaItem.id == Stream.item_id)
    .where(_BELOW, _PASSES)
    .group_by(Stream.item_id)
)
_USABLE = _USABLE_ANYWHERE.where(
    _passes_at(
        bindparam("now", type_=Stream.found_at.type),
        bindparam("providers", expanding=True),
        bindparam("count", type_=Integer()),
    )
)
_ENTRY_DATES = (
    select(EntryItem.item_id, func.max(EntryItem.linked_at))
    .join(MediaItem, MediaItem.id == EntryItem.item_id)
    .where(_BELOW, exists().where(Source.entry_id == EntryItem.entry_id))
    .group_by(EntryItem.item_id)
)
_CONFIRMATIONS = (
    select(ServerConfirmation)
    .join(MediaItem, MediaItem.id == ServerConfirmation.item_id)
    .where(_BELOW)
    .order_by(ServerConfirmation.item_id, ServerConfirmation.server)
)

Wanted = Mapping[str, object]


def _extras(tx: Tx, wanted: Wanted, now: datetime, providers: tuple[str, ...]) -> Mapping[int, Extras]:
    usable = _usable_streams(tx, wanted, now, providers)
    entries = {row[0]: row[1] for row in tx.connection.execute(_ENTRY_DATES, wanted)}
    confirmations = _confirmations(tx, wanted)
    return {
        item_id: Extras(usable.get(item_id, 0), entries.get(item_id), confirmations.get(item_id, ()))
        for item_id in {*usable, *entries, *confirmations}
    }


def _usable_streams(tx: Tx, wanted: Wanted, now: datetime, providers: tuple[str, ...]) -> dict[int, int]:
    if not providers:
        rows = tx.connection.execute(_USABLE_ANYWHERE, wanted)
    else:
        asked = {**wanted, "now": now, "providers": providers, "count": len(set(providers))}
        rows = tx.connection.execute(_USABLE, asked)
    return {row[0]: row[1] for row in rows}


def _confirmations(tx: Tx, wanted: Wanted) -> dict[int, tuple[Confirmation, ...]]:
    found: dict[int, tuple[Confirmation, ...]] = {}
    for row in tx.connection.execute(_CONFIRMATIONS, wanted):
        known = Confirmation(row.server, row.asked_times, row.asked_at, row.scanned_at, row.confirmed_at)
        found[row.item_id] = (*found.get(row.item_id, ()), known)
    return found
