"""Files: which items they belong to, where their bytes come from, and whether they stand in the tree."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, delete, insert, select, update

from program.db import companions, sources
from program.db.engine import Tx
from program.db.rows import AnyRow
from program.db.sources import NewSource
from program.db.tables import EntryItem, MediaEntry, Source
from program.db.views import NewEntry, StandingFile
from program.media.entry import Entry, EntrySource, is_same_file
from program.media.release import JsonValue

__all__ = [
    "NewEntry",
    "create",
    "for_items",
    "get",
    "item_of_torrent",
    "items_of",
    "known",
    "register",
    "registered",
    "relink",
    "remove",
    "set_probed",
    "unregister",
    "unregistered_for",
    "uses_torrent",
]


def create(tx: Tx, new: NewEntry, now: datetime) -> int:
    """Return the entry of a file of a torrent, made if it is new.

    The same file (infohash and path) is never a second entry: the source, of which there is one per provider, and the items join
    the first one, whose place in the tree stays. Its items count as having got it `now`. What is to stand beside
    it is kept with it.
    """
    entry_id = _same_file(tx, new)
    if entry_id is None:
        entry_id = tx.connection.execute(
            insert(MediaEntry)
            .values(
                infohash=new.infohash,
                path_in_torrent=new.path_in_torrent,
                original_name=new.original_name,
                size=new.size,
                path=new.path,
                version=new.version,
                ranking_profile=new.ranking_profile,
                created_at=now,
            )
            .returning(MediaEntry.id)
        ).scalar_one()
    else:
        companions.make_video(tx, entry_id, new.path, new.version)
    sources.put(tx, entry_id, NewSource(new.provider, new.torrent_id, new.file_id, new.link))
    _join_items(tx, entry_id, new.item_ids, now)
    origin = companions.Origin(new.infohash, new.provider, new.torrent_id)
    companions.put(tx, entry_id, origin, new.companions, now)
    return entry_id


def get(tx: Tx, entry_id: int) -> Entry | None:
    """Return an entry with its items and sources, None when there is none."""
    entry = next(iter(_load(tx, MediaEntry.id == entry_id)), None)
    video_id = companions.video_of(tx, entry_id) if entry is not None and not entry.item_ids else None
    if entry is None or video_id is None:
        return entry
    video = next(iter(_load(tx, MediaEntry.id == video_id)), entry)
    return replace(entry, item_ids=video.item_ids, ranking_profile=video.ranking_profile, video_id=video_id)


def for_items(tx: Tx, item_ids: Collection[int]) -> tuple[Entry, ...]:
    """Return the files of these items, those chosen last first."""
    chosen = (
        select(EntryItem.entry_id, EntryItem.linked_at)
        .where(EntryItem.item_id.in_(item_ids))
        .order_by(EntryItem.linked_at.desc(), EntryItem.entry_id.desc())
    )
    order = dict.fromkeys(entry_id for entry_id, _ in tx.connection.execute(chosen))
    entries = {entry.id: entry for entry in _load(tx, MediaEntry.id.in_(order))}
    return tuple(entries[entry_id] for entry_id in order)


def unregistered_for(tx: Tx, item_id: int) -> tuple[Entry, ...]:
    """Return the files of an item that are not in the tree yet, those chosen last first."""
    return tuple(entry for entry in for_items(tx, (item_id,)) if entry.registered_at is None)


def registered(tx: Tx) -> Iterator[StandingFile]:
    """Yield every file that stands in the tree, in the order of their ids; a start waits for this, so it reads no more."""
    rows = tx.connection.execute(
        select(*_STANDING).where(MediaEntry.registered_at.is_not(None)).order_by(MediaEntry.id)
    )
    return map(StandingFile._make, rows)


# In the order of the fields of `StandingFile`.
_STANDING = (
    MediaEntry.id,
    MediaEntry.infohash,
    MediaEntry.path_in_torrent,
    MediaEntry.size,
    MediaEntry.path,
    MediaEntry.created_at,
    MediaEntry.registered_at,
    MediaEntry.library_profiles,
)


def uses_torrent(tx: Tx, provider: str, torrent_id: str) -> bool:
    """Return whether a file of ours comes from this torrent."""
    of_torrent = select(Source.id).where(Source.provider == provider, Source.torrent_id == torrent_id)
    return tx.connection.scalar(of_torrent.limit(1)) is not None


def items_of(tx: Tx, entry_ids: Collection[int]) -> frozenset[int]:
    """Return the items of these files."""
    return frozenset(
        tx.connection.scalars(select(EntryItem.item_id).where(EntryItem.entry_id.in_(entry_ids)))
    )


def item_of_torrent(tx: Tx, infohash: str) -> int | None:
    """Return an item that has a file of the torrent, None when there is none (any more)."""
    found: int | None = tx.connection.scalar(
        select(EntryItem.item_id)
        .join(MediaEntry, MediaEntry.id == EntryItem.entry_id)
        .where(MediaEntry.infohash == infohash)
        .order_by(EntryItem.item_id)
        .limit(1)
    )
    return found


def register(tx: Tx, entry_ids: Collection[int], now: datetime) -> None:
    """Write down that these files stand in the tree; those that already do keep their date."""
    tx.connection.execute(
        update(MediaEntry)
        .where(MediaEntry.id.in_(entry_ids), MediaEntry.registered_at.is_(None))
        .values(registered_at=now)
    )


def unregister(tx: Tx, entry_ids: Collection[int]) -> None:
    """Write down that these files do not stand in the tree any more; whoever has one open can still ask for its address."""
    tx.connection.execute(update(MediaEntry).where(MediaEntry.id.in_(entry_ids)).values(registered_at=None))


def known(tx: Tx, entry_ids: Collection[int]) -> frozenset[int]:
    """Return those of the entries that there are."""
    return frozenset(tx.connection.scalars(select(MediaEntry.id).where(MediaEntry.id.in_(entry_ids))))


def set_probed(tx: Tx, entry_id: int, probed: Mapping[str, JsonValue]) -> None:
    """Keep what the analysis found in a file."""
    tx.connection.execute(update(MediaEntry).where(MediaEntry.id == entry_id).values(probed=dict(probed)))


def remove(tx: Tx, entry_ids: Collection[int]) -> None:
    """Remove files with their sources and what stands beside them; their items stay."""
    companions.remove(tx, entry_ids)
    tx.connection.execute(delete(MediaEntry).where(MediaEntry.id.in_(entry_ids)))


def _same_file(tx: Tx, new: NewEntry) -> int | None:
    """Return the entry of a file that another provider, or the same one, has given us before."""
    query = select(MediaEntry.id, MediaEntry.path_in_torrent, MediaEntry.size)
    known = tx.connection.execute(query.where(MediaEntry.infohash == new.infohash)).all()
    by_path = {path: entry_id for entry_id, path, _ in known}
    if new.path_in_torrent in by_path:
        return by_path[new.path_in_torrent]
    return next(
        (
            entry_id
            for entry_id, path, size in known
            if is_same_file(path, size, new.path_in_torrent, new.size)
        ),
        None,
    )


def relink(tx: Tx, entry_id: int, now: datetime) -> None:
    """Let the items of a file count as having got it `now`: it can be read again."""
    tx.connection.execute(update(EntryItem).where(EntryItem.entry_id == entry_id).values(linked_at=now))


def _join_items(tx: Tx, entry_id: int, item_ids: Iterable[int], now: datetime) -> None:
    wanted = set(item_ids)
    of_entry = (EntryItem.entry_id == entry_id, EntryItem.item_id.in_(wanted))
    known = set(tx.connection.scalars(select(EntryItem.item_id).where(*of_entry)))
    if known:
        tx.connection.execute(update(EntryItem).where(*of_entry).values(linked_at=now))
    added = [
        {"entry_id": entry_id, "item_id": item_id, "linked_at": now} for item_id in sorted(wanted - known)
    ]
    if added:
        tx.connection.execute(insert(EntryItem), added)


def _load(tx: Tx, condition: ColumnElement[bool]) -> tuple[Entry, ...]:
    items = _items(tx, condition)
    by_entry: dict[int, tuple[EntrySource, ...]] = {}
    query = select(Source).join(MediaEntry, MediaEntry.id == Source.entry_id).where(condition)
    for row in tx.connection.execute(query.order_by(Source.id)):
        by_entry[row.entry_id] = (*by_entry.get(row.entry_id, ()), _source(row))
    rows = tx.connection.execute(select(MediaEntry).where(condition).order_by(MediaEntry.id))
    return tuple(_entry(row, items.get(row.id, ()), by_entry.get(row.id, ())) for row in rows)


def _items(tx: Tx, condition: ColumnElement[bool]) -> dict[int, tuple[int, ...]]:
    query = (
        select(EntryItem.entry_id, EntryItem.item_id)
        .join(MediaEntry, MediaEntry.id == EntryItem.entry_id)
        .where(condition)
        .order_by(EntryItem.entry_id, EntryItem.item_id)
    )
    found: dict[int, tuple[int, ...]] = {}
    for entry_id, item_id in tx.connection.execute(query):
        found[entry_id] = (*found.get(entry_id, ()), item_id)
    return found


def _source(row: AnyRow) -> EntrySource:
    return EntrySource(
        id=row.id,
        entry_id=row.entry_id,
        provider=row.provider,
        torrent_id=row.torrent_id,
        file_id=row.file_id,
        link=row.link,
        url=row.url,
        url_expires_at=row.url_expires_at,
        failures=row.failures,
    )


def _entry(row: AnyRow, item_ids: tuple[int, ...], of_entry: tuple[EntrySource, ...]) -> Entry:
    return Entry(
        id=row.id,
        item_ids=item_ids,
        infohash=row.infohash,
        path_in_torrent=row.path_in_torrent,
        original_name=row.original_name,
        size=row.size,
        path=row.path,
        version=row.version,
        ranking_profile=row.ranking_profile,
        created_at=row.created_at,
        registered_at=row.registered_at,
        mend_at=row.mend_at,
        given_up_at=row.given_up_at,
        profiles=row.library_profiles,
        sources=of_entry,
    )
