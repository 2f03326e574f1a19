"""Throwing things away at a start, because the settings say so."""

from sqlalchemy import delete, update

from program.db.engine import Tx
from program.db.tables import Base, MediaItem


def everything(tx: Tx) -> None:
    """Empty every table; the schema stays."""
    for table in reversed(Base.metadata.sorted_tables):
        tx.connection.execute(delete(table))


def postponements(tx: Tx) -> None:
    """Forget errors and waits, so that whatever is unfinished is due at once; cooldowns of searches that found nothing stay."""
    tx.connection.execute(
        update(MediaItem).values(failures=0, hold_until=None, hold_reason=None, index_hold_until=None)
    )
