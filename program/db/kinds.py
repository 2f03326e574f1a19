"""A film that turns out to be a show, or the other way round."""

from datetime import datetime

from sqlalchemy import select, update

from program.db import decisions
from program.db.engine import Tx, lock_root
from program.db.lookup import find
from program.db.merge import hand_over
from program.db.seasons import ask_for
from program.db.tables import MediaItem
from program.db.views import Decision
from program.db.writes import look_again
from program.errors import Cancelled
from program.media.item import Ids, MediaType

NAMES = {MediaType.MOVIE: "film", MediaType.SHOW: "series"}


def change_kind(tx: Tx, root_id: int, now: datetime) -> int:
    """Make a title that nothing is known of yet what its IMDb id says; return the row that stays.

    All seasons of a show are asked for. Its other ids go: they name something else of the other kind. When the library has the
    title already, that row takes over who asked. Raises `Cancelled` when the title is gone.
    """
    row = tx.connection.execute(
        select(MediaItem.type, MediaItem.imdb).where(MediaItem.id == root_id)
    ).one_or_none()
    if row is None:
        raise Cancelled(f"item {root_id} was removed")
    kind = MediaType.SHOW if row.type is MediaType.MOVIE else MediaType.MOVIE
    twin = find(tx, kind, Ids(imdb=row.imdb))
    if twin is not None:
        lock_root(tx, twin)
        hand_over(tx, twin, root_id, now)
        if kind is MediaType.SHOW:
            ask_for(tx, twin, None)
        look_again(tx, (twin,))
        return twin
    is_show = kind is MediaType.SHOW
    values = {"type": kind, "tmdb": None, "tvdb": None, "wants_future": is_show, "wanted_seasons": ()}
    tx.connection.execute(update(MediaItem).where(MediaItem.id == root_id).values(values))
    sentence = f"Asked for as a {NAMES[row.type]}; its IMDb id is that of a {NAMES[kind]}."
    decisions.write(tx, [Decision(root_id, "index", "other_kind", sentence)], now)
    return root_id
