"""Everything an item's page prints, in a fixed number of statements."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, or_, select

from program.db import companions
from program.db.engine import Tx
from program.db.lookup import find
from program.db.rows import ITEM, AnyRow, ids_of, item_of
from program.db.sources import troubles
from program.db.tables import EntryItem, ItemRequest, MediaEntry, MediaItem, Source
from program.db.views import ChildView, FileView, ItemDetail, RequestView, SourceView
from program.media.entry import Companion, Trouble
from program.media.item import Ids, MediaType

CHILD = (
    MediaItem.id,
    MediaItem.type,
    MediaItem.parent_id,
    MediaItem.number,
    MediaItem.title,
    MediaItem.earliest_at,
    MediaItem.is_requested,
    MediaItem.last_state,
    MediaItem.scraped_times,
    MediaItem.next_attempt_at,
    MediaItem.next_reason,
    MediaItem.paused_at,
)
SHOW = (MediaItem.id, MediaItem.title, MediaItem.imdb, MediaItem.tmdb, MediaItem.tvdb, MediaItem.number)

Files = Mapping[int, tuple[FileView, ...]]


def detail(tx: Tx, key: int | tuple[MediaType, Ids]) -> ItemDetail | None:
    """Return the page of an item, asked for by its id or by its type and an id at a metadata service; None if unknown."""
    item_id = key if isinstance(key, int) else find(tx, *key)
    row = tx.connection.execute(select(*ITEM).where(MediaItem.id == item_id)).one_or_none()
    if row is None:
        return None
    above = {row.root_id, row.parent_id} - {None, row.id}
    parents = {part.id: part for part in tx.connection.execute(select(*SHOW).where(MediaItem.id.in_(above)))}
    show = parents.get(row.root_id)
    subtree = _subtree(row.id)
    files = _files(tx, subtree)
    return ItemDetail(
        item=item_of(row),
        show_id=show.id if show else None,
        show_title=show.title if show else None,
        show_ids=ids_of(show) if show else Ids(),
        season=parents[row.parent_id].number if row.type is MediaType.EPISODE else None,
        files=files.get(row.id, ()),
        children=_children(tx, row.id, subtree, files),
        requests=_requests(tx, row.root_id),
    )


def _subtree(item_id: int) -> ColumnElement[bool]:
    return or_(MediaItem.id == item_id, MediaItem.parent_id == item_id, MediaItem.root_id == item_id)


def _children(tx: Tx, top: int, subtree: ColumnElement[bool], files: Files) -> tuple[ChildView, ...]:
    query = select(*CHILD).where(subtree, MediaItem.id != top).order_by(MediaItem.number, MediaItem.id)
    below: dict[int, list[AnyRow]] = {}
    for row in tx.connection.execute(query):
        below.setdefault(row.parent_id, []).append(row)

    def views(parent: int) -> tuple[ChildView, ...]:
        return tuple(_child(row, files, views(row.id)) for row in below.get(parent, ()))

    return views(top)


def _child(row: AnyRow, files: Files, children: tuple[ChildView, ...]) -> ChildView:
    return ChildView(
        id=row.id,
        type=row.type,
        number=row.number,
        title=row.title,
        aired_at=row.earliest_at,
        is_requested=row.is_requested,
        last_state=row.last_state,
        scraped_times=row.scraped_times,
        next_attempt_at=row.next_attempt_at,
        next_reason=row.next_reason,
        paused_at=row.paused_at,
        files=files.get(row.id, ()),
        children=children,
    )


def _files(tx: Tx, subtree: ColumnElement[bool]) -> Files:
    query = (
        select(MediaEntry, EntryItem.item_id, Source.id.label("source_id"), Source.provider, Source.failures)
        .join(EntryItem, EntryItem.entry_id == MediaEntry.id)
        .join(MediaItem, MediaItem.id == EntryItem.item_id)
        .outerjoin(Source, Source.entry_id == MediaEntry.id)
        .where(subtree)
        .order_by(EntryItem.linked_at.desc(), MediaEntry.id.desc(), Source.id)
    )
    rows: dict[tuple[int, int], list[AnyRow]] = {}
    for row in tx.connection.execute(query):
        rows.setdefault((row.item_id, row.id), []).append(row)
    ailing = {row.source_id for group in rows.values() for row in group if row.failures}
    known = troubles(tx, ailing) if ailing else {}
    beside = companions.of(tx, {entry_id for _, entry_id in rows}) if rows else {}
    files: dict[int, tuple[FileView, ...]] = {}
    for (item_id, entry_id), group in rows.items():
        files[item_id] = (*files.get(item_id, ()), _file(group, known, beside.get(entry_id, ())))
    return files


def _file(
    rows: list[AnyRow], known: Mapping[int, tuple[Trouble, ...]], beside: tuple[Companion, ...]
) -> FileView:
    row = rows[0]
    return FileView(
        entry_id=row.id,
        original_name=row.original_name,
        size=row.size,
        path=row.path,
        version=row.version,
        infohash=row.infohash,
        sources=tuple(
            SourceView(part.provider, known.get(part.source_id, ()))
            for part in rows
            if part.provider is not None
        ),
        registered_at=row.registered_at,
        mend_at=row.mend_at,
        given_up_at=row.given_up_at,
        profiles=row.library_profiles,
        probed=row.probed,
        companions=beside,
    )


def _requests(tx: Tx, root_id: int) -> tuple[RequestView, ...]:
    query = select(ItemRequest).where(ItemRequest.item_id == root_id).order_by(ItemRequest.id)
    return tuple(
        RequestView(
            source=row.source,
            external_id=row.external_id,
            requested_by=row.requested_by,
            seasons=row.seasons,
            created_at=row.created_at,
        )
        for row in tx.connection.execute(query)
    )
