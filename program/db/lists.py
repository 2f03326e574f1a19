"""The library as lists: a page of it, its numbers, the calendar. Each reads the columns it prints."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, UnaryExpression, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, aliased
from sqlalchemy.sql import operators

from program.db.engine import Tx
from program.db.lookup import find_all
from program.db.rows import AnyRow, ids_of
from program.db.tables import ItemRequest, MediaItem
from program.db.titles import title_key
from program.db.views import CalendarRow, ItemFilter, ItemRow, Page, Sort, Stats
from program.media.item import Ids, MediaType, States

T = TypeVar("T")
Parent = aliased(MediaItem, name="parent")
Show = aliased(MediaItem, name="show")
ROOTS = (MediaType.MOVIE, MediaType.SHOW)
LEAVES = (MediaType.MOVIE, MediaType.EPISODE)

# A list with fewer rows than this is found by its filters and sorted; a longer one is read in its order until the page is full.
FEW = 1_000

ORDERS: Mapping[Sort, tuple[UnaryExpression[Any], UnaryExpression[int]]] = MappingProxyType(
    {
        Sort.TITLE_ASC: (MediaItem.title_key.asc(), MediaItem.id.asc()),
        Sort.TITLE_DESC: (MediaItem.title_key.desc(), MediaItem.id.desc()),
        Sort.DATE_ASC: (MediaItem.created_at.asc(), MediaItem.id.asc()),
        Sort.DATE_DESC: (MediaItem.created_at.desc(), MediaItem.id.desc()),
    }
)


def page(tx: Tx, wanted: ItemFilter) -> Page:
    """Return one page of the rows that pass the filter, and how many there are in all."""
    conditions, total = _counted(tx, wanted)
    order = ORDERS[wanted.sort]
    # The page's ids come from an index alone; only then are the columns of these few rows read.
    ids = (
        select(MediaItem.id)
        .where(*conditions)
        .order_by(*order)
        .limit(wanted.limit)
        .offset((wanted.page - 1) * wanted.limit)
        .subquery()
    )
    rows = tx.connection.execute(_with_show(ROW).join(ids, ids.c.id == MediaItem.id).order_by(*order))
    return Page(tuple(_item_row(row) for row in rows), total)


def _counted(tx: Tx, wanted: ItemFilter) -> tuple[list[ColumnElement[bool]], int]:
    """Return the conditions in the form that is quick for a list of this length, and the length."""
    if wanted.search.strip():
        conditions = [*_conditions(tx, wanted, is_long=True), _matches(tx, wanted.search.strip())]
        ids = tx.connection.scalars(select(MediaItem.id).where(*conditions).limit(FEW + 1)).all()
        if len(ids) <= FEW:
            return [MediaItem.id.in_(ids)], len(ids)
    else:
        conditions = _conditions(tx, wanted, is_long=False)
    count = select(func.count()).select_from(MediaItem).where(*conditions)
    total = tx.connection.scalar(count) or 0
    if total > FEW and not wanted.search.strip():
        conditions = _conditions(tx, wanted, is_long=True)
    return conditions, total


def stats(tx: Tx, year: int) -> Stats:
    """Return the counts of what is asked for; activity is that of `year`."""
    by_type: dict[MediaType, int] = dict.fromkeys(MediaType, 0)
    states: dict[States, int] = dict.fromkeys(States, 0)
    for (kind, state), count in counts(tx).items():
        by_type[kind] += count
        states[state] += count
    total = sum(by_type.values())
    return Stats(
        by_type=by_type,
        states=states,
        total=total,
        incomplete=total - states[States.Completed],
        activity=_activity(tx, year),
        years=_years(tx),
    )


def counts(tx: Tx) -> dict[tuple[MediaType, States], int]:
    """Return how many rows are asked for, by type and state; a pair without rows is left out."""
    query = (
        select(MediaItem.type, MediaItem.last_state, func.count())
        .where(MediaItem.is_requested.is_(True))
        .group_by(MediaItem.type, MediaItem.last_state)
    )
    return {(kind, state): count for kind, state, count in tx.connection.execute(query)}


def calendar(tx: Tx, start: datetime, end: datetime, *, limit: int | None = None) -> tuple[CalendarRow, ...]:
    """Return the requested films and episodes that come out from `start` to before `end`, the first `limit` of them."""
    query = (
        _with_show(ROW)
        .where(
            MediaItem.earliest_at >= start,
            MediaItem.earliest_at < end,
            MediaItem.is_requested.is_(True),
            not_first(tx, MediaItem.type).in_(LEAVES),
        )
        .order_by(MediaItem.earliest_at, MediaItem.id)
        .limit(limit)
    )
    return tuple(_calendar_row(row) for row in tx.connection.execute(query))


def _conditions(tx: Tx, wanted: ItemFilter, *, is_long: bool) -> list[ColumnElement[bool]]:
    """Return what the rows must fulfil. is_long: nearly all do, so that the filters are no place to begin."""

    def column(column: InstrumentedAttribute[T]) -> ColumnElement[T]:
        return not_first(tx, column) if is_long else column.expression

    conditions: list[ColumnElement[bool]] = []
    if wanted.only_requested:
        conditions.append(MediaItem.is_requested.is_(True))
    if wanted.types or wanted.states:
        # All types when none is named: the index of states begins with the type.
        conditions.append(column(MediaItem.type).in_(sorted(wanted.types or MediaType)))
    if wanted.states:
        states = sorted(wanted.states, key=lambda state: state.value)
        conditions.append(column(MediaItem.last_state).in_(states))
    if wanted.anime:
        conditions.append(MediaItem.is_anime.is_(True))
    if wanted.ids:
        conditions.append(MediaItem.id.in_(wanted.ids))
    if wanted.requested_by or wanted.sources:
        conditions.append(MediaItem.root_id.in_(_asked_for(wanted)))
    return conditions


def _asked_for(wanted: ItemFilter) -> Select[int | None]:
    """Return the titles that these persons or lists asked for."""
    query = select(ItemRequest.item_id).where(ItemRequest.item_id.is_not(None))
    if wanted.requested_by:
        query = query.where(ItemRequest.requested_by.in_(wanted.requested_by))
    return query.where(ItemRequest.source.in_(wanted.sources)) if wanted.sources else query


def not_first(tx: Tx, column: InstrumentedAttribute[T]) -> ColumnElement[T]:
    """Return the column so that SQLite does not begin with its index: without statistics it believes that any equality is rare.

    PostgreSQL has statistics.
    """
    if tx.connection.dialect.name != "sqlite":
        return column.expression
    return UnaryExpression(column.expression, operator=operators.custom_op("+"), type_=column.type)


def _matches(tx: Tx, search: str) -> ColumnElement[bool]:
    by_title = MediaItem.title_key.contains(title_key(search), autoescape=True)
    if not search.removeprefix("tt").isdecimal():
        return by_title
    ids = [Ids(imdb=search, tmdb=search, tvdb=search)]
    return or_(by_title, MediaItem.id.in_([found for kind in ROOTS for found in find_all(tx, kind, ids)]))


ROW = (
    MediaItem.id,
    MediaItem.type,
    MediaItem.title,
    MediaItem.imdb,
    MediaItem.tmdb,
    MediaItem.tvdb,
    MediaItem.number,
    MediaItem.year,
    MediaItem.poster,
    MediaItem.earliest_at,
    MediaItem.is_anime,
    MediaItem.last_state,
    MediaItem.scraped_times,
    # A title that is only looked up so far has the date of that.
    func.coalesce(MediaItem.next_attempt_at, MediaItem.reindex_at).label("next_attempt_at"),
    MediaItem.next_reason,
    MediaItem.created_at,
    Parent.number.label("season"),
    Show.title.label("show_title"),
    Show.imdb.label("show_imdb"),
    Show.tmdb.label("show_tmdb"),
    Show.tvdb.label("show_tvdb"),
    Show.poster.label("show_poster"),
    Show.year.label("show_year"),
)


def _with_show(columns: tuple[Any, ...]) -> Select[*tuple[Any, ...]]:
    return (
        select(*columns)
        .outerjoin(Parent, Parent.id == MediaItem.parent_id)
        .join(Show, Show.id == MediaItem.root_id)
    )


def _numbers(row: AnyRow) -> tuple[int | None, int | None]:
    if row.type is MediaType.SEASON:
        return row.number, None
    return (row.season, row.number) if row.type is MediaType.EPISODE else (None, None)


def _item_row(row: AnyRow) -> ItemRow:
    season, episode = _numbers(row)
    is_root = row.type in ROOTS
    return ItemRow(
        id=row.id,
        type=row.type,
        title=row.title,
        ids=ids_of(row),
        parent_ids=Ids() if is_root else Ids(row.show_imdb, row.show_tmdb, row.show_tvdb),
        show_title=None if is_root else row.show_title,
        season=season,
        episode=episode,
        year=row.year or row.show_year,
        poster=row.poster or row.show_poster,
        aired_at=row.earliest_at,
        is_anime=row.is_anime,
        last_state=row.last_state,
        scraped_times=row.scraped_times,
        next_attempt_at=row.next_attempt_at,
        next_reason=row.next_reason,
        created_at=row.created_at,
    )


def _calendar_row(row: AnyRow) -> CalendarRow:
    season, episode = _numbers(row)
    return CalendarRow(
        item_id=row.id,
        type=row.type,
        ids=Ids(row.show_imdb, row.show_tmdb, row.show_tvdb),
        show_title=row.show_title,
        title=row.title,
        aired_at=row.earliest_at,
        season=season,
        episode=episode,
        last_state=row.last_state,
    )


def _activity(tx: Tx, year: int) -> dict[date, int]:
    # The text that SQLite keeps begins with the date, and taking it from there is much quicker than understanding it.
    is_text = tx.connection.dialect.name == "sqlite"
    day = func.substr(MediaItem.created_at, 1, 10) if is_text else func.date(MediaItem.created_at)
    query = (
        select(day, func.count())
        .where(
            MediaItem.is_requested.is_(True),
            MediaItem.created_at >= datetime(year, 1, 1, tzinfo=UTC),
            MediaItem.created_at < datetime(year + 1, 1, 1, tzinfo=UTC),
            not_first(tx, MediaItem.type).in_(ROOTS),
        )
        .group_by(day)
    )
    return {date.fromisoformat(str(on)): count for on, count in tx.connection.execute(query)}


def _years(tx: Tx) -> tuple[tuple[int | None, int], ...]:
    query = (
        select(MediaItem.year, func.count())
        .where(MediaItem.is_requested.is_(True), MediaItem.type.in_(ROOTS))
        .group_by(MediaItem.year)
    )
    found = [(year, count) for year, count in tx.connection.execute(query)]
    return tuple(sorted(found, key=lambda pair: (pair[0] is None, pair[0] or 0)))
