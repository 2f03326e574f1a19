"""Where the bytes of files come from: the address that is known of each source, what went wrong there, and who else was asked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, insert, or_, select, update

from program.db.engine import Tx
from program.db.tables import MediaEntry, Source, SourceTrouble, StreamBlock, TorrentOffer
from program.media.entry import FetchedTorrent, Trouble, is_same_file

# Failures closer together than this are one failure: many readers meet the same dead link.
APART = timedelta(minutes=1)
# So many failures of a source are kept, the last ones and the first.
KEPT_TROUBLES = 20


@dataclass(frozen=True, slots=True)
class NewSource:
    """A place where a file's bytes come from. link: what the provider wants back when an address is asked for."""

    provider: str
    torrent_id: str
    file_id: str
    link: str | None = None


def put(tx: Tx, entry_id: int, new: NewSource) -> None:
    """Keep a source of a file; the one that the provider had before is replaced. Its failures count until bytes came."""
    place = (Source.entry_id == entry_id, Source.provider == new.provider)
    known = tx.connection.scalar(select(Source.id).where(*place))
    values = {
        "torrent_id": new.torrent_id,
        "file_id": new.file_id,
        "link": new.link,
        "url": None,
        "url_expires_at": None,
    }
    if known is None:
        fresh = {"entry_id": entry_id, "provider": new.provider, "failures": 0}
        tx.connection.execute(insert(Source).values(**fresh, **values))
    else:
        tx.connection.execute(update(Source).where(Source.id == known).values(**values))


def put_all(tx: Tx, torrent: FetchedTorrent) -> tuple[int, ...]:
    """Make a torrent a source of every file that we have of it; return the entries: none when no path and size agree."""
    ours = select(MediaEntry.id, MediaEntry.path_in_torrent, MediaEntry.size)
    found = []
    for entry_id, path, size in tx.connection.execute(
        ours.where(MediaEntry.infohash == torrent.infohash)
    ).all():
        file = next((file for file in torrent.files if is_same_file(path, size, file.path, file.size)), None)
        if file is not None:
            put(tx, entry_id, NewSource(torrent.provider, torrent.torrent_id, file.file_id, file.link))
            found.append(entry_id)
    return tuple(found)


def set_url(tx: Tx, source_id: int, url: str, expires_at: datetime | None, *, is_sound: bool = True) -> None:
    """Keep an address that bytes can be read from. is_sound: the source has no trouble any more, so it is forgotten."""
    sound = {"failures": 0, "failed_at": None, "failed_reason": None} if is_sound else {}
    tx.connection.execute(
        update(Source).where(Source.id == source_id).values(url=url, url_expires_at=expires_at, **sound)
    )
    if is_sound:
        _forget_troubles(tx, source_id)


def forget_url(tx: Tx, entry_id: int, url: str) -> None:
    """Forget an address of a file that no longer works; no source is blamed for it."""
    tx.connection.execute(
        update(Source)
        .where(Source.entry_id == entry_id, Source.url == url)
        .values(url=None, url_expires_at=None)
    )


def fail_source(tx: Tx, source_id: int, code: str, reason: str, now: datetime) -> int:
    """Forget a source's address and note the failure, unless one was noted within a minute; return how many there were.

    Whether and when a source is given up is the caller's to judge.
    """
    row = tx.connection.execute(
        select(Source.failures, Source.failed_at).where(Source.id == source_id)
    ).one_or_none()
    if row is None:
        return 0
    is_another = row.failed_at is None or now - row.failed_at >= APART
    failures: int = row.failures + 1 if is_another else row.failures
    values = {"failures": failures, "failed_reason": reason, "url": None, "url_expires_at": None}
    if is_another:
        values["failed_at"] = now
        _note_trouble(tx, source_id, code, reason, now)
    tx.connection.execute(update(Source).where(Source.id == source_id).values(**values))
    return failures


def troubles(tx: Tx, source_ids: Collection[int]) -> Mapping[int, tuple[Trouble, ...]]:
    """Return the failures of sources since they were last sound, the oldest first."""
    query = select(SourceTrouble).where(SourceTrouble.source_id.in_(source_ids)).order_by(SourceTrouble.id)
    found: dict[int, tuple[Trouble, ...]] = dict.fromkeys(source_ids, ())
    for row in tx.connection.execute(query):
        found[row.source_id] = (*found[row.source_id], Trouble(row.at, row.code, row.reason))
    return found


def to_mend(tx: Tx, now: datetime, limit: int) -> tuple[int, ...]:
    """Return the entries whose sources are to be looked at by now, those that wait longest first."""
    due = select(MediaEntry.id).where(MediaEntry.mend_at.is_not(None), MediaEntry.mend_at <= now)
    return tuple(tx.connection.scalars(due.order_by(MediaEntry.mend_at, MediaEntry.id).limit(limit)))


def mend_soon(tx: Tx, entry_id: int, now: datetime) -> bool:
    """Write down that the sources of a file are to be looked at now; return False when a date is written down already."""
    changed = tx.connection.execute(
        update(MediaEntry).where(MediaEntry.id == entry_id, MediaEntry.mend_at.is_(None)).values(mend_at=now)
    )
    return changed.rowcount > 0


def mend_later(tx: Tx, entry_ids: Collection[int], at: datetime | None) -> None:
    """Write down when the sources of files are looked at again; None: there is nothing to mend."""
    tx.connection.execute(update(MediaEntry).where(MediaEntry.id.in_(entry_ids)).values(mend_at=at))


def set_given_up(tx: Tx, entry_ids: Collection[int], at: datetime | None) -> None:
    """Write down that files were given up, so that another is searched in their place; None: they can be read again."""
    tx.connection.execute(update(MediaEntry).where(MediaEntry.id.in_(entry_ids)).values(given_up_at=at))


def not_offered(tx: Tx, provider: str, now: datetime, limit: int) -> tuple[str, ...]:
    """Return torrents of files in the tree that a provider was never asked about, the newest first.

    One that it refused when it was searched for is left out while that refusal is believed.
    """
    has_source = exists().where(Source.entry_id == MediaEntry.id, Source.provider == provider)
    was_asked = exists().where(
        TorrentOffer.provider == provider, TorrentOffer.infohash == MediaEntry.infohash
    )
    has_refused = exists().where(
        StreamBlock.infohash == MediaEntry.infohash,
        StreamBlock.provider == provider,
        or_(StreamBlock.until.is_(None), StreamBlock.until > now),
    )
    query = (
        select(MediaEntry.infohash)
        .where(MediaEntry.registered_at.is_not(None), ~has_source, ~was_asked, ~has_refused)
        .group_by(MediaEntry.infohash)
        .order_by(func.max(MediaEntry.registered_at).desc(), MediaEntry.infohash)
        .limit(limit)
    )
    return tuple(tx.connection.scalars(query))


def offered(tx: Tx, provider: str, infohash: str, answer: str, now: datetime) -> None:
    """Write down what a provider said when it was asked for a torrent of ours."""
    place = (TorrentOffer.provider == provider, TorrentOffer.infohash == infohash)
    tx.connection.execute(delete(TorrentOffer).where(*place))
    tx.connection.execute(
        insert(TorrentOffer).values(provider=provider, infohash=infohash, answer=answer, at=now)
    )


def _note_trouble(tx: Tx, source_id: int, code: str, reason: str, now: datetime) -> None:
    """Note a failure; of many the first is kept, since it says since when, and the last."""
    tx.connection.execute(insert(SourceTrouble).values(source_id=source_id, at=now, code=code, reason=reason))
    of_source = SourceTrouble.source_id == source_id
    ids = tx.connection.scalars(select(SourceTrouble.id).where(of_source).order_by(SourceTrouble.id)).all()
    if len(ids) > KEPT_TROUBLES:
        tx.connection.execute(delete(SourceTrouble).where(SourceTrouble.id == ids[1]))


def _forget_troubles(tx: Tx, source_id: int) -> None:
    tx.connection.execute(delete(SourceTrouble).where(SourceTrouble.source_id == source_id))
