"""What a database error means: classified here and nowhere else."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from program.errors import Transient

# SQLite's primary result codes that pass: busy, locked, an input/output error, a full disk.
SQLITE_PASSING = {
    5: "the database is busy",
    6: "the database is busy",
    10: "the disk failed",
    13: "the disk is full",
}
# PostgreSQL's classes and codes that pass.
POSTGRES_PASSING = {
    "40001": "another write was first",
    "40P01": "two writes waited for each other",
    "55P03": "the database is busy: a lock was not had in time",
    "53": "the database server is short of resources",
    "57": "the database server is stopping or starting",
    "08": "the connection to the database broke",
    "58": "the database server's disk failed",
}
# PostgreSQL's code of a unique conflict.
UNIQUE = "23505"


@contextmanager
def translated() -> Iterator[None]:
    """Raise `Transient` in place of a database error that a repetition may heal."""
    try:
        yield
    except SQLAlchemyError as error:
        passing = passing_reason(error)
        if passing is None:
            _forget_values(error)
            raise
        raise Transient(passing) from error


def _forget_values(error: SQLAlchemyError) -> None:
    """Leave of PostgreSQL's words only the first sentence: the rest quotes rows and statements with their values."""
    primary = _primary(error)
    if isinstance(error, DBAPIError) and error.orig is not None and primary:
        error.args = (primary,)
        error.orig.args = (primary,)


def _primary(error: SQLAlchemyError | OSError) -> str | None:
    found: str | None = getattr(getattr(getattr(error, "orig", None), "diag", None), "message_primary", None)
    return found


def passing_reason(error: SQLAlchemyError) -> str | None:
    """Return why a repetition may heal `error`, None when it cannot."""
    if isinstance(error, PoolTimeout):
        return "the database is busy: no connection is free"
    if not isinstance(error, DBAPIError):
        return None
    if is_conflict(error):
        return "another write was first"
    if isinstance(error.orig, sqlite3.Error):
        return SQLITE_PASSING.get(getattr(error.orig, "sqlite_errorcode", 0) & 0xFF)
    return _postgres_reason(error)


def _postgres_reason(error: DBAPIError) -> str | None:
    code = getattr(error.orig, "pgcode", None)
    if code is not None and not error.connection_invalidated:
        return POSTGRES_PASSING.get(code) or POSTGRES_PASSING.get(code[:2])
    # Without a code it did not come from the server: the connection could not be made or was lost.
    is_lost = error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
    return "the connection to the database broke" if is_lost else None


def is_conflict(error: DBAPIError) -> bool:
    """Return whether a row with the same unique value was there first."""
    if not isinstance(error, IntegrityError):
        return False
    cause = error.orig
    if isinstance(cause, sqlite3.IntegrityError):
        return cause.sqlite_errorcode in (
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        )
    return getattr(cause, "pgcode", None) == UNIQUE


def reason(error: SQLAlchemyError | OSError) -> str:
    """Return the driver's own words in one line; they hold neither password nor values."""
    text = _primary(error) or (str(error.orig) if isinstance(error, DBAPIError) else str(error))
    return " ".join(text.split())
