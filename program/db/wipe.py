"""Throwing things away on a person's explicit wish in the settings."""

from sqlalchemy import delete, or_, update

from program.db.engine import Tx
from program.db.tables import Base, MediaItem


def everything(tx: Tx) -> None:
    """Empty all tables: the library, who asked for what, and what is known of accounts and providers."""
    for table in reversed(Base.metadata.sorted_tables):
        tx.connection.execute(delete(table))


def postponements(tx: Tx) -> None:
    """Forget the holds that errors and providers put on titles; what waited because of them is due at once."""
    held = MediaItem.hold_until.is_not(None)
    index_held = MediaItem.index_hold_until.is_not(None)
    # Any past date will do: the next turn replaces it.
    long_ago = MediaItem.created_at
    tx.connection.execute(
        update(MediaItem).where(held, MediaItem.next_attempt_at.is_not(None)).values(next_attempt_at=long_ago)
    )
    tx.connection.execute(
        update(MediaItem).where(index_held, MediaItem.reindex_at.is_not(None)).values(reindex_at=long_ago)
    )
    tx.connection.execute(
        update(MediaItem)
        .where(or_(held, index_held))
        .values(hold_until=None, hold_reason=None, index_hold_until=None, failures=0)
    )
