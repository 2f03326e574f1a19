"""The rows behind wishes: one per source and its own id, living while their title does, a tombstone after."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, false, or_, select, tuple_

from program.db.engine import Tx
from program.db.tables import ItemRequest
from program.db.upserts import upsert
from program.media.item import Ids
from program.media.metadata import ContentRequest

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish written down earlier. item_id None: its title was removed. seasons None: all."""

    item_id: int | None
    seasons: tuple[int, ...] | None
    created_at: datetime

    def covers(self, request: ContentRequest) -> bool:
        """Return whether `request` asks for nothing that this wish did not ask for."""
        if request.is_movie or self.seasons is None:
            return True
        return request.seasons is not None and set(request.seasons) <= set(self.seasons)


def key_of(request: ContentRequest) -> Key:
    """Return what tells a wish from others: its own id, else that of the title; raise ValueError when it has neither."""
    if request.external_id is not None:
        return request.source, request.external_id
    ids = request.ids
    known = next((f"{name}:{value}" for name, value in _named(ids) if value), None)
    if known is None:
        raise ValueError(f"a wish of {request.source} without any id")
    return request.source, f"{'movie' if request.is_movie else 'show'}:{known}"


def load(tx: Tx, requests: Iterable[ContentRequest]) -> dict[Key, Wish]:
    """Return the wishes that are written down already."""
    keys = sorted({key_of(request) for request in requests})
    query = select(ItemRequest).where(tuple_(ItemRequest.source, ItemRequest.external_id).in_(keys))
    return {
        (row.source, row.external_id): Wish(row.item_id, row.seasons, row.created_at)
        for row in tx.connection.execute(query)
    }


def save(
    tx: Tx, granted: Iterable[tuple[ContentRequest, int]], known: Mapping[Key, Wish], now: datetime
) -> None:
    """Write down which item each wish is about; of two with the same key the last counts."""
    rows: dict[Key, dict[str, object]] = {}
    for request, item_id in granted:
        source, external_id = key = key_of(request)
        earlier = known.get(key)
        rows[key] = {
            "source": source,
            "external_id": external_id,
            "item_id": item_id,
            "requested_by": request.requested_by,
            "seasons": request.seasons,
            "is_movie": request.is_movie,
            "imdb": request.ids.imdb,
            "tmdb": request.ids.tmdb,
            "tvdb": request.ids.tvdb,
            "created_at": earlier.created_at if earlier else now,
            "updated_at": now,
        }
    upsert(tx, ItemRequest, list(rows.values()), ("source", "external_id"))


def lift_tombstones(tx: Tx, requests: Iterable[ContentRequest]) -> None:
    """Forget that these titles were removed, whoever had asked for them."""
    known: dict[tuple[bool, str], list[str]] = {}
    for request in requests:
        for name, value in _named(request.ids):
            if value:
                known.setdefault((request.is_movie, name), []).append(value)
    # One list for each kind of id: a condition for each title would be more than SQLite takes.
    same = [
        and_(ItemRequest.is_movie.is_(is_movie), getattr(ItemRequest, name).in_(values))
        for (is_movie, name), values in known.items()
    ]
    tx.connection.execute(delete(ItemRequest).where(ItemRequest.item_id.is_(None), or_(false(), *same)))


def _named(ids: Ids) -> tuple[tuple[str, str | None], ...]:
    return (("imdb", ids.imdb), ("tmdb", ids.tmdb), ("tvdb", ids.tvdb))
