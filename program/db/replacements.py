"""A file in the place of another: the old one stays listed and readable until the new one stands there."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, exists, select, tuple_
from sqlalchemy.orm import aliased

from program.db import entries, torrents
from program.db.engine import Tx
from program.db.tables import EntryItem, MediaEntry, Source
from program.db.views import NewEntry
from program.media.entry import Entry


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a replacement did. entry_id: the file that stands in the tree now; hidden: those to be taken out of it."""

    entry_id: int
    hidden: tuple[int, ...]


def replace(tx: Tx, new: NewEntry, now: datetime, is_open: Callable[[int], bool]) -> Replaced:
    """Put a file into the tree in the place of those that its items have, whose facts and states stay as they are.

    is_open: whether somebody reads the file of an entry; such a one is only taken out of the tree, see `supersede`.
    The caller shows the change (`Library.apply`) after the commit.
    """
    entry_id = entries.create(tx, new, now)
    entries.register(tx, (entry_id,), now)
    files = entries.for_items(tx, new.item_ids)
    by_item = {id_: tuple(file for file in files if id_ in file.item_ids) for id_ in new.item_ids}
    return Replaced(entry_id, supersede(tx, by_item, is_open))


def supersede(
    tx: Tx, files: Mapping[int, tuple[Entry, ...]], is_open: Callable[[int], bool]
) -> tuple[int, ...]:
    """Give up what items had before the first of their files (as of `for_items`); return the entries to be taken out of the tree.

    A file of two episodes stays as long as it is the newest of one of them. One that is just being read is kept, out of the
    tree, until the housekeeping finds it closed (`replaced`).
    """
    outdated = {
        (old.id, item_id): old
        for item_id, found in files.items()
        for old in found[1:]
        # A copy beside it has another profile.
        if old.ranking_profile == found[0].ranking_profile
    }
    read = {
        entry_id
        for (entry_id, _), old in outdated.items()
        if all((entry_id, item_id) in outdated for item_id in old.item_ids) and is_open(entry_id)
    }
    entries.unregister(tx, read)
    return (*read, *give_up(tx, [pair for pair in outdated if pair[0] not in read]))


def replaced(tx: Tx) -> tuple[tuple[int, int], ...]:
    """Return (entry, item) of the files that are not in the tree because the item has a later one there."""
    later, place = aliased(EntryItem), aliased(MediaEntry)
    has_later = exists().where(
        later.item_id == EntryItem.item_id,
        later.linked_at > EntryItem.linked_at,
        place.id == later.entry_id,
        place.ranking_profile == MediaEntry.ranking_profile,
        place.registered_at.is_not(None),
    )
    query = (
        select(EntryItem.entry_id, EntryItem.item_id)
        .join(MediaEntry, MediaEntry.id == EntryItem.entry_id)
        .where(MediaEntry.registered_at.is_(None), has_later)
    )
    return tuple((entry_id, item_id) for entry_id, item_id in tx.connection.execute(query))


def give_up(tx: Tx, links: Collection[tuple[int, int]]) -> tuple[int, ...]:
    """Take files off items, each a pair (entry, item); return the entries that belonged to nothing else and are removed.

    A torrent that only they came from is to be cleared up.
    """
    if not links:
        return ()
    pair = tuple_(EntryItem.entry_id, EntryItem.item_id)
    tx.connection.execute(delete(EntryItem).where(pair.in_(links)))
    entry_ids = {entry_id for entry_id, _ in links}
    kept = set(tx.connection.scalars(select(EntryItem.entry_id).where(EntryItem.entry_id.in_(entry_ids))))
    removed = tuple(sorted(entry_ids - kept))
    of_removed = select(Source.provider, Source.torrent_id).where(Source.entry_id.in_(removed))
    on_accounts = [(row.provider, row.torrent_id) for row in tx.connection.execute(of_removed)]
    entries.remove(tx, removed)
    torrents.release_unused(tx, on_accounts)
    return removed
