"""The engine: queues with priorities, delays, dedup ids and trees of jobs, done by threads of this process."""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from program.clock import Clock
from program.errors import Cancelled, Transient
from program.queues import queue as queues
from program.queues.board import Board
from program.queues.errors import EngineClosed
from program.queues.flow import Ended
from program.queues.job import Added, JobSpec, JobState, JobView, Priority
from program.queues.listeners import Listener, Listeners
from program.queues.queue import QueueDef
from program.queues.record import Record
from program.queues.sandbox import Sandbox
from program.queues.worker import Around, Ticker, Worker, directly, handler_of, job_of, report, run_job

# The ticker looks at the clock at least this often, so that a clock that jumps is followed.
LONGEST_WAIT = 1.0
# An idle worker needs a moment to see that the engine has closed.
JOIN_SECONDS = 1.0


class Engine:
    """All queues of the program. Every method may be called from any thread, unless it says otherwise.

    workers: jobs at a time. reserved: further threads that take interactive jobs only. parallelism: cores to count
    with, for the concurrency formulas. sandbox: None runs sandbox functions in the worker itself. around: called in
    place of each handler run, with the run to be called. chance: for the jitter of back-off.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        workers: int = 16,
        reserved: int = 4,
        parallelism: int | None = None,
        sandbox: Sandbox | None = None,
        around: Around = directly,
        chance: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self._sandbox = sandbox or Sandbox(processes=0)
        self._around = around
        self._listeners = Listeners()
        self._threads = [Worker(self, number, is_reserved=False) for number in range(1, workers + 1)]
        self._threads += [Worker(self, number, is_reserved=True) for number in range(1, reserved + 1)]
        self._ticker = Ticker(self._tick)
        self._lock = threading.Lock()
        self._for_workers = threading.Condition(self._lock)
        self._for_reserved = threading.Condition(self._lock)
        self._for_ticker = threading.Condition(self._lock)
        self._for_closing = threading.Condition(self._lock)
        # Guarded by the lock:
        self._board = Board(parallelism or queues.parallelism(), chance or random.Random())  # noqa: S311 - jitter
        self._in_hand: set[Record] = set()
        self._untold: list[tuple[str, str]] = []
        self._ticks_at: datetime | None = None
        self._has_started = False
        self._is_closed = False

    def define(self, queue: QueueDef) -> None:
        """Make a queue known; one that is known already keeps its jobs and changes its handler and limits."""
        with self._change():
            self._board.define(queue)

    def add(self, spec: JobSpec) -> Added:
        """Add a job with its children, or join the job that holds its id or dedup id.

        Raises `InvalidJob` when a queue does not take it (nothing is added then), `EngineClosed` once it closes.
        """
        with self._change() as now:
            self._refuse_when_closing(spec.priority)
            return self._board.add(spec, now)

    def call(self, spec: JobSpec, timeout: float) -> object:
        """Add or join a job and return its value; an interactive job unless `spec` says otherwise.

        For foreign threads: a worker must not wait for another job. Raises the job's own error, `Cancelled` when it is
        removed, `Transient` when it has not ended after `timeout` seconds (the job itself goes on).
        """
        if threading.current_thread() in self._threads:
            raise RuntimeError("a worker must not wait for another job: use WaitFor")
        if spec.priority is None:
            spec = replace(spec, priority=Priority.INTERACTIVE)
        waiter: Future[JobView] = Future()
        with self._change() as now:
            self._refuse_when_closing(spec.priority)
            self._board.join(spec, waiter, now)
        if not self._has_started:
            self.run_until_idle()
        try:
            return _value(waiter.result(timeout))
        except TimeoutError:
            with self._lock:
                self._board.leave(spec, waiter)
            raise Transient(f"{spec.queue} {spec.name}: no answer within {timeout:g} s") from None

    def remove_deduplicated(self, queue: str, dedup_id: str) -> bool:
        """Remove the job that holds a key; False when nobody does.

        A waiting, delayed or parked job goes at once with its children, and a parent that waits for it goes on. A
        running one is cancelled: its key is held until the handler returns, and its value reaches no parent.
        """
        with self._change() as now:
            return self._board.remove_deduplicated(queue, dedup_id, now)

    def remove(self, queue: str, job_id: str) -> bool:
        """Remove a job by its id, as above; a finished one from the lists. False when it is not there."""
        with self._change() as now:
            return self._board.remove(queue, job_id, now)

    def retry(self, queue: str, job_id: str) -> Added | None:
        """Add a failed job anew; None when it is not kept. Raises `KeyHeld` when another job has its key."""
        with self._change() as now:
            self._refuse_when_closing(None)
            return self._board.retry(queue, job_id, now)

    def held(self, queue: str) -> frozenset[str]:
        """Return the dedup ids held now, and those of failed jobs whose listeners have not all heard of it yet.

        Whoever decides by them what to do next so never repeats a job before its failure was written down.
        """
        with self._lock:
            untold = (dedup_id for name, dedup_id in self._untold if name == queue)
            return self._board.lane(queue).keys.held(self._clock.now()).union(untold)

    def rate_limit(self, queue: str, until: datetime) -> None:
        """Start no job of a queue before an instant; running ones go on."""
        with self._change() as now:
            self._board.rate_limit(queue, until, now)

    def clock_was_set(self, by: timedelta) -> None:
        """Let what waits for an instant wait as long as it would have; `by` is negative for a clock that was set back."""
        with self._change():
            self._board.move(by)

    def on_finished(self, listener: Listener) -> None:
        """Have `listener` called after each end of a job (completed, failed, removed), its key free, no lock held."""
        self._listeners.add(listener)

    def counts(self) -> Mapping[str, Mapping[JobState, int]]:
        """Return how many jobs stand where, by queue; completed and failed as far as they are kept."""
        with self._lock:
            now = self._clock.now()
            return {lane.definition.name: lane.counts(now) for lane in self._board.lanes()}

    def late(self) -> Mapping[str, int]:
        """Return by queue how many children their parents went on without, since the start."""
        with self._lock:
            return {lane.definition.name: lane.late for lane in self._board.lanes()}

    def jobs(self, queue: str, states: Collection[JobState] | None = None, limit: int = 50) -> list[JobView]:
        """Return jobs of a queue: running, to come in their order, failed and completed, the latest first."""
        with self._lock:
            return self._board.lane(queue).views(states, limit, self._clock.now())

    def paused(self) -> Mapping[str, datetime]:
        """Return the queues that start no job now, with the instant until which."""
        with self._lock:
            now = self._clock.now()
            until = {lane.definition.name: lane.opens_at(now) for lane in self._board.lanes()}
        return {name: at for name, at in until.items() if at is not None}

    def start(self) -> None:
        """Start the threads; to be called once."""
        self._has_started = True
        for thread in (self._ticker, *self._threads):
            thread.start()

    def drain(self, timeout: float) -> bool:
        """Take only interactive jobs from now on, call off the others' runs, and wait for them.

        Returns False when one still runs after `timeout` seconds. Readers may go on asking for links meanwhile.
        """
        with self._change():
            self._board.only_urgent = True
            for record in self._ordinary_in_hand():
                record.token.set()
        with self._lock:
            return self._for_closing.wait_for(lambda: not self._ordinary_in_hand(), timeout)

    def close(self, timeout: float) -> bool:
        """Drain, then take nothing at all; returns whether every run has ended within `timeout` seconds.

        Jobs that wait are dropped: what they were for is due in the database. Closing twice is fine.
        """
        began = self._clock.monotonic()
        if not self._is_closed:
            self.drain(timeout)
        waiters = self._close_board()
        for waiter in waiters:
            with suppress(InvalidStateError):
                waiter.set_exception(EngineClosed())
        left = max(0.0, timeout - (self._clock.monotonic() - began))
        with self._lock:
            is_drained = self._for_closing.wait_for(lambda: not self._in_hand, left)
        if is_drained and self._has_started:
            for thread in (self._ticker, *self._threads):
                thread.join(JOIN_SECONDS)
        return is_drained

    def run_one(self) -> bool:
        """Do the job whose turn it is in the calling thread; False when there is none. Only without threads."""
        if self._has_started:
            raise RuntimeError("the engine's own threads do the jobs")
        with self._change() as now:
            self._board.tick(now)
            record = None if self._is_closed else self._board.take(now, is_reserved=False)
            if record is not None:
                self._in_hand.add(record)
        if record is None:
            return False
        self.work(record)
        return True

    def run_until_idle(self, limit: int = 10_000) -> int:
        """Do jobs in the calling thread until none may start now; return how many runs that took.

        Raises `RuntimeError` after `limit` runs: something adds jobs for ever.
        """
        for runs in range(limit):
            if not self.run_one():
                return runs
        raise RuntimeError(f"still at work after {limit} runs")

    def next_job(self, *, is_reserved: bool) -> Record | None:
        """Wait for a job that may start and return it, None when the engine has closed. For workers."""
        condition = self._for_reserved if is_reserved else self._for_workers
        with self._lock:
            while not self._is_closed:
                record = self._board.take(self._clock.now(), is_reserved=is_reserved)
                if record is not None:
                    self._in_hand.add(record)
                    # One change may have made several jobs ready: each worker wakes the next.
                    condition.notify()
                    return record
                condition.wait()
        return None

    def work(self, record: Record) -> None:
        """Do a started job and settle it. For workers."""
        with self._lock:
            definition = self._board.lane(record.queue).definition
            job = job_of(record, definition, self._sandbox)
        verdict, raised = run_job(job, handler_of(definition), self._around)
        report(job, verdict, raised, record.spec.attempts, self._clock.now())
        try:
            with self._change() as now:
                self._board.settle(record, verdict, now)
        finally:
            with self._lock:
                self._in_hand.discard(record)
                self._for_closing.notify_all()
        if raised is not None and not isinstance(raised, Exception) and not self._has_started:
            raise raised

    @contextmanager
    def _change(self) -> Iterator[datetime]:
        """Hold the lock for a change of the board; then wake who has to look, and tell of the jobs that ended."""
        ended: list[Ended] = []
        failed: list[tuple[str, str]] = []
        try:
            with self._lock:
                now = self._clock.now()
                try:
                    yield now
                finally:
                    ended = self._board.take_ended()
                    failed = _failed_keys(ended)
                    self._untold += failed
                    self._wake(now)
        finally:
            self._listeners.tell(ended)
            if failed:
                with self._lock:
                    for key in failed:
                        self._untold.remove(key)

    def _wake(self, now: datetime) -> None:
        """Wake a worker of each kind, and the ticker when something is due earlier; call with the lock held."""
        self._for_workers.notify()
        self._for_reserved.notify()
        if self._has_started:
            due = self._board.next_due(now)
            if due is not None and (self._ticks_at is None or due < self._ticks_at):
                self._for_ticker.notify()

    def _tick(self) -> bool:
        with self._lock:
            if self._is_closed:
                return False
            now = self._clock.now()
            self._ticks_at = self._board.next_due(now)
            left = LONGEST_WAIT if self._ticks_at is None else (self._ticks_at - now).total_seconds()
            if left > 0:
                self._for_ticker.wait(min(left, LONGEST_WAIT))
        with self._change() as now:
            self._board.tick(now)
        return True

    def _refuse_when_closing(self, priority: Priority | None) -> None:
        is_urgent = priority is Priority.INTERACTIVE
        if self._is_closed or (self._board.only_urgent and not is_urgent):
            raise EngineClosed

    def _ordinary_in_hand(self) -> list[Record]:
        return [record for record in self._in_hand if record.priority is not Priority.INTERACTIVE]

    def _close_board(self) -> list[Future[JobView]]:
        with self._lock:
            self._is_closed = True
            for record in self._in_hand:
                record.token.set()
            live = [record for lane in self._board.lanes() for record in lane.live.values()]
            for condition in (self._for_workers, self._for_reserved, self._for_ticker):
                condition.notify_all()
            return [waiter for record in live for waiter in record.waiters]


def _failed_keys(ended: Iterable[Ended]) -> list[tuple[str, str]]:
    """Return (queue, dedup id) of the jobs that failed under one."""
    views = (end.view for end in ended)
    return [(view.queue, view.dedup_id) for view in views if view.state is JobState.FAILED and view.dedup_id]


def _value(view: JobView) -> object:
    if view.state is JobState.COMPLETED:
        return view.value
    if view.error is not None:
        raise view.error
    raise Cancelled(f"{view.queue} {view.name} was called off")
