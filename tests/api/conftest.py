"""A home with an API, once on SQLite and once on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.db.engine import Database
from tests.api.home import Home
from tests.db.library import NOW


@pytest.fixture
def home(tables_url: str, tmp_path: Path) -> Iterator[Home]:
    clock = ManualClock(NOW)
    database = Database(tables_url, data_dir=tmp_path, clock=clock)
    database.open()
    found = Home(database, clock, tmp_path)
    yield found
    found.close()
    database.close()
