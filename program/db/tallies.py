"""What the library adds up to, for people who like to see it: files by quality, files by week, refusals, waiting times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from sqlalchemy import case, func, select

from program.db.engine import Tx
from program.db.tables import MediaEntry, MediaItem, Stream
from program.media.item import MediaType

LAST_RELEASES = 5000
LAST_TITLES = 500


@dataclass(frozen=True, slots=True)
class Held:
    """Files of one quality. size: bytes in all."""

    version: str
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Refusals:
    """What became of the releases that were found last. seen: how many those are; by_code: of them refused, by rule."""

    seen: int
    by_code: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Waits:
    """How long films took from the wish to the media server. titles: how many this is the median of; typical: None without any."""

    titles: int
    typical: timedelta | None


def held(tx: Tx) -> tuple[Held, ...]:
    """Return the files of the library by version, most files first."""
    files = func.count()
    query = (
        select(MediaEntry.version, files, func.sum(MediaEntry.size))
        .where(MediaEntry.registered_at.is_not(None))
        .group_by(MediaEntry.version)
        .order_by(files.desc(), MediaEntry.version)
    )
    return tuple(Held(version, count, int(size)) for version, count, size in tx.connection.execute(query))


def arrivals(tx: Tx, edges: Sequence[datetime]) -> tuple[int, ...]:
    """Return how many files were registered in each span between two edges; one number fewer than edges, which rise."""
    ends = edges[1:]
    number = case(*((MediaEntry.registered_at < end, index) for index, end in enumerate(ends)))
    query = (
        select(number.label("span"), func.count().label("files"))
        .where(MediaEntry.registered_at >= edges[0], MediaEntry.registered_at < edges[-1])
        .group_by("span")
    )
    found: dict[int, int] = {row.span: row.files for row in tx.connection.execute(query)}
    return tuple(found.get(index, 0) for index in range(len(ends)))


def refusals(tx: Tx) -> Refusals:
    """Return why the releases that were found last were refused, the commonest reason first."""
    last = select(Stream.rejection_code).order_by(Stream.id.desc()).limit(LAST_RELEASES).subquery()
    query = select(last.c.rejection_code.label("code"), func.count().label("number")).group_by(
        last.c.rejection_code
    )
    found: dict[str | None, int] = {row.code: row.number for row in tx.connection.execute(query)}
    refused = {code: count for code, count in found.items() if code is not None}
    ordered = dict(sorted(refused.items(), key=lambda pair: (-pair[1], pair[0])))
    return Refusals(seen=sum(found.values()), by_code=ordered)


def waits(tx: Tx) -> Waits:
    """Return how long the films that came last took, among those that were out when they were asked for."""
    query = (
        select(MediaItem.created_at, MediaItem.confirmed_at)
        .where(
            MediaItem.type == MediaType.MOVIE,
            MediaItem.confirmed_at.is_not(None),
            MediaItem.earliest_at <= MediaItem.created_at,
        )
        .order_by(MediaItem.created_at.desc())
        .limit(LAST_TITLES)
    )
    spans = [
        (confirmed - created).total_seconds()
        for created, confirmed in tx.connection.execute(query)
        if confirmed is not None
    ]
    return Waits(len(spans), timedelta(seconds=median(spans)) if spans else None)
