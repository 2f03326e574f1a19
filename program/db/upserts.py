"""Insert, or change what is there: one statement, so that two writers of the same row cannot collide."""

from collections.abc import Collection, Sequence

from sqlalchemy.dialects import postgresql, sqlite

from program.db.engine import Tx
from program.db.tables import Base


def upsert(tx: Tx, table: type[Base], rows: Sequence[dict[str, object]], key: Collection[str]) -> None:
    """Write `rows`, all of the same columns; where a row with the same `key` is there, its other columns are changed."""
    if not rows:
        return
    is_sqlite = tx.connection.dialect.name == "sqlite"
    statement = (sqlite.insert if is_sqlite else postgresql.insert)(table)
    changed = {name: statement.excluded[name] for name in rows[0] if name not in key}
    tx.connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=changed), list(rows))
