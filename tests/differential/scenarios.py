"""What both engines are put through: scenarios as data, without a word about either engine.

A scenario is a list of steps. Time passes in units that each engine chooses for itself. Jobs stand in one queue, `work`, that
does one at a time. A job's script says what each of its runs does: `ok`, `fail` (worth another attempt), `final` (not worth one),
`delay N` (again in N units, no attempt used), `add NAME` (adds the job of that name from within). A finished job's value is its
name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True)
class Job:
    """A job. rank: 0 is the most urgent class, 3 the least; None says nothing. policy: of a child, see `POLICIES`."""

    name: str
    rank: int | None = None
    to_front: bool = False
    delay: int = 0
    key: str | None = None
    ttl: int | None = None
    job_id: str | None = None
    attempts: int = 1
    backoff: int = 2
    script: tuple[str, ...] = ("ok",)
    policy: str | None = None
    children: tuple[Job, ...] = ()


POLICIES = ("fail-parent", "ignore", "continue-now", "forget")


@dataclass(frozen=True)
class Add:
    """Add a job."""

    job: Job


@dataclass(frozen=True)
class Start:
    """Begin to work; before it nothing runs."""


@dataclass(frozen=True)
class Pass:
    """Let time pass, and everything run that may."""

    units: int = 0


@dataclass(frozen=True)
class Remove:
    """Remove the job that holds a key, or the one of that name."""

    key: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Limit:
    """From now on begin one job in so many units."""

    units: int


Step: TypeAlias = Add | Start | Pass | Remove | Limit


@dataclass(frozen=True)
class Scenario:
    """What happens. more: jobs that others add. departure: why the two engines are not alike here; None when they must be."""

    name: str
    steps: tuple[Step, ...]
    more: tuple[Job, ...] = ()
    departure: str | None = None
    jobs: dict[str, Job] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for step in self.steps:
            if isinstance(step, Add):
                self._know(step.job)
        for job in self.more:
            self._know(job)

    def _know(self, job: Job) -> None:
        self.jobs[job.name] = job
        for child in job.children:
            self._know(child)


def adds(*jobs: Job | str) -> tuple[Step, ...]:
    """Return steps that add jobs; a name stands for a plain one."""
    return tuple(Add(Job(job) if isinstance(job, str) else job) for job in jobs)


def flow(policy: str | None, *, bad: str = "final") -> Scenario:
    """Return a parent of three children of which the second fails."""
    first, last = Job("first", policy=policy), Job("last", policy=policy)
    second = Job("second", policy=policy, script=(bad,))
    return Scenario(
        f"a child that fails: {policy or 'nothing said'}",
        (*adds(Job("parent", children=(first, second, last))), Start(), Pass(3)),
    )


PLAIN = Job("a")
SCENARIOS: tuple[Scenario, ...] = (
    Scenario("first come, first served", (*adds("a", "b", "c"), Start(), Pass())),
    Scenario(
        "the more urgent class first",
        (
            *adds(*(Job(f"{rank}{letter}", rank=rank) for letter in "ab" for rank in (2, 0, 3, 1))),
            Start(),
            Pass(),
        ),
    ),
    Scenario("one to the front", (*adds("a", "b", Job("c", to_front=True)), Start(), Pass())),
    Scenario(
        "delays",
        (*adds(Job("late", delay=4), Job("soon", delay=2), "now"), Start(), Pass(), *adds("then"), Pass(6)),
    ),
    Scenario(
        "what becomes due goes behind what waits",
        (*adds(Job("due", delay=1), "a", "b"), Pass(2), *adds("c"), Start(), Pass(1)),
    ),
    Scenario(
        "the same key while it waits",
        (*adds(Job("a", key="k"), Job("b", key="k"), Job("c", key="other")), Start(), Pass()),
    ),
    Scenario(
        "the same key while it is delayed",
        (*adds(Job("a", key="k", delay=2)), Start(), *adds(Job("b", key="k")), Pass(3)),
    ),
    Scenario(
        "the same key while it runs",
        (*adds(Job("a", key="k", script=("add b",))), Start(), Pass()),
        more=(Job("b", key="k"),),
    ),
    Scenario(
        "the same key between two attempts",
        (
            *adds(Job("a", key="k", attempts=2, script=("fail", "ok"))),
            Start(),
            Pass(1),
            *adds(Job("b", key="k")),
            Pass(3),
        ),
    ),
    Scenario(
        "the same key while it waits for children",
        (
            *adds(Job("parent", key="k", children=(Job("child", delay=2),))),
            Start(),
            Pass(1),
            *adds(Job("b", key="k")),
            Pass(3),
        ),
    ),
    Scenario(
        "the same key after completion and after failure",
        (
            *adds(Job("a", key="k")),
            Start(),
            Pass(),
            *adds(Job("b", key="k", script=("final",))),
            Pass(),
            *adds(Job("c", key="k")),
            Pass(),
        ),
    ),
    Scenario(
        "a key with a time of its own",
        (
            *adds(Job("a", key="k", ttl=4)),
            Start(),
            Pass(1),
            *adds(Job("b", key="k", ttl=4)),
            Pass(5),
            *adds(Job("c", key="k", ttl=4)),
            Pass(),
        ),
    ),
    Scenario(
        "the same id while it waits and after it is complete",
        (
            *adds(Job("a", job_id="one"), Job("b", job_id="one")),
            Start(),
            Pass(),
            *adds(Job("c", job_id="one")),
            Pass(),
        ),
    ),
    Scenario(
        "a parent after its children, and theirs",
        (
            *adds(
                Job("top", children=(Job("left", children=(Job("leaf"),)), Job("right"))),
            ),
            Start(),
            Pass(),
        ),
    ),
    replace(
        flow("fail-parent"),
        departure=(
            "Children that nobody waits for any more are taken back here before they have begun; "
            "there they run for nobody. The parent fails at the same moment in both."
        ),
    ),
    flow("ignore"),
    replace(
        flow("continue-now"),
        departure=(
            "A parent that goes on without the rest may end while the rest is still there; what that "
            "brings is dropped and counted. There it runs at the same moment but may not end before "
            "every child has ended or was taken away by hand."
        ),
    ),
    flow("forget"),
    Scenario(
        "a parent whose children are done, and what waits",
        (*adds(Job("parent", children=(Job("child"),)), "a", "b"), Start(), Pass()),
    ),
    Scenario(
        "a parent of a class whose children are done, and what waits",
        (
            *adds(
                Job("parent", rank=2, children=(Job("child", rank=2),)), Job("a", rank=2), Job("b", rank=1)
            ),
            Start(),
            Pass(),
        ),
        departure=(
            "A parent comes back to the place it had, whether it has a class or not: what was begun "
            "is finished first. There it does so only without a class, and goes behind its class "
            "otherwise."
        ),
    ),
    Scenario(
        "a failed attempt comes again after its wait",
        (
            *adds(
                Job("a", attempts=3, backoff=2, script=("fail", "fail", "ok")),
                Job("b", delay=1),
                Job("c", delay=3),
            ),
            Start(),
            Pass(6),
        ),
    ),
    Scenario(
        "attempts run out",
        (*adds(Job("a", attempts=2, backoff=1, script=("fail", "fail", "ok")), "b"), Start(), Pass(4)),
    ),
    Scenario(
        "an error that no attempt can heal",
        (*adds(Job("a", attempts=3, script=("final", "ok")), "b"), Start(), Pass(5)),
    ),
    Scenario(
        "again later, without using an attempt",
        (
            *adds(Job("a", attempts=2, backoff=1, script=("delay 2", "fail", "ok")), Job("b", delay=1)),
            Start(),
            Pass(6),
        ),
    ),
    Scenario("one job in so many units", (Limit(3), *adds("a", "b", Job("c", delay=4)), Start(), Pass(9))),
    Scenario(
        "removed while it waits",
        (*adds(Job("a", key="k"), "b"), Remove(key="k"), *adds(Job("c", key="k")), Start(), Pass()),
    ),
    Scenario(
        "a removed child frees its parent",
        (
            *adds(Job("parent", children=(Job("first"), Job("never", delay=90)))),
            Start(),
            Pass(1),
            Remove(name="never"),
            Pass(1),
        ),
    ),
    Scenario(
        "a removed parent takes its children along",
        (*adds(Job("parent", key="k", children=(Job("child"),)), "b"), Remove(key="k"), Start(), Pass(1)),
    ),
    replace(
        flow(None),
        departure=(
            "Whoever says nothing about a child gets the strictest policy here, so that no parent "
            "waits for ever; there the parent of a child that failed is never looked at again."
        ),
    ),
    Scenario(
        "two to the front",
        (*adds("a", Job("b", to_front=True), Job("c", to_front=True)), Start(), Pass()),
        departure=(
            "The front is a class here, and in a class the first comes first; there each newcomer "
            "goes before the last one, so that parts of a season would be fetched backwards."
        ),
    ),
    Scenario(
        "a job without a class",
        (*adds(Job("urgent", rank=1), "plain"), Start(), Pass()),
        departure="A job of which nothing is said is of the normal class here; there it goes before every class.",
    ),
    Scenario(
        "a child takes its parent's class",
        (
            *adds(
                Job("urgent", rank=0), Job("parent", rank=2, children=(Job("child"),)), Job("middle", rank=1)
            ),
            Start(),
            Pass(),
        ),
        departure=(
            "A child of which nothing is said is as urgent as what waits for it, so that an "
            "interactive job waits for interactive ones and background work stays in the background; "
            "there such a child goes before every class."
        ),
    ),
    Scenario(
        "the same id after it failed",
        (
            *adds(Job("a", job_id="one", script=("final",))),
            Start(),
            Pass(),
            *adds(Job("b", job_id="one")),
            Pass(),
        ),
        departure="A failure is no answer that could be given again: the same id means a new try here; there it is refused.",
    ),
    Scenario(
        "a removed job with a key that has a time of its own",
        (
            *adds(Job("a", key="k", ttl=50, delay=9)),
            Start(),
            Pass(),
            Remove(key="k"),
            *adds(Job("b", key="k", ttl=50)),
            Pass(),
        ),
    ),
)
