"""Titles as trees of snapshots, in a fixed number of statements however many seasons and episodes there are."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, func, or_, select

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
    below = MediaItem.root_id.in_(root_ids)
    rows = tx.connection.execute(
        select(*ITEM).where(below).order_by(MediaItem.root_id, MediaItem.number, MediaItem.id)
    ).all()
    if not rows:
        return ()
    extras = _extras(tx, below, now, providers)
    roots = forest(item_of(row, extras.get(row.id, NOTHING)) for row in rows)
    return tuple(roots[root_id] for root_id in dict.fromkeys(root_ids) if root_id in roots)


def is_usable(now: datetime, providers: tuple[str, ...]) -> ColumnElement[bool]:
    """Return the condition that a stream (joined with its item) can be downloaded.

    It passes the rules, no person said no, it was found since the last retry, and an enabled provider has not refused it.
    """
    since = or_(MediaItem.restarted_at.is_(None), Stream.found_at > MediaItem.restarted_at)
    usable = and_(Stream.rejection_code.is_(None), Stream.blacklisted.is_(None), since)
    if not providers:
        return usable
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
    return usable & (refusals < len(set(providers)))


def _extras(
    tx: Tx, below: ColumnElement[bool], now: datetime, providers: tuple[str, ...]
) -> Mapping[int, Extras]:
    usable = _usable_streams(tx, below, now, providers)
    entries = _entry_dates(tx, below)
    confirmations = _confirmations(tx, below)
    return {
        item_id: Extras(usable.get(item_id, 0), entries.get(item_id), confirmations.get(item_id, ()))
        for item_id in {*usable, *entries, *confirmations}
    }


def _usable_streams(
    tx: Tx, below: ColumnElement[bool], now: datetime, providers: tuple[str, ...]
) -> dict[int, int]:
    query = (
        select(Stream.item_id, func.count())
        .join(MediaItem, MediaItem.id == Stream.item_id)
        .where(below, is_usable(now, providers))
        .group_by(Stream.item_id)
    )
    return {row[0]: row[1] for row in tx.connection.execute(query)}


def _entry_dates(tx: Tx, below: ColumnElement[bool]) -> dict[int, datetime]:
    has_source = exists().where(Source.entry_id == EntryItem.entry_id)
    query = (
        select(EntryItem.item_id, func.max(EntryItem.linked_at))
        .join(MediaItem, MediaItem.id == EntryItem.item_id)
        .where(below, has_source)
        .group_by(EntryItem.item_id)
    )
    return {row[0]: row[1] for row in tx.connection.execute(query)}


def _confirmations(tx: Tx, below: ColumnElement[bool]) -> dict[int, tuple[Confirmation, ...]]:
    query = (
        select(ServerConfirmation)
        .join(MediaItem, MediaItem.id == ServerConfirmation.item_id)
        .where(below)
        .order_by(ServerConfirmation.item_id, ServerConfirmation.server)
    )
    found: dict[int, tuple[Confirmation, ...]] = {}
    for row in tx.connection.execute(query):
        known = Confirmation(row.server, row.asked_times, row.asked_at, row.scanned_at, row.confirmed_at)
        found[row.item_id] = (*found.get(row.item_id, ()), known)
    return found
