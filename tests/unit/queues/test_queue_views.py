"""Looking inside: counts, lists, what is kept, retry and removal by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.errors import Final
from program.queues import Done, Fail, Job, JobState, KeyHeld, Outcome, Priority, Retention
from program.queues.retention import FLOW_RETENTION, PLUGIN_RETENTION
from tests.support.queues import START, Lab, spec

HOUR = timedelta(hours=1)


def by_name(job: Job) -> Outcome:
    return Fail(Final("no")) if job.name.startswith("bad") else Done(job.name)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.queue("work", by_name)
    return lab


def test_counts_say_how_many_jobs_stand_where(lab: Lab) -> None:
    counted: list[object] = []
    lab.queue("looking", lambda _job: counted.append(lab.engine.counts()["looking"]) or Done())
    lab.add("good")
    lab.add("bad")
    lab.add("worse bad", priority=Priority.FRONT)
    lab.add("looks", "looking")
    lab.run()
    lab.add("parked", children=(spec("later", delay=HOUR),))
    lab.add("waits")
    assert lab.engine.counts()["work"] == {
        JobState.WAITING: 1,
        JobState.DELAYED: 1,
        JobState.ACTIVE: 0,
        JobState.WAITING_CHILDREN: 1,
        JobState.COMPLETED: 2,
        JobState.FAILED: 1,
    }
    assert counted[0][JobState.ACTIVE] == 1  # type: ignore[index]


def test_lists_show_what_is_to_come_in_its_order_and_then_the_latest_ends(lab: Lab) -> None:
    for name in ("good 1", "bad 1", "good 2", "bad 2"):
        lab.add(name)
    lab.run()
    lab.add("parked", children=(spec("late", delay=2 * HOUR), spec("soon", delay=HOUR)))
    lab.add("normal")
    lab.add("front", priority=Priority.FRONT)
    names = [view.name for view in lab.engine.jobs("work")]
    assert names == ["front", "normal", "soon", "late", "parked", "bad 2", "bad 1", "good 2", "good 1"]
    assert [view.name for view in lab.engine.jobs("work", limit=2)] == ["front", "normal"]
    assert [view.name for view in lab.engine.jobs("work", {JobState.FAILED}, limit=1)] == ["bad 2"]


def test_a_view_tells_when_and_why(lab: Lab) -> None:
    lab.add("bad")
    lab.clock.advance(3)
    lab.run()
    (view,) = lab.engine.jobs("work", {JobState.FAILED})
    assert (view.created_at, view.started_at, view.finished_at) == (
        START,
        START + timedelta(seconds=3),
        START + timedelta(seconds=3),
    )
    assert (str(view.error), view.attempts) == ("no", 1)


def test_a_parked_job_says_for_how_many_it_waits_and_a_child_for_whom(lab: Lab) -> None:
    parent = lab.add("parked", children=(spec("a", delay=HOUR), spec("b", delay=HOUR)))
    views = {view.name: view for view in lab.engine.jobs("work")}
    assert views["parked"].waiting_for == 2
    assert views["a"].parents == (parent,)


def test_the_retention_is_that_of_the_specification() -> None:
    assert (FLOW_RETENTION.completed, FLOW_RETENTION.completed_age) == (5000, None)
    assert (FLOW_RETENTION.failed, FLOW_RETENTION.failed_age) == (5000, timedelta(hours=24))
    assert PLUGIN_RETENTION.completed_age == timedelta(hours=6)


def test_only_so_many_finished_jobs_are_kept_and_the_oldest_go() -> None:
    lab = Lab()
    lab.queue("work", by_name, retention=Retention(completed=3, failed=2))
    for number in range(5):
        lab.add(f"good {number}")
        lab.add(f"bad {number}")
    lab.run()
    names = [view.name for view in lab.engine.jobs("work")]
    assert names == ["bad 4", "bad 3", "good 4", "good 3", "good 2"]


def test_failed_jobs_are_kept_for_a_day_and_completed_ones_longer(lab: Lab) -> None:
    lab.add("bad")
    lab.add("good")
    lab.run()
    lab.clock.advance(24 * HOUR)
    assert [view.name for view in lab.engine.jobs("work")] == ["bad", "good"]
    lab.clock.advance(1)
    assert [view.name for view in lab.engine.jobs("work")] == ["good"]
    assert lab.engine.counts()["work"][JobState.FAILED] == 0


def test_completed_jobs_of_a_plugin_are_kept_for_six_hours() -> None:
    lab = Lab()
    queue = "riven.media-item.scrape.requested.plugin[zilean]"
    lab.queue(queue)
    lab.add("a", queue)
    lab.run()
    lab.clock.advance(6 * HOUR)
    assert len(lab.engine.jobs(queue)) == 1
    lab.clock.advance(1)
    assert lab.engine.jobs(queue) == []


def test_values_are_kept_only_where_someone_may_ask_again(lab: Lab) -> None:
    lab.add("plain")
    lab.add("named", job_id="x")
    lab.add("throttled", dedup_id="k", dedup_ttl=HOUR)
    lab.run()
    kept = {view.name: view.value for view in lab.engine.jobs("work")}
    assert kept == {"plain": None, "named": "named", "throttled": "throttled"}
    assert lab.end_of("plain").value == "plain"


def test_what_a_job_worked_on_is_not_kept_once_it_has_ended(lab: Lab) -> None:
    lab.add("good", data=["every episode"])
    lab.add("bad", data=["every episode"])
    lab.run()
    good, bad = (lab.engine.jobs("work", (state,))[0] for state in (JobState.COMPLETED, JobState.FAILED))
    assert (good.data, good.spec.data, bad.data) == (None, None, None)
    assert bad.spec.data == ["every episode"], "a failed job can be added anew"


def test_a_failed_job_can_be_added_anew_with_its_children(lab: Lab) -> None:
    lab.queue("parent", by_name)
    failed = lab.add("top", "parent", dedup_id="k", children=(spec("bad"),))
    lab.run()
    lab.queue("work", lambda _job: Done("healed"))
    added = lab.engine.retry("parent", failed)
    assert added is not None
    assert added.is_new
    assert lab.engine.held("parent") == {"k"}
    assert lab.run() == ["bad", "top"]
    assert lab.engine.jobs("parent", {JobState.FAILED}) == []


def test_a_retry_is_refused_while_another_job_has_the_key(lab: Lab) -> None:
    failed = lab.add("bad", dedup_id="k")
    lab.run()
    lab.add("good", dedup_id="k")
    with pytest.raises(KeyHeld, match="k is already at work"):
        lab.engine.retry("work", failed)


@pytest.mark.parametrize("name", ["good", "waiting", "unknown"])
def test_only_a_failed_job_can_be_retried(lab: Lab, name: str) -> None:
    ids = {"good": lab.add("good"), "unknown": "j999"}
    lab.run()
    ids["waiting"] = lab.add("waiting")
    assert lab.engine.retry("work", ids[name]) is None


def test_a_job_can_be_removed_by_its_id_wherever_it_stands(lab: Lab) -> None:
    finished = lab.add("good")
    lab.run()
    waiting = lab.add("waits", dedup_id="k")
    assert lab.engine.remove("work", finished)
    assert lab.engine.remove("work", waiting)
    assert not lab.engine.remove("work", waiting)
    assert lab.engine.jobs("work") == []
    assert lab.engine.held("work") == frozenset()
