"""Files that stand beside a video: its subtitles, and the further parts of a film."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from program.db import sources
from program.db.engine import Tx
from program.db.lots import lots
from program.db.sources import NewSource
from program.db.tables import CompanionEntry, MediaEntry
from program.db.views import NewCompanion
from program.media.entry import Companion, is_same_file
from program.media.naming import PART


@dataclass(frozen=True, slots=True)
class Origin:
    """The torrent that files come from, at one provider."""

    infohash: str
    provider: str
    torrent_id: str


def put(tx: Tx, video_id: int, origin: Origin, files: Collection[NewCompanion], now: datetime) -> None:
    """Keep what a video has beside it. A file of the torrent that is a video of its own is left alone."""
    known = _known(tx, origin.infohash) if files else ()
    for file in files:
        same = next((one for one in known if one.is_of(file)), None)
        values = {"video_id": video_id, "tail": file.tail, "language": file.language}
        if same is None:
            entry_id = _create(tx, origin.infohash, file, now)
            tx.connection.execute(insert(CompanionEntry).values(entry_id=entry_id, **values))
        elif same.is_companion:
            entry_id = same.entry_id
            of_entry = CompanionEntry.entry_id == entry_id
            tx.connection.execute(update(CompanionEntry).where(of_entry).values(**values))
        else:
            continue
        sources.put(tx, entry_id, NewSource(origin.provider, origin.torrent_id, file.file_id, file.link))


def _create(tx: Tx, infohash: str, file: NewCompanion, now: datetime) -> int:
    row: int = tx.connection.execute(
        insert(MediaEntry)
        .values(
            infohash=infohash,
            path_in_torrent=file.path_in_torrent,
            original_name=file.path_in_torrent.rpartition("/")[2],
            size=file.size,
            path="",
            version="",
            created_at=now,
        )
        .returning(MediaEntry.id)
    ).scalar_one()
    return row


def of(tx: Tx, video_ids: Collection[int] | None) -> Mapping[int, tuple[Companion, ...]]:
    """Return what stands beside videos, by video, in the order of the names; None: beside all there are."""
    query = (
        select(
            *(CompanionEntry.entry_id, CompanionEntry.video_id, CompanionEntry.tail, CompanionEntry.language),
            *(MediaEntry.size, MediaEntry.infohash, MediaEntry.path_in_torrent),
        )
        .join(MediaEntry, MediaEntry.id == CompanionEntry.entry_id)
        .order_by(CompanionEntry.video_id, CompanionEntry.tail, CompanionEntry.entry_id)
    )
    found: dict[int, list[Companion]] = {}
    for some in lots(video_ids):
        narrowed = query if some is None else query.where(CompanionEntry.video_id.in_(some))
        for row in tx.connection.execute(narrowed):
            identity = f"{row.infohash}/{row.path_in_torrent}"
            found.setdefault(row.video_id, []).append(
                Companion(row.entry_id, row.tail, row.size, identity, row.language)
            )
    return {video_id: tuple(rows) for video_id, rows in found.items()}


def in_parts(tx: Tx) -> frozenset[int]:
    """Return the files that further parts of a film stand beside."""
    tails = select(CompanionEntry.video_id).where(CompanionEntry.tail.startswith(PART, autoescape=True))
    return frozenset(tx.connection.scalars(tails))


def make_video(tx: Tx, entry_id: int, path: str, version: str) -> None:
    """Let a file that stands beside another be one of its own; one that is so already stays as it is."""
    gone = tx.connection.execute(delete(CompanionEntry).where(CompanionEntry.entry_id == entry_id))
    if gone.rowcount:
        tx.connection.execute(
            update(MediaEntry).where(MediaEntry.id == entry_id).values(path=path, version=version)
        )


def video_of(tx: Tx, entry_id: int) -> int | None:
    """Return the video that a file stands beside, None for a file of its own."""
    found: int | None = tx.connection.scalar(
        select(CompanionEntry.video_id).where(CompanionEntry.entry_id == entry_id)
    )
    return found


def remove(tx: Tx, video_ids: Iterable[int]) -> None:
    """Remove what stands beside videos, with its sources."""
    beside = select(CompanionEntry.entry_id).where(CompanionEntry.video_id.in_(tuple(video_ids)))
    tx.connection.execute(delete(MediaEntry).where(MediaEntry.id.in_(beside)))


@dataclass(frozen=True, slots=True)
class _Known:
    """A file of a torrent that we have."""

    entry_id: int
    path: str
    size: int
    is_companion: bool

    def is_of(self, file: NewCompanion) -> bool:
        """Return whether it is the same file, perhaps as another provider tells of it."""
        return is_same_file(self.path, self.size, file.path_in_torrent, file.size)


def _known(tx: Tx, infohash: str) -> tuple[_Known, ...]:
    query = (
        select(MediaEntry.id, MediaEntry.path_in_torrent, MediaEntry.size, CompanionEntry.video_id)
        .outerjoin(CompanionEntry, CompanionEntry.entry_id == MediaEntry.id)
        .where(MediaEntry.infohash == infohash)
    )
    rows = tx.connection.execute(query)
    return tuple(
        _Known(entry_id, path, size, video_id is not None) for entry_id, path, size, video_id in rows
    )
