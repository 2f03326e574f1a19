"""Copies of the database: made before its tables change and when a person wants one, listed, checked, deleted."""

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from loguru import logger
from sqlalchemy import URL

from program.db.url import sqlite_file
from program.errors import NotFound, NotPossible

KEPT = 10
DUMP_SECONDS = 600
# The only names there are: nothing else is opened, sent or deleted, whatever a request says.
NAME = re.compile(r"rivulet-(\d{8}-\d{6})\.(db|dump)")
# What a copy begins with, and the ending of its name.
KINDS = ((b"SQLite format 3\0", ".db"), (b"PGDMP", ".dump"))
# Copies that come from elsewhere are looked at in folders of this name; a kill may leave one.
INCOMING = ".incoming-"
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy. size: bytes."""

    file: Path
    size: int
    made_at: datetime

    @property
    def name(self) -> str:
        """Return its name."""
        return self.file.name


def folder_in(data_dir: Path) -> Path:
    """Return the folder of the copies within the config folder."""
    return data_dir / "backups"


def all_in(folder: Path) -> tuple[Backup, ...]:
    """Return the copies in a folder, the newest first."""
    found = (one for file in folder.glob("rivulet-*") if (one := _backup(file)) is not None)
    return tuple(sorted(found, key=lambda one: one.name, reverse=True))


def named(folder: Path, name: str) -> Backup:
    """Return the copy of a name; raise NotFound for anything that is not the name of one in this very folder."""
    found = _backup(folder / name) if NAME.fullmatch(name) else None
    if found is None:
        raise NotFound("there is no backup of this name")
    return found


def _backup(file: Path) -> Backup | None:
    match = NAME.fullmatch(file.name)
    if match is None or file.is_symlink() or not file.is_file():
        return None
    try:
        made_at = datetime.strptime(match[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
        return Backup(file, file.stat().st_size, made_at)
    except (ValueError, OSError):
        return None


def make(url: URL, folder: Path, now: datetime) -> Path | None:
    """Write a copy into `folder`, keep the newest ten, and return its path; None when PostgreSQL's own tool cannot do it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = sqlite_file(url)
    name = _free_name(folder, now)
    made = _copy(file, folder / f"{name}.db") if file is not None else _dump(url, folder / f"{name}.dump")
    if made is not None:
        logger.info("the database was copied to {}", made)
        _forget_old(folder, made.suffix)
    return made


@contextmanager
def incoming(folder: Path, pieces: Iterable[bytes], most: int, now: datetime) -> Iterator[Backup]:
    """Give a copy from elsewhere, in a folder of its own that is gone afterwards; `keep` takes it in.

    most: bytes. Raises NotPossible for what is no copy of a database, is larger, or does not fit on the disk.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in folder.glob(f"{INCOMING}*"):
        if now.timestamp() - old.stat().st_mtime > FORGOTTEN_AFTER.total_seconds():
            shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=INCOMING, dir=folder) as place:
        half = Path(place) / "half"
        size = _write(half, pieces, most)
        with half.open("rb") as opened:
            start = opened.read(max(len(magic) for magic, _ in KINDS))
        ending = next((ending for magic, ending in KINDS if start.startswith(magic)), None)
        if ending is None:
            raise NotPossible(
                "this is no copy of a database: take a file that was saved on this page, or pg_dump made with --format=custom"
            )
        file = half.replace(half.with_name(f"{_free_name(folder, now)}{ending}"))
        yield Backup(file, size, now)


def _write(file: Path, pieces: Iterable[bytes], most: int) -> int:
    """Write what comes and return how much it was. Raises NotPossible."""
    size = 0
    try:
        file.touch(mode=0o600)
        with file.open("wb") as target:
            for piece in pieces:
                size += len(piece)
                if size > most:
                    raise NotPossible(f"the file is larger than {most // 1024**2} MiB (api.max_upload_mib)")
                target.write(piece)
    except OSError as error:
        raise NotPossible(f"the file cannot be written down: {error.strerror}") from error
    return size


def keep(folder: Path, copy: Backup) -> Backup:
    """Put a copy from elsewhere among the others and return it."""
    return named(folder, copy.file.replace(folder / copy.name).name)


def _free_name(folder: Path, now: datetime) -> str:
    """Return a name without its ending that no copy has: two may be made within a second."""
    while any(folder.glob(f"rivulet-{now:%Y%m%d-%H%M%S}.*")):
        now += timedelta(seconds=1)
    return f"rivulet-{now:%Y%m%d-%H%M%S}"


def _copy(file: Path, target: Path) -> Path:
    half = target.with_suffix(".part")
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(half)) as copy:
        source.backup(copy)
    half.chmod(0o600)
    return half.replace(target)


def _dump(url: URL, target: Path) -> Path | None:
    tool = shutil.which("pg_dump")
    if tool is None:
        logger.warning("no backup was made: pg_dump is not installed")
        return None
    half = target.with_suffix(".part")
    half.touch(mode=0o600)
    command = [tool, "--format=custom", "--no-password", f"--file={half}"]
    answer = subprocess.run(
        command, check=False, env=environment(url), capture_output=True, text=True, timeout=DUMP_SECONDS
    )
    if answer.returncode != 0:
        half.unlink(missing_ok=True)
        said = (answer.stderr.strip() or "it said nothing").splitlines()[0]
        logger.warning("no backup was made: pg_dump failed: {}", said)
        return None
    return half.replace(target)


def environment(url: URL) -> dict[str, str]:
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
