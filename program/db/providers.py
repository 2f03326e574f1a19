"""Which data sources are left alone for a while."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from program.db.engine import Tx
from program.db.tables import ProviderStatus


@dataclass(frozen=True, slots=True)
class Resting:
    """A data source with failures. until: it is not asked before; None when it may be."""

    key: str
    until: datetime | None
    level: int
    reason: str


def resting(tx: Tx) -> tuple[Resting, ...]:
    """Return the data sources that failed last or asked to wait, by their keys."""
    query = select(
        ProviderStatus.key, ProviderStatus.paused_until, ProviderStatus.level, ProviderStatus.reason
    ).order_by(ProviderStatus.key)
    return tuple(Resting(*row) for row in tx.connection.execute(query))
