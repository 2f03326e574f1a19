"""What the fault tests share: the in-process pipeline of `tests/pipeline`, on SQLite; what a database does is tested elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.conftest import make_pipeline, pipeline

__all__ = ["make_pipeline", "pipeline"]


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'rivulet.db'}"
