"""Putting a copy of the database in the place of what there is; nothing may use the database meanwhile."""

import re
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

from loguru import logger
from sqlalchemy import URL

from program.db import backup, migrate
from program.db.backup import Backup
from program.db.tables import Base
from program.db.url import sqlite_file
from program.errors import NotFound, NotPossible

RESTORE_SECONDS = 1800
# Names the copy that is to be put in place at the next start.
PENDING = "restore-at-start"
# What a database of ours never holds: it could do something by itself once it is in place.
_ACTIVE_IN_FILE = (
    "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
)
_ACTIVE_IN_DUMP = re.compile(
    r"^\d+; \d+ \d+ (FUNCTION|PROCEDURE|AGGREGATE|TRIGGER|EVENT TRIGGER|RULE|VIEW|MATERIALIZED VIEW|EXTENSION|CAST|OPERATOR"
    r"|PROCEDURAL LANGUAGE|FOREIGN TABLE|SERVER|PUBLICATION|SUBSCRIPTION) (.*)$",
    re.MULTILINE,
)
_REVISION = re.compile(r"^([0-9a-f]{4,40})$", re.MULTILINE)


def check(url: URL, copy: Backup) -> None:
    """Return when a copy can be put in place; raise NotPossible with a sentence: damaged, of another database, or too new."""
    is_file = sqlite_file(url) is not None
    if is_file is not (copy.file.suffix == ".db"):
        kind = "a SQLite file" if copy.file.suffix == ".db" else "a dump of PostgreSQL"
        raise NotPossible(
            f"{copy.name} is {kind}, and the database in use is {'SQLite' if is_file else 'PostgreSQL'}"
        )
    revision = _revision_of_file(copy) if is_file else _revision_of_dump(copy)
    if revision not in migrate.known_revisions():
        raise NotPossible(
            f"{copy.name} was written by a newer version of Rivulet (revision {revision}): install that version first"
        )
    active = _active_in_file(copy) if is_file else _active_in_dump(copy)
    if active:
        raise NotPossible(f"{copy.name} holds {active}, which no database of Rivulet does")
    lacking = _lacking(copy) if is_file and revision == migrate.newest() else None
    if lacking:
        raise NotPossible(f"{copy.name} is no database of Rivulet, or damaged: it has no {lacking}")


def restore(url: URL, copy: Backup, now: datetime) -> None:
    """Put a copy in place; what there was is copied first. Raises NotPossible; then nothing has changed."""
    check(url, copy)
    if backup.make(url, copy.file.parent, now) is None:
        raise NotPossible("what there is could not be copied first; the log says why")
    file = sqlite_file(url)
    if file is not None:
        with closing(sqlite3.connect(copy.file)) as source, closing(sqlite3.connect(file)) as target:
            source.backup(target)
    else:
        _pg_restore(url, copy)
    logger.warning("the database is that of {} now", copy.name)


def ask_for(folder: Path, copy: Backup) -> None:
    """Have a copy put in place at the next start."""
    (folder / PENDING).write_text(copy.name, encoding="ascii")


def asked_for(folder: Path) -> str | None:
    """Return the name of the copy that is put in place at the next start, None when there is none."""
    pending = folder / PENDING
    return pending.read_text(encoding="utf-8", errors="replace").strip() if pending.exists() else None


def call_off(folder: Path) -> bool:
    """Have the next start leave the database as it is; False when nothing was asked for."""
    pending = folder / PENDING
    was_there = pending.exists()
    pending.unlink(missing_ok=True)
    return was_there


def at_start(url: URL, folder: Path, now: datetime) -> None:
    """Put in place what was asked for; a copy that cannot be is reported, and the start goes on with what there is."""
    pending = folder / PENDING
    if not pending.exists():
        return
    name = pending.read_text(encoding="utf-8", errors="replace").strip()
    pending.unlink()
    try:
        restore(url, backup.named(backup.folder_in(folder), name), now)
    except (NotPossible, NotFound) as error:
        logger.error("the backup was not restored: {}", error)


def _revision_of_file(copy: Backup) -> str:
    try:
        with closing(sqlite3.connect(f"file:{copy.file}?mode=ro", uri=True)) as opened:
            (sound,) = opened.execute("PRAGMA quick_check(1)").fetchone()
            (revision,) = opened.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, TypeError) as error:
        raise NotPossible(f"{copy.name} is no database of Rivulet, or damaged: {error}") from None
    if sound != "ok":
        raise NotPossible(f"{copy.name} is damaged: {sound}")
    return str(revision)


def _active_in_file(copy: Backup) -> str | None:
    with closing(sqlite3.connect(f"file:{copy.file}?mode=ro", uri=True)) as opened:
        found = opened.execute(_ACTIVE_IN_FILE).fetchone()
    return str(found[0]) if found else None


def _lacking(copy: Backup) -> str | None:
    """Return a table or column of ours that is not there."""
    with closing(sqlite3.connect(f"file:{copy.file}?mode=ro", uri=True)) as opened:
        for table in Base.metadata.sorted_tables:
            columns = {row[1] for row in opened.execute(f'PRAGMA table_info("{table.name}")')}
            lacking = next((column.name for column in table.columns if column.name not in columns), None)
            if lacking is not None:
                return f"{table.name}.{lacking}" if columns else f"table {table.name}"
    return None


def _active_in_dump(copy: Backup) -> str | None:
    found = _ACTIVE_IN_DUMP.search(_run(["pg_restore", "--list", str(copy.file)], {}))
    return f"{found[1].lower()} {found[2]}" if found else None


def _revision_of_dump(copy: Backup) -> str:
    command = ["pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(copy.file)]
    found = _REVISION.search(_run(command, {}))
    if found is None:
        raise NotPossible(f"{copy.name} is no dump of Rivulet's database, or damaged")
    return found[1]


def _pg_restore(url: URL, copy: Backup) -> None:
    command = ["pg_restore", "--clean", "--if-exists", "--no-owner", "--no-password", "--single-transaction"]
    _run([*command, "--exit-on-error", f"--dbname={url.database}", str(copy.file)], backup.environment(url))


def _run(command: list[str], environment: dict[str, str]) -> str:
    try:
        answer = subprocess.run(
            command,
            check=False,
            env=environment or None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RESTORE_SECONDS,
        )
    except FileNotFoundError:
        raise NotPossible("pg_restore is not installed; it comes with postgresql-client") from None
    except subprocess.TimeoutExpired:
        raise NotPossible("pg_restore did not end in time") from None
    if answer.returncode:
        said = (answer.stderr.strip() or "it said nothing").splitlines()[0]
        raise NotPossible(f"pg_restore failed: {said}")
    return answer.stdout
