"""Migrations: at open, alone, after a backup, all or nothing; a newer database is refused."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from loguru import logger
from sqlalchemy import text

from program.clock import ManualClock
from program.db import backup, migrate
from program.db.connect import engine_for
from program.db.engine import Database
from program.db.tables import Base
from program.db.url import parse
from program.errors import StartupError
from tests.db.library import NOW, Library, season

NEXT = '''
"""a change"""
from alembic import op
import sqlalchemy as sa
revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    {body}
'''
REBUILDS = """with op.batch_alter_table("media_item") as batch:
        # SQLite can do this only by building the table anew.
        batch.alter_column("title", type_=sa.String(length=4000))
        batch.add_column(sa.Column("colour", sa.String()))"""
BREAKS = """op.add_column("media_item", sa.Column("colour", sa.String()))
    op.execute("SELECT * FROM nowhere")"""


@pytest.fixture
def library(db: Database, clock: ManualClock) -> Library:
    return Library(db, clock)


@pytest.fixture
def migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that adds a migration with the given body to a copy of ours."""

    def add(body: str) -> None:
        scripts = tmp_path / "migrations"
        shutil.copytree(migrate.SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        head = ScriptDirectory.from_config(migrate.config()).get_current_head()
        (scripts / "versions" / "9999_a_change.py").write_text(NEXT.format(body=body, head=head))
        monkeypatch.setattr(migrate, "SCRIPTS", scripts)

    return add


def columns(url: str) -> set[str]:
    engine = engine_for(parse(url), migrating=True)
    with engine.connect() as connection:
        found = set(connection.execute(text("SELECT * FROM media_item")).keys())
    engine.dispose()
    return found


def backups(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "backups").glob("rivulet-*"))


def test_the_migrations_make_exactly_our_tables(db: Database, database_url: str) -> None:
    engine = engine_for(parse(database_url), migrating=True)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)
    engine.dispose()
    assert differences == []


def test_a_new_database_needs_no_backup(db: Database, tmp_path: Path) -> None:
    assert backups(tmp_path) == []


def test_opening_an_up_to_date_database_changes_nothing(library: Library, tmp_path: Path) -> None:
    film = library.film()
    library.db.close()
    library.db.open()
    assert library.item(film).title == "Sintel"
    assert backups(tmp_path) == []


def test_a_migration_comes_after_a_backup_and_loses_no_row(
    library: Library, migration: Callable[[str], None], database_url: str, database_kind: str, tmp_path: Path
) -> None:
    show = library.show(season(1, 3))
    entry = library.complete(show, library.item(show, 1, 1).id)
    before = library.tree(show)
    library.db.close()
    migration(REBUILDS)
    library.db.open()
    assert "colour" in columns(database_url)
    assert library.tree(show) == before
    assert library.wrong() == ()
    assert entry
    (copy,) = backups(tmp_path)
    assert "media_item" in tables_in(copy, database_kind)


def tables_in(copy: Path, kind: str) -> str:
    if kind == "postgres":
        listed = subprocess.run(
            ["pg_restore", "--list", str(copy)], capture_output=True, text=True, check=True
        )
        return listed.stdout
    with closing(sqlite3.connect(copy)) as connection:
        return str(connection.execute("SELECT name FROM sqlite_master").fetchall())


def test_a_migration_that_breaks_leaves_everything_as_it_was(
    library: Library, migration: Callable[[str], None], database_url: str
) -> None:
    film = library.film()
    library.db.close()
    migration(BREAKS)
    with pytest.raises(StartupError, match="nowhere"):
        library.db.open()
    assert "colour" not in columns(database_url)
    migrate_back(library)
    assert library.item(film).title == "Sintel"


def migrate_back(library: Library) -> None:
    shutil.rmtree(migrate.SCRIPTS / "versions" / "__pycache__", ignore_errors=True)
    (migrate.SCRIPTS / "versions" / "9999_a_change.py").unlink()
    library.db.open()


def test_a_newer_database_is_refused_with_a_sentence(library: Library, database_url: str) -> None:
    library.db.close()
    engine = engine_for(parse(database_url), migrating=True)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'f00f'"))
    engine.dispose()
    with pytest.raises(StartupError, match=r"newer version of Rivulet \(revision f00f\)"):
        library.db.open()


def test_several_that_open_a_new_database_at_once_all_succeed(database_url: str, tmp_path: Path) -> None:
    opened = [Database(database_url, data_dir=tmp_path, clock=ManualClock(NOW)) for _ in range(4)]
    failed: list[BaseException] = []

    def open_one(database: Database) -> None:
        try:
            database.open()
        except StartupError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_one, args=(database,)) for database in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []
    assert all(database.healthy() for database in opened)
    for database in opened:
        database.close()


def test_only_the_newest_ten_backups_are_kept(db: Database, database_url: str, tmp_path: Path) -> None:
    for day in range(12):
        backup.make(parse(database_url), tmp_path / "kept", NOW + timedelta(days=day))
    days = [path.stem[-9:-7] for path in sorted((tmp_path / "kept").iterdir())]
    assert days == [f"{day:02}" for day in range(3, 13)]


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_without_pg_dump_the_log_says_so_and_the_migration_goes_on(
    library: Library,
    migration: Callable[[str], None],
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    sink = logger.add(said.append, format="{message}")
    library.db.close()
    migration(REBUILDS)
    monkeypatch.setenv("PATH", str(tmp_path))
    library.db.open()
    logger.remove(sink)
    assert "colour" in columns(database_url)
    assert backups(tmp_path) == []
    assert "no backup was made: pg_dump is not installed" in "".join(said)
