"""Connections to both databases, set up the way the rest of this room relies on."""

import sqlite3
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, NullPool, Pool, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

# How long SQLite itself waits for a lock that another process holds.
BUSY_MILLISECONDS = 5_000
CONNECT_SECONDS = 5
# A writer holds a title for milliseconds; who waits this long meets a fault, not a queue.
LOCK_MILLISECONDS = 15_000
POOL_SIZE = 20
# Workers, API threads and their reserve together stay below the sum.
POOL_OVERFLOW = 40


def engine_for(url: URL, *, migrating: bool = False) -> Engine:
    """Return an engine; migrating: one connection at a time, foreign keys off on SQLite, no limit on waiting for locks."""
    pool: type[Pool] = NullPool if migrating else QueuePool
    limits = {} if migrating else {"pool_size": POOL_SIZE, "max_overflow": POOL_OVERFLOW, "pool_timeout": 30}
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, pool, limits, migrating=migrating)
    return _postgres(url, pool, limits)


def _sqlite(url: URL, pool: type[Pool], limits: dict[str, int], *, migrating: bool) -> Engine:
    Path(url.database or "").absolute().parent.mkdir(parents=True, exist_ok=True)
    # Values stay out of error texts: addresses of files carry keys.
    engine = create_engine(url, poolclass=pool, hide_parameters=True, **limits)
    foreign_keys = "OFF" if migrating else "ON"

    def set_up(connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions begin where we say, below
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            # A migration may rebuild a table; with keys on, dropping the old one would delete the rows that point at it.
            f"foreign_keys={foreign_keys}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def begin(connection: Connection) -> None:
        writes = migrating or connection.get_execution_options().get("rivulet_writes", False)
        connection.exec_driver_sql(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", begin)
    return engine


def _postgres(url: URL, pool: type[Pool], limits: dict[str, int]) -> Engine:
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    engine = create_engine(
        url,
        poolclass=pool,
        hide_parameters=True,
        pool_pre_ping=pool is QueuePool,
        connect_args={"application_name": "rivulet"},
        **limits,
    )

    def set_up(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {LOCK_MILLISECONDS}")
        cursor.execute("SET timezone = 'UTC'")
        cursor.close()
        connection.commit()

    event.listen(engine, "connect", set_up)
    return engine
