"""Releases found for an item, and who refused them."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from program.db.engine import Tx
from program.db.rows import AnyRow
from program.db.tables import MediaItem, Stream, StreamBlock
from program.db.trees import is_usable
from program.db.views import StoredStreams
from program.media.release import Block, Candidate, JudgedRelease, Rejection

# A resolution without a number of lines stands last.
UNKNOWN_LINES = 0


def store(tx: Tx, item_id: int, judged: Iterable[JudgedRelease], now: datetime) -> StoredStreams:
    """Keep what a search found, with the verdicts of now; a release known before keeps its blacklisting and its blocks."""
    found = {release.infohash: release for release in reversed(tuple(judged))}
    query = select(Stream.infohash, Stream.id, Stream.blacklisted).where(
        Stream.item_id == item_id, Stream.infohash.in_(found)
    )
    known = {infohash: (stream_id, reason) for infohash, stream_id, reason in tx.connection.execute(query)}
    new = [
        {"item_id": item_id, **_values(release, now)}
        for release in found.values()
        if release.infohash not in known
    ]
    if new:
        tx.connection.execute(insert(Stream), new)
    again = [{"stream_id": known[infohash][0], **_values(found[infohash], now)} for infohash in known]
    if again:
        tx.connection.execute(update(Stream).where(Stream.id == bindparam("stream_id")), again)
    refused = {infohash for infohash, (_, reason) in known.items() if reason is not None}
    usable = sum(release.rejection is None and release.infohash not in refused for release in found.values())
    return StoredStreams(len(new), usable)


def candidates(
    tx: Tx, item_id: int, now: datetime, providers: tuple[str, ...], *, usable_only: bool = False
) -> tuple[Candidate, ...]:
    """Return the releases of an item, the best first and the refused last, each with the blocks in force.

    usable_only: only what can be downloaded: see `trees.is_usable`.
    """
    query = (
        select(Stream)
        .join(MediaItem, MediaItem.id == Stream.item_id)
        .where(Stream.item_id == item_id)
        .order_by(
            Stream.rejection_code.is_not(None),
            Stream.rank.desc(),
            Stream.lines.desc(),
            func.coalesce(Stream.seeders, -1).desc(),
            Stream.infohash,
        )
    )
    if usable_only:
        query = query.where(is_usable(now, providers))
    rows = tx.connection.execute(query).all()
    blocks = _blocks(tx, item_id, now)
    return tuple(_candidate(row, blocks.get(row.infohash, ())) for row in rows)


def named(tx: Tx, item_id: int, stream_id: int) -> tuple[str, str] | None:
    """Return hash and name of a release of an item, None when it has no such one."""
    query = select(Stream.infohash, Stream.raw_title).where(Stream.item_id == item_id, Stream.id == stream_id)
    row = tx.connection.execute(query).one_or_none()
    return (row.infohash, row.raw_title) if row is not None else None


def items_after(tx: Tx, item_id: int, limit: int) -> tuple[int, ...]:
    """Return the items with releases whose ids come after `item_id`, in their order."""
    query = select(Stream.item_id).where(Stream.item_id > item_id).distinct().order_by(Stream.item_id)
    return tuple(tx.connection.scalars(query.limit(limit)))


def of_title(tx: Tx, root_id: int, infohash: str) -> JudgedRelease | None:
    """Return a release as a search for any row of a title found it, None when none did."""
    query = (
        select(Stream)
        .join(MediaItem, MediaItem.id == Stream.item_id)
        .where(MediaItem.root_id == root_id, Stream.infohash == infohash)
        .order_by(Stream.found_at.desc())
        .limit(1)
    )
    row = tx.connection.execute(query).first()
    return _candidate(row, ()).release if row is not None else None


def never(tx: Tx, item_id: int) -> frozenset[str]:
    """Return the hashes that a person has ruled out for an item."""
    query = select(Stream.infohash).where(Stream.item_id == item_id, Stream.blacklisted.is_not(None))
    return frozenset(tx.connection.scalars(query))


def blocks(tx: Tx, item_id: int, now: datetime) -> dict[str, tuple[Block, ...]]:
    """Return who refuses what for an item, by hash."""
    return _blocks(tx, item_id, now)


def block(tx: Tx, item_id: int, infohash: str, refusal: Block, now: datetime) -> None:
    """Write down that a provider refused a release for an item; the newest refusal counts."""
    place = {"item_id": item_id, "infohash": infohash, "provider": refusal.provider}
    tx.connection.execute(
        delete(StreamBlock).where(
            StreamBlock.item_id == item_id,
            StreamBlock.infohash == infohash,
            StreamBlock.provider == refusal.provider,
        )
    )
    said = {"code": refusal.code, "sentence": refusal.sentence, "until": refusal.until, "created_at": now}
    tx.connection.execute(insert(StreamBlock).values(**place, **said))


def refusal(tx: Tx, provider: str, infohash: str, codes: Collection[str], now: datetime) -> Block | None:
    """Return what the provider answered about a release, for whichever item, when it was one of `codes` and is in force."""
    query = (
        select(StreamBlock)
        .where(
            StreamBlock.infohash == infohash,
            StreamBlock.provider == provider,
            StreamBlock.code.in_(codes),
            or_(StreamBlock.until.is_(None), StreamBlock.until > now),
        )
        .limit(1)
    )
    row = tx.connection.execute(query).first()
    if row is None:
        return None
    return Block(provider=provider, code=row.code, sentence=row.sentence, until=row.until)


def unblock(tx: Tx, item_ids: Iterable[int]) -> None:
    """Forget all refusals for these items."""
    tx.connection.execute(delete(StreamBlock).where(StreamBlock.item_id.in_(tuple(item_ids))))


def set_active(tx: Tx, item_id: int, infohash: str | None) -> None:
    """Choose the release of an item, or none. The state follows with the next `commit_outcome`."""
    tx.connection.execute(update(MediaItem).where(MediaItem.id == item_id).values(active_stream=infohash))


def blacklist(tx: Tx, item_id: int, infohash: str, reason: str) -> bool:
    """Never use a release for an item again, whatever a search says; return whether it is known there or at a row of its title."""
    is_known = _set_blacklisted(tx, item_id, infohash, reason) or _copy_ruled_out(
        tx, item_id, infohash, reason
    )
    tx.connection.execute(
        update(MediaItem)
        .where(MediaItem.id == item_id, MediaItem.active_stream == infohash)
        .values(active_stream=None)
    )
    return is_known


def ruled_out(tx: Tx, item_ids: Collection[int], infohash: str) -> frozenset[int]:
    """Return those of the items for which a person has ruled a release out."""
    query = select(Stream.item_id).where(
        Stream.item_id.in_(item_ids), Stream.infohash == infohash, Stream.blacklisted.is_not(None)
    )
    return frozenset(tx.connection.scalars(query))


def _copy_ruled_out(tx: Tx, item_id: int, infohash: str, reason: str) -> bool:
    """Note a release at an item that has it from the search of its season or show, as ruled out."""
    root_id = select(MediaItem.root_id).where(MediaItem.id == item_id).scalar_subquery()
    found = tx.connection.execute(
        select(Stream)
        .join(MediaItem, MediaItem.id == Stream.item_id)
        .where(MediaItem.root_id == root_id, Stream.infohash == infohash)
        .limit(1)
    ).first()
    if found is None:
        return False
    values = {column.name: getattr(found, column.name) for column in Stream.__table__.columns}
    del values["id"]
    tx.connection.execute(insert(Stream).values(**values | {"item_id": item_id, "blacklisted": reason}))
    return True


def unblacklist(tx: Tx, item_id: int, infohash: str | None) -> bool:
    """Allow a release again, all of them for None; return whether it is known there."""
    if infohash is not None:
        return _set_blacklisted(tx, item_id, infohash, None)
    allow = update(Stream).where(Stream.item_id == item_id).values(blacklisted=None)
    return tx.connection.execute(allow).rowcount > 0


def _set_blacklisted(tx: Tx, item_id: int, infohash: str, reason: str | None) -> bool:
    changed = tx.connection.execute(
        update(Stream)
        .where(Stream.item_id == item_id, Stream.infohash == infohash)
        .values(blacklisted=reason)
    )
    return changed.rowcount > 0


def _values(release: JudgedRelease, now: datetime) -> dict[str, object]:
    no = release.rejection
    return {
        "infohash": release.infohash,
        "raw_title": release.raw_title,
        "sources": release.sources,
        "size": release.size,
        "seeders": release.seeders,
        "cached_at": release.cached_at,
        "parsed": dict(release.parsed),
        "rejection_code": no.code if no else None,
        "rejection_sentence": no.sentence if no else None,
        "rejection_permanent": no.permanent if no else None,
        "rank": release.rank,
        "score": dict(release.score),
        "resolution": release.resolution,
        "lines": _lines(release.resolution),
        "similarity": release.similarity,
        "found_at": now,
    }


def _lines(resolution: str) -> int:
    digits = resolution[:-1]
    return int(digits) if digits.isdecimal() and resolution[-1:] in "pi" else UNKNOWN_LINES


def _blocks(tx: Tx, item_id: int, now: datetime) -> dict[str, tuple[Block, ...]]:
    query = (
        select(StreamBlock)
        .where(StreamBlock.item_id == item_id, or_(StreamBlock.until.is_(None), StreamBlock.until > now))
        .order_by(StreamBlock.provider)
    )
    found: dict[str, tuple[Block, ...]] = {}
    for row in tx.connection.execute(query):
        refusal = Block(provider=row.provider, code=row.code, sentence=row.sentence, until=row.until)
        found[row.infohash] = (*found.get(row.infohash, ()), refusal)
    return found


def _candidate(row: AnyRow, blocks: tuple[Block, ...]) -> Candidate:
    rejection = None
    if row.rejection_code is not None:
        rejection = Rejection(row.rejection_code, row.rejection_sentence, permanent=row.rejection_permanent)
    release = JudgedRelease(
        infohash=row.infohash,
        raw_title=row.raw_title,
        sources=row.sources,
        size=row.size,
        seeders=row.seeders,
        cached_at=row.cached_at,
        parsed=row.parsed,
        rejection=rejection,
        rank=row.rank,
        score=row.score,
        resolution=row.resolution,
        similarity=row.similarity,
    )
    return Candidate(
        id=row.id,
        item_id=row.item_id,
        release=release,
        found_at=row.found_at,
        blocks=blocks,
        blacklisted=row.blacklisted,
    )
