"""Stopping a pipeline in the middle of its work, so that a test can do something meanwhile."""

from __future__ import annotations

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
