"""Titles that were finished before better or further copies were wanted."""

from datetime import datetime

from sqlalchemy import select, update

from program.db.engine import Tx
from program.db.tables import MediaItem
from program.media.item import MediaType, QueueClass, States

# Each round takes so many; the next one comes with the next housekeeping.
AT_ONCE = 200


def begin(tx: Tx, since: datetime, now: datetime) -> int:
    """Have films and episodes that appeared after `since` looked at for better copies now; return how many.

    The dates are those that `settle` would write.
    """
    open_ones = (
        select(MediaItem.id)
        .where(
            MediaItem.type.in_((MediaType.MOVIE, MediaType.EPISODE)),
            MediaItem.last_state == States.Completed,
            MediaItem.is_requested.is_(True),
            MediaItem.upgrade_at.is_(None),
            MediaItem.next_attempt_at.is_(None),
            MediaItem.registered_at > since,
        )
        .order_by(MediaItem.registered_at.desc())
        .limit(AT_ONCE)
    )
    changed = tx.connection.execute(
        update(MediaItem)
        .where(MediaItem.id.in_(open_ones))
        .values(
            upgrade_at=now,
            next_attempt_at=now,
            next_reason="a better copy is looked for",
            next_class=QueueClass.BACKGROUND,
        )
    )
    return changed.rowcount
