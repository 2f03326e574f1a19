"""The loop: what is due becomes jobs.

One turn reads the due rows, derives each title again (time alone changes states), asks `process_event` what comes next
and adds a job. The queue holds
only what is due now; everything else is a date in the database. A commit, a finished job and a tick each second wake the loop.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial

from loguru import logger

from program.db import items
from program.db.decisions import Decision
from program.errors import RivuletError
from program.media.item import Item, Node, QueueClass
from program.media.outcomes import job_delayed
from program.media.settle import settle
from program.metrics import LoopReading
from program.queues import JobSpec, JobState, JobView, Priority
from program.services.flows import names, post_process, process_item_request, process_media_item
from program.services.flows.context import FlowContext, ItemJob, label, revisions
from program.services.flows.process_item_request import RequestJob
from program.services.flows.process_media_item import MediaItemJob
from program.state_transition import ItemStep, Step, process_event

# More due rows than this wait for the next turn, so that a turn stays short.
ROWS_PER_TURN = 200
# No more rows than these have a job at a time, so that a backlog stays in the database: it costs memory there, and each turn time,
# for nothing. Room is filled in portions, each with some of what became due last.
MOST_LIVE = 500
LEAST_ROOM = 50
# No more rows than these are read at once, unless one title has more: what a turn takes depends on them, and titles can be long.
ROWS_PER_PORTION = 500
# A row that is due although nothing can be done for it, or whose decision crashed, is left alone this long.
BACK_OFF = timedelta(minutes=5)
# While the ends of jobs cannot be written down, one row this often finds out whether they can be again.
UNWRITTEN_REST = timedelta(minutes=1)

PRIORITIES = {
    QueueClass.INTERACTIVE: Priority.INTERACTIVE,
    QueueClass.FRONT: Priority.FRONT,
    QueueClass.NORMAL: Priority.NORMAL,
    QueueClass.BACKGROUND: Priority.BACKGROUND,
}
ON_FAILED = {
    names.PROCESS_ITEM_REQUEST: process_item_request.on_failed,
    names.PROCESS_MEDIA_ITEM: process_media_item.on_failed,
    names.POST_PROCESS_MEDIA_ITEM: post_process.on_failed,
}


class EventLoop:
    """Turns due rows into jobs, in a thread of its own."""

    def __init__(self, ctx: FlowContext) -> None:
        self._ctx = ctx
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._left_alone: dict[int, float] = {}
        # The monotonic instant at which the end of a job could not be written down; None since one could.
        self._unwritten_at: float | None = None
        # Numbers for the metrics; a reading that is torn between two of them does no harm.
        self._called_at: float | None = None
        self._lag = 0.0
        self._turns = 0
        self._seconds = 0.0

    def wake(self) -> None:
        """Have a turn as soon as possible."""
        if self._called_at is None:
            self._called_at = self._ctx.clock.monotonic()
        self._wake.set()

    def reading(self) -> LoopReading:
        """Return how the loop does: how long calls for a turn wait, how many turns there were and how long they took."""
        called_at = self._called_at
        waiting = self._ctx.clock.monotonic() - called_at if called_at is not None else 0.0
        return LoopReading(turns=self._turns, seconds=self._seconds, lag=max(self._lag, waiting))

    def stop(self) -> None:
        """Let `run` return after the turn at hand."""
        self._stop.set()
        self._wake.set()

    def run(self) -> None:
        """Turn until stopped; a turn that fails is logged and the next one comes."""
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._stop.is_set():
                return
            began = self._ctx.clock.monotonic()
            called_at, self._called_at = self._called_at, None
            self._lag = began - called_at if called_at is not None else 0.0
            try:
                self.turn()
            except RivuletError as error:
                logger.warning("a turn of the loop failed and will be repeated: {}", error)
            self._turns += 1
            self._seconds += self._ctx.clock.monotonic() - began

    def turn(self) -> int:
        """Add jobs for what is due now; return how many were added."""
        now = self._ctx.clock.now()
        in_flight = self._in_flight()
        room = self._room(len(in_flight))
        if not room:
            return 0
        by_root: dict[int, list[int]] = defaultdict(list)
        with self._ctx.db.read() as tx:
            for row in items.due(tx, now, room, exclude=in_flight | self._resting()):
                by_root[row.root_id].append(row.item_id)
            portions = items.portions(tx, list(by_root), ROWS_PER_PORTION)
        for left, portion in zip(reversed(range(len(portions))), portions, strict=True):
            with self._ctx.db.read() as tx:
                trees = items.trees(tx, portion, now, self._ctx.providers())
            added = sum(self._decide(root, by_root[root.item.id], in_flight) for root in trees)
            if added:
                # The rest comes with the next turn; titles that only wait for their own jobs must not keep it from that.
                if left:
                    self.wake()
                return added
        return 0

    def _in_flight(self) -> frozenset[int]:
        return frozenset().union(
            *(names.item_ids(self._ctx.engine.held(queue)) for queue in names.ITEM_QUEUES)
        )

    def _room(self, live: int) -> int:
        """Return how many rows a turn may take while so many have a job.

        Nothing is begun while the database takes nothing: what is due would be due again, and services be asked for nothing, all
        night. One row finds out now and then whether it is over.
        """
        if self._unwritten_at is not None:
            has_rested = self._ctx.clock.monotonic() - self._unwritten_at >= UNWRITTEN_REST.total_seconds()
            return int(has_rested and not live)
        room = MOST_LIVE - live
        return min(room, ROWS_PER_TURN) if room >= LEAST_ROOM else 0

    def _resting(self) -> frozenset[int]:
        """Return the titles that are left alone now, so that they take no place of others."""
        now = self._ctx.clock.monotonic()
        self._left_alone = {root_id: until for root_id, until in self._left_alone.items() if until > now}
        return frozenset(self._left_alone)

    def _decide(self, root: Node, due: Iterable[int], in_flight: frozenset[int]) -> int:
        """Add the jobs of one title; a title whose decision crashes is left alone for a while, the others go on."""
        try:
            derived = self._derived(root)
            # Deriving may have made other rows due; they are not left for a turn that nobody asks for.
            fresh = self._due_in(derived) - self._due_in(root)
            return self._add_jobs(derived, fresh.union(due), in_flight)
        except RivuletError as error:
            logger.warning("{} could not be decided on: {}", label(root, root.item.id), error)
        except Exception:  # noqa: BLE001 - boundary: one item in a turn
            logger.exception("deciding on {} crashed", label(root, root.item.id))
        self._left_alone[root.item.id] = self._ctx.clock.monotonic() + BACK_OFF.total_seconds()
        return 0

    def _derived(self, root: Node) -> Node:
        """Return the title with the states and dates of this instant, written down when they changed."""
        if not settle(root, self._ctx.clock.now(), self._ctx.policy()):
            return root
        with self._ctx.db.write(root.item.id) as tx:
            return self._ctx.commit(tx, root.item.id, {}, ())

    def _due_in(self, root: Node) -> frozenset[int]:
        now = self._ctx.clock.now()
        return frozenset(node.item.id for node in root.walk() if _is_due(node.item, now))

    def _add_jobs(self, root: Node, due: Iterable[int], in_flight: frozenset[int]) -> int:
        added: set[int] = set()
        # Parents first: what a season's search brings spares its episodes theirs.
        for path in sorted(filter(None, map(root.path_to, due)), key=len):
            if _is_busy(path, in_flight | added):
                continue
            step = process_event(root, path[-1].item.id, self._ctx.clock.now(), self._ctx.policy())
            if step is not None:
                self._ctx.engine.add(job_for(root, step))
                added.add(step.item_id)
            elif _is_due(path[-1].item, self._ctx.clock.now()):
                self._postpone(root, path[-1].item)
        return len(added)

    def _postpone(self, root: Node, item: Item) -> None:
        """Move the date of a row that is due although there is nothing to do, so that it never spins."""
        logger.error(
            "{} is due in state {} but has no next step", label(root, item.id), item.last_state.value
        )
        until = self._ctx.clock.now() + BACK_OFF
        facts = job_delayed(until, "nothing to do for this state; reported in the log")
        decision = Decision(item.id, "decide", "idle", "Due, but there is no next step.", next_at=until)
        with self._ctx.db.write(root.item.id) as tx:
            self._ctx.commit(tx, root.item.id, {item.id: facts}, [decision])

    def finished(self, job: JobView) -> None:
        """Write down an item job that ended without an outcome, then look at what is due."""
        if job.queue not in names.ITEM_QUEUES:
            return
        if job.queue == names.PROCESS_MEDIA_ITEM and isinstance(job.data, ItemJob):
            self._ctx.in_hand.drop_all(job.data.item_id)
        if job.state is JobState.FAILED and isinstance(job.data, ItemJob):
            self._write_failure(job.queue, job.data, str(job.error))
        elif job.state is JobState.COMPLETED:
            self._unwritten_at = None
        self.wake()

    def _write_failure(self, queue: str, data: ItemJob, error: str) -> None:
        # Set before: whatever this raises, the row is still due.
        self._unwritten_at = self._ctx.clock.monotonic()
        try:
            ON_FAILED[queue](self._ctx, data, error)
        except RivuletError as trouble:
            logger.warning("{}: its failure could not be written down: {}", data.title, trouble)
        else:
            self._unwritten_at = None


def _is_busy(path: tuple[Node, ...], in_flight: frozenset[int]) -> bool:
    """Return whether the row, an ancestor or a descendant has a live job."""
    related = {node.item.id for node in path} | {node.item.id for node in path[-1].walk()}
    return not in_flight.isdisjoint(related)


def _is_due(item: Item, now: datetime) -> bool:
    dates = (item.schedule.next_attempt_at, item.schedule.reindex_at)
    return any(date is not None and date <= now for date in dates)


def job_for(root: Node, step: Step) -> JobSpec:
    """Return the job that takes `step`."""
    node = root.find(step.item_id) or root
    media_type = node.item.type
    dedup_ids = {
        names.PROCESS_ITEM_REQUEST: names.process_item_request_id(root.item.id),
        names.PROCESS_MEDIA_ITEM: names.process_media_item_id(media_type, step.item_id),
        names.POST_PROCESS_MEDIA_ITEM: names.post_process_id(media_type, step.item_id),
    }
    title = label(root, step.item_id)
    return JobSpec(
        queue=step.queue,
        name=title,
        data=_data(root, step, title),
        dedup_id=dedup_ids[step.queue],
        priority=PRIORITIES[step.queue_class],
    )


def _data(root: Node, step: Step, title: str) -> ItemJob:
    """Return the data that the job's queue takes."""
    kinds: Mapping[str, Callable[..., ItemJob]] = {
        names.PROCESS_ITEM_REQUEST: RequestJob,
        names.PROCESS_MEDIA_ITEM: partial(MediaItemJob, step=step.step or ItemStep.SCRAPE),
        names.POST_PROCESS_MEDIA_ITEM: ItemJob,
    }
    return kinds[step.queue](
        root_id=root.item.id,
        item_id=step.item_id,
        title=title,
        revisions=revisions(root, step.item_id),
        is_root_item=step.is_root_item,
    )
