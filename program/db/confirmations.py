"""What each media server was asked about an item, and whether it has it."""

from datetime import datetime

from sqlalchemy import ColumnElement, and_, insert, select, update

from program.db.engine import Tx
from program.db.tables import MediaItem, ServerConfirmation


def asked(tx: Tx, item_id: int, server: str, now: datetime, *, scanned: bool) -> None:
    """Count a question to a server; scanned: its folder was scanned with it.

    The count begins anew when the item was registered or retried since the last question.
    """
    place = _place(item_id, server)
    row = tx.connection.execute(
        select(
            ServerConfirmation.asked_times,
            ServerConfirmation.asked_at,
            MediaItem.registered_at,
            MediaItem.restarted_at,
        )
        .join(MediaItem, MediaItem.id == ServerConfirmation.item_id)
        .where(place)
    ).one_or_none()
    scan = {"scanned_at": now} if scanned else {}
    if row is None:
        first = {"item_id": item_id, "server": server, "asked_times": 1, "asked_at": now}
        tx.connection.execute(insert(ServerConfirmation).values(**first, **scan))
        return
    is_about_now = _is_since(row.asked_at, row.registered_at, row.restarted_at)
    times = row.asked_times + 1 if is_about_now else 1
    tx.connection.execute(
        update(ServerConfirmation).where(place).values(asked_times=times, asked_at=now, **scan)
    )


def confirmed(tx: Tx, item_id: int, server: str, now: datetime) -> None:
    """Write down that a server lists the item."""
    values = {"confirmed_at": now}
    if not tx.connection.execute(
        update(ServerConfirmation).where(_place(item_id, server)).values(**values)
    ).rowcount:
        new = {"item_id": item_id, "server": server, "asked_times": 0}
        tx.connection.execute(insert(ServerConfirmation).values(**new, **values))


def _place(item_id: int, server: str) -> ColumnElement[bool]:
    return and_(ServerConfirmation.item_id == item_id, ServerConfirmation.server == server)


def _is_since(asked: datetime | None, registered: datetime | None, restarted: datetime | None) -> bool:
    if asked is None:
        return True
    return (registered is None or asked >= registered) and (restarted is None or asked > restarted)
