"""Torrents on accounts: the intent is written before the effect, so that a crash leaves nothing that nobody owns."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, insert, select, tuple_, update

from program.db.engine import Tx
from program.db.tables import ProviderTorrent, Source
from program.db.views import HalfMade

__all__ = [
    "HalfMade",
    "forget",
    "half_made",
    "intend",
    "keep",
    "record",
    "release",
    "release_unused",
    "unanswered",
]


def unanswered(tx: Tx, provider: str, infohash: str) -> datetime | None:
    """Return when an earlier intent was written down of which no id is known: it may have been carried out since."""
    found: datetime | None = tx.connection.scalar(
        select(ProviderTorrent.intended_at).where(
            _place(provider, infohash), ProviderTorrent.torrent_id.is_(None)
        )
    )
    return found


def intend(tx: Tx, provider: str, infohash: str, item_id: int | None, now: datetime) -> str | None:
    """Write down that a torrent is about to be put on an account; return the id there of one that we put there before.

    item_id: the title it is for, None for one that is not in the library.

    A torrent that is kept already stays kept; an intent of which no id is known keeps its date. A torrent that was there before us
    has to be found again as such, else it would be taken for ours.
    """
    known = tx.connection.execute(
        select(ProviderTorrent.torrent_id, ProviderTorrent.is_foreign)
        .where(_place(provider, infohash))
        .with_for_update()
    ).one_or_none()
    if known is None:
        tx.connection.execute(
            insert(ProviderTorrent).values(
                provider=provider,
                infohash=infohash,
                item_id=item_id,
                intended_at=now,
                is_kept=False,
                is_foreign=False,
            )
        )
        return None
    renewed = {} if known.torrent_id is None else {"intended_at": now}
    tx.connection.execute(
        update(ProviderTorrent).where(_place(provider, infohash)).values(item_id=item_id, **renewed)
    )
    return None if known.is_foreign else known.torrent_id


def record(
    tx: Tx, provider: str, infohash: str, torrent_id: str, now: datetime, *, is_foreign: bool = False
) -> None:
    """Write down the id that the provider gave. is_foreign: it was there before us; a torrent of ours found again stays ours."""
    place = _place(provider, infohash)
    is_ours = select(ProviderTorrent.torrent_id == torrent_id).where(
        place, ProviderTorrent.is_foreign.is_(False)
    )
    if is_foreign and tx.connection.scalar(is_ours):
        is_foreign = False
    tx.connection.execute(
        update(ProviderTorrent)
        .where(place)
        .values(torrent_id=torrent_id, recorded_at=now, is_foreign=is_foreign)
    )


def keep(tx: Tx, provider: str, infohash: str) -> None:
    """Write down that a file of ours comes from the torrent: it is no longer half-made."""
    tx.connection.execute(update(ProviderTorrent).where(_place(provider, infohash)).values(is_kept=True))


def release(tx: Tx, provider: str, infohash: str) -> None:
    """Write down that no file of ours comes from the torrent any more: it is to be cleared up."""
    tx.connection.execute(update(ProviderTorrent).where(_place(provider, infohash)).values(is_kept=False))


def release_unused(tx: Tx, on_accounts: Collection[tuple[str, str]]) -> None:
    """Release those torrents, each a pair (provider, its id there), that no file of ours comes from any more."""
    is_named = tuple_(ProviderTorrent.provider, ProviderTorrent.torrent_id).in_(on_accounts)
    is_used = exists().where(
        Source.provider == ProviderTorrent.provider, Source.torrent_id == ProviderTorrent.torrent_id
    )
    tx.connection.execute(update(ProviderTorrent).where(is_named, ~is_used).values(is_kept=False))


def forget(tx: Tx, provider: str, infohash: str) -> None:
    """Write down that the torrent is not on the account, or that we have no part in it."""
    tx.connection.execute(delete(ProviderTorrent).where(_place(provider, infohash)))


def half_made(tx: Tx) -> tuple[HalfMade, ...]:
    """Return the torrents of ours that were intended and neither kept nor forgotten, the oldest first."""
    query = (
        select(
            ProviderTorrent.provider,
            ProviderTorrent.infohash,
            ProviderTorrent.torrent_id,
            ProviderTorrent.item_id,
            ProviderTorrent.intended_at,
        )
        .where(ProviderTorrent.is_kept.is_(False), ProviderTorrent.is_foreign.is_(False))
        .order_by(ProviderTorrent.intended_at, ProviderTorrent.infohash)
    )
    return tuple(HalfMade(*row) for row in tx.connection.execute(query))


def _place(provider: str, infohash: str) -> ColumnElement[bool]:
    return and_(ProviderTorrent.provider == provider, ProviderTorrent.infohash == infohash)
