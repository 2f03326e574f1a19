"""What a failure means, and when a job runs again."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from program.errors import BadAnswer, Final, Misconfigured, NotFound, RetryLater, Transient, Unavailable
from program.queues import Delay, Done, Fail, Job, JobState, Next, Outcome
from program.queues.backoff import with_jitter
from tests.support.queues import START, Lab, script, spec


def lab_with(*steps: Outcome | Exception, **queue: object) -> Lab:
    lab = Lab()
    lab.queue("work", script(*steps), **queue)
    return lab


@pytest.mark.parametrize("error", [Transient("busy"), ConnectionError("cut"), TimeoutError("slow")])
def test_a_transient_failure_is_tried_three_times_after_5_and_30_seconds(error: Exception) -> None:
    lab = lab_with(error, error, error)
    lab.add("a")
    assert lab.run() == ["a"]
    assert lab.live() == {"a": JobState.DELAYED}
    assert lab.after(4) == []
    assert lab.after(1) == ["a"]
    assert lab.after(29) == []
    assert lab.after(1) == ["a"]
    view = lab.end_of("a")
    assert (view.state, view.attempts, view.error) == (JobState.FAILED, 3, error)


def test_the_handler_is_told_which_attempt_it_is() -> None:
    lab = Lab()
    attempts: list[int] = []

    def handler(job: Job) -> Outcome:
        attempts.append(job.attempt)
        if job.attempt < 3:
            raise Transient("not yet")
        return Done("at last")

    lab.queue("work", handler)
    lab.add("a")
    lab.run()
    lab.after(5)
    lab.after(30)
    assert attempts == [1, 2, 3]
    assert lab.end_of("a").value == "at last"


@pytest.mark.parametrize(
    "error",
    [
        Final("no"),
        Misconfigured("tmdb", "api_key", "is wrong"),
        NotFound("nowhere"),
        BadAnswer("HTML"),
        ValueError("a bug gives the same answer again"),
    ],
)
def test_what_a_repetition_cannot_heal_fails_at_once(error: Exception) -> None:
    lab = lab_with(error)
    lab.add("a")
    lab.run()
    view = lab.end_of("a")
    assert (view.state, view.attempts, view.error) == (JobState.FAILED, 1, error)


def test_fail_is_for_good_even_with_a_transient_error() -> None:
    lab = lab_with(Fail(Transient("busy")))
    lab.add("a")
    lab.run()
    assert lab.ends() == {"a": JobState.FAILED}


@pytest.mark.parametrize(
    "wait",
    [
        Delay(START + timedelta(hours=1), "the provider asks for patience"),
        RetryLater(START + timedelta(hours=1), "the provider asks for patience"),
        Unavailable("tmdb", START + timedelta(hours=1), "paused"),
    ],
)
def test_a_wait_that_was_asked_for_costs_no_attempt(wait: Outcome | Exception) -> None:
    lab = lab_with(wait, Transient("busy"), Transient("busy"), Done("done"))
    lab.add("a")
    lab.run()
    (view,) = lab.engine.jobs("work")
    assert view.run_at == START + timedelta(hours=1)
    assert view.attempts == 0
    assert view.reason
    assert lab.after(timedelta(minutes=59)) == []
    lab.after(timedelta(minutes=1))
    lab.after(5)
    lab.after(30)
    assert lab.end_of("a").value == "done"


def test_a_delay_may_replace_the_data() -> None:
    lab = Lab()

    def handler(job: Job) -> Outcome:
        return (
            Delay(lab.clock.now() + timedelta(seconds=1), "more", data=job.data + 1)
            if job.data < 3
            else Done(job.data)
        )

    lab.queue("work", handler)
    lab.add("a", data=1)
    lab.run()
    lab.after(1)
    lab.after(1)
    assert lab.end_of("a").value == 3


def test_a_time_in_the_past_means_now() -> None:
    lab = lab_with(RetryLater(START - timedelta(days=1), "clock of the provider is behind"), Done())
    lab.add("a")
    assert lab.run() == ["a", "a"]


def test_the_next_step_counts_its_attempts_from_one() -> None:
    lab = lab_with(
        Transient("busy"), Transient("busy"), Next("two"), Transient("busy"), Transient("busy"), Done("end")
    )
    lab.add("a", dedup_id="k")
    lab.run()
    for seconds in (5, 30, 5, 30):
        assert lab.engine.held("work") == {"k"}
        lab.after(seconds)
    assert lab.end_of("a").value == "end"


def test_a_job_may_have_one_attempt_only() -> None:
    lab = lab_with(Transient("busy"))
    lab.add("a", attempts=1)
    lab.run()
    assert lab.ends() == {"a": JobState.FAILED}


def test_a_queue_may_have_waits_of_its_own() -> None:
    lab = lab_with(Transient("busy"), Done(), backoff=lambda failures: timedelta(hours=failures))
    lab.add("a")
    lab.run()
    assert lab.after(timedelta(minutes=59)) == []
    assert lab.after(timedelta(minutes=1)) == ["a"]


def test_jitter_only_lengthens_and_by_a_fifth_at_most() -> None:
    chance = random.Random(7)  # noqa: S311 - a repeatable run
    waits = [with_jitter(timedelta(seconds=10), chance).total_seconds() for _ in range(200)]
    assert min(waits) >= 10
    assert max(waits) <= 12
    assert len(set(waits)) > 100


def test_a_run_of_too_many_jobs_is_noticed() -> None:
    lab = Lab()
    lab.queue("work", lambda job: Next(job.data))
    lab.add("a")
    with pytest.raises(RuntimeError, match="still at work"):
        lab.engine.run_until_idle(limit=50)


def test_an_error_keeps_no_frames_alive() -> None:
    lab = lab_with(ValueError("a bug"))
    lab.add("a")
    lab.run()
    error = lab.end_of("a").error
    assert error is not None
    assert error.__traceback__ is None


def test_even_a_handler_that_exits_ends_its_job_and_frees_the_key() -> None:
    lab = Lab()

    def handler(_job: Job) -> Outcome:
        raise SystemExit(3)

    lab.queue("work", handler)
    lab.engine.add(spec("a", dedup_id="k"))
    with pytest.raises(SystemExit):
        lab.run()
    assert lab.ends() == {"a": JobState.FAILED}
    assert lab.engine.held("work") == frozenset()
