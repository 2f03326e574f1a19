"""The seasons and episodes of a show, brought to what the metadata service says now."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import delete, exists, insert, select, update
from sqlalchemy.orm import aliased

from program.db.engine import Tx
from program.db.episodes import StoredEpisode, match
from program.db.rows import AnyRow, columns_of
from program.db.seasons import is_wanted
from program.db.tables import EntryItem, MediaItem
from program.db.titles import title_key
from program.db.writes import write_columns
from program.media.item import Contradiction, Facts, Item, MediaType
from program.media.metadata import EpisodeMetadata, SeasonMetadata

Season = aliased(MediaItem, name="season")

EPISODE = (
    MediaItem.id,
    MediaItem.parent_id,
    MediaItem.number,
    MediaItem.absolute_number,
    MediaItem.service_id,
    MediaItem.title,
    MediaItem.title_key,
    MediaItem.year,
    MediaItem.aired_at,
    MediaItem.earliest_at,
    MediaItem.runtime,
    MediaItem.is_requested,
    MediaItem.indexed_at,
    MediaItem.contradiction,
)
# What a new answer may change of an episode; all but its id.
CHANGING = tuple(column.key for column in EPISODE[1:])


def store_seasons(
    tx: Tx, show_id: int, seasons: Iterable[SeasonMetadata], now: datetime
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Make the show's seasons and episodes those of the answer; return the ids of new ones of each.

    An episode that the service dropped is removed unless it has a file. New episodes are asked for with their season.
    """
    answer = tuple({season.number: season for season in reversed(tuple(seasons))}.values())
    added_seasons = _add_seasons(tx, show_id, answer, now)
    season_rows = _season_rows(tx, show_id)
    stored = _episode_rows(tx, show_id)
    matched = match((_stored(row) for row in stored.values()), answer)
    tx.connection.execute(delete(MediaItem).where(MediaItem.id.in_(matched.vanished)))
    changed = [
        values
        for row_id, (number, episode) in matched.same.items()
        if (values := _changes(stored[row_id], season_rows[number], episode, now))
    ]
    _give_up_places(tx, [*matched.displaced, *_moving(stored, changed)])
    write_columns(tx, CHANGING, changed)
    new = [_new_episode(show_id, season_rows[number], episode, now) for number, episode in matched.new]
    added_episodes = _insert(tx, new)
    _describe_seasons(tx, season_rows, answer)
    _drop_empty(tx, season_rows, answer)
    return added_seasons, added_episodes


def _add_seasons(tx: Tx, show_id: int, answer: Iterable[SeasonMetadata], now: datetime) -> tuple[int, ...]:
    show = tx.connection.execute(
        select(MediaItem.wanted_seasons, MediaItem.wants_future).where(MediaItem.id == show_id)
    ).one()
    known = _season_rows(tx, show_id)
    rows = [
        _new_row(
            show_id,
            Item(
                id=0,
                root_id=show_id,
                type=MediaType.SEASON,
                parent_id=show_id,
                number=season.number,
                title=season.title,
                is_requested=is_wanted(season.number, show.wanted_seasons, wants_future=show.wants_future),
                facts=Facts(indexed_at=now),
                created_at=now,
            ),
        )
        for season in answer
        if season.number not in known
    ]
    return _insert(tx, rows)


def _insert(tx: Tx, rows: list[dict[str, object]]) -> tuple[int, ...]:
    if not rows:
        return ()
    return tuple(tx.connection.scalars(insert(MediaItem).returning(MediaItem.id), rows))


def _season_rows(tx: Tx, show_id: int) -> dict[int, AnyRow]:
    query = select(
        MediaItem.id, MediaItem.number, MediaItem.title, MediaItem.aired_at, MediaItem.is_requested
    ).where(MediaItem.parent_id == show_id, MediaItem.type == MediaType.SEASON)
    return {row.number: row for row in tx.connection.execute(query)}


def _episode_rows(tx: Tx, show_id: int) -> dict[int, AnyRow]:
    has_file = exists().where(EntryItem.item_id == MediaItem.id).label("has_file")
    query = (
        select(*EPISODE, Season.number.label("season"), has_file)
        .join(Season, Season.id == MediaItem.parent_id)
        .where(MediaItem.root_id == show_id, MediaItem.type == MediaType.EPISODE)
    )
    return {row.id: row for row in tx.connection.execute(query)}


def _stored(row: AnyRow) -> StoredEpisode:
    return StoredEpisode(row.id, row.season, row.number, row.service_id, bool(row.has_file))


def _described(episode: EpisodeMetadata) -> dict[str, object]:
    return {
        "number": episode.number,
        "absolute_number": episode.absolute_number,
        "service_id": episode.service_id or None,
        "title": episode.title,
        "title_key": title_key(episode.title),
        "year": episode.aired_at.year if episode.aired_at else None,
        "aired_at": episode.aired_at,
        "earliest_at": episode.aired_at,
        "runtime": episode.runtime,
    }


def _changes(
    row: AnyRow, season: AnyRow, episode: EpisodeMetadata, now: datetime
) -> dict[str, object] | None:
    """Return the columns of a row that is to be written again, None when the answer says what is there."""
    has_moved = row.parent_id != season.id
    values = {
        **_described(episode),
        "parent_id": season.id,
        "is_requested": row.is_requested or (has_moved and season.is_requested),
        "indexed_at": row.indexed_at or now,
        "contradiction": _left_of(row.contradiction),
    }
    present = row._mapping  # noqa: SLF001 - SQLAlchemy's public API despite its name
    if all(present[name] == value for name, value in values.items()):
        return None
    return {"item_id": row.id, **values}


def _left_of(contradiction: Contradiction | None) -> Contradiction | None:
    """Return what new metadata leaves of a contradiction: what a later service found odd."""
    return contradiction if contradiction is not None and contradiction.with_metadata else None


def _moving(stored: Mapping[int, AnyRow], changed: Iterable[dict[str, object]]) -> list[int]:
    rows = ((stored[int(str(values["item_id"]))], values) for values in changed)
    return [
        row.id
        for row, values in rows
        if (row.parent_id, row.number) != (values["parent_id"], values["number"])
    ]


def _give_up_places(tx: Tx, row_ids: list[int]) -> None:
    """Free the numbers of these rows, so that numbers can be swapped although each is unique within its season."""
    if row_ids:
        tx.connection.execute(update(MediaItem).where(MediaItem.id.in_(row_ids)).values(number=None))


def _new_episode(show_id: int, season: AnyRow, episode: EpisodeMetadata, now: datetime) -> dict[str, object]:
    item = Item(
        id=0,
        root_id=show_id,
        type=MediaType.EPISODE,
        parent_id=season.id,
        is_requested=season.is_requested,
        facts=Facts(indexed_at=now),
        created_at=now,
    )
    return {**_new_row(show_id, item), **_described(episode)}


def _new_row(show_id: int, item: Item) -> dict[str, object]:
    return {**columns_of(item), "root_id": show_id, "service_id": None}


def _describe_seasons(tx: Tx, rows: Mapping[int, AnyRow], answer: Iterable[SeasonMetadata]) -> None:
    names = ("title", "title_key", "aired_at", "earliest_at", "year")
    changed: list[dict[str, object]] = []
    for season in answer:
        row = rows[season.number]
        aired = min((part.aired_at for part in season.episodes if part.aired_at), default=None)
        if (season.title, aired) != (row.title, row.aired_at):
            values = (season.title, title_key(season.title), aired, aired, aired.year if aired else None)
            changed.append({"item_id": row.id, **dict(zip(names, values, strict=True))})
    write_columns(tx, names, changed)


def _drop_empty(tx: Tx, rows: Mapping[int, AnyRow], answer: Iterable[SeasonMetadata]) -> None:
    """Remove the seasons that the service dropped, unless an episode with a file is left in them."""
    dropped = [row.id for number, row in rows.items() if number not in {part.number for part in answer}]
    if dropped:
        episodes = select(MediaItem.parent_id).where(MediaItem.parent_id.in_(dropped))
        tx.connection.execute(
            delete(MediaItem).where(MediaItem.id.in_(dropped), MediaItem.id.not_in(episodes))
        )
