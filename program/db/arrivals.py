"""What has come into the library last."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import aliased

from program.db.engine import Tx
from program.db.tables import MediaItem
from program.media.item import MediaType

_Season = aliased(MediaItem)
_Show = aliased(MediaItem)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A film or an episode that is in the library. at: since when."""

    item_id: int
    type: MediaType
    title: str
    show_title: str
    season: int | None
    episode: int | None
    at: datetime


def latest(tx: Tx, limit: int) -> tuple[Arrival, ...]:
    """Return the films and episodes that came last, the latest first."""
    query = (
        select(
            MediaItem.id,
            MediaItem.type,
            MediaItem.title,
            _Show.title,
            _Season.number,
            MediaItem.number,
            MediaItem.registered_at,
        )
        .join(_Show, _Show.id == MediaItem.root_id)
        .outerjoin(_Season, _Season.id == MediaItem.parent_id)
        .where(MediaItem.registered_at.is_not(None), MediaItem.type.in_((MediaType.MOVIE, MediaType.EPISODE)))
        .order_by(MediaItem.registered_at.desc(), MediaItem.id.desc())
        .limit(limit)
    )
    return tuple(
        Arrival(item_id, kind, title, show, season, number if kind is MediaType.EPISODE else None, at)
        for item_id, kind, title, show, season, number, at in tx.connection.execute(query)
        if at is not None
    )
