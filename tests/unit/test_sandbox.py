"""Pure functions in processes of their own: one task's misfortune is one task's misfortune."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from program.clock import ManualClock
from program.errors import Cancelled, Final, Refused, Transient
from program.queues import Done, Engine, EngineClosed, Job, JobSpec, Outcome, QueueDef, Sandbox, SandboxFailed
from tests.support.queues import START
from tests.support.wait import until

LIMIT = 30.0
LARGE = 50


class Picky(Exception):
    """An error that cannot be unpickled: its constructor wants more than its text."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def where(_task: object) -> int:
    return os.getpid()


def double(task: list[int]) -> list[int]:
    return [number * 2 for number in task]


def loop_for_ever(_task: object) -> None:
    while True:
        pass


def say_and_loop(path: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - as little as possible is imported by a process
        file.write(str(os.getpid()))
    loop_for_ever(path)


def kill_itself(_task: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_refused(_task: object) -> None:
    raise Refused("realdebrid", 451, 35, "infringing")


def raise_final(_task: object) -> None:
    raise Final("this file is no film")


def raise_picky(_task: object) -> None:
    raise Picky("this", "that")


def answer_a_lambda(_task: object) -> object:
    return lambda: None


def niceness(_task: object) -> int:
    return os.nice(0)


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    sandbox = Sandbox(processes=1)
    yield sandbox
    sandbox.close()


def workers() -> list[int]:
    return [process.pid or 0 for process in multiprocessing.active_children()]


def test_a_small_task_stays_and_a_large_one_goes_to_a_process(shared: Sandbox) -> None:
    assert shared.run(where, None, size=LARGE - 1, timeout=LIMIT) == os.getpid()
    assert shared.run(where, None, size=LARGE, timeout=LIMIT) != os.getpid()


def test_without_processes_everything_stays() -> None:
    sandbox = Sandbox(processes=0)
    assert sandbox.run(where, None, size=10_000, timeout=LIMIT) == os.getpid()
    sandbox.close()


def test_values_come_back_and_the_process_is_kept_for_the_next_task(shared: Sandbox) -> None:
    first = shared.run(where, None, size=LARGE, timeout=LIMIT)
    assert shared.run(double, [1, 2], size=LARGE, timeout=LIMIT) == [2, 4]
    assert shared.run(where, None, size=LARGE, timeout=LIMIT) == first


def test_computing_gives_way_to_serving(shared: Sandbox) -> None:
    assert shared.run(niceness, None, size=LARGE, timeout=LIMIT) >= 10


def test_an_endless_task_is_stopped_at_its_limit_and_the_next_one_runs(shared: Sandbox) -> None:
    with pytest.raises(Final, match=r"longer than 0.3 s"):
        shared.run(loop_for_ever, None, size=LARGE, timeout=0.3)
    assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]


def test_a_killed_process_costs_only_its_task(shared: Sandbox) -> None:
    with pytest.raises(Transient, match="was killed"):
        shared.run(kill_itself, None, size=LARGE, timeout=LIMIT)
    assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]


def test_a_process_killed_while_idle_costs_nothing(shared: Sandbox) -> None:
    pid = shared.run(where, None, size=LARGE, timeout=LIMIT)
    os.kill(pid, signal.SIGKILL)
    until(lambda: pid not in workers(), what="the end of the process")
    for _ in range(3):
        try:
            assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]
        except Transient:
            continue
        return
    raise AssertionError("the sandbox does not recover")


def test_a_pool_that_broke_down_leaves_no_process_behind() -> None:
    sandbox = Sandbox(processes=2)
    sandbox.run(where, None, size=LARGE, timeout=LIMIT)
    pool = sandbox._pool
    assert pool is not None
    first, second = pool._pool_manager.worker_manager.workers
    os.kill(first, signal.SIGKILL)
    until(lambda: first not in workers(), what="the end of the process")

    def is_recovered() -> bool:
        try:
            return sandbox.run(double, [1], size=LARGE, timeout=LIMIT) == [2]
        except Transient:
            return False

    until(is_recovered, timeout=LIMIT, what="a working pool")
    assert sandbox._pool is pool or second not in workers()
    sandbox.close()
    assert second not in workers()


def test_the_neighbour_of_a_killed_task_ends_well() -> None:
    sandbox = Sandbox(processes=2)
    errors: list[BaseException] = []

    def be_killed() -> None:
        try:
            sandbox.run(kill_itself, None, size=LARGE, timeout=LIMIT)
        except Transient as error:
            errors.append(error)

    threads = [threading.Thread(target=be_killed) for _ in range(3)]
    for thread in threads:
        thread.start()
    answers = [sandbox.run(double, [number], size=LARGE, timeout=LIMIT) for number in range(5)]
    for thread in threads:
        thread.join(LIMIT)
    sandbox.close()
    assert answers == [[number * 2] for number in range(5)]
    assert len(errors) == 3


@pytest.mark.parametrize("size", [1, LARGE], ids=["inline", "in a process"])
def test_an_error_is_the_same_inline_and_in_a_process(shared: Sandbox, size: int) -> None:
    with pytest.raises(Final, match="this file is no film"):
        shared.run(raise_final, None, size=size, timeout=LIMIT)


@pytest.mark.parametrize("function", [raise_picky, raise_refused], ids=["picky", "refused"])
def test_an_error_that_cannot_travel_is_told_in_words_and_breaks_nothing(
    shared: Sandbox, function: object
) -> None:
    with pytest.raises(SandboxFailed, match=r"Picky: this and that|Refused: realdebrid: infringing"):
        shared.run(function, None, size=LARGE, timeout=LIMIT)  # type: ignore[arg-type]
    assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]


def test_an_answer_that_cannot_travel_is_an_error_of_that_task(shared: Sandbox) -> None:
    with pytest.raises(SandboxFailed, match="cannot be sent back"):
        shared.run(answer_a_lambda, None, size=LARGE, timeout=LIMIT)
    assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]


def test_a_task_that_cannot_travel_is_an_error_of_that_task(shared: Sandbox) -> None:
    with pytest.raises(Final, match="cannot be sent to its process"):
        shared.run(where, lambda: None, size=LARGE, timeout=LIMIT)


def test_a_task_that_was_called_off_ends_early(shared: Sandbox) -> None:
    token = threading.Event()
    threading.Timer(0.3, token.set).start()
    with pytest.raises(Cancelled, match="called off"):
        shared.run(loop_for_ever, None, size=LARGE, timeout=LIMIT, token=token)
    assert shared.run(double, [1], size=LARGE, timeout=LIMIT) == [2]


def test_processes_are_gone_after_idle_and_come_back_when_needed() -> None:
    sandbox = Sandbox(processes=1, idle_seconds=0.2)
    pid = sandbox.run(where, None, size=LARGE, timeout=LIMIT)
    until(lambda: pid not in workers(), what="the idle process to leave")
    assert sandbox.run(where, None, size=LARGE, timeout=LIMIT) != pid
    sandbox.close()


def test_close_ends_what_runs_and_refuses_more_and_twice_is_fine(tmp_path: object) -> None:
    sandbox = Sandbox(processes=1)
    caught: list[BaseException] = []
    path = f"{tmp_path}/pid"

    def run() -> None:
        try:
            sandbox.run(say_and_loop, path, size=LARGE, timeout=LIMIT)
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: os.path.exists(path), what="the task to begin")  # noqa: PTH110
    sandbox.close()
    sandbox.close()
    thread.join(LIMIT)
    assert isinstance(caught[0], EngineClosed)
    with pytest.raises(EngineClosed):
        sandbox.run(where, None, size=LARGE, timeout=LIMIT)


# As a queue.


def engine_with(sandbox: Sandbox, **queue: object) -> Engine:
    engine = Engine(ManualClock(START), sandbox=sandbox)
    engine.define(QueueDef(name="parse", input=object, sandbox=double, **queue))  # type: ignore[arg-type]
    return engine


def test_a_sandbox_queue_without_a_handler_computes_its_data(shared: Sandbox) -> None:
    engine = engine_with(shared)
    for size in (2, LARGE):
        job = JobSpec(queue="parse", name="titles", data=list(range(size)))
        assert engine.call(job, LIMIT) == list(range(0, 2 * size, 2))


def test_a_handler_may_gather_what_its_sandbox_function_computes(shared: Sandbox) -> None:
    def gather(job: Job) -> Outcome:
        return Done(job.in_sandbox([1, 2, 3], LARGE))

    engine = engine_with(shared, handler=gather)
    assert engine.call(JobSpec(queue="parse", name="titles", data=0), LIMIT) == [2, 4, 6]


def test_a_killed_process_is_one_failed_attempt_of_its_job(shared: Sandbox) -> None:
    engine = Engine(ManualClock(START), sandbox=shared)
    engine.define(QueueDef(name="parse", input=object, sandbox=kill_itself, size=lambda _task: LARGE))
    engine.add(JobSpec(queue="parse", name="titles", data=0))
    engine.run_until_idle()
    (view,) = engine.jobs("parse")
    assert (view.state.value, view.attempts) == ("delayed", 1)
