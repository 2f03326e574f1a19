"""Dedup ids, ids of one's own, and removal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.errors import Cancelled, Final, Transient
from program.queues import ChildPolicy, Delay, Done, Fail, Job, JobState, Outcome, Priority, WaitFor
from tests.support.queues import START, Lab, script, spec


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.queue("work")
    lab.queue("child")
    return lab


def test_a_second_job_with_a_held_key_is_the_first_one(lab: Lab) -> None:
    first = lab.engine.add(spec("a", dedup_id="k"))
    second = lab.engine.add(spec("b", dedup_id="k"))
    assert (first.is_new, second.is_new) == (True, False)
    assert second.job_id == first.job_id
    assert lab.run() == ["a"]


def test_a_key_belongs_to_its_queue(lab: Lab) -> None:
    lab.add("a", dedup_id="k")
    assert lab.engine.add(spec("b", "child", dedup_id="k")).is_new


def test_a_key_is_held_while_delayed_active_parked_and_free_after_the_end() -> None:
    lab = Lab()
    held: list[frozenset[str]] = []
    children = (spec("child", "child"),)
    lab.queue("work", script(Delay(START + timedelta(seconds=5), "wait"), WaitFor(children), Done()))
    lab.queue("child", lambda _job: held.append(lab.engine.held("work")) or Done())
    lab.engine.on_finished(lambda view: held.append(lab.engine.held(view.queue)))
    lab.add("a", dedup_id="k")
    lab.run()
    assert lab.engine.held("work") == {"k"}
    lab.after(5)
    assert held == [{"k"}, frozenset(), frozenset()]


@pytest.mark.parametrize("error", [Final("no"), Cancelled("off"), ValueError("a bug")])
def test_a_failure_for_good_frees_the_key(error: Exception) -> None:
    lab = Lab()
    lab.queue("work", script(error))
    lab.add("a", dedup_id="k")
    lab.run()
    assert lab.engine.held("work") == frozenset()


def test_a_failed_attempt_keeps_the_key() -> None:
    lab = Lab()
    lab.queue("work", script(Transient("busy"), Done()))
    lab.add("a", dedup_id="k")
    lab.run()
    assert lab.engine.held("work") == {"k"}
    lab.after(5)
    assert lab.engine.held("work") == frozenset()


def test_a_key_with_a_ttl_lives_exactly_that_long_whatever_becomes_of_the_job(lab: Lab) -> None:
    ttl = timedelta(seconds=60)
    lab.add("a", dedup_id="k", dedup_ttl=ttl)
    lab.run()
    assert not lab.engine.add(spec("b", dedup_id="k", dedup_ttl=ttl)).is_new
    lab.clock.advance(59)
    assert lab.engine.held("work") == {"k"}
    lab.clock.advance(1)
    assert lab.engine.held("work") == frozenset()
    assert lab.engine.add(spec("c", dedup_id="k", dedup_ttl=ttl)).is_new


def test_a_better_class_raises_the_job_that_is_already_there(lab: Lab) -> None:
    lab.add("a")
    lab.add("b", dedup_id="k", priority=Priority.BACKGROUND)
    lab.engine.add(spec("b", dedup_id="k", priority=Priority.FRONT))
    assert lab.run() == ["b", "a"]


def test_an_id_of_ones_own_answers_with_the_kept_value(lab: Lab) -> None:
    lab.add("a", job_id="cache-check")
    lab.run()
    assert not lab.engine.add(spec("b", job_id="cache-check")).is_new
    assert lab.engine.call(spec("b", job_id="cache-check"), 1) == "a"
    assert lab.run() == []


def test_a_failure_kept_under_an_id_is_not_given_again() -> None:
    lab = Lab()
    lab.queue("work", script(Fail(Final("no")), Done("yes")))
    lab.add("a", job_id="x")
    lab.run()
    assert lab.engine.call(spec("a", job_id="x"), 1) == "yes"


def test_removal_of_a_waiting_and_of_a_delayed_job_frees_the_key_at_once(lab: Lab) -> None:
    lab.add("waiting", dedup_id="w")
    lab.add("delayed", dedup_id="d", delay=timedelta(hours=1))
    assert lab.engine.remove_deduplicated("work", "w")
    assert lab.engine.remove_deduplicated("work", "d")
    assert lab.engine.held("work") == frozenset()
    assert lab.after(timedelta(hours=2)) == []
    assert lab.ends() == {"waiting": JobState.REMOVED, "delayed": JobState.REMOVED}


def test_removal_of_a_waiting_job_frees_its_key_with_a_ttl_too(lab: Lab) -> None:
    lab.add("a", dedup_id="k", dedup_ttl=timedelta(hours=1))
    lab.engine.remove_deduplicated("work", "k")
    assert lab.engine.held("work") == frozenset()


def test_the_end_of_a_job_does_not_free_a_key_that_another_has_taken_meanwhile(lab: Lab) -> None:
    lab.add("throttled", dedup_id="k", dedup_ttl=timedelta(seconds=1), delay=timedelta(seconds=10))
    lab.clock.advance(1)
    lab.add("newer", dedup_id="k", delay=timedelta(hours=1))
    assert lab.after(9) == ["throttled"]
    assert lab.engine.held("work") == {"k"}


def test_removal_of_what_is_not_there_says_so(lab: Lab) -> None:
    assert not lab.engine.remove_deduplicated("work", "nothing")


def test_removal_frees_a_key_that_outlives_its_job(lab: Lab) -> None:
    lab.add("a", dedup_id="k", dedup_ttl=timedelta(hours=1))
    lab.run()
    assert lab.engine.remove_deduplicated("work", "k")
    assert lab.engine.held("work") == frozenset()


def test_a_parked_job_goes_with_its_children_and_wakes_its_parent(lab: Lab) -> None:
    child = spec("middle", "work", dedup_id="m", children=(spec("leaf", "child"),))
    lab.queue("parent")
    lab.add("top", "parent", children=(child,))
    assert lab.live("parent") == {"top": JobState.WAITING_CHILDREN}
    assert lab.engine.remove_deduplicated("work", "m")
    assert lab.run() == ["top"]
    assert lab.ends() == {"leaf": JobState.REMOVED, "middle": JobState.REMOVED, "top": JobState.COMPLETED}


def test_a_child_that_others_wait_for_too_stays_when_one_parent_goes(lab: Lab) -> None:
    shared = spec("shared", "child", dedup_id="s")
    lab.add("one", dedup_id="one", children=(shared,))
    lab.add("two", dedup_id="two", children=(shared,))
    lab.engine.remove_deduplicated("work", "one")
    assert lab.run() == ["shared", "two"]


def test_a_job_wanted_for_itself_stays_when_a_parent_that_waits_for_it_goes(lab: Lab) -> None:
    shared = spec("shared", "child", dedup_id="s")
    lab.add("top", dedup_id="top", children=(shared,))
    lab.engine.add(shared)
    lab.engine.remove_deduplicated("work", "top")
    assert lab.run() == ["shared"]


def test_two_parents_get_the_value_of_a_shared_child(lab: Lab) -> None:
    lab.queue("parent", lambda job: Done([value.value for value in job.children.values()]))
    for name in ("one", "two"):
        lab.add(name, "parent", children=(spec("shared", "child", dedup_id="s"),))
    assert lab.run() == ["shared", "one", "two"]
    assert lab.end_of("one").value == lab.end_of("two").value == ["shared"]


def test_an_active_job_is_cancelled_and_its_key_held_until_it_returns() -> None:
    lab = Lab()
    seen: list[object] = []

    def handler(job: Job) -> Outcome:
        seen.append(lab.engine.remove_deduplicated("work", "k"))
        seen.append(job.cancelled)
        seen.append(lab.engine.held("work"))
        seen.append(lab.engine.add(spec("again", dedup_id="k")).is_new)
        return Done("a value nobody gets")

    lab.queue("work", handler)
    lab.queue("parent", lambda job: Done(job.children.values()))
    lab.add("top", "parent", children=(spec("a", dedup_id="k"),))
    assert lab.run() == ["a", "top"]
    assert seen == [True, True, {"k"}, False]
    assert lab.end_of("top").value == []
    assert lab.end_of("a").state is JobState.REMOVED
    assert lab.engine.held("work") == frozenset()


@pytest.mark.parametrize(
    "outcome",
    [Delay(START, "later"), WaitFor((spec("x", "child"),)), Fail(Final("no"))],
    ids=["delay", "wait", "fail"],
)
def test_whatever_a_cancelled_job_answers_it_is_over(outcome: Outcome) -> None:
    lab = Lab()
    lab.queue("child")

    def handler(_job: Job) -> Outcome:
        lab.engine.remove_deduplicated("work", "k")
        return outcome

    lab.queue("work", handler)
    lab.add("a", dedup_id="k")
    assert lab.run() == ["a"]
    assert lab.ends() == {"a": JobState.REMOVED}


def test_raise_if_cancelled_ends_the_run_without_a_word() -> None:
    lab = Lab()

    def handler(job: Job) -> Outcome:
        job.raise_if_cancelled()
        lab.engine.remove("work", job.id)
        job.raise_if_cancelled()
        raise AssertionError("not reached")

    lab.queue("work", handler)
    lab.queue("parent")
    lab.add("top", "parent", children=(spec("a", policy=ChildPolicy.FAIL_PARENT),))
    lab.run()
    assert lab.ends() == {"a": JobState.REMOVED, "top": JobState.COMPLETED}


def test_a_listener_may_add_the_job_again(lab: Lab) -> None:
    added: list[bool] = []

    def again(view: object) -> None:
        if not added:
            added.append(lab.engine.add(spec("a", dedup_id="k")).is_new)

    lab.engine.on_finished(again)
    lab.add("a", dedup_id="k")
    assert lab.run() == ["a", "a"]
    assert added == [True]


def test_a_failed_job_counts_as_at_work_until_everybody_has_heard_of_its_failure() -> None:
    lab = Lab()
    lab.queue("work", script(Final("no"), Done()))
    seen: list[frozenset[str]] = []
    lab.engine.on_finished(lambda _: seen.append(lab.engine.held("work")))
    lab.add("a", dedup_id="key")
    lab.run()
    assert (seen, lab.engine.held("work")) == ([{"key"}], frozenset())
    lab.add("b", dedup_id="key")
    lab.run()
    assert seen[1:] == [frozenset()], "after a success the next step may begin at once"


def test_a_failing_listener_stops_neither_the_others_nor_the_jobs(lab: Lab) -> None:
    def broken(_view: object) -> None:
        raise ValueError("a broken listener")

    heard: list[str] = []
    lab.engine.on_finished(broken)
    lab.engine.on_finished(lambda view: heard.append(view.name))
    lab.add("a")
    lab.add("b")
    lab.run()
    assert heard == ["a", "b"]
