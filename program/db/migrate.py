"""Brings the tables to the version this program knows, before anything else reads them."""

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from loguru import logger
from sqlalchemy import URL, Connection, Engine, inspect, text

from program.db import backup
from program.db.connect import engine_for
from program.db.url import sqlite_file
from program.errors import StartupError

SCRIPTS = Path(__file__).with_name("migrations")
# Any fixed number will do; it names our advisory lock on PostgreSQL.
ADVISORY_LOCK = 7_274_885
LOCK_TRIES = 600
LOCK_PAUSE_SECONDS = 0.1


def to_newest(url: URL, data_dir: Path, now: datetime) -> None:
    """Migrate what is older, after a backup; one process at a time.

    Raises `StartupError` for a newer database, for one that cannot be migrated, and when another process keeps migrating.
    """
    engine = engine_for(url, migrating=True)
    try:
        with _alone(url, engine):
            _migrate(url, engine, data_dir / "backups", now)
    finally:
        engine.dispose()


def config() -> Config:
    """Return alembic's configuration; the migrations travel with the package."""
    settings = Config()
    settings.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return settings


def known_revisions() -> frozenset[str]:
    """Return the versions of the tables that this program knows."""
    return frozenset(script.revision for script in ScriptDirectory.from_config(config()).walk_revisions())


def newest() -> str | None:
    """Return the newest version of the tables that this program knows."""
    return ScriptDirectory.from_config(config()).get_current_head()


def revision(connection: Connection) -> tuple[str | None, str | None]:
    """Return the version of the tables, and the newest one that this program knows."""
    return MigrationContext.configure(connection).get_current_revision(), newest()


def revision_at(url: URL) -> str | None:
    """Return the version of the tables at an address, None when there are none."""
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return None
    engine = engine_for(url)
    try:
        with engine.connect() as connection:
            return revision(connection)[0]
    finally:
        engine.dispose()


def _migrate(url: URL, engine: Engine, backups: Path, now: datetime) -> None:
    with engine.connect() as connection:
        current, latest = revision(connection)
        is_empty = not inspect(connection).get_table_names()
    if current == latest:
        return
    if current is not None and current not in known_revisions():
        raise StartupError(
            f"the database was written by a newer version of Rivulet (revision {current}): "
            f"install that version again, or restore a backup from {backups}"
        )
    if not is_empty:
        backup.make(url, backups, now)
    with engine.begin() as connection:
        _upgrade(connection)
    logger.info("the database is at revision {} (was: {})", latest, current or "empty")


def _upgrade(connection: Connection) -> None:
    settings = config()
    settings.attributes["connection"] = connection
    command.upgrade(settings, "head")
    if connection.dialect.name == "sqlite" and connection.execute(text("PRAGMA foreign_key_check")).first():
        raise StartupError(
            "the database was not changed: the migration would leave rows that point at nothing"
        )


@contextmanager
def _alone(url: URL, engine: Engine) -> Iterator[None]:
    file = sqlite_file(url)
    if file is not None:
        with _file_lock(file.with_name(f"{file.name}.migrate.lock")):
            yield
        return
    with engine.connect() as connection:
        taken = (
            connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": ADVISORY_LOCK})
            for _ in _tries()
        )
        if not any(taken):
            raise StartupError("another process is changing the database and does not end")
        connection.commit()
        # The lock belongs to the connection, and ends with it however that ends.
        yield


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        if not any(_locked(lock.fileno()) for _ in _tries()):
            raise StartupError("another process is changing the database and does not end")
        yield


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tries() -> Iterator[None]:
    pause = threading.Event()
    for _ in range(LOCK_TRIES):
        yield
        pause.wait(LOCK_PAUSE_SECONDS)
