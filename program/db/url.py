"""The address of the database, as the user writes it and as SQLAlchemy wants it."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from program.errors import StartupError

# SQLAlchemy 2.1 reads a plain `postgresql://` as psycopg 3, which is not installed.
POSTGRES = {"postgres", "postgresql", "postgresql+psycopg2"}


def parse(url: str) -> URL:
    """Return the address with the driver we use; raise `StartupError` for anything but SQLite in a file and PostgreSQL."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StartupError("database.url is not an address: write sqlite:///path or postgresql://…") from None
    if parsed.drivername in POSTGRES:
        return parsed.set(drivername="postgresql+psycopg2")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        if not parsed.database or parsed.database == ":memory:":
            raise StartupError("database.url must name a file: sqlite:///path/to/rivulet.db")
        return parsed.set(drivername="sqlite+pysqlite")
    raise StartupError(
        f"database.url: {parsed.drivername} is not supported; use sqlite:///… or postgresql://…"
    )


def shown(url: URL) -> str:
    """Return the address without its password, for people."""
    return url.render_as_string(hide_password=True)


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite address, None for PostgreSQL."""
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None
