"""Where the bytes of files come from: the address that is known of each source, and what went wrong there."""

from datetime import datetime, timedelta

from sqlalchemy import select, update

from program.db.engine import Tx
from program.db.tables import Source

# Failures closer together than this are one failure: many readers meet the same dead link.
APART = timedelta(minutes=1)


def set_url(tx: Tx, source_id: int, url: str, expires_at: datetime | None, now: datetime) -> None:  # noqa: ARG001
    """Keep an address that bytes can be read from; the source counts as sound again."""
    tx.connection.execute(
        update(Source)
        .where(Source.id == source_id)
        .values(url=url, url_expires_at=expires_at, failures=0, failed_at=None, failed_reason=None)
    )


def forget_url(tx: Tx, entry_id: int, url: str) -> None:
    """Forget an address of a file that no longer works; no source is blamed for it."""
    tx.connection.execute(
        update(Source)
        .where(Source.entry_id == entry_id, Source.url == url)
        .values(url=None, url_expires_at=None)
    )


def fail_source(tx: Tx, source_id: int, reason: str, now: datetime) -> int:
    """Forget a source's address and count the failure, unless one was counted within a minute; return the count.

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
    tx.connection.execute(update(Source).where(Source.id == source_id).values(**values))
    return failures
