"""Finding titles by their ids at the metadata services."""

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import ColumnElement, and_, false, or_, select

from program.db.engine import Tx
from program.db.tables import MediaItem
from program.db.titles import title_key
from program.media.item import Ids, Item, MediaType


def find(tx: Tx, kind: MediaType, ids: Ids) -> int | None:
    """Return the film or show that has one of `ids`, the oldest when several rows share them, else None."""
    return min(find_all(tx, kind, [ids]), default=None)


def find_all(tx: Tx, kind: MediaType, wanted: Iterable[Ids]) -> tuple[int, ...]:
    """Return every film or show that has one of the ids."""
    query = select(MediaItem.id).where(MediaItem.type == kind, has_one_of(list(wanted)))
    return tuple(sorted(tx.connection.scalars(query)))


def has_one_of(wanted: list[Ids]) -> ColumnElement[bool]:
    """Return the condition that a row has one of the ids."""
    columns = {
        MediaItem.imdb: [ids.imdb for ids in wanted if ids.imdb],
        MediaItem.tmdb: [ids.tmdb for ids in wanted if ids.tmdb],
        MediaItem.tvdb: [ids.tvdb for ids in wanted if ids.tvdb],
    }
    return or_(false(), *(column.in_(known) for column, known in columns.items() if known))


def root_of(tx: Tx, item_ids: Collection[int]) -> Mapping[int, int]:
    """Return the root of each item; items that do not exist are left out."""
    query = select(MediaItem.id, MediaItem.root_id).where(MediaItem.id.in_(item_ids))
    return {item_id: root_id for item_id, root_id in tx.connection.execute(query) if root_id is not None}


def shared_names(tx: Tx, root: Item) -> tuple[str, ...]:
    """Return those of a title's names that are also the title of another film or show of the library."""
    names = {
        title_key(name): name
        for name in (root.original_title or "", *(alias.text for alias in root.aliases))
        if name
    }
    query = select(MediaItem.title_key).where(
        MediaItem.title_key.in_(names),
        MediaItem.type.in_((MediaType.MOVIE, MediaType.SHOW)),
        MediaItem.id != root.id,
    )
    return tuple(sorted({names[key] for key in tx.connection.scalars(query)})) if names else ()


class TitleIndex:
    """The known films and shows among those asked for, by each of their ids."""

    def __init__(self, tx: Tx, wanted: Collection[tuple[MediaType, Ids]]) -> None:
        self._items: dict[tuple[MediaType, str, str], int] = {}
        conditions = [
            and_(MediaItem.type == kind, has_one_of([ids for other, ids in wanted if other is kind]))
            for kind in {kind for kind, _ in wanted}
        ]
        query = select(MediaItem.id, MediaItem.type, MediaItem.imdb, MediaItem.tmdb, MediaItem.tvdb)
        # The oldest is written last, so that it is the one found.
        rows = tx.connection.execute(query.where(or_(false(), *conditions)).order_by(MediaItem.id.desc()))
        for item_id, kind, imdb, tmdb, tvdb in rows:
            self.add(kind, Ids(imdb, tmdb, tvdb), item_id)

    def add(self, kind: MediaType, ids: Ids, item_id: int) -> None:
        """Make a title findable."""
        self._items.update(dict.fromkeys(_keys(kind, ids), item_id))

    def get(self, kind: MediaType, ids: Ids) -> int | None:
        """Return the item that has one of `ids`, None when there is none."""
        return next((self._items[key] for key in _keys(kind, ids) if key in self._items), None)


def _keys(kind: MediaType, ids: Ids) -> list[tuple[MediaType, str, str]]:
    named = (("imdb", ids.imdb), ("tmdb", ids.tmdb), ("tvdb", ids.tvdb))
    return [(kind, name, value) for name, value in named if value]
