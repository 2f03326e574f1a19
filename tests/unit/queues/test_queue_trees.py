"""Random trees with random failures always end, as their policies say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from program.errors import Final, RetryLater, Transient
from program.queues import ChildPolicy, Done, Fail, Job, JobSpec, JobState, Next, Outcome, WaitFor
from tests.support.queues import Lab

FAIL_PARENT, IGNORE, CONTINUE_NOW, FORGET = ChildPolicy


@dataclass(frozen=True)
class Plant:
    """A job of a random tree: what it does before it ends, how it ends, whether it brings its children or grows them."""

    name: str
    policy: ChildPolicy
    detours: tuple[str, ...]
    ends_well: bool
    grows: bool
    has_deadline: bool
    children: tuple[Plant, ...]


def named(plant: Plant, name: str) -> Plant:
    children = tuple(named(child, f"{name}.{number}") for number, child in enumerate(plant.children))
    return Plant(
        name, plant.policy, plant.detours, plant.ends_well, plant.grows, plant.has_deadline, children
    )


def plants(children: st.SearchStrategy[tuple[Plant, ...]], *, deadlines: bool) -> st.SearchStrategy[Plant]:
    return st.builds(
        Plant,
        st.just(""),
        st.sampled_from(list(ChildPolicy)),
        st.lists(st.sampled_from(["retry", "later", "next"]), max_size=2).map(tuple),
        st.sampled_from([True, True, False]),
        st.booleans(),
        st.booleans() if deadlines else st.just(False),
        children,
    )


def trees(*, deadlines: bool) -> st.SearchStrategy[Plant]:
    leaves = plants(st.just(()), deadlines=deadlines)
    return st.recursive(
        leaves,
        lambda inner: plants(st.lists(inner, min_size=1, max_size=3).map(tuple), deadlines=deadlines),
        max_leaves=10,
    ).map(lambda plant: named(plant, "top"))


@dataclass(frozen=True)
class State:
    """The data of a job: its plant and how many detours it has made."""

    plant: Plant
    step: int = 0
    has_grown: bool = False


def job_of(plant: Plant) -> JobSpec:
    brought = () if plant.grows else tuple(map(job_of, plant.children))
    return JobSpec(
        queue="tree",
        name=plant.name,
        data=State(plant),
        dedup_id=plant.name,
        policy=plant.policy,
        children=brought,
        deadline=timedelta(seconds=20) if plant.has_deadline else None,
    )


class Forest:
    """An engine whose jobs do what their plants say; notes what each parent was told of its children."""

    def __init__(self) -> None:
        self.lab = Lab()
        self.detours: dict[str, list[str]] = {}
        self.told: dict[str, tuple[set[str], set[str]]] = {}
        self.lab.queue("tree", self.handle, concurrency=2)

    def handle(self, job: Job) -> Outcome:
        state = job.data_as(State)
        plant = state.plant
        if plant.grows and plant.children and not state.has_grown:
            deadline = timedelta(seconds=20) if plant.has_deadline else None
            return WaitFor(
                tuple(map(job_of, plant.children)),
                data=State(plant, state.step, has_grown=True),
                deadline=deadline,
            )
        if job.has_waited:
            values = {value.name for value in job.children.values()}
            self.told[plant.name] = values, {failure.name for failure in job.children.failures()}
        detours = self.detours.setdefault(plant.name, list(plant.detours))
        if detours:
            return self.detour(detours.pop(0), state)
        return Done(plant.name) if plant.ends_well else Fail(Final("as planted"))

    def detour(self, kind: str, state: State) -> Outcome:
        if kind == "retry":
            raise Transient("busy")
        if kind == "later":
            raise RetryLater(self.lab.clock.now() + timedelta(seconds=7), "patience")
        return Next(State(state.plant, state.step + 1, has_grown=True))

    def grow(self, plant: Plant) -> None:
        self.lab.engine.add(job_of(plant))
        for _ in range(300):
            self.lab.run()
            if not self.lab.live("tree"):
                return
            self.lab.clock.advance(5)
        raise AssertionError(f"never ends: {self.lab.live('tree')}")


def possible(plant: Plant) -> set[bool]:
    """Return whether the job may end well, may fail, or (when it depends on who ends first) both."""
    ends: set[bool] = set()
    fates = [(child.policy, possible(child)) for child in plant.children]
    may_fail = any(policy is FAIL_PARENT and False in fate for policy, fate in fates)
    must_fail = any(policy is FAIL_PARENT and fate == {False} for policy, fate in fates)
    may_be_overtaken = any(policy is CONTINUE_NOW and False in fate for policy, fate in fates)
    if may_fail:
        ends.add(False)
    if not must_fail or may_be_overtaken:
        ends.add(plant.ends_well)
    return ends


BOUNDED = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@BOUNDED
@given(trees(deadlines=False))
def test_a_random_tree_ends_as_its_policies_say(plant: Plant) -> None:
    forest = Forest()
    forest.grow(plant)
    top = forest.lab.end_of("top")
    assert (top.state is JobState.COMPLETED) in possible(plant)
    assert forest.lab.engine.held("tree") == frozenset()
    names = [view.name for view in forest.lab.ended]
    assert len(names) == len(set(names)), "nothing ends twice"


@BOUNDED
@given(trees(deadlines=True))
def test_a_random_tree_with_deadlines_always_ends(plant: Plant) -> None:
    forest = Forest()
    forest.grow(plant)
    assert forest.lab.end_of("top").state in (JobState.COMPLETED, JobState.FAILED)
    assert forest.lab.engine.held("tree") == frozenset()


def steps_of(plant: Plant) -> bool:
    return "next" in plant.detours


@BOUNDED
@given(trees(deadlines=False).filter(lambda plant: bool(plant.children) and not steps_of(plant)))
def test_a_parent_is_told_exactly_of_those_that_ended(plant: Plant) -> None:
    forest = Forest()
    forest.grow(plant)
    if "top" not in forest.told:
        assert forest.lab.end_of("top").state is JobState.FAILED
        return
    ends = forest.lab.ends()
    policies = {child.name: child.policy for child in plant.children}
    values, failures = forest.told["top"]
    late = {value.name for value in forest.lab.ended} & set(policies) - values - failures
    assert {ends[name] for name in values} <= {JobState.COMPLETED}
    assert {policies[name] for name in failures} <= {IGNORE, CONTINUE_NOW}
    was_overtaken = any(policies[name] is CONTINUE_NOW for name in failures)
    if not was_overtaken:
        assert {policies[name] for name in late} <= {FORGET}
        assert all(ends[name] is JobState.FAILED for name in late)
