"""Storing what a metadata service says of a title."""

from datetime import datetime

from sqlalchemy import select

from program.db.engine import Tx, lock_root
from program.db.lookup import find_all
from program.db.merge import attach, hand_over
from program.db.rows import AnyRow
from program.db.show import store_seasons
from program.db.tables import MediaItem
from program.db.titles import title_key
from program.db.views import StoredMetadata
from program.db.writes import write_columns
from program.errors import Cancelled
from program.media.item import MediaType
from program.media.metadata import Metadata
from program.media.outcomes import index_found

TITLE = (
    *(MediaItem.id, MediaItem.type, MediaItem.imdb, MediaItem.tmdb, MediaItem.tvdb, MediaItem.aliases),
    MediaItem.rating,
)


def store_metadata(tx: Tx, root_id: int, metadata: Metadata, now: datetime) -> StoredMetadata:
    """Write the metadata into the title and, for a show, its seasons and episodes; they count as indexed `now`.

    When another row has one of the ids, the older of the two stays (`root_id` of the answer), gets the metadata, and a decision
    *merged*. Settle the answer's root with `commit_outcome`. Raises `Cancelled` when the title is gone.
    """
    kind = tx.connection.scalar(select(MediaItem.type).where(MediaItem.id == root_id))
    if kind is None:
        raise Cancelled(f"item {root_id} was removed")
    same = {root_id, *find_all(tx, kind, [metadata.ids])}
    kept = min(same)
    if kept != root_id:
        lock_root(tx, kept)
    files = [file for younger in sorted(same - {kept}) for file in hand_over(tx, kept, younger, now)]
    title = tx.connection.execute(select(*TITLE).where(MediaItem.id == kept)).one()
    values = _values(title, metadata, now)
    write_columns(tx, values, [{"item_id": kept, **values}])
    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    if kind is MediaType.SHOW:
        seasons, episodes = store_seasons(tx, kept, metadata.seasons, now)
    return StoredMetadata(
        root_id=kept,
        merged_into=kept if kept != root_id else None,
        added_seasons=seasons,
        added_episodes=episodes,
        removed_entries=attach(tx, kept, files),
    )


def _values(title: AnyRow, metadata: Metadata, now: datetime) -> dict[str, object]:
    dates = [*metadata.releases.values(), *([metadata.first_aired_at] if metadata.first_aired_at else [])]
    return {
        **index_found(now),
        "title": metadata.title,
        "title_key": title_key(metadata.title),
        "original_title": metadata.original_title,
        "aliases": (*metadata.aliases, *(name for name in title.aliases if name.is_own)),
        "year": metadata.year,
        "imdb": metadata.ids.imdb or title.imdb,
        "tmdb": metadata.ids.tmdb or title.tmdb,
        "tvdb": metadata.ids.tvdb or title.tvdb,
        "releases": metadata.releases,
        "aired_at": metadata.first_aired_at,
        "earliest_at": min(dates, default=None),
        "network": metadata.network,
        "country": metadata.country,
        "language": metadata.language,
        "genres": metadata.genres,
        "runtime": metadata.runtime,
        # Who tells ratings may be somebody else, who did not answer this time.
        "rating": title.rating if metadata.rating is None else metadata.rating,
        "content_rating": metadata.content_rating,
        "poster": metadata.poster,
        "is_anime": metadata.is_anime,
        "show_status": metadata.show_status,
    }
