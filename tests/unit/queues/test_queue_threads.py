"""The engine with its threads: nothing lost, nothing twice, people first, an orderly end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import timedelta

import pytest
from loguru import logger

from program.clock import SystemClock
from program.errors import Cancelled, Final, Transient
from program.queues import (
    Done,
    Engine,
    EngineClosed,
    Fail,
    Job,
    JobSpec,
    JobState,
    JobView,
    Next,
    Outcome,
    Priority,
    QueueDef,
    WaitFor,
)
from tests.support.queues import Handler, echo, spec
from tests.support.wait import until

WAIT = 10.0


class Hall:
    """A running engine; `ended` collects what has ended; `gate` is what a blocking job waits for."""

    def __init__(self, **engine: object) -> None:
        self.engine = Engine(SystemClock(), **engine)  # type: ignore[arg-type]
        self.ended: list[JobView] = []
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        self.engine.on_finished(self.ended.append)

    def queue(self, name: str, handler: Handler = echo, concurrency: int = 100) -> None:
        definition = QueueDef(
            name=name, input=object, handler=handler, concurrency=concurrency, children=frozenset({"*"})
        )
        self.engine.define(definition)

    def block(self, job: Job) -> Outcome:
        """Say that the job has begun and wait for the gate; with data "polite" also end when cancelled."""
        self.begun.release()
        while not self.gate.wait(0.01):
            if job.data == "polite":
                job.raise_if_cancelled()
        return Done(job.name)

    def wait_for_begun(self, number: int = 1) -> None:
        for _ in range(number):
            assert self.begun.acquire(timeout=WAIT)

    def names(self) -> list[str]:
        return [view.name for view in self.ended]


@pytest.fixture
def hall() -> Iterator[Hall]:
    hall = Hall()
    hall.queue("work")
    hall.queue("block", hall.block)
    hall.engine.start()
    yield hall
    hall.gate.set()
    hall.engine.close(WAIT)


def test_two_thousand_jobs_of_sixteen_workers_all_end_once_and_never_two_under_one_key(hall: Hall) -> None:
    running: Counter[str] = Counter()
    doubled: list[str] = []
    lock = threading.Lock()

    def handler(job: Job) -> Outcome:
        key = str(job.dedup_id)
        with lock:
            running[key] += 1
            doubled.extend([key] if running[key] > 1 else [])
        outcome = Next(job.data_as(int) + 1) if job.data == 0 and job.attempt % 2 else Done()
        with lock:
            running[key] -= 1
        return outcome

    hall.queue("keyed", handler)
    new = sum(
        hall.engine.add(spec(f"{number}", "keyed", data=number % 3, dedup_id=f"key {number % 50}")).is_new
        for number in range(2000)
    )
    until(lambda: len(hall.ended) == new, what=f"the end of {new} jobs")
    assert doubled == []
    assert hall.engine.held("keyed") == frozenset()
    assert {view.state for view in hall.ended} == {JobState.COMPLETED}


def test_two_thousand_jobs_in_trees_all_end(hall: Hall) -> None:
    def parent(job: Job) -> Outcome:
        if job.has_waited:
            return Done(len(job.children.values()))
        return WaitFor(tuple(spec(f"{job.name}/{number}") for number in range(4)))

    hall.queue("parent", parent, concurrency=3)
    for number in range(400):
        hall.engine.add(spec(f"{number}", "parent"))
    until(lambda: len(hall.ended) == 2000, what="the end of 2,000 jobs")
    assert all(view.value == 4 for view in hall.ended if view.queue == "parent")
    counts = hall.engine.counts()["parent"]
    assert counts[JobState.WAITING_CHILDREN] == counts[JobState.ACTIVE] == 0


def test_a_queue_never_runs_more_jobs_than_its_limit() -> None:
    hall = Hall()
    running, most = 0, 0
    lock = threading.Lock()

    def handler(_job: Job) -> Outcome:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.001)
        with lock:
            running -= 1
        return Done()

    hall.queue("narrow", handler, concurrency=2)
    for number in range(60):
        hall.engine.add(spec(f"{number}", "narrow"))
    hall.engine.start()
    until(lambda: len(hall.ended) == 60, what="60 jobs")
    assert hall.engine.close(WAIT)
    assert most == 2


def test_a_delayed_job_runs_by_itself_when_it_is_due(hall: Hall) -> None:
    def handler(job: Job) -> Outcome:
        if job.attempt == 1:
            raise Transient("busy")
        return Done()

    def soon(_failures: int) -> timedelta:
        return timedelta(milliseconds=20)

    hall.engine.define(QueueDef(name="retried", input=object, handler=handler, backoff=soon))
    hall.engine.add(spec("a", "retried"))
    until(lambda: hall.names() == ["a"], what="the second attempt")


def test_jobs_that_become_due_together_run_together(hall: Hall) -> None:
    for number in range(16):
        hall.engine.add(spec(f"{number}", "block", delay=timedelta(seconds=0.2)))
    until(lambda: hall.engine.counts()["block"][JobState.ACTIVE] == 16, timeout=8, what="16 at a time")


def test_an_interactive_job_goes_ahead_when_all_workers_are_busy(hall: Hall) -> None:
    for number in range(16):
        hall.engine.add(spec(f"busy {number}", "block"))
    hall.wait_for_begun(16)
    hall.engine.add(spec("ordinary"))
    assert hall.engine.call(spec("urgent"), WAIT) == "urgent"
    assert hall.names() == ["urgent"]
    hall.gate.set()
    until(lambda: len(hall.ended) == 18, what="the others")


def test_an_interactive_flow_goes_ahead_with_its_children_when_all_workers_are_busy(hall: Hall) -> None:
    hall.queue("flow", lambda job: Done("link") if job.has_waited else WaitFor((spec("hook"),)))
    for number in range(16):
        hall.engine.add(spec(f"busy {number}", "block"))
    hall.wait_for_begun(16)
    assert hall.engine.call(spec("flow", "flow"), WAIT) == "link"


def test_an_interactive_job_is_one_beyond_a_plugins_limit(hall: Hall) -> None:
    hall.queue("plugin", hall.block, concurrency=1)
    hall.engine.add(spec("scan", "plugin"))
    hall.wait_for_begun()
    hall.engine.add(spec("first person", "plugin", priority=Priority.INTERACTIVE))
    hall.wait_for_begun()
    hall.engine.add(spec("second person", "plugin", priority=Priority.INTERACTIVE))
    assert not hall.begun.acquire(timeout=0.1)
    active = hall.engine.jobs("plugin", {JobState.ACTIVE})
    assert [view.name for view in active] == ["scan", "first person"]


def test_removal_while_active_lets_the_handler_know_and_keeps_the_key_until_it_returns(hall: Hall) -> None:
    hall.engine.add(spec("a", "block", data="polite", dedup_id="k"))
    hall.engine.add(spec("b", "block", data="deaf", dedup_id="other"))
    hall.wait_for_begun(2)
    assert hall.engine.remove_deduplicated("block", "k")
    until(lambda: hall.engine.held("block") == {"other"}, what="the polite one to stop")
    assert hall.engine.remove_deduplicated("block", "other")
    assert hall.engine.held("block") == {"other"}
    hall.gate.set()
    until(lambda: hall.engine.held("block") == frozenset(), what="the deaf one to return")
    assert [view.state for view in hall.ended] == [JobState.REMOVED, JobState.REMOVED]


# Calls.


def test_many_threads_that_call_for_the_same_share_one_job(hall: Hall) -> None:
    runs: list[str] = []

    def handler(job: Job) -> Outcome:
        runs.append(job.name)
        return hall.block(job)

    hall.queue("link", handler)
    answers: list[object] = []

    def call() -> None:
        answers.append(hall.engine.call(spec("link 7", "link", dedup_id="request-stream-link-7"), WAIT))

    callers = [threading.Thread(target=call) for _ in range(20)]
    for caller in callers:
        caller.start()
    hall.wait_for_begun()
    until(lambda: len(hall.engine._board.lane("link").live["j1"].waiters) == 20, what="20 callers")
    hall.gate.set()
    for caller in callers:
        caller.join(WAIT)
    assert answers == ["link 7"] * 20
    assert runs == ["link 7"]


def test_a_call_raises_what_the_job_raised(hall: Hall) -> None:
    hall.queue("failing", lambda _job: Fail(Final("the file is gone")))
    with pytest.raises(Final, match="the file is gone"):
        hall.engine.call(spec("a", "failing"), WAIT)


def test_a_call_that_takes_too_long_says_so_and_the_job_goes_on(hall: Hall) -> None:
    with pytest.raises(Transient, match=r"no answer within 0.05 s"):
        hall.engine.call(spec("a", "block"), 0.05)
    assert hall.engine._board.lane("block").live["j1"].waiters == []
    hall.gate.set()
    until(lambda: hall.names() == ["a"], what="the job's end")


def test_a_call_for_a_removed_job_is_cancelled(hall: Hall) -> None:
    caught: list[BaseException] = []

    def call() -> None:
        try:
            hall.engine.call(spec("a", "block", data="polite", dedup_id="k"), WAIT)
        except Cancelled as error:
            caught.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    hall.wait_for_begun()
    hall.engine.remove_deduplicated("block", "k")
    caller.join(WAIT)
    assert len(caught) == 1


def test_a_worker_must_not_call(hall: Hall) -> None:
    hall.queue("waiting", lambda _job: Done(hall.engine.call(spec("a"), WAIT)))
    with pytest.raises(RuntimeError, match="use WaitFor"):
        hall.engine.call(spec("b", "waiting"), WAIT)


# Context.


def test_log_lines_of_a_handler_carry_queue_job_and_attempt_and_nothing_leaks_to_the_next() -> None:
    hall = Hall(workers=1, reserved=0)
    lines: list[dict[str, object]] = []
    leak: ContextVar[str] = ContextVar("leak", default="nothing")
    leaked: list[str] = []
    sink = logger.add(lambda message: lines.append(dict(message.record["extra"])), level="INFO")

    def handler(job: Job) -> Outcome:
        logger.bind(item=7).info("searching")
        leaked.append(leak.get())
        leak.set("of another job")
        return Done()

    hall.queue("work", handler)
    hall.engine.start()
    try:
        hall.engine.add(spec("a"))
        hall.engine.add(spec("b"))
        until(lambda: len(hall.ended) == 2, what="two jobs")
    finally:
        hall.engine.close(WAIT)
        logger.remove(sink)
    assert leaked == ["nothing", "nothing"]
    fields = [{key: line[key] for key in line if key not in ("room", "fields")} for line in lines]
    assert fields == [
        {"queue": "work", "job": "a", "attempt": 1, "item": 7},
        {"queue": "work", "job": "b", "attempt": 1, "item": 7},
    ]


def test_the_program_may_put_something_around_every_run() -> None:
    around: list[str] = []

    def wrap(job: Job, run: Callable[[], Outcome]) -> Outcome:
        around.append(f"before {job.name}")
        outcome = run()
        around.append(f"after {job.name}")
        return outcome

    hall = Hall(around=wrap)
    hall.queue("work")
    hall.engine.add(spec("a"))
    hall.engine.run_until_idle()
    assert around == ["before a", "after a"]


# The end.


def test_close_waits_for_what_runs_and_starts_nothing_more(hall: Hall) -> None:
    hall.queue("one", hall.block, concurrency=1)
    hall.engine.add(spec("runs", "one", data="polite"))
    hall.engine.add(spec("waits", "one"))
    hall.wait_for_begun()
    assert hall.engine.close(WAIT)
    assert hall.names() == ["runs"]
    assert not hall.begun.acquire(blocking=False)


def test_a_job_that_ends_well_while_the_engine_closes_is_completed(hall: Hall) -> None:
    hall.engine.add(spec("a", "block", data="deaf"))
    hall.wait_for_begun()
    threading.Timer(0.1, hall.gate.set).start()
    assert hall.engine.close(WAIT)
    assert [view.state for view in hall.ended] == [JobState.COMPLETED]


def test_close_while_busy_reports_that_something_still_runs(hall: Hall) -> None:
    hall.engine.add(spec("deaf", "block", data="deaf"))
    hall.wait_for_begun()
    assert not hall.engine.close(0.1)
    hall.gate.set()
    assert hall.engine.close(WAIT)


def test_after_close_a_job_is_refused_with_a_clear_sentence(hall: Hall) -> None:
    assert hall.engine.close(WAIT)
    with pytest.raises(EngineClosed, match="the program is stopping"):
        hall.engine.add(spec("a"))
    with pytest.raises(EngineClosed):
        hall.engine.call(spec("a"), WAIT)


def test_close_twice_is_fine_and_without_start_too(hall: Hall) -> None:
    assert hall.engine.close(WAIT)
    assert hall.engine.close(WAIT)
    assert Hall().engine.close(WAIT)


def test_close_frees_those_who_wait_for_a_job_that_never_came(hall: Hall) -> None:
    caught: list[BaseException] = []

    def call(job: JobSpec) -> None:
        try:
            hall.engine.call(job, WAIT)
        except Cancelled as error:
            caught.append(error)

    hall.engine.rate_limit("work", SystemClock().now().replace(year=2100))
    callers = [threading.Thread(target=call, args=(spec(f"{n}"),)) for n in range(3)]
    for caller in callers:
        caller.start()
    until(lambda: len(hall.engine.jobs("work")) == 3, what="three callers")
    assert hall.engine.close(WAIT)
    for caller in callers:
        caller.join(WAIT)
    assert [type(error) for error in caught] == [EngineClosed] * 3


def test_while_it_drains_a_reader_still_gets_its_link_and_nothing_else_is_taken(hall: Hall) -> None:
    hall.queue("flow", lambda job: Done("link") if job.has_waited else WaitFor((spec("hook"),)))
    hall.engine.add(spec("a", "block", data="deaf"))
    hall.wait_for_begun()
    assert not hall.engine.drain(0.05)
    assert hall.engine.call(spec("flow", "flow"), WAIT) == "link"
    with pytest.raises(EngineClosed):
        hall.engine.add(spec("ordinary"))
    hall.gate.set()
    assert hall.engine.drain(WAIT)


def test_no_thread_is_left_after_close() -> None:
    before = threading.active_count()
    hall = Hall()
    hall.engine.start()
    assert threading.active_count() == before + 21
    assert hall.engine.close(WAIT)
    assert threading.active_count() == before
