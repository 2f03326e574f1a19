"""The pool of threads: none waits while another could work, none is left."""

import threading

from program.clock import SystemClock
from program.vfs.workers import Workers
from tests.support.wait import until


def test_tasks_run_side_by_side_up_to_the_limit():
    workers = Workers("test-pool", 3, SystemClock())
    barrier = threading.Barrier(3)
    done: list[int] = []
    for n in range(3):
        workers.submit(lambda n=n: (barrier.wait(5), done.append(n)))
    until(lambda: len(done) == 3)
    assert workers.stop(5)


def test_a_task_never_waits_behind_a_busy_thread_while_another_may_be_made():
    workers = Workers("test-pool", 4, SystemClock())
    for _ in range(200):
        gate, reached = threading.Event(), threading.Event()
        workers.submit(lambda gate=gate: gate.wait(5))
        workers.submit(reached.set)
        assert reached.wait(5)
        gate.set()
    assert workers.stop(5)


def test_a_failing_task_harms_no_other():
    workers = Workers("test-pool", 1, SystemClock())
    done = threading.Event()

    def fail() -> None:
        raise SystemExit(1)

    workers.submit(fail)
    workers.submit(done.set)
    assert done.wait(5)
    assert workers.stop(5)


def test_a_stopped_pool_takes_nothing_and_has_no_threads():
    workers = Workers("test-pool", 2, SystemClock())
    workers.submit(lambda: None)
    assert workers.stop(5)
    assert not workers.submit(lambda: None)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-pool")]


def test_a_stop_does_not_wait_for_ever():
    workers = Workers("test-pool", 1, SystemClock())
    gate, reached = threading.Event(), threading.Event()
    workers.submit(lambda: (reached.set(), gate.wait(10)))
    assert reached.wait(5)
    assert not workers.stop(0.1)
    gate.set()
    until(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("test-pool")])
