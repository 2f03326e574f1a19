"""Pauses and failures of data sources, kept so that a restart does not hammer a site."""

from datetime import datetime

from sqlalchemy import insert, select, update

from program.db.engine import Database
from program.db.tables import ProviderStatus
from program.http import StatusStore


class ProviderStatusStore(StatusStore):
    """Keeps the status of data sources in the database. Raises `Transient` when that is busy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, key: str) -> tuple[datetime | None, int]:
        """Return until when the source is paused and its failure level; (None, 0) for one never heard of."""
        with self._database.read() as tx:
            row = tx.connection.execute(
                select(ProviderStatus.paused_until, ProviderStatus.level).where(ProviderStatus.key == key)
            ).one_or_none()
        return (None, 0) if row is None else (row.paused_until, row.level)

    def save(self, key: str, paused_until: datetime | None, level: int, reason: str) -> None:
        """Keep the pause and the level."""
        values = {"paused_until": paused_until, "level": level, "reason": reason}
        with self._database.write() as tx:
            known = update(ProviderStatus).where(ProviderStatus.key == key).values(**values)
            if not tx.connection.execute(known).rowcount:
                tx.connection.execute(insert(ProviderStatus).values(key=key, **values))
