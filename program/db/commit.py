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
from program.media.item import Node
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
    """Write the facts in `changes` (item id to names of `Facts`, `is_requested`, `wants_future`, `wanted_seasons`), derive and
    write states and dates of the whole title, write the decisions; return the settled tree.

    A decision about a row that is gone stands at the title. Raises `Cancelled` when the title is gone, KeyError for a name that is
    no fact.
    """
    write_facts(tx, changes)
    root = tree(tx, root_id, now, providers)
    if root is None:
        raise Cancelled(f"item {root_id} was removed")
    updates = settle(root, now, policy)
    write_settled(tx, updates)
    present = {node.item.id for node in root.walk()}
    story.write(
        tx,
        (made if made.item_id in present else replace(made, item_id=root_id) for made in decisions),
        now,
    )
    return apply(root, updates)
