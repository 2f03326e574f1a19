"""The story of each item: one row per step, read as a timeline."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, or_, select

from program.db.engine import Tx
from program.db.tables import DecisionRow, MediaItem
from program.db.views import Decision, StoredDecision

__all__ = ["Decision", "StoredDecision", "prune", "timeline", "write"]

KEPT_PER_ITEM = 200
KEPT_FOR = timedelta(days=180)


def write(tx: Tx, decisions: Iterable[Decision], now: datetime) -> None:
    """Add `decisions`, all made `now`; their items must exist."""
    rows = [
        {
            "item_id": made.item_id,
            "at": now,
            "step": made.step,
            "outcome": made.outcome,
            "sentence": made.sentence,
            "data": dict(made.data),
            "next_at": made.next_at,
            "provider": made.provider,
            "attempt": made.attempt,
            "ms": made.ms,
        }
        for made in decisions
    ]
    if rows:
        tx.connection.execute(insert(DecisionRow), rows)


def timeline(
    tx: Tx, item_id: int, limit: int = 200, *, with_descendants: bool = False
) -> tuple[StoredDecision, ...]:
    """Return the last `limit` decisions of an item (and of what is beneath it), the oldest first."""
    of_item = DecisionRow.item_id == item_id
    if with_descendants:
        beneath = select(MediaItem.id).where(
            or_(MediaItem.id == item_id, MediaItem.parent_id == item_id, MediaItem.root_id == item_id)
        )
        of_item = DecisionRow.item_id.in_(beneath)
    query = select(DecisionRow).where(of_item).order_by(DecisionRow.id.desc()).limit(limit)
    return tuple(
        StoredDecision(
            id=row.id,
            item_id=row.item_id,
            at=row.at,
            step=row.step,
            outcome=row.outcome,
            sentence=row.sentence,
            data=row.data,
            next_at=row.next_at,
            provider=row.provider,
            attempt=row.attempt,
            ms=row.ms,
        )
        for row in reversed(tx.connection.execute(query).all())
    )


def prune(tx: Tx, now: datetime) -> int:
    """Forget what is older than 180 days or beyond the last 200 of an item, never the newest of a step; return how many."""
    of_item = func.row_number().over(partition_by=DecisionRow.item_id, order_by=DecisionRow.id.desc())
    of_step = func.row_number().over(
        partition_by=(DecisionRow.item_id, DecisionRow.step), order_by=DecisionRow.id.desc()
    )
    # Only items with something to forget are ranked.
    too_many = select(DecisionRow.item_id).group_by(DecisionRow.item_id).having(func.count() > KEPT_PER_ITEM)
    too_old = select(DecisionRow.item_id).where(DecisionRow.at < now - KEPT_FOR)
    ranked = (
        select(DecisionRow.id, DecisionRow.at, of_item.label("place"), of_step.label("place_in_step"))
        .where(or_(DecisionRow.item_id.in_(too_many), DecisionRow.item_id.in_(too_old)))
        .subquery()
    )
    gone = select(ranked.c.id).where(
        ranked.c.place_in_step > 1, or_(ranked.c.place > KEPT_PER_ITEM, ranked.c.at < now - KEPT_FOR)
    )
    return tx.connection.execute(delete(DecisionRow).where(DecisionRow.id.in_(gone))).rowcount
