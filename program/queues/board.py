"""Every live job and where it stands: adding, taking, settling, removing.

Guarded by the engine's lock; the time is an argument, so that a day of waiting is tested in a millisecond.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.errors import Transient
from program.queues.backoff import Removed, Retry, Verdict, with_jitter
from program.queues.checks import check, check_children, path_of
from program.queues.errors import InvalidJob, KeyHeld
from program.queues.flow import Ended, Flows, live_children
from program.queues.job import Added, Delay, Done, Fail, JobSpec, JobState, JobView, Next, Priority, WaitFor
from program.queues.lane import Lane, arrivals
from program.queues.queue import QueueDef
from program.queues.record import Link, Record
from program.queues.waiting import Turn


@dataclass(frozen=True, slots=True)
class Holder:
    """The job that an added one turns out to be: alive, or kept as finished, or neither while a ttl key outlives it."""

    job_id: str
    record: Record | None
    view: JobView | None


class Board:
    """The jobs of an engine. only_urgent: take interactive jobs only, while the program stops."""

    def __init__(self, parallel: int, chance: random.Random) -> None:
        self.only_urgent = False
        self._parallel = parallel
        self._chance = chance
        self._order = arrivals()
        self._flows = Flows()

    def define(self, definition: QueueDef) -> None:
        """Make a queue known; one that is known already keeps its jobs and changes its handler and limits."""
        limit = definition.limit(self._parallel)
        lane = self._flows.lanes.get(definition.name)
        if lane is None:
            self._flows.lanes[definition.name] = Lane(definition, limit, self._order)
        else:
            lane.definition, lane.limit = definition, limit

    def lane(self, queue: str) -> Lane:
        """Return a queue's lane; raise `InvalidJob` for an unknown queue."""
        return self._flows.lane(queue)

    def lanes(self) -> Iterator[Lane]:
        """Yield the lanes in the order of definition."""
        return iter(self._flows.lanes.values())

    def take_ended(self) -> list[Ended]:
        """Return the jobs that have ended since the last call, in that order."""
        ended, self._flows.ended = self._flows.ended, []
        return ended

    def add(self, spec: JobSpec, now: datetime) -> Added:
        """Add a tree of jobs, or join the job that holds its id; raise `InvalidJob` for what a queue does not take."""
        check(self._flows, spec)
        holder = self._holder(spec, now)
        if holder is None:
            record = self._create(spec, now, Priority.NORMAL)
            record.is_root = True
            self._place(record, now)
            return Added(record.id, is_new=True)
        if holder.record is not None:
            holder.record.is_root = True
            if spec.priority is not None:
                self._raise_class(holder.record, spec.priority, now)
        return Added(holder.job_id, is_new=False)

    def join(self, spec: JobSpec, waiter: Future[JobView], now: datetime) -> None:
        """Add or join a job and have its end put into `waiter`."""
        added = self.add(spec, now)
        lane = self.lane(spec.queue)
        record = lane.live.get(added.job_id)
        if record is not None:
            record.waiters.append(waiter)
        elif (view := lane.finished.get(added.job_id, now)) is not None:
            waiter.set_result(view)
        else:
            waiter.set_exception(Transient(f"{spec.queue} {spec.name} has ended and its value is gone"))

    def leave(self, spec: JobSpec, waiter: Future[JobView]) -> None:
        """Wait no longer."""
        for record in self.lane(spec.queue).live.values():
            if waiter in record.waiters:
                record.waiters.remove(waiter)

    def take(self, now: datetime, *, is_reserved: bool) -> Record | None:
        """Start the job whose turn it is and return it, None when nothing may start."""
        best: tuple[Turn, Record] | None = None
        for lane in self.lanes():
            found = lane.candidate(now, is_reserved=is_reserved, only_urgent=self.only_urgent)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        if best is None:
            return None
        record = best[1]
        self.lane(record.queue).start(record, now)
        self._flows.arm(record, now)
        return record

    def settle(self, record: Record, verdict: Verdict, now: datetime) -> None:
        """Do what a run has come to. A wrong outcome, such as a child that is not allowed, fails the job."""
        self.lane(record.queue).stop()
        is_over = isinstance(verdict, Done | Fail)
        is_unwanted = record.token.is_set() and not record.is_wanted and not is_over
        if record.is_called_off or is_unwanted:
            verdict = Removed()
        try:
            self._apply(record, verdict, now)
        except InvalidJob as error:
            self._flows.end(record, JobState.FAILED, now, error=error)

    def tick(self, now: datetime) -> None:
        """Do what is due by time alone."""
        for lane in self.lanes():
            lane.promote(now)
        self._flows.expire(now)

    def next_due(self, now: datetime) -> datetime | None:
        """Return when something is due by time alone, None when nothing is."""
        instants = [at for lane in self.lanes() if (at := lane.next_due(now)) is not None]
        deadline = self._flows.deadlines.next()
        return min([*instants, deadline] if deadline is not None else instants, default=None)

    def move(self, by: timedelta) -> None:
        """Let everything wait as long as it would have, though the clock was set by `by`."""
        for lane in self.lanes():
            lane.move(by)
        self._flows.deadlines.move(by)

    def rate_limit(self, queue: str, until: datetime, now: datetime) -> None:
        """Start no job of a queue before an instant; a later one given before stays."""
        lane = self.lane(queue)
        lane.paused_until = max(until, lane.paused_until or until)
        for record in lane.waiting():
            self._flows.arm(record, now)

    def remove_deduplicated(self, queue: str, dedup_id: str, now: datetime) -> bool:
        """Remove the job that holds a key, and the key; False when nobody holds it."""
        lane = self.lane(queue)
        job_id = lane.keys.holder(dedup_id, now)
        if job_id is None:
            return False
        record = lane.live.get(job_id)
        if record is None:
            lane.keys.release(dedup_id, job_id, even_with_ttl=True)
        else:
            self._flows.call_off(record, now)
        return True

    def remove(self, queue: str, job_id: str, now: datetime) -> bool:
        """Remove a job by its id, a finished one from the lists; False when it is not there."""
        lane = self.lane(queue)
        record = lane.live.get(job_id)
        if record is None:
            return lane.finished.drop(job_id) is not None
        self._flows.call_off(record, now)
        return True

    def retry(self, queue: str, job_id: str, now: datetime) -> Added | None:
        """Add a failed job anew as it was first added; None when it is not kept, `KeyHeld` when its key is not free."""
        lane = self.lane(queue)
        view = lane.finished.get(job_id, now)
        if view is None or view.state is not JobState.FAILED:
            return None
        dedup_id = view.spec.dedup_id
        if dedup_id is not None and lane.keys.holder(dedup_id, now) not in (None, job_id):
            raise KeyHeld(queue, dedup_id)
        if dedup_id is not None:
            lane.keys.release(dedup_id, job_id, even_with_ttl=True)
        lane.finished.drop(job_id)
        return self.add(view.spec, now)

    def _apply(self, record: Record, verdict: Verdict, now: datetime) -> None:
        lane = self.lane(record.queue)
        match verdict:
            case Done(value):
                lane.definition.check_output(value)
                self._flows.end(record, JobState.COMPLETED, now, value=value)
            case Next(data, reason):
                lane.definition.check_input(data)
                record.start_over()
                record.data = data
                lane.ready(record, now)
                record.reason = reason
            case WaitFor(children, data, deadline):
                self._replace_data(record, data)
                check_children(self._flows, record.queue, children, path_of(record))
                self._grow(record, children, deadline, now)
            case Delay(until, reason, data):
                self._replace_data(record, data)
                lane.delay(record, until, reason)
            case Fail(error):
                record.failures += 1
                self._flows.end(record, JobState.FAILED, now, error=error)
            case Retry(error):
                self._try_again(record, error, now)
            case Removed():
                self._flows.end(record, JobState.REMOVED, now)

    def _try_again(self, record: Record, error: Exception, now: datetime) -> None:
        record.failures += 1
        if record.failures >= record.spec.attempts:
            self._flows.end(record, JobState.FAILED, now, error=error)
            return
        lane = self.lane(record.queue)
        wait = with_jitter(lane.definition.backoff(record.failures), self._chance)
        lane.delay(record, now + wait, str(error))

    def _replace_data(self, record: Record, data: object) -> None:
        if data is not None:
            self.lane(record.queue).definition.check_input(data)
            record.data = data

    def _create(self, spec: JobSpec, now: datetime, inherited: Priority) -> Record:
        order = next(self._order)
        priority = inherited if spec.priority is None else spec.priority
        record = Record(spec, spec.job_id or f"j{order}", order, spec.data, priority, now)
        self.lane(spec.queue).enter(record, now)
        return record

    def _place(self, record: Record, now: datetime) -> None:
        """Let a new job wait for its children, an instant or its turn."""
        spec = record.spec
        if spec.children:
            self._grow(record, spec.children, spec.deadline, now)
        elif spec.delay > timedelta():
            self.lane(spec.queue).delay(record, now + spec.delay, None)
        else:
            # Its place is that of its tree's reading: what is beneath the first child comes before the second.
            record.order = next(self._order)
            self.lane(spec.queue).ready(record, now)

    def _grow(
        self, parent: Record, specs: tuple[JobSpec, ...], deadline: timedelta | None, now: datetime
    ) -> None:
        """Park a parent and bind its children, new ones and those that are already there."""
        parent.start_over()
        parent.deadline = deadline
        self.lane(parent.queue).park(parent)
        new: list[Record] = []
        finished: list[tuple[Link, JobView]] = []
        for spec in specs:
            holder = self._holder(spec, now)
            if holder is None:
                new.append(self._create(spec, now, parent.priority))
                self._flows.bind(parent, new[-1], spec.policy)
            elif holder.record is not None:
                self._flows.bind(parent, holder.record, spec.policy)
                self._raise_class(holder.record, parent.priority, now)
            elif holder.view is not None:
                finished.append((Link(parent, None, spec.policy), holder.view))
        for record in new:
            if not record.has_ended:
                self._place(record, now)
        for link, view in finished:
            self._flows.deliver(link, view, now)
        self._flows.resume_if_complete(parent, now)
        self._arm_if_held_up(parent, now)

    def _arm_if_held_up(self, parent: Record, now: datetime) -> None:
        for child in live_children(parent):
            if child.state is JobState.ACTIVE or self.lane(child.queue).is_held_up(child, now):
                self._flows.arm(child, now)

    def _raise_class(self, record: Record, priority: Priority, now: datetime) -> None:
        self.lane(record.queue).raise_class(record, priority, now)
        for child in live_children(record):
            self._raise_class(child, priority, now)

    def _holder(self, spec: JobSpec, now: datetime) -> Holder | None:
        lane = self.lane(spec.queue)
        if spec.job_id is not None:
            record, view = lane.live.get(spec.job_id), lane.finished.get(spec.job_id, now)
            # A failure is not an answer to be given again: the same id then means a new try.
            if record is not None or (view is not None and view.state is JobState.COMPLETED):
                return Holder(spec.job_id, record, view)
        job_id = None if spec.dedup_id is None else lane.keys.holder(spec.dedup_id, now)
        if job_id is None:
            return None
        return Holder(job_id, lane.live.get(job_id), lane.finished.get(job_id, now))
