"""Which job runs next."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.queues import Done, Job, Limiter, Next, Outcome, Priority, WaitFor
from program.queues.backoff import back_off
from program.queues.queue import FLOW_SHARE, MAP_SHARE, PARSE_SHARE, QueueDef, normalised
from tests.support.queues import Lab, echo, spec


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.queue("work")
    return lab


def test_jobs_of_one_class_run_in_the_order_they_came(lab: Lab) -> None:
    for name in "abcd":
        lab.add(name)
    assert lab.run() == ["a", "b", "c", "d"]


def test_a_better_class_runs_first(lab: Lab) -> None:
    lab.add("background", priority=Priority.BACKGROUND)
    lab.add("normal")
    lab.add("front", priority=Priority.FRONT)
    lab.add("interactive", priority=Priority.INTERACTIVE)
    assert lab.run() == ["interactive", "front", "normal", "background"]


def test_the_class_counts_across_queues(lab: Lab) -> None:
    lab.queue("other")
    lab.add("a", priority=Priority.BACKGROUND)
    lab.add("b", "other", priority=Priority.FRONT)
    lab.add("c", "other")
    lab.add("d")
    assert lab.run() == ["b", "c", "d", "a"]


def test_a_waiting_job_gains_a_class_every_ten_minutes(lab: Lab) -> None:
    lab.add("old", priority=Priority.BACKGROUND)
    lab.clock.advance(timedelta(minutes=9, seconds=59))
    lab.add("normal")
    lab.clock.advance(1)
    lab.add("later")
    assert lab.run() == ["old", "normal", "later"]


def test_a_background_job_is_served_although_people_never_stop_asking(lab: Lab) -> None:
    lab.add("patient", priority=Priority.BACKGROUND)
    ran: list[str] = []
    for minute in range(40):
        lab.add(f"person {minute}", priority=Priority.INTERACTIVE)
        lab.engine.run_one()
        lab.add(f"another {minute}", priority=Priority.INTERACTIVE)
        lab.clock.advance(60)
        ran = lab.ran
    assert "patient" in ran[:33]


def test_a_delayed_job_waits_and_then_stands_behind_those_that_wait(lab: Lab) -> None:
    lab.add("later", delay=timedelta(minutes=5))
    assert lab.run() == []
    assert lab.after(timedelta(minutes=4, seconds=59)) == []
    lab.add("now")
    lab.clock.advance(1)
    assert lab.run() == ["now", "later"]


def test_delayed_jobs_become_ready_in_the_order_of_their_times(lab: Lab) -> None:
    lab.add("second", delay=timedelta(seconds=20))
    lab.add("first", delay=timedelta(seconds=10))
    lab.add("third", delay=timedelta(seconds=20))
    assert lab.after(30) == ["first", "second", "third"]


def test_work_begun_is_finished_before_new_work_is_begun(lab: Lab) -> None:
    def two_steps(job: Job) -> Outcome:
        return Next(2) if job.data == 1 else Done()

    def parent(job: Job) -> Outcome:
        return Done() if job.has_waited else WaitFor((spec(f"child of {job.name}", "work"),))

    lab.queue("steps", two_steps)
    lab.queue("parents", parent)
    for name in "ab":
        lab.add(name, "steps", data=1)
    assert lab.run() == ["a", "a", "b", "b"]
    for name in "ab":
        lab.add(name, "parents")
    assert lab.run() == ["a", "b", "child of a", "a", "child of b", "b"]


def test_a_paused_queue_starts_nothing_until_the_instant(lab: Lab) -> None:
    lab.queue("other")
    lab.engine.rate_limit("work", lab.clock.now() + timedelta(seconds=30))
    lab.engine.rate_limit("work", lab.clock.now() + timedelta(seconds=10))
    lab.add("held up", priority=Priority.INTERACTIVE)
    lab.add("free", "other")
    assert lab.run() == ["free"]
    assert lab.engine.paused() == {"work": lab.clock.now() + timedelta(seconds=30)}
    assert lab.after(29) == []
    assert lab.after(1) == ["held up"]
    assert lab.end_of("held up").attempts == 0


def test_a_limiter_lets_so_many_start_within_its_time() -> None:
    lab = Lab()
    lab.queue("work", limiter=Limiter(starts=2, per=timedelta(seconds=60)))
    for name in "abcde":
        lab.add(name)
    assert lab.run() == ["a", "b"]
    assert lab.after(59) == []
    assert lab.after(1) == ["c", "d"]
    assert lab.after(60) == ["e"]


def test_of_a_pause_and_a_limiter_the_longer_counts() -> None:
    lab = Lab()
    lab.queue("work", limiter=Limiter(starts=1, per=timedelta(seconds=60)))
    for name in "ab":
        lab.add(name)
    lab.run()
    lab.engine.rate_limit("work", lab.clock.now() + timedelta(seconds=90))
    assert lab.engine.paused() == {"work": lab.clock.now() + timedelta(seconds=90)}
    assert lab.after(60) == []
    assert lab.after(30) == ["b"]


@pytest.mark.parametrize(
    ("share", "cores", "limit"),
    [
        (FLOW_SHARE, 1, 1),
        (FLOW_SHARE, 2, 3),
        (FLOW_SHARE, 3, 4),
        (PARSE_SHARE, 2, 1),
        (PARSE_SHARE, 8, 2),
        (MAP_SHARE, 2, 1),
        (MAP_SHARE, 4, 3),
        (MAP_SHARE, 7, 5),
    ],
)
def test_concurrency_follows_the_formulas_of_the_specification(share: float, cores: int, limit: int) -> None:
    assert QueueDef(name="q", input=object, handler=echo, share=share).limit(cores) == limit


def test_concurrency_is_floored_and_at_least_one() -> None:
    assert [normalised(value) for value in (0.25, 0.99, 1.0, 2.99)] == [1, 1, 1, 2]


def test_the_queue_of_a_plugin_runs_one_job_at_a_time_unless_set() -> None:
    name = "riven.media-item.scrape.requested.plugin[zilean]"
    assert QueueDef(name=name, input=object, handler=echo).limit(8) == 1
    assert QueueDef(name=name, input=object, handler=echo, concurrency=4).limit(8) == 4


def test_a_queue_defined_again_keeps_its_jobs_and_takes_the_new_handler(lab: Lab) -> None:
    lab.add("a")
    lab.queue("work", lambda _job: Done("new"), concurrency=7)
    lab.run()
    assert lab.end_of("a").value == "new"


def test_the_waits_between_attempts_are_those_of_the_rules() -> None:
    assert [back_off(failures).total_seconds() for failures in (1, 2, 3, 9)] == [5, 30, 30, 30]
