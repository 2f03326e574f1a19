"""Pipelines against the stand-ins, on each database."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from program.demo.launch import Servers
from program.plugins import AnyPlugin
from tests.support.pipeline import Pipeline


@pytest.fixture
def make_pipeline(tmp_path: Path, servers: Servers, tables_url: str) -> Iterator[Callable[..., Pipeline]]:
    made: list[Pipeline] = []

    def make(
        *,
        plugin_classes: tuple[type[AnyPlugin], ...] = (),
        start: datetime | None = None,
        mounted: bool = False,
        **settings: Any,
    ) -> Pipeline:
        dotted = {path.replace("__", "."): value for path, value in settings.items()}
        made.append(
            Pipeline(
                tmp_path,
                servers.ready,
                tables_url,
                dotted,
                plugin_classes=plugin_classes,
                start=start,
                mounted=mounted,
            )
        )
        return made[-1]

    yield make
    for pipeline in made:
        pipeline.close()


@pytest.fixture
def pipeline(make_pipeline: Callable[..., Pipeline]) -> Pipeline:
    return make_pipeline()
