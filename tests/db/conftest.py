"""A database, opened and empty, and a library in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.db.engine import Database
from tests.db.library import NOW, Library


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def db(database_url: str, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    database = Database(database_url, data_dir=tmp_path, clock=clock)
    database.open()
    yield database
    database.close()


@pytest.fixture
def library(db: Database, clock: ManualClock) -> Library:
    return Library(db, clock)
