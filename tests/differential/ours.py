"""The scenarios on our engine: its clock is moved by hand, a unit is a second."""

from __future__ import annotations

from datetime import timedelta

from program.clock import ManualClock
from program.errors import Final, Transient
from program.queues import (
    ChildPolicy,
    Delay,
    Done,
    Engine,
    Fail,
    JobSpec,
    JobState,
    JobView,
    Limiter,
    Outcome,
    Priority,
    QueueDef,
)
from program.queues import Job as Run
from tests.differential.scenarios import Add, Job, Limit, Pass, Remove, Scenario, Start
from tests.support.queues import START, NoChance

POLICIES = {policy.value: policy for policy in ChildPolicy}
STATES = (JobState.WAITING, JobState.DELAYED, JobState.ACTIVE, JobState.WAITING_CHILDREN)


class Ours:
    """One scenario on our engine. seen: what could be observed, in its order."""

    def __init__(self, scenario: Scenario) -> None:
        self.seen: list[str] = []
        self._scenario = scenario
        self._clock = ManualClock(START)
        self._engine = Engine(self._clock, chance=NoChance())
        self._engine.on_finished(self._ended)
        self._runs: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._states: dict[str, str] = {}
        self._is_started = False
        self._limiter: Limiter | None = None

    def play(self) -> list[str]:
        """Return what was seen, and at the end where every job stands."""
        self._define()
        for step in self._scenario.steps:
            self._do(step)
        for view in self._engine.jobs("work", STATES, limit=1000):
            self._states[view.name] = view.state.value
        ends = [f"{name} is {state}" for name, state in sorted(self._states.items())]
        return [*self.seen, *ends]

    def _define(self) -> None:
        self._engine.define(
            QueueDef(
                name="work",
                input=str,
                handler=self._run,
                concurrency=1,
                children=frozenset({"work"}),
                limiter=self._limiter,
                backoff=lambda _: timedelta(seconds=self._backoff),
            )
        )

    @property
    def _backoff(self) -> int:
        return max(job.backoff for job in self._scenario.jobs.values() if job.attempts > 1)

    def _do(self, step: object) -> None:
        match step:
            case Add(job):
                self._add(job)
            case Start():
                self._is_started = True
            case Limit(units):
                self._limiter = Limiter(starts=1, per=timedelta(seconds=units))
                self._define()
            case Remove(key, name):
                self._remove(key, name)
            case Pass(units):
                self._work()
                for _ in range(units):
                    self._clock.advance(1)
                    self._work()

    def _work(self) -> None:
        if self._is_started:
            self._engine.run_until_idle()

    def _add(self, job: Job) -> None:
        added = self._engine.add(self._spec(job))
        self.seen.append(f"{'add' if added.is_new else 'have'} {job.name}")
        if added.is_new:
            self._ids[job.name] = added.job_id

    def _spec(self, job: Job) -> JobSpec:
        priority = Priority.FRONT if job.to_front else None if job.rank is None else Priority(job.rank)
        return JobSpec(
            queue="work",
            name=job.name,
            data=job.name,
            job_id=job.job_id,
            dedup_id=job.key,
            dedup_ttl=None if job.ttl is None else timedelta(seconds=job.ttl),
            priority=priority,
            delay=timedelta(seconds=job.delay),
            attempts=job.attempts,
            policy=POLICIES[job.policy or "fail-parent"],
            children=tuple(map(self._spec, job.children)),
        )

    def _remove(self, key: str | None, name: str | None) -> None:
        if key is not None:
            is_gone = self._engine.remove_deduplicated("work", key)
        else:
            (view,) = [one for one in self._engine.jobs("work", STATES) if one.name == name]
            is_gone = self._engine.remove("work", view.id)
        self.seen.append(f"{'removed' if is_gone else 'not there:'} {key or name}")

    def _run(self, run: Run) -> Outcome:
        name = run.name
        job = self._scenario.jobs[name]
        heard = sorted(str(child.value) for child in run.children.values())
        self.seen.append(f"run {name}" + (f" with {' '.join(heard)}" if heard else ""))
        number = self._runs[name] = self._runs.get(name, 0) + 1
        what, _, more = job.script[min(number, len(job.script)) - 1].partition(" ")
        match what:
            case "fail":
                raise Transient("as scripted")
            case "final":
                return Fail(Final("as scripted"))
            case "delay":
                return Delay(self._clock.now() + timedelta(seconds=int(more)), "as scripted")
            case "add":
                self._add(self._scenario.jobs[more])
        return Done(name)

    def _ended(self, view: JobView) -> None:
        if view.state is JobState.REMOVED:
            self._states.pop(view.name, None)
            return
        self._states[view.name] = view.state.value
        self.seen.append(f"{view.state.value} {view.name}")


def play(scenario: Scenario) -> list[str]:
    """Return what is seen of a scenario on our engine."""
    return Ours(scenario).play()
