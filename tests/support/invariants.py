"""What must be true of a library after every turn of the loop (the rules of states and dates), whatever the test is about.

- Every title that is not finished has a date, is being worked on, or waits for a person and says so; every row of it likewise.
- No row is both due and idle.
- No two jobs stand on one branch of a tree (a row, what is above it, what is beneath it).
- What the rows say is what their facts say.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from program.db import items
from program.event_loop import MOST_LIVE, ROWS_PER_TURN, EventLoop
from program.media.item import Item, MediaType, Node, States
from program.media.settle import settle
from program.services.flows import names
from program.services.flows.context import FlowContext, label

# A library with more titles than this is looked at only after turns that did something: reading it takes its time.
MANY = 100
# Done, or a person has to say what now.
AT_REST = (States.Completed, States.Failed, States.Paused)


def check_turn(ctx: FlowContext, loop: EventLoop, added: int) -> None:
    """Raise AssertionError with every rule that the library breaks now, right after a turn that added so many jobs."""
    now = ctx.clock.now()
    with ctx.db.read() as tx:
        root_ids = items.all_roots(tx)
    if not added and len(root_ids) > MANY:
        return
    keys = [(queue, ctx.engine.held(queue)) for queue in names.ITEM_QUEUES]
    with ctx.db.read() as tx:
        roots = items.trees(tx, root_ids, now, ctx.providers())
        due = {row.item_id for row in items.due(tx, now, ROWS_PER_TURN + 1)}
    in_flight = [item_id for _, held in keys for item_id in names.item_ids(held)]
    # What does not fit into a turn is for the next one; a title whose decision crashed rests.
    left = loop._left_alone
    resting = {root for root, until in left.items() if until > ctx.clock.monotonic()}
    broken = list(_doubled(roots, in_flight))
    for root in roots:
        if root.item.id in resting:
            continue
        broken += _undated(root, frozenset(in_flight))
        if len(due) > ROWS_PER_TURN or len(in_flight) > MOST_LIVE - ROWS_PER_TURN:
            continue
        broken += _idle(root, due, frozenset(in_flight))
        if not any(node.item.id in in_flight for node in root.walk()):
            broken += _unsettled(root, ctx, now)
    assert not broken, "after a turn: " + "; ".join(broken)


def _doubled(roots: tuple[Node, ...], in_flight: list[int]) -> Iterator[str]:
    for item_id in {one for one in in_flight if in_flight.count(one) > 1}:
        yield f"item {item_id} has two jobs"
    for root in roots:
        for item_id in set(in_flight):
            above = {node.item.id for node in root.path_to(item_id)} - {item_id}
            for other in above & set(in_flight):
                yield f"jobs for {label(root, item_id)} and above it for {label(root, other)}"


def _idle(root: Node, due: set[int], in_flight: frozenset[int]) -> Iterator[str]:
    for node in root.walk():
        path = root.path_to(node.item.id)
        busy = {one.item.id for one in (*path, *node.walk())} & in_flight
        is_paused = any(one.item.facts.paused_at for one in path)
        if node.item.id in due and not busy and not is_paused:
            yield f"{_named(root, node.item)} is due and idle"


def _undated(root: Node, in_flight: frozenset[int]) -> Iterator[str]:
    for node in root.walk():
        item, path = node.item, root.path_to(node.item.id)
        if not all(one.item.is_requested for one in path) or any(one.item.facts.paused_at for one in path):
            continue
        if item.last_state in AT_REST or {one.item.id for one in (*path, *node.walk())} & in_flight:
            continue
        if not _has_date(path, node) and not _waits_for_person(node):
            yield f"{_named(root, item)} has no date and waits for nobody ({item.schedule.next_reason})"
        if item.schedule.next_attempt_at is not None and not item.schedule.next_reason:
            yield f"{_named(root, item)} has a date without a reason"


def _has_date(path: tuple[Node, ...], node: Node) -> bool:
    """Return whether the row, one it waits for above, or one beneath has a date."""
    rows = [*(one.item for one in path), *(one.item for one in node.walk())]
    return any(row.schedule.next_attempt_at or row.schedule.reindex_at for row in rows)


def _waits_for_person(node: Node) -> bool:
    """Return whether whatever is left beneath is failed or paused, and the row says that it waits."""
    left = [leaf.item for leaf in node.leaves() if leaf.item.is_requested]
    unfinished = [item for item in left if item.last_state is not States.Completed]
    return (
        node.item.type in (MediaType.SHOW, MediaType.SEASON)
        and all(item.last_state in AT_REST for item in unfinished)
        and "waits for you" in (node.item.schedule.next_reason or "")
    )


def _unsettled(root: Node, ctx: FlowContext, now: datetime) -> Iterator[str]:
    for update in settle(root, now, ctx.policy()):
        node = root.find(update.item_id)
        assert node is not None
        told = (node.item.last_state, node.item.schedule)
        yield f"{_named(root, node.item)} says {told} and is {(update.last_state, update.schedule)}"


def _named(root: Node, item: Item) -> str:
    return f"{label(root, item.id)} (item {item.id}, {item.type.value}, {item.last_state.value})"
