"""A library in an empty database.

Making the tables takes longer than most tests, so that the tests of queries share one database of each kind, emptied before
each; the tests of the database itself ask for `db` and get one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from program.clock import ManualClock
from program.db import wipe
from program.db.engine import Database
from program.db.tables import Base
from tests.db.library import NOW, Library
from tests.support.databases import SharedServer


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def db(database_url: str, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    database = Database(database_url, data_dir=tmp_path, clock=clock)
    database.open()
    yield database
    database.close()


@pytest.fixture(scope="session")
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Database]]:
    """A function from a kind of database to the one that is shared, opened when first asked for."""
    opened: dict[str, Database] = {}
    folder = tmp_path_factory.mktemp("shared")

    with ExitStack() as stack:

        def get(kind: str) -> Database:
            if kind not in opened:
                url = f"sqlite:///{folder / 'rivulet.db'}"
                if kind == "postgres":
                    server: SharedServer = request.getfixturevalue("postgres_server")
                    url = server.create()
                    stack.callback(server.drop, url)
                database = Database(url, data_dir=folder, clock=ManualClock(NOW))
                database.open()
                stack.callback(database.close)
                opened[kind] = database
            return opened[kind]

        yield get


@pytest.fixture
def library(database_kind: str, shared: Callable[[str], Database], clock: ManualClock) -> Library:
    database = shared(database_kind)
    with database.write() as tx:
        wipe.everything(tx)
        if database_kind == "sqlite":
            tx.connection.execute(text("DELETE FROM sqlite_sequence"))
        else:
            names = ", ".join(table.name for table in Base.metadata.sorted_tables)
            tx.connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
    return Library(database, clock)
