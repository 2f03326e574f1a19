"""The library at a glance, for pages: how much of each title is there, what waits, what happened last, who wants what."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select
from sqlalchemy.orm import aliased

from program.db.engine import Tx
from program.db.lists import not_first
from program.db.rows import AnyRow
from program.db.tables import DecisionRow, ItemRequest, MediaItem
from program.media.item import MediaType, States

ROOTS = (MediaType.MOVIE, MediaType.SHOW)
Parent = aliased(MediaItem, name="parent")
Show = aliased(MediaItem, name="show")


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """An item as it is named in a line. title: of the film or of the show; season, episode: numbers beneath a show."""

    item_id: int
    root_id: int
    type: MediaType
    title: str
    season: int | None
    episode: int | None
    state: States


@dataclass(frozen=True, slots=True)
class Parts:
    """Episodes of a show that are asked for. ready: Completed; out: not Unreleased."""

    ready: int
    out: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item that is looked at again at some instant, and why then."""

    name: Name
    at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class Happening:
    """A step of somebody's story."""

    name: Name
    at: datetime
    step: str
    outcome: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish. name None: the title was removed, and a list does not bring it back. seasons None: all, also future ones."""

    name: Name | None
    source: str
    external_id: str
    requested_by: str | None
    is_movie: bool
    seasons: tuple[int, ...] | None
    at: datetime


def title_counts(tx: Tx) -> Mapping[tuple[MediaType, States], int]:
    """Return how many films and shows that are asked for stand in which state."""
    query = (
        select(MediaItem.type, MediaItem.last_state, func.count())
        .where(MediaItem.type.in_(ROOTS), MediaItem.is_requested.is_(True))
        .group_by(MediaItem.type, MediaItem.last_state)
    )
    return {(kind, state): number for kind, state, number in tx.connection.execute(query)}


def parts(tx: Tx, root_ids: Collection[int]) -> Mapping[int, Parts]:
    """Return how much of each show is there; films are left out."""
    is_ready = case((MediaItem.last_state == States.Completed, 1), else_=0)
    is_out = case((MediaItem.last_state == States.Unreleased, 0), else_=1)
    query = (
        select(MediaItem.root_id, func.sum(is_ready), func.sum(is_out), func.count())
        .where(
            MediaItem.root_id.in_(root_ids),
            not_first(tx, MediaItem.type) == MediaType.EPISODE,
            MediaItem.is_requested.is_(True),
        )
        .group_by(MediaItem.root_id)
    )
    return {
        root_id: Parts(ready, out, wanted) for root_id, ready, out, wanted in tx.connection.execute(query)
    }


def waiting(tx: Tx, limit: int) -> tuple[Waiting, ...]:
    """Return what is looked at again, the soonest first."""
    query = (
        select(*NAME, MediaItem.next_attempt_at, MediaItem.next_reason)
        .outerjoin(Parent, Parent.id == MediaItem.parent_id)
        .join(Show, Show.id == MediaItem.root_id)
        .where(
            MediaItem.next_attempt_at.is_not(None),
            MediaItem.is_requested.is_(True),
            MediaItem.paused_at.is_(None),
        )
        .order_by(MediaItem.next_attempt_at, MediaItem.id)
        .limit(limit)
    )
    return tuple(
        Waiting(_name(row), row.next_attempt_at, row.next_reason) for row in tx.connection.execute(query)
    )


def happenings(tx: Tx, limit: int) -> tuple[Happening, ...]:
    """Return the last steps of all stories, the newest first."""
    last = select(DecisionRow.id).order_by(DecisionRow.id.desc()).limit(limit).subquery()
    query = (
        select(*NAME, DecisionRow.at, DecisionRow.step, DecisionRow.outcome, DecisionRow.sentence)
        .join(DecisionRow, DecisionRow.item_id == MediaItem.id)
        .join(last, last.c.id == DecisionRow.id)
        .outerjoin(Parent, Parent.id == MediaItem.parent_id)
        .join(Show, Show.id == MediaItem.root_id)
        .order_by(DecisionRow.id.desc())
    )
    return tuple(
        Happening(_name(row), row.at, row.step, row.outcome, row.sentence)
        for row in tx.connection.execute(query)
    )


def wishes(tx: Tx, limit: int, offset: int = 0) -> tuple[tuple[Wish, ...], int]:
    """Return who asked for what, the newest first, and how many wishes there are in all."""
    total = tx.connection.scalar(select(func.count()).select_from(ItemRequest)) or 0
    query = (
        select(
            *NAME,
            ItemRequest.item_id.label("wished_id"),
            ItemRequest.source,
            ItemRequest.external_id,
            ItemRequest.requested_by,
            ItemRequest.is_movie,
            ItemRequest.seasons,
            ItemRequest.created_at.label("asked_at"),
        )
        .select_from(ItemRequest)
        .outerjoin(MediaItem, MediaItem.id == ItemRequest.item_id)
        .outerjoin(Parent, Parent.id == MediaItem.parent_id)
        .outerjoin(Show, Show.id == MediaItem.root_id)
        .order_by(ItemRequest.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return tuple(_wish(row) for row in tx.connection.execute(query)), total


NAME = (
    MediaItem.id,
    MediaItem.root_id,
    MediaItem.type,
    MediaItem.number,
    MediaItem.last_state,
    Parent.number.label("season"),
    Show.title.label("show_title"),
)


def _name(row: AnyRow) -> Name:
    season, episode = (row.season, row.number) if row.type is MediaType.EPISODE else (None, None)
    return Name(
        item_id=row.id,
        root_id=row.root_id,
        type=row.type,
        title=row.show_title,
        season=row.number if row.type is MediaType.SEASON else season,
        episode=episode,
        state=row.last_state,
    )


def _wish(row: AnyRow) -> Wish:
    return Wish(
        name=None if row.wished_id is None else _name(row),
        source=row.source,
        external_id=row.external_id,
        requested_by=row.requested_by,
        is_movie=row.is_movie,
        seasons=row.seasons,
        at=row.asked_at,
    )
