"""A copy of the database before its tables change."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path

from loguru import logger
from sqlalchemy import URL

from program.db.url import sqlite_file

KEPT = 5
DUMP_SECONDS = 600


def make(url: URL, folder: Path, now: datetime) -> Path | None:
    """Write a copy into `folder`, keep the newest five, and return its path; None when PostgreSQL's own tool cannot do it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = sqlite_file(url)
    name = f"rivulet-{now:%Y%m%d-%H%M%S}"
    made = _copy(file, folder / f"{name}.db") if file is not None else _dump(url, folder / f"{name}.dump")
    if made is not None:
        logger.info("the database was copied to {} before it is changed", made)
        _forget_old(folder, made.suffix)
    return made


def _copy(file: Path, target: Path) -> Path:
    half = target.with_suffix(".part")
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(half)) as copy:
        source.backup(copy)
    half.chmod(0o600)
    return half.replace(target)


def _dump(url: URL, target: Path) -> Path | None:
    tool = shutil.which("pg_dump")
    if tool is None:
        logger.warning("no backup was made before the database is changed: pg_dump is not installed")
        return None
    half = target.with_suffix(".part")
    half.touch(mode=0o600)
    command = [tool, "--format=custom", "--no-password", f"--file={half}"]
    answer = subprocess.run(
        command, check=False, env=_environment(url), capture_output=True, text=True, timeout=DUMP_SECONDS
    )
    if answer.returncode != 0:
        half.unlink(missing_ok=True)
        said = (answer.stderr.strip() or "it said nothing").splitlines()[0]
        logger.warning("no backup was made before the database is changed: pg_dump failed: {}", said)
        return None
    return half.replace(target)


def _environment(url: URL) -> dict[str, str]:
    """Return what tells PostgreSQL's tools the address: arguments would show the password to every user."""
    said = {
        "PGHOST": url.host,
        "PGPORT": str(url.port) if url.port else None,
        "PGUSER": url.username,
        "PGPASSWORD": str(url.password) if url.password else None,
        "PGDATABASE": url.database,
        **{f"PG{key.upper()}": str(value) for key, value in url.query.items() if key.startswith("ssl")},
    }
    if "host" in url.query:
        said["PGHOST"] = str(url.query["host"])
    return {**os.environ, **{name: value for name, value in said.items() if value}}


def _forget_old(folder: Path, suffix: str) -> None:
    for old in sorted(folder.glob(f"rivulet-*{suffix}"), reverse=True)[KEPT:]:
        old.unlink(missing_ok=True)
