"""Stopping a pipeline in the middle of its work, so that a test can do something meanwhile."""

from __future__ import annotations

from typing import Any

from program.db import items
from program.queues import JobState
from tests.support.pipeline import MAX_ROUNDS, Pipeline


def run_to(pipeline: Pipeline, queue: str, times: int = 1) -> None:
    """Do one job after the other until so many jobs of `queue` were about to run; fail when that never happens.

    The last of them waits for its turn when this returns.
    """
    for _ in range(MAX_ROUNDS):
        pipeline.loop.turn()
        if pipeline.engine.counts()[queue][JobState.WAITING]:
            times -= 1
            if not times:
                return
        assert pipeline.engine.run_one(), f"{queue} had no job: {pipeline.states()}"
    raise AssertionError(f"{queue} had no job among the first {MAX_ROUNDS} runs: {pipeline.states()}")


def change_settings(pipeline: Pipeline, **changes: Any) -> None:
    """Put settings into force as the program does; a section is named as `downloaders__realdebrid__enabled`."""
    document = pipeline.settings.model_dump(mode="python", by_alias=True)
    for path, value in changes.items():
        *sections, name = path.split("__")
        place = document
        for section in sections:
            place = place[section]
        place[name] = value
    pipeline.settings = type(pipeline.settings).model_validate(document)
    pipeline.registry.rebuild(pipeline.settings)
    with pipeline.db.read() as tx:
        roots = items.all_roots(tx)
    for root in roots:
        with pipeline.db.write(root) as tx:
            pipeline.ctx.commit(tx, root, {}, ())
