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
from program.db.url import sqlite_file
from program.errors import NotFound, NotPossible

RESTORE_SECONDS = 1800
# Names the copy that is to be put in place at the next start.
PENDING = "restore-at-start"
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
