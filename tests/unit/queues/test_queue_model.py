"""The engine against a plain list: whatever is done to it, the same job is next, and the same keys are held."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from program.errors import Final, Transient
from program.queues import (
    ChildPolicy,
    Delay,
    Done,
    Fail,
    JobSpec,
    JobState,
    Next,
    Priority,
    QueueDef,
    WaitFor,
)
from program.queues.backoff import Retry
from program.queues.board import Board
from program.queues.record import Record
from tests.support.queues import START, NoChance, echo, spec

LIMITS = {"work": 3, "child": 2}
TEN_MINUTES = timedelta(minutes=10)
STATES = {
    JobState.WAITING: "waiting",
    JobState.DELAYED: "delayed",
    JobState.ACTIVE: "active",
    JobState.WAITING_CHILDREN: "parked",
}


@dataclass(eq=False)
class Entry:
    """A job as the list knows it."""

    name: str
    queue: str
    key: str | None
    rank: int
    seq: int
    since: datetime
    state: str = "waiting"
    run_at: datetime = START
    tie: int = 0
    failures: int = 0
    is_called_off: bool = False
    parent: Entry | None = None
    children: list[Entry] = field(default_factory=list)


class Listing:
    """The engine as a list: slow and plainly right."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.paused: dict[str, datetime] = {}
        self.counter = count()

    def add(
        self, name: str, queue: str, key: str | None, rank: int, now: datetime, delay: timedelta
    ) -> Entry:
        entry = Entry(name, queue, key, rank, next(self.counter), now)
        self.entries.append(entry)
        if delay:
            self.delay(entry, now + delay)
        return entry

    def delay(self, entry: Entry, until: datetime) -> None:
        entry.state, entry.run_at, entry.tie = "delayed", until, next(self.counter)

    def ready(self, entry: Entry, now: datetime) -> None:
        entry.state, entry.since = "waiting", now

    def tick(self, now: datetime) -> None:
        for queue in LIMITS:
            due = [e for e in self.entries if e.queue == queue and e.state == "delayed" and e.run_at <= now]
            for entry in sorted(due, key=lambda e: (e.run_at, e.tie)):
                entry.seq = next(self.counter)
                self.ready(entry, now)

    def next(self, now: datetime, *, is_reserved: bool) -> Entry | None:
        def place(entry: Entry) -> tuple[int, int]:
            return max(0, entry.rank - (now - entry.since) // TEN_MINUTES), entry.seq

        running = {
            queue: sum(e.state == "active" for e in self.entries if e.queue == queue) for queue in LIMITS
        }
        takable = [
            entry
            for entry in self.entries
            if entry.state == "waiting"
            and running[entry.queue] < LIMITS[entry.queue] + is_reserved
            and self.paused.get(entry.queue, START) <= now
            and (entry.rank == 0 or not is_reserved)
        ]
        return min(takable, key=place, default=None)

    def end(self, entry: Entry, now: datetime) -> None:
        self.entries.remove(entry)
        for child in tuple(entry.children):
            self.remove(child, now)
        if entry.parent is not None:
            entry.parent.children.remove(entry)
            if entry.parent.state == "parked" and not entry.parent.children:
                self.ready(entry.parent, now)

    def remove(self, entry: Entry, now: datetime) -> None:
        if entry.state == "active":
            entry.is_called_off = True
            # A parent that is gone is told nothing.
            if entry.parent is not None and entry.parent not in self.entries:
                entry.parent = None
        else:
            if entry.parent is not None and entry.parent not in self.entries:
                entry.parent = None
            self.end(entry, now)


class QueueMachine(RuleBasedStateMachine):
    """Does the same to the board and to the list."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.board = Board(2, NoChance())
        self.list = Listing()
        self.active: list[tuple[Record, Entry]] = []
        self.names = count()
        for name, limit in LIMITS.items():
            children = frozenset({"child"})
            self.board.define(
                QueueDef(name=name, input=object, handler=echo, concurrency=limit, children=children)
            )

    @rule(key=st.integers(0, 4), rank=st.sampled_from(list(Priority)), delay=st.sampled_from([0, 0, 0, 60]))
    def add(self, key: int, rank: Priority, delay: int) -> None:
        name, dedup, wait = f"job {next(self.names)}", f"k{key}", timedelta(seconds=delay)
        added = self.board.add(spec(name, dedup_id=dedup, priority=rank, delay=wait), self.now)
        there = next((e for e in self.list.entries if e.key == dedup), None)
        assert added.is_new == (there is None)
        if there is None:
            self.list.add(name, "work", dedup, rank, self.now, wait)
        elif rank < there.rank:
            self.raise_class(there, rank)

    def raise_class(self, entry: Entry, rank: int) -> None:
        if entry.rank > rank:
            entry.rank = rank
            if entry.state == "waiting":
                entry.since = self.now
        for child in entry.children:
            self.raise_class(child, rank)

    @rule(is_reserved=st.booleans())
    def take(self, *, is_reserved: bool) -> None:
        expected = self.list.next(self.now, is_reserved=is_reserved)
        record = self.board.take(self.now, is_reserved=is_reserved)
        assert (record and record.spec.name) == (expected and expected.name)
        if record is not None and expected is not None:
            expected.state = "active"
            self.active.append((record, expected))

    @precondition(lambda self: self.active)
    @rule(data=st.data(), what=st.sampled_from(["done", "fail", "next", "delay", "retry", "wait", "wait"]))
    def settle(self, data: st.DataObject, what: str) -> None:
        place = data.draw(st.integers(0, len(self.active) - 1))
        record, entry = self.active.pop(place)
        grown = tuple(self.child() for _ in range(data.draw(st.integers(0, 3)))) if what == "wait" else ()
        outcomes = {
            "done": Done(),
            "fail": Fail(Final("no")),
            "next": Next("next"),
            "delay": Delay(self.now + timedelta(seconds=30), "later"),
            "retry": Retry(Transient("busy")),
            "wait": WaitFor(grown),
        }
        self.board.settle(record, outcomes[what], self.now)  # type: ignore[arg-type]
        if entry.is_called_off:
            self.list.end(entry, self.now)
        else:
            self.settle_in_list(entry, what, grown)

    def child(self) -> JobSpec:
        return spec(f"job {next(self.names)}", "child", policy=ChildPolicy.IGNORE)

    def settle_in_list(self, entry: Entry, what: str, grown: tuple[JobSpec, ...]) -> None:
        if what == "retry":
            entry.failures += 1
            if entry.failures == 3:
                self.list.end(entry, self.now)
            else:
                self.list.delay(entry, self.now + timedelta(seconds=[5, 30][entry.failures - 1]))
        elif what == "delay":
            self.list.delay(entry, self.now + timedelta(seconds=30))
        elif what in ("next", "wait"):
            entry.failures = 0
            self.list.ready(entry, self.now)
            for job in grown:
                child = self.list.add(job.name, "child", None, entry.rank, self.now, timedelta())
                child.parent = entry
                entry.children.append(child)
                entry.state = "parked"
        else:
            self.list.end(entry, self.now)

    @rule(key=st.integers(0, 4))
    def remove(self, key: int) -> None:
        there = next((e for e in self.list.entries if e.key == f"k{key}"), None)
        assert self.board.remove_deduplicated("work", f"k{key}", self.now) == (there is not None)
        if there is not None:
            self.list.remove(there, self.now)

    @rule(queue=st.sampled_from(sorted(LIMITS)), seconds=st.integers(1, 120))
    def pause(self, queue: str, seconds: int) -> None:
        until = self.now + timedelta(seconds=seconds)
        self.board.rate_limit(queue, until, self.now)
        self.list.paused[queue] = max(until, self.list.paused.get(queue, until))

    @rule(seconds=st.sampled_from([1, 5, 30, 60, 599, 600, 1800]))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        self.board.tick(self.now)
        self.list.tick(self.now)

    @invariant()
    def the_same_jobs_stand_at_the_same_places(self) -> None:
        live = {r.spec.name: STATES[r.state] for lane in self.board.lanes() for r in lane.live.values()}
        assert live == {entry.name: entry.state for entry in self.list.entries}

    @invariant()
    def the_same_keys_are_held_each_by_one_job(self) -> None:
        keys = [entry.key for entry in self.list.entries if entry.key is not None]
        assert sorted(self.board.lane("work").keys.held(self.now)) == sorted(keys)

    @invariant()
    def nobody_is_parked_who_waits_for_nobody(self) -> None:
        for lane in self.board.lanes():
            for record in lane.live.values():
                assert record.state is not JobState.WAITING_CHILDREN or record.pending()

    @invariant()
    def counts_agree_with_the_list(self) -> None:
        for lane in self.board.lanes():
            counts = lane.counts(self.now)
            for state, name in STATES.items():
                entries = [e for e in self.list.entries if e.queue == lane.definition.name]
                assert counts[state] == sum(e.state == name for e in entries)

    def teardown(self) -> None:
        """Whatever was done: with everybody served, everything ends and every key is free."""
        for _ in range(500):
            self.now += timedelta(seconds=60)
            self.board.tick(self.now)
            while (record := self.board.take(self.now, is_reserved=False)) is not None:
                self.board.settle(record, Done(), self.now)
            for record, _ in self.active:
                self.board.settle(record, Done(), self.now)
            self.active.clear()
            if not any(lane.live for lane in self.board.lanes()):
                break
        assert not any(lane.live for lane in self.board.lanes())
        assert self.board.lane("work").keys.held(self.now) == frozenset()


QueueMachine.TestCase.settings = settings(
    max_examples=80,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestQueueAgainstAList = pytest.mark.timeout(60)(QueueMachine.TestCase)
