"""What the fault tests share: the in-process pipeline of `tests/pipeline`, on SQLite; what a database does is tested elsewhere."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import make_pipeline, pipeline

__all__ = ["make_pipeline", "pipeline"]


@pytest.fixture
def tables_url(sqlite_tables_url: str) -> str:
    return sqlite_tables_url
