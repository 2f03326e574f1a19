"""Copies of the database: whole, named strictly, and put back only where they belong."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.db import backup, restore
from program.db.engine import Database
from program.db.url import parse
from program.errors import NotFound, NotPossible
from tests.db.library import NOW, Library

TRICKS = (
    "../settings.json",
    "..%2fsettings.json",
    "/etc/passwd",
    "rivulet-20310501-120000.db/../../settings.json",
    "rivulet-20310501-120000.db\x00",
    "rivulet-20310501-120000.db\n",
    "rivulet-99999999-999999.db",
    "rivulet.db",
    "",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return backup.folder_in(tmp_path)


def made(library: Library) -> backup.Backup:
    found = library.db.backup()
    assert found is not None
    return found


def again(library: Library, database_url: str, tmp_path: Path, copy: backup.Backup) -> Library:
    """Return the library after a copy was put in its place."""
    library.db.close()
    restore.restore(parse(database_url), copy, NOW)
    database = Database(database_url, data_dir=tmp_path, clock=library.clock)
    database.open()
    return Library(database, library.clock)


def titles(library: Library) -> int:
    with library.db.read() as tx:
        return int(tx.connection.exec_driver_sql("select count(*) from media_item").scalar_one())


@pytest.fixture
def there(database_url: str, tmp_path: Path) -> Library:
    clock = ManualClock(NOW)
    database = Database(database_url, data_dir=tmp_path, clock=clock)
    database.open()
    return Library(database, clock)


def test_what_was_there_at_the_copy_is_there_again(there: Library, database_url: str, tmp_path: Path) -> None:
    there.film()
    copy = made(there)
    there.clock.advance(60)
    there.show()
    after = again(there, database_url, tmp_path, copy)
    assert titles(after) == 1
    after.db.close()


def test_what_there_is_is_copied_first(
    there: Library, database_url: str, tmp_path: Path, folder: Path
) -> None:
    copy = made(there)
    there.db.close()
    there.clock.advance(60)
    restore.restore(parse(database_url), copy, there.clock.now())
    assert [one.made_at for one in backup.all_in(folder)] == [there.clock.now(), NOW]


def test_a_copy_that_was_asked_for_is_put_in_place_at_the_next_start(
    there: Library, database_url: str, tmp_path: Path
) -> None:
    there.film()
    copy = made(there)
    there.clock.advance(60)
    there.show()
    restore.ask_for(tmp_path, there.db.check_backup(copy.name))
    there.db.close()
    database = Database(database_url, data_dir=tmp_path, clock=there.clock)
    database.restore_pending()
    database.restore_pending()
    database.open()
    assert titles(Library(database, there.clock)) == 1
    database.close()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", TRICKS)
def test_only_the_name_of_a_copy_in_the_folder_is_one(there: Library, folder: Path, name: str) -> None:
    made(there)
    with pytest.raises(NotFound, match="there is no backup of this name"):
        backup.named(folder, name)
    there.db.close()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_link_out_of_the_folder_is_no_copy(there: Library, folder: Path, tmp_path: Path) -> None:
    made(there)
    (folder / "rivulet-20300101-000000.db").symlink_to(tmp_path / "rivulet.db")
    assert len(backup.all_in(folder)) == 1
    there.db.close()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_copy_of_a_newer_version_is_refused_with_a_sentence(there: Library, database_url: str) -> None:
    copy = made(there)
    with closing(sqlite3.connect(copy.file)) as opened:
        opened.execute("update alembic_version set version_num = '9999'")
        opened.commit()
    with pytest.raises(NotPossible, match=r"newer version of Rivulet \(revision 9999\)"):
        restore.check(parse(database_url), copy)
    there.db.close()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\x00" + bytes(2000)])
def test_a_damaged_copy_is_refused_and_nothing_changes(
    there: Library, database_url: str, folder: Path, content: bytes
) -> None:
    there.film()
    copy = made(there)
    copy.file.write_bytes(content)
    with pytest.raises(NotPossible, match=r"no database of Rivulet, or damaged"):
        restore.restore(parse(database_url), copy, NOW)
    assert titles(there) == 1
    there.db.close()


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_copy_of_the_other_kind_of_database_is_refused(
    there: Library, database_url: str, folder: Path
) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "rivulet-20310501-120000.dump").write_bytes(b"PGDMP")
    with pytest.raises(NotPossible, match="is a dump of PostgreSQL, and the database in use is SQLite"):
        there.db.check_backup("rivulet-20310501-120000.dump")
    there.db.close()
