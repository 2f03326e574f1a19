"""The stand-ins for tests: one process for each test process, everything set back before each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from program.demo.launch import Servers


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("stand-ins")
    servers = Servers(folder, folder / "library")
    yield servers
    servers.stop()


@pytest.fixture
def servers(started: Servers) -> Servers:
    """The stand-ins, everything as at the start."""
    started.control("/reset", {})
    return started


@pytest.fixture
def library(servers: Servers, tmp_path: Path) -> Path:
    """A folder in which the media servers look."""
    folder = tmp_path / "library"
    for kind in ("movies", "shows"):
        (folder / kind).mkdir(parents=True)
    servers.control("/mount", {"path": str(folder)})
    return folder
