"""Files that stand beside a video: its subtitles, and the further parts of a film."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from program.db import sources
from program.db.engine import Tx
from program.db.lots import lots
from program.db.sources import NewSource
from program.db.tables import CompanionEntry, MediaEntry
from program.db.views import NewEntry
from program.media.entry import Companion
from program.media.naming import PART


def put(tx: Tx, video_id: int, new: NewEntry, now: datetime) -> None:
    """Keep what a new file has beside it. A file of the torrent that is a video of its own is left alone."""
    if not new.companions:
        return
    known = _known(tx, new.infohash, [one.path_in_torrent for one in new.companions])
    for one in new.companions:
        entry_id, is_companion = known.get(one.path_in_torrent, (None, True))
        if not is_companion:
            continue
        values = {"video_id": video_id, "tail": one.tail, "language": one.language}
        if entry_id is None:
            entry_id = tx.connection.execute(
                insert(MediaEntry)
                .values(
                    infohash=new.infohash,
                    path_in_torrent=one.path_in_torrent,
                    original_name=one.path_in_torrent.rpartition("/")[2],
                    size=one.size,
                    path="",
                    version="",
                    created_at=now,
                )
                .returning(MediaEntry.id)
            ).scalar_one()
            tx.connection.execute(insert(CompanionEntry).values(entry_id=entry_id, **values))
        else:
            tx.connection.execute(
                update(CompanionEntry).where(CompanionEntry.entry_id == entry_id).values(**values)
            )
        sources.put(tx, entry_id, NewSource(new.provider, new.torrent_id, one.file_id, one.link))


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


def _known(tx: Tx, infohash: str, paths: Collection[str]) -> dict[str, tuple[int, bool]]:
    """Return, by path, the entries of a torrent's files that there are, and whether each stands beside another."""
    query = (
        select(MediaEntry.id, MediaEntry.path_in_torrent, CompanionEntry.video_id)
        .outerjoin(CompanionEntry, CompanionEntry.entry_id == MediaEntry.id)
        .where(MediaEntry.infohash == infohash, MediaEntry.path_in_torrent.in_(paths))
    )
    return {
        path: (entry_id, video_id is not None) for entry_id, path, video_id in tx.connection.execute(query)
    }
