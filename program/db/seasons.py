"""Which seasons of a show are asked for."""

from collections.abc import Collection

from sqlalchemy import select, update

from program.db.engine import Tx
from program.db.tables import MediaItem
from program.media.item import MediaType

SPECIALS = 0


def is_wanted(number: int, wanted_seasons: Collection[int], *, wants_future: bool) -> bool:
    """Return whether a season that appears is one that was asked for; the specials only by their number."""
    return number in wanted_seasons or (wants_future and number != SPECIALS)


def ask_for(tx: Tx, show_id: int, numbers: Collection[int] | None) -> bool:
    """Ask for seasons of a show (None: all but the specials, also future ones); return whether that is more than before."""
    show = tx.connection.execute(
        select(MediaItem.wanted_seasons, MediaItem.wants_future).where(MediaItem.id == show_id)
    ).one()
    wanted = tuple(sorted({*show.wanted_seasons, *(numbers or ())}))
    wants_future = show.wants_future or numbers is None
    is_more = (wanted, wants_future) != (show.wanted_seasons, show.wants_future)
    if is_more:
        tx.connection.execute(
            update(MediaItem)
            .where(MediaItem.id == show_id)
            .values(wanted_seasons=wanted, wants_future=wants_future)
        )
    seasons = select(MediaItem.id).where(
        MediaItem.parent_id == show_id,
        MediaItem.type == MediaType.SEASON,
        MediaItem.number != SPECIALS if numbers is None else MediaItem.number.in_(numbers),
    )
    season_ids = tx.connection.scalars(seasons).all()
    for rows in (MediaItem.id.in_(season_ids), MediaItem.parent_id.in_(season_ids)):
        changed = tx.connection.execute(
            update(MediaItem).where(rows, MediaItem.is_requested.is_(False)).values(is_requested=True)
        )
        is_more = is_more or changed.rowcount > 0
    return is_more
