"""New titles: rows that nothing is known of but their ids."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, update
from sqlalchemy.exc import IntegrityError

from program.db.engine import Tx
from program.db.faults import is_conflict
from program.db.lookup import find
from program.db.rows import columns_of
from program.db.tables import MediaItem
from program.errors import Transient
from program.media.item import Item, MediaType, Node
from program.media.metadata import ContentRequest
from program.media.settle import settled
from program.media.state import Policy

IDENTITY = (MediaItem.type, MediaItem.imdb, MediaItem.tmdb, MediaItem.tvdb)


def kind_of(request: ContentRequest) -> MediaType:
    """Return whether a film or a show is asked for."""
    return MediaType.MOVIE if request.is_movie else MediaType.SHOW


def add_titles(tx: Tx, requests: Sequence[ContentRequest], now: datetime) -> tuple[tuple[int, bool], ...]:
    """Return the item of each request and whether it is new; another writer may have added one in this instant."""
    try:
        with tx.connection.begin_nested():
            return tuple((item_id, True) for item_id in _insert(tx, requests, now))
    except IntegrityError as error:
        if not is_conflict(error):
            raise
    return tuple(_add_one(tx, request, now) for request in requests)


def _add_one(tx: Tx, request: ContentRequest, now: datetime) -> tuple[int, bool]:
    try:
        with tx.connection.begin_nested():
            return _insert(tx, [request], now)[0], True
    except IntegrityError as error:
        if not is_conflict(error):
            raise
    known = find(tx, kind_of(request), request.ids)
    if known is None:
        raise Transient("another write was first")
    return known, False


def _insert(tx: Tx, requests: Sequence[ContentRequest], now: datetime) -> list[int]:
    if not requests:
        return []
    titles = [_title(request, now) for request in requests]
    # Not in the order of the parameters: that would be one statement per row on SQLite.
    added = tx.connection.execute(
        insert(MediaItem).returning(*IDENTITY, MediaItem.id), [columns_of(title) for title in titles]
    )
    found: dict[tuple[object, ...], list[int]] = {}
    for *identity, item_id in added:
        found.setdefault(tuple(identity), []).append(item_id)
    ids = [found[title.type, title.ids.imdb, title.ids.tmdb, title.ids.tvdb].pop() for title in titles]
    tx.connection.execute(update(MediaItem).where(MediaItem.id.in_(ids)).values(root_id=MediaItem.id))
    return ids


def _title(request: ContentRequest, now: datetime) -> Item:
    kind = kind_of(request)
    is_show = kind is MediaType.SHOW
    item = Item(
        id=0,
        root_id=0,
        type=kind,
        ids=request.ids,
        wants_future=is_show and request.seasons is None,
        wanted_seasons=tuple(sorted(set(request.seasons or ()))) if is_show else (),
        created_at=now,
    )
    # Nothing in the settings bears on a title that was not looked up yet.
    return settled(Node(item), now, Policy()).item
