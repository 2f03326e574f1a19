"""Removing titles, and emptying seasons and episodes of a title that stays."""

from collections.abc import Collection

from sqlalchemy import delete as delete_from
from sqlalchemy import or_, select, update

from program.db import entries
from program.db.engine import Tx
from program.db.rows import FACTS, AnyRow
from program.db.tables import (
    EntryItem,
    ItemRequest,
    MediaEntry,
    MediaItem,
    ServerConfirmation,
    Source,
    Stream,
    StreamBlock,
)
from program.db.views import Deleted, TorrentOnAccount
from program.db.writes import bump_revision, look_again
from program.media.item import Facts, MediaType

# Metadata stays with an emptied row; everything that happened to it goes.
AS_NEW = {name: getattr(Facts(), name) for name in FACTS if name not in ("indexed_at", "contradiction")}


def delete(tx: Tx, ids: Collection[int], *, tombstone: bool) -> Deleted:
    """Remove films and shows with all beneath; of a show that stays, empty the seasons and episodes named.

    Such a row stays known and is no longer asked for: the next index would bring it back otherwise. tombstone: remember who asked
    for a removed title, so that a list does not bring it back. The torrents stay on their accounts; who removes them there calls
    `torrents.forget`.
    """
    named = tx.connection.execute(
        select(MediaItem.id, MediaItem.root_id, MediaItem.type, MediaItem.number).where(MediaItem.id.in_(ids))
    ).all()
    roots = {row.id for row in named if row.root_id == row.id}
    parts = [row for row in named if row.root_id not in roots]
    part_ids = [row.id for row in parts]
    below = or_(MediaItem.root_id.in_(roots), MediaItem.id.in_(part_ids), MediaItem.parent_id.in_(part_ids))
    gone = tuple(tx.connection.scalars(select(MediaItem.id).where(below).order_by(MediaItem.id)))
    entry_ids, torrents = _release_files(tx, gone)
    _end_requests(tx, roots, tombstone=tombstone)
    tx.connection.execute(delete_from(MediaItem).where(MediaItem.root_id.in_(roots)))
    changed = tuple(sorted({row.root_id for row in parts}))
    _empty(tx, [item_id for item_id in gone if item_id not in roots], parts)
    return Deleted(items=gone, roots=changed, entries=entry_ids, torrents=torrents)


def _release_files(tx: Tx, gone: Collection[int]) -> tuple[tuple[int, ...], tuple[TorrentOnAccount, ...]]:
    """Unlink the files of these items; remove those that belong to nothing else, and name the torrents that only they used."""
    ours = set(tx.connection.scalars(select(EntryItem.entry_id).where(EntryItem.item_id.in_(gone))))
    tx.connection.execute(delete_from(EntryItem).where(EntryItem.item_id.in_(gone)))
    kept = set(tx.connection.scalars(select(EntryItem.entry_id).where(EntryItem.entry_id.in_(ours))))
    removed = tuple(sorted(ours - kept))
    used = (
        select(Source.provider, MediaEntry.infohash, Source.torrent_id)
        .join(MediaEntry, MediaEntry.id == Source.entry_id)
        .distinct()
    )
    before = {tuple(row) for row in tx.connection.execute(used.where(MediaEntry.id.in_(removed)))}
    entries.remove(tx, removed)
    hashes = {infohash for _, infohash, _ in before}
    still = {(row[0], row[1]) for row in tx.connection.execute(used.where(MediaEntry.infohash.in_(hashes)))}
    free = sorted(row for row in before if row[:2] not in still)
    return removed, tuple(TorrentOnAccount(*row) for row in free)


def _end_requests(tx: Tx, roots: Collection[int], *, tombstone: bool) -> None:
    asked = ItemRequest.item_id.in_(roots)
    if not tombstone:
        tx.connection.execute(delete_from(ItemRequest).where(asked))
        return
    titles = select(MediaItem.id, MediaItem.imdb, MediaItem.tmdb, MediaItem.tvdb).where(
        MediaItem.id.in_(roots)
    )
    for root_id, imdb, tmdb, tvdb in tx.connection.execute(titles).all():
        tx.connection.execute(
            update(ItemRequest)
            .where(ItemRequest.item_id == root_id)
            .values(item_id=None, imdb=imdb, tmdb=tmdb, tvdb=tvdb)
        )


def _empty(tx: Tx, item_ids: Collection[int], parts: list[AnyRow]) -> None:
    for table in (Stream, StreamBlock, ServerConfirmation):
        tx.connection.execute(delete_from(table).where(table.item_id.in_(item_ids)))
    tx.connection.execute(
        update(MediaItem).where(MediaItem.id.in_(item_ids)).values(is_requested=False, **AS_NEW)
    )
    bump_revision(tx, item_ids)
    look_again(tx, {row.root_id for row in parts})
    seasons: dict[int, set[int]] = {}
    for row in parts:
        if row.type is MediaType.SEASON:
            seasons.setdefault(row.root_id, set()).add(row.number)
    shows = select(MediaItem.id, MediaItem.wanted_seasons).where(MediaItem.id.in_(seasons))
    for show_id, wanted in tx.connection.execute(shows).all():
        left = tuple(number for number in wanted if number not in seasons[show_id])
        tx.connection.execute(update(MediaItem).where(MediaItem.id == show_id).values(wanted_seasons=left))
