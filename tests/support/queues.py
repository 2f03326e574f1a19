"""An engine without threads, under a clock that the test moves, with everything that ended written down."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from program.clock import ManualClock
from program.queues import Done, Engine, Job, JobSpec, JobState, JobView, Outcome, QueueDef

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

Handler = Callable[[Job], Outcome]


class NoChance(random.Random):
    """A chance that adds no jitter, so that waits are round numbers."""

    def random(self) -> float:
        return 0.0


def echo(job: Job) -> Outcome:
    """Answer with the data."""
    return Done(job.data)


def script(*steps: Outcome | Exception) -> Handler:
    """Do one step at each run, whichever job it is; an exception is raised."""
    left = list(steps)

    def handler(_job: Job) -> Outcome:
        step = left.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    return handler


class Lab:
    """An engine, its clock, the names of the jobs in the order they ran, and the views of those that ended."""

    def __init__(self, **engine: object) -> None:
        self.clock = ManualClock(START)
        self.engine = Engine(self.clock, parallelism=2, chance=NoChance(), **engine)  # type: ignore[arg-type]
        self.ran: list[str] = []
        self.ended: list[JobView] = []
        self.engine.on_finished(self.ended.append)

    def queue(
        self, name: str, handler: Handler = echo, children: Iterable[str] = ("*",), **more: object
    ) -> None:
        """Define a queue that takes anything; `children` are the queues it may grow, all of them by default."""

        def noting(job: Job) -> Outcome:
            self.ran.append(job.name)
            return handler(job)

        values = {"input": object, "handler": noting, "children": frozenset(children), **more}
        self.engine.define(QueueDef(name=name, **values))  # type: ignore[arg-type]

    def add(self, name: str, queue: str = "work", **more: object) -> str:
        """Add a job and return its id."""
        return self.engine.add(spec(name, queue, **more)).job_id

    def run(self) -> list[str]:
        """Run what is ready and return the names of the runs since the last call."""
        self.engine.run_until_idle()
        ran, self.ran = self.ran, []
        return ran

    def after(self, step: timedelta | float) -> list[str]:
        """Move the clock (a number is seconds), run what is ready then, and return the names."""
        self.clock.advance(step)
        return self.run()

    def end_of(self, name: str) -> JobView:
        """Return the only end of a job."""
        (view,) = [view for view in self.ended if view.name == name]
        return view

    def ends(self) -> dict[str, JobState]:
        """Return the state in which each job ended."""
        return {view.name: view.state for view in self.ended}

    def live(self, queue: str = "work") -> dict[str, JobState]:
        """Return the jobs of a queue that have not ended, by name."""
        states = (JobState.WAITING, JobState.DELAYED, JobState.ACTIVE, JobState.WAITING_CHILDREN)
        return {view.name: view.state for view in self.engine.jobs(queue, states, limit=1000)}


def spec(name: str, queue: str = "work", **more: object) -> JobSpec:
    """Return a job whose data is its name unless given."""
    return JobSpec(queue=queue, name=name, **{"data": name, **more})  # type: ignore[arg-type]
