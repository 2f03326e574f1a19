"""Run by alembic for each command; the connection comes from `program.db.migrate`."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Enum, TypeDecorator

from program.db.tables import Base


def render_item(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Return how a new migration spells a column type: what the database sees, since our own types may change later."""
    if kind != "type":
        return False
    if isinstance(item, Enum):
        return f"sa.String(length={item.length})"
    if isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    render_item=render_item,
    # SQLite can roll table changes back too, once the transaction is begun by hand, as ours is.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
