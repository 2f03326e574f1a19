"""Pure functions on plain data, run in processes of their own so that computing never slows reading.

Processes are spawned (nothing forks after the start), started at the first large task and gone when idle. Tasks and
answers travel as bytes that we pickle ourselves: what cannot be pickled is then an error of that task alone, where the
pool would break for all.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

from pebble import ProcessExpired, ProcessPool

from program.errors import Cancelled, Final, Transient
from program.queues.errors import EngineClosed
from program.queues.queue import parallelism

T = TypeVar("T")
R = TypeVar("R")

# From this many titles on, starting or feeding a process costs less than the readers would lose (engine.md).
THRESHOLD = 50
IDLE_SECONDS = 60.0
# How often a waiting worker looks whether its job was called off.
LOOK_SECONDS = 0.25
# Computing gives way to whatever serves a reader.
NICENESS = 10


class SandboxFailed(Final):
    """The function raised something that cannot travel between processes; the sentence says what."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process sends back: a value, or what the function raised."""

    value: object = None
    error: Exception | None = None


class Sandbox:
    """A pool of processes for pure functions.

    processes: None is one less than the cores, at least one; 0 runs everything in the calling thread.
    threshold: tasks of this size and above go to a process, smaller ones run in the calling thread, one at a time.
    idle_seconds: how long after the last task the processes stay.
    """

    def __init__(
        self, *, processes: int | None = None, threshold: int = THRESHOLD, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._processes = max(1, parallelism() - 1) if processes is None else processes
        self._threshold = threshold
        self._idle_seconds = idle_seconds
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        # Guarded by the lock:
        self._pool: ProcessPool | None = None
        self._in_use = 0
        self._idle_timer: threading.Timer | None = None
        self._is_closed = False

    def run(
        self,
        function: Callable[[T], R],
        task: T,
        *,
        size: int,
        timeout: float,
        token: threading.Event | None = None,
    ) -> R:
        """Return `function(task)`; both must be plain, picklable data and a function at module level.

        timeout: seconds of work in a process. token: set to call the task off. Raises what the function raised,
        `Transient` when the process was killed, `Final` when the time is up or the data cannot travel, `Cancelled`
        when called off, `EngineClosed` after `close`.
        """
        if self._processes == 0 or size < self._threshold:
            with self._one_at_a_time:
                return function(task)
        payload = _packed(function, task)
        with self._borrowed() as pool:
            future = _scheduled(pool, payload, timeout)
            self._await(pool, future, token)
            answer = self._answer(pool, future, timeout)
        if answer.error is not None:
            raise answer.error
        return cast("R", answer.value)

    def close(self) -> None:
        """End the processes and whatever they do; closing twice is fine."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
            if self._idle_timer is not None:
                self._idle_timer.cancel()
        if pool is not None:
            _stop(pool)

    @contextmanager
    def _borrowed(self) -> Iterator[ProcessPool]:
        broken = None
        with self._lock:
            if self._is_closed:
                raise EngineClosed
            if self._pool is not None and not self._pool.active:
                broken, self._pool = self._pool, None
            if self._pool is None:
                self._pool = _new_pool(self._processes)
            pool = self._pool
            self._in_use += 1
            if self._idle_timer is not None:
                self._idle_timer.cancel()
                self._idle_timer = None
        try:
            if broken is not None:
                _stop(broken)
            yield pool
        finally:
            self._give_back()

    def _give_back(self) -> None:
        with self._lock:
            self._in_use -= 1
            if self._in_use == 0 and self._pool is not None and not self._is_closed:
                self._idle_timer = threading.Timer(self._idle_seconds, self._retire)
                self._idle_timer.name = "sandbox-idle"
                self._idle_timer.daemon = True
                self._idle_timer.start()

    def _retire(self) -> None:
        with self._lock:
            if self._in_use or threading.current_thread() is not self._idle_timer:
                return
            pool, self._pool = self._pool, None
            self._idle_timer = None
        if pool is not None:
            _stop(pool)

    def _await(self, pool: ProcessPool, future: Future[bytes], token: threading.Event | None) -> None:
        """Return when the task has ended or was called off. A pool that breaks or closes may never end one."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(LOOK_SECONDS):
            if not pool.active or (token is not None and token.is_set()):
                future.cancel()
                return

    def _answer(self, pool: ProcessPool, future: Future[bytes], timeout: float) -> Answer:
        try:
            return cast("Answer", pickle.loads(future.result(0)))  # noqa: S301 - our own process made it
        except TimeoutError:
            raise Final(f"the work took longer than {timeout:g} s and was stopped") from None
        except CancelledError:
            raise self._why_cancelled(pool) from None
        except (ProcessExpired, BrokenProcessPool):
            # Closing may look like this too: the pool's threads find their processes gone.
            killed = Transient("the process doing the work was killed")
            raise EngineClosed if self._is_closed else killed from None

    def _why_cancelled(self, pool: ProcessPool) -> Exception:
        if self._is_closed:
            return EngineClosed()
        return Cancelled("the work was called off") if pool.active else Transient("the sandbox broke down")


def _new_pool(processes: int) -> ProcessPool:
    return ProcessPool(
        max_workers=processes,
        initializer=os.nice,
        initargs=(NICENESS,),
        context=multiprocessing.get_context("spawn"),
    )


def _scheduled(pool: ProcessPool, payload: bytes, timeout: float) -> Future[bytes]:
    try:
        return pool.schedule(work, args=(payload,), timeout=timeout)
    except RuntimeError:
        raise Transient("the sandbox broke down") from None


def _stop(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


def _packed(function: Callable[[T], R], task: T) -> bytes:
    try:
        return pickle.dumps((function, task))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise Final(f"a sandbox task cannot be sent to its process: {error}") from error


def work(payload: bytes) -> bytes:
    """Do one task in a process of the pool and return the packed answer."""
    function, task = pickle.loads(payload)  # noqa: S301 - our own process made it
    try:
        value = function(task)
    except Exception as error:  # noqa: BLE001 - a function's error is its answer and must not end the process
        return _packed_error(error)
    try:
        return pickle.dumps(Answer(value))
    except Exception as error:  # noqa: BLE001 - pickling runs whatever the value defines
        return pickle.dumps(Answer(error=SandboxFailed(f"the answer cannot be sent back: {error}")))


def _packed_error(error: Exception) -> bytes:
    try:
        packed = pickle.dumps(Answer(error=error))
        pickle.loads(packed)  # noqa: S301 - made just above
    except Exception:  # noqa: BLE001 - an error that cannot travel is told in words
        return pickle.dumps(Answer(error=SandboxFailed(f"{type(error).__name__}: {error}")))
    return packed
