"""Throwing things away at a start, because the settings say so."""

from sqlalchemy import delete, or_, update

from program.db.engine import Tx
from program.db.tables import Base, MediaItem


def everything(tx: Tx) -> None:
    """Empty every table; the schema stays."""
    for table in reversed(Base.metadata.sorted_tables):
        tx.connection.execute(delete(table))


def postponements(tx: Tx) -> None:
    """Forget errors and waits, so that what waited because of them is due at once; cooldowns of searches stay."""
    held = MediaItem.hold_until.is_not(None)
    index_held = MediaItem.index_hold_until.is_not(None)
    # Any past date will do: the next turn replaces it by the one that follows from the facts.
    long_ago = MediaItem.created_at
    tx.connection.execute(
        update(MediaItem).where(held, MediaItem.next_attempt_at.is_not(None)).values(next_attempt_at=long_ago)
    )
    tx.connection.execute(
        update(MediaItem).where(index_held, MediaItem.reindex_at.is_not(None)).values(reindex_at=long_ago)
    )
    tx.connection.execute(
        update(MediaItem)
        .where(or_(held, index_held, MediaItem.failures > 0))
        .values(failures=0, hold_until=None, hold_reason=None, index_hold_until=None)
    )
