"""A home with its pages, and visitors to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.db.engine import Database
from tests.api.home import Home
from tests.db.library import NOW
from tests.web.visitor import Visitor


@pytest.fixture
def home(sqlite_tables_url: str, tmp_path: Path) -> Iterator[Home]:
    """A home on SQLite."""
    clock = ManualClock(NOW)
    database = Database(sqlite_tables_url, data_dir=tmp_path, clock=clock)
    database.open()
    found = Home(database, clock, tmp_path)
    yield found
    found.close()
    database.close()


@pytest.fixture
def visitor(home: Home) -> Iterator[Visitor]:
    """Somebody who is not signed in."""
    found = Visitor(home.server.port)
    yield found
    found.close()


@pytest.fixture
def owner(visitor: Visitor) -> Visitor:
    """Somebody who has set the password and is signed in."""
    visitor.arrive()
    return visitor
