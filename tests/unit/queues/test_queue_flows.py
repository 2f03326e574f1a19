"""Parents and children."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.errors import Final, Transient
from program.queues import (
    ChildFailed,
    ChildPolicy,
    Delay,
    Done,
    Fail,
    InvalidJob,
    Job,
    JobSpec,
    JobState,
    Next,
    Outcome,
    Priority,
    WaitFor,
)
from tests.support.queues import START, Lab, script, spec

MINUTE = timedelta(minutes=1)
NO = Final("the child cannot")


def collect(job: Job) -> Outcome:
    """Answer with all that a parent knows of its children."""
    return Done(
        (
            [value.value for value in job.children.values()],
            [failure.name for failure in job.children.failures()],
            [late.name for late in job.children.late],
        )
    )


def fail_or_echo(job: Job) -> Outcome:
    return Fail(NO) if job.name.startswith("bad") else Done(job.name)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.queue("parent", collect)
    lab.queue("child", fail_or_echo, concurrency=1)
    return lab


def child(name: str, policy: ChildPolicy = ChildPolicy.FAIL_PARENT, **more: object) -> JobSpec:
    return spec(name, "child", policy=policy, **more)


def test_a_parent_runs_after_all_its_children_with_their_values_in_the_order_they_ended(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("a", delay=MINUTE), child("b")))
    assert lab.run() == ["b"]
    assert lab.live("parent") == {"top": JobState.WAITING_CHILDREN}
    assert lab.after(MINUTE) == ["a", "top"]
    assert lab.end_of("top").value == (["b", "a"], [], [])


def test_a_tree_runs_from_its_leaves_to_its_root(lab: Lab) -> None:
    middle = spec("middle", "parent", children=(child("leaf 1"), child("leaf 2")))
    lab.add("top", "parent", children=(middle,))
    assert lab.run() == ["leaf 1", "leaf 2", "middle", "top"]


def test_a_handler_may_grow_children_and_is_run_again_with_new_data(lab: Lab) -> None:
    def handler(job: Job) -> Outcome:
        if job.data == "scrape":
            return WaitFor((child("a"), child("b")), data="validate")
        return Done((job.data, job.has_waited, sorted(value.value for value in job.children.values())))

    lab.queue("parent", handler)
    lab.add("top", "parent", data="scrape")
    lab.run()
    assert lab.end_of("top").value == ("validate", True, ["a", "b"])


def test_values_can_be_asked_for_by_queue_and_by_the_start_of_its_name() -> None:
    lab = Lab()
    for plugin in ("one", "two"):
        lab.queue(f"scrape.plugin[{plugin}]")
    lab.queue("other")
    seen: list[list[str]] = []

    def handler(job: Job) -> Outcome:
        queues = ("scrape.plugin[two]", "scrape.plugin[*", "other", "none")
        seen.extend([name for name, _, _ in job.children.values(queue)] for queue in queues)
        return Done()

    lab.queue("parent", handler)
    children = (spec("1", "scrape.plugin[one]"), spec("2", "scrape.plugin[two]"), spec("3", "other"))
    lab.add("top", "parent", children=children)
    lab.run()
    assert seen == [["2"], ["1", "2"], ["3"], []]


def test_waiting_for_nobody_goes_on_at_once(lab: Lab) -> None:
    lab.queue("parent", lambda job: Done("on") if job.has_waited else WaitFor(()))
    lab.add("top", "parent")
    assert lab.run() == ["top", "top"]
    assert lab.end_of("top").value == "on"


# The four policies.


def test_by_default_a_failed_child_fails_its_parent_and_its_parents_parent(lab: Lab) -> None:
    middle = spec("middle", "parent", children=(child("bad"),))
    lab.add("top", "parent", dedup_id="k", children=(middle,))
    assert lab.run() == ["bad"]
    assert set(lab.ends().values()) == {JobState.FAILED}
    error = lab.end_of("middle").error
    assert isinstance(error, ChildFailed)
    assert (error.queue, error.name, error.error) == ("child", "bad", NO)
    assert lab.engine.held("parent") == frozenset()


def test_a_failed_parent_takes_back_what_has_not_started(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("bad"), child("b"), child("c", delay=MINUTE)))
    assert lab.run() == ["bad"]
    assert lab.after(MINUTE) == []
    assert lab.ends() == {
        "bad": JobState.FAILED,
        "b": JobState.REMOVED,
        "c": JobState.REMOVED,
        "top": JobState.FAILED,
    }


def test_an_ignored_failure_is_seen_when_all_have_ended(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("bad", ChildPolicy.IGNORE), child("b")))
    assert lab.run() == ["bad", "b", "top"]
    assert lab.end_of("top").value == (["b"], ["bad"], [])


def test_a_forgotten_failure_is_not_seen(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("bad", ChildPolicy.FORGET), child("b")))
    assert lab.run() == ["bad", "b", "top"]
    assert lab.end_of("top").value == (["b"], [], [])


def test_continue_now_goes_on_at_once_and_drops_what_comes_late(lab: Lab) -> None:
    children = (child("a"), child("bad", ChildPolicy.CONTINUE_NOW), child("b"), child("c", delay=MINUTE))
    lab.add("top", "parent", children=children)
    assert lab.run() == ["a", "bad", "top", "b"]
    assert lab.end_of("top").value == (["a"], ["bad"], ["b", "c"])
    assert lab.after(MINUTE) == ["c"]
    assert lab.engine.late()["child"] == 2


def test_a_late_failure_harms_nobody(lab: Lab) -> None:
    children = (child("bad now", ChildPolicy.CONTINUE_NOW), child("bad later"))
    lab.add("top", "parent", children=children)
    lab.run()
    assert lab.ends()["top"] is JobState.COMPLETED


@pytest.mark.parametrize("policy", list(ChildPolicy))
def test_with_every_policy_a_good_child_lets_its_parent_go_on(lab: Lab, policy: ChildPolicy) -> None:
    lab.add("top", "parent", children=(child("a", policy), child("b", policy)))
    assert lab.run() == ["a", "b", "top"]
    assert lab.end_of("top").value == (["a", "b"], [], [])


# Steps.


def test_each_wait_and_each_step_sees_only_its_own_children() -> None:
    lab = Lab()
    seen: list[tuple[object, list[str], list[str], bool]] = []
    children = {
        "first": (child("a"), child("bad", ChildPolicy.IGNORE)),
        "second": (child("b"),),
    }
    follows = {"first": "second", "second": "third"}

    def handler(job: Job) -> Outcome:
        names = [value.name for value in job.children.values()]
        failures = [failure.name for failure in job.children.failures()]
        seen.append((job.data, names, failures, job.has_waited))
        if job.data in children and not job.has_waited:
            return WaitFor(children[str(job.data)])
        return Next(follows[str(job.data)]) if job.data in follows else Done()

    lab.queue("parent", handler)
    lab.queue("child", fail_or_echo)
    lab.add("top", "parent", data="first")
    lab.run()
    assert seen == [
        ("first", [], [], False),
        ("first", ["a"], ["bad"], True),
        ("second", [], [], False),
        ("second", ["b"], [], True),
        ("third", [], [], False),
    ]


def test_a_second_wait_sees_nothing_of_the_first() -> None:
    lab = Lab()
    seen: list[list[str]] = []

    def handler(job: Job) -> Outcome:
        seen.append([value.name for value in job.children.values()])
        return WaitFor((child(f"child {len(seen)}"),)) if len(seen) < 3 else Done()

    lab.queue("parent", handler)
    lab.queue("child")
    lab.add("top", "parent")
    lab.run()
    assert seen == [[], ["child 1"], ["child 2"]]


def test_what_comes_late_does_not_reach_a_later_wait_of_the_same_parent(lab: Lab) -> None:
    def handler(job: Job) -> Outcome:
        if job.data == "first":
            late = child("late", delay=MINUTE)
            return WaitFor((child("bad", ChildPolicy.CONTINUE_NOW), late), data="second")
        if job.data == "second":
            return WaitFor((child("last", delay=2 * MINUTE),), data="third")
        return collect(job)

    lab.queue("parent", handler)
    lab.add("top", "parent", data="first")
    lab.run()
    assert lab.after(MINUTE) == ["late"]
    assert lab.after(MINUTE) == ["last", "top"]
    assert lab.end_of("top").value == (["last"], [], [])


def test_a_delayed_parent_runs_after_its_children_and_not_before_its_time(lab: Lab) -> None:
    lab.add("top", "parent", delay=MINUTE, children=(child("a"),))
    assert lab.run() == ["a"]
    assert lab.live("parent") == {"top": JobState.DELAYED}
    assert lab.after(MINUTE) == ["top"]


def test_a_retry_and_a_delay_keep_the_childrens_values(lab: Lab) -> None:
    values: list[int] = []
    steps = [Transient("busy"), Delay(START + MINUTE, "later"), Done()]

    def handler(job: Job) -> Outcome:
        if not job.has_waited:
            return WaitFor((child("a"),))
        values.append(len(job.children.values()))
        step = steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    lab.queue("parent", handler)
    lab.add("top", "parent")
    lab.run()
    lab.after(5)
    lab.after(MINUTE)
    assert values == [1, 1, 1]


def test_a_childs_own_retries_are_not_its_parents_matter(lab: Lab) -> None:
    lab.queue("child", script(Transient("busy"), Done("healed")))
    lab.add("top", "parent", children=(child("a"),))
    lab.run()
    lab.after(5)
    assert lab.end_of("top").value == (["healed"], [], [])


# Classes.


def test_children_inherit_the_class_of_their_parent() -> None:
    lab = Lab()
    classes: dict[str, Priority] = {}

    def handler(job: Job) -> Outcome:
        classes[job.name] = job.priority
        return WaitFor((spec("grown"),)) if job.name == "top" and not job.has_waited else Done()

    lab.queue("work", handler)
    own = spec("own", priority=Priority.BACKGROUND)
    lab.add("top", priority=Priority.FRONT, children=(spec("given", children=(spec("leaf"),)), own))
    lab.run()
    assert classes == {
        "leaf": Priority.FRONT,
        "given": Priority.FRONT,
        "own": Priority.BACKGROUND,
        "top": Priority.FRONT,
    }


def test_a_call_raises_the_job_it_joins_and_all_that_job_waits_for(lab: Lab) -> None:
    lab.queue("other")
    lab.add("rival", "other", priority=Priority.FRONT)
    lab.add("top", "parent", dedup_id="k", children=(child("a"),))
    assert lab.engine.call(spec("top", "parent", dedup_id="k"), 1) == (["a"], [], [])
    assert lab.run() == ["a", "top", "rival"]


# Deadlines.


def test_at_the_deadline_a_parent_goes_on_without_the_late_child(lab: Lab) -> None:
    lab.queue("slow", script(Delay(START + 5 * MINUTE, "the provider is slow"), Done("too late")))
    lab.queue(
        "parent",
        lambda job: (
            collect(job) if job.has_waited else WaitFor((child("a"), spec("slow", "slow")), deadline=MINUTE)
        ),
    )
    lab.add("top", "parent")
    assert lab.run() == ["top", "a", "slow"]
    assert lab.after(59) == []
    assert lab.after(1) == ["top"]
    assert lab.end_of("top").value == (["a"], [], ["slow"])
    assert lab.engine.late()["slow"] == 1
    assert lab.after(5 * MINUTE) == [], "nobody waits for it any more"
    assert lab.live("slow") == {}


def test_the_deadline_begins_when_a_child_starts_and_not_while_all_wait_their_turn(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("a"), child("b")), deadline=MINUTE)
    lab.clock.advance(10 * MINUTE)
    lab.engine.run_one()
    assert lab.ran == ["a"]
    lab.clock.advance(MINUTE)
    assert lab.run() == ["a", "top"]
    assert lab.end_of("top").value == (["a"], [], ["b"])


def test_the_deadline_begins_at_once_for_children_of_a_paused_queue(lab: Lab) -> None:
    lab.engine.rate_limit("child", START + timedelta(days=1))
    lab.add("first", "parent", children=(child("a"),), deadline=MINUTE)
    assert lab.after(MINUTE) == ["first"]
    assert lab.end_of("first").value == ([], [], ["a"])


def test_a_pause_that_comes_later_starts_the_deadline_too(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("a"),), deadline=MINUTE)
    lab.clock.advance(10 * MINUTE)
    lab.engine.rate_limit("child", START + timedelta(days=1))
    lab.clock.advance(59)
    assert lab.run() == []
    assert lab.after(1) == ["top"]


def test_the_deadline_of_a_whole_tree_begins_with_its_first_leaf(lab: Lab) -> None:
    lab.queue("slow", script(Delay(START + 5 * MINUTE, "slow")))
    middle = spec("middle", "parent", children=(spec("leaf", "slow"),))
    lab.add("top", "parent", children=(middle,), deadline=MINUTE)
    lab.run()
    assert lab.after(MINUTE) == ["top"]
    assert lab.ends() == {
        "leaf": JobState.REMOVED,
        "middle": JobState.REMOVED,
        "top": JobState.COMPLETED,
    }


def test_the_deadline_of_one_wait_does_not_end_the_next(lab: Lab) -> None:
    waits = [
        WaitFor((child("quick"),), deadline=MINUTE),
        WaitFor((child("slow", delay=5 * MINUTE),)),
        Done("patient"),
    ]
    lab.queue("parent", script(*waits))
    lab.add("top", "parent")
    assert lab.run() == ["top", "quick", "top"]
    assert lab.after(2 * MINUTE) == []
    assert lab.after(3 * MINUTE) == ["slow", "top"]


def test_a_late_child_at_work_is_told_to_stop_and_not_tried_again(lab: Lab) -> None:
    told: list[bool] = []

    def hang(job: Job) -> Outcome:
        lab.clock.advance(MINUTE)
        lab.engine.run_one()
        told.append(job.cancelled)
        raise Transient("at last an error")

    lab.queue("slow", hang)
    lab.add("top", "parent", children=(spec("slow", "slow"),), deadline=MINUTE)
    assert lab.run() == ["slow", "top"]
    assert told == [True]
    assert lab.live("slow") == {}


def test_a_parent_that_is_gone_leaves_no_appointment(lab: Lab) -> None:
    lab.add("top", "parent", dedup_id="k", children=(child("a", delay=MINUTE),), deadline=MINUTE)
    lab.engine.remove_deduplicated("parent", "k")
    assert lab.engine._board.next_due(lab.clock.now()) is None


def test_a_deadline_that_is_not_needed_does_nothing(lab: Lab) -> None:
    lab.add("top", "parent", children=(child("a"),), deadline=MINUTE)
    assert lab.run() == ["a", "top"]
    assert lab.after(MINUTE) == []


# What is looked at when a job is added.


def test_wrong_data_is_refused_with_both_types_named() -> None:
    lab = Lab()
    lab.queue("work", input=int)
    with pytest.raises(InvalidJob, match="work takes int, not str"):
        lab.add("a", data="one")


def test_a_wrong_grandchild_is_refused_and_nothing_is_added(lab: Lab) -> None:
    lab.queue("numbers", input=int)
    middle = spec("middle", "parent", children=(spec("leaf", "numbers", data="one"),))
    with pytest.raises(InvalidJob, match="numbers takes int"):
        lab.add("top", "parent", children=(child("a"), middle))
    assert lab.run() == []
    assert lab.live("parent") == lab.live("child") == {}


def test_an_unknown_queue_is_refused(lab: Lab) -> None:
    with pytest.raises(InvalidJob, match="no queue nowhere"):
        lab.add("a", "nowhere")


def test_a_child_that_is_not_allowed_is_refused_and_fails_the_handler_that_grows_it() -> None:
    lab = Lab()
    lab.queue("child")
    lab.queue("plugin[a]")
    lab.queue("work", script(WaitFor((child("a"),))), children=("plugin[*",))
    with pytest.raises(InvalidJob, match="work may not have a child in child"):
        lab.add("a", children=(child("x"),))
    lab.add("b", children=(spec("x", "plugin[a]"),))
    lab.run()
    assert isinstance(lab.end_of("b").error, InvalidJob)
    assert lab.live("child") == {}


def test_a_value_of_the_wrong_type_fails_the_job() -> None:
    lab = Lab()
    lab.queue("work", output=int)
    lab.add("a", data="text")
    lab.run()
    assert str(lab.end_of("a").error) == "work answers int, not str"


@pytest.mark.parametrize("outcome", [Next("text"), WaitFor((), data="text"), Delay(START, "x", data="text")])
def test_a_next_step_of_the_wrong_type_fails_the_job(outcome: Outcome) -> None:
    lab = Lab()
    lab.queue("work", lambda _job: outcome, input=int)
    lab.add("a", data=1)
    lab.run()
    assert str(lab.end_of("a").error) == "work takes int, not str"


def test_unions_are_types_too() -> None:
    lab = Lab()
    lab.queue("work", input=int | str)
    lab.add("a", data=1)
    with pytest.raises(InvalidJob, match=r"int \| str"):
        lab.add("b", data=1.5)


def test_a_job_that_would_wait_for_itself_is_refused(lab: Lab) -> None:
    twin = spec("x", "parent", dedup_id="k")
    with pytest.raises(InvalidJob, match="would wait for itself"):
        lab.add("top", "parent", dedup_id="k", children=(spec("m", "parent", children=(twin,)),))
    lab.queue("grower", lambda _job: WaitFor((twin,)))
    lab.add("top", "parent", dedup_id="k", children=(spec("m", "grower"),))
    lab.run()
    assert isinstance(lab.end_of("m").error, InvalidJob)
    assert lab.ends()["top"] is JobState.FAILED


def test_the_data_can_be_had_as_its_type(lab: Lab) -> None:
    lab.queue("work", lambda job: Done(job.data_as(int) + 1))
    lab.add("good", data=1)
    lab.add("bad", data="one")
    lab.run()
    assert lab.end_of("good").value == 2
    assert str(lab.end_of("bad").error) == "work: str is not int"
