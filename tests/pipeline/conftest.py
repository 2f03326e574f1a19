"""The stand-ins for the pipeline's tests: one process for each test module, set back before each test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline


@pytest.fixture(scope="module")
def shared_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("servers")
    servers = Servers(folder, folder / "mount")
    yield servers
    servers.stop()


@pytest.fixture
def servers(shared_servers: Servers) -> Servers:
    shared_servers.control("/reset", {})
    return shared_servers


@pytest.fixture
def make_pipeline(tmp_path: Path, servers: Servers, database_url: str) -> Iterator[Callable[..., Pipeline]]:
    made: list[Pipeline] = []

    def make(**settings: Any) -> Pipeline:
        dotted = {path.replace("__", "."): value for path, value in settings.items()}
        made.append(Pipeline(tmp_path, servers.ready, database_url, dotted))
        return made[-1]

    yield make
    for pipeline in made:
        pipeline.close()


@pytest.fixture
def pipeline(make_pipeline: Callable[..., Pipeline]) -> Pipeline:
    return make_pipeline()
