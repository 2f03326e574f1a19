"""The one way a step ends: facts, state, dates and the reason in one transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from program.db import decisions as story
from program.db.engine import Tx
from program.db.trees import tree
from program.db.views import Decision
from program.db.writes import bump_revision, write_facts, write_settled
from program.errors import Cancelled
from program.media.item import Item, Node
from program.media.settle import apply, settle
from program.media.state import Policy

__all__ = ["bump_revision", "commit_outcome"]


def commit_outcome(
    tx: Tx,
    root_id: int,
    changes: Mapping[int, Mapping[str, object]],
    decisions: Iterable[Decision],
    now: datetime,
    policy: Policy,
    providers: tuple[str, ...],
) -> Node:
    """Write the facts in `changes` (item id to names of `Facts`, and what a person decides: `writes.INTENT`), derive and
    write states and dates of the whole title, write the decisions; return the settled tree.

    A decision about a row that is gone stands at the title; one that says nothing of the next attempt gets the row's next date.
    Raises `Cancelled` when the title is gone, KeyError for a name that is no fact.
    """
    write_facts(tx, changes)
    root = tree(tx, root_id, now, providers)
    if root is None:
        raise Cancelled(f"item {root_id} was removed")
    updates = settle(root, now, policy)
    write_settled(tx, updates)
    settled = apply(root, updates)
    story.write(tx, (_placed(made, settled, now) for made in decisions), now)
    return settled


def _placed(made: Decision, root: Node, now: datetime) -> Decision:
    node = root.find(made.item_id) or root
    return replace(made, item_id=node.item.id, next_at=made.next_at or _next_at(node.item, now))


def _next_at(item: Item, now: datetime) -> datetime | None:
    """Return when a row is looked at next; None when that is at once, or not by itself."""
    dates = (item.schedule.next_attempt_at, item.schedule.reindex_at)
    soonest = min((at for at in dates if at is not None), default=None)
    return soonest if soonest is not None and soonest > now else None
