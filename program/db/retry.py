"""A retry, as facts: what a person's action and a new wish for a failed title do alike."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import or_, select

from program.db.engine import Tx
from program.db.lookup import root_of
from program.db.tables import MediaItem
from program.db.trees import trees
from program.db.views import Reset
from program.db.writes import bump_revision, write_facts
from program.media.item import Item, Node, States
from program.media.outcomes import restarted

# A retry of a season or show leaves these alone: done, or not there to be had.
LEFT_ALONE = (States.Completed, States.Unreleased)


def reset_for_retry(tx: Tx, ids: Collection[int], now: datetime) -> Reset:
    """Clear what failed and what was searched for these items, so that they are due from Indexed; files and blocks stay.

    A leaf is reset by its own id whatever its state; a season or show resets itself and its requested leaves that are neither
    Completed nor Unreleased. Rows paused themselves are skipped and named. Settle each of `roots` with `commit_outcome`.
    """
    roots = root_of(tx, ids)
    reset: dict[int, Item] = {}
    paused: dict[int, None] = {}
    waiting: dict[int, int] = {}
    for root in trees(tx, tuple(dict.fromkeys(roots.values())), now, ()):
        for item_id in (item_id for item_id, root_id in roots.items() if root_id == root.item.id):
            for path in _targets(root.path_to(item_id)):
                item = path[-1].item
                if item.facts.paused_at is not None:
                    paused[item.id] = None
                    continue
                reset[item.id] = item
                above = next((node.item.id for node in path if node.item.facts.paused_at is not None), None)
                if above is not None:
                    waiting[item.id] = above
    write_facts(tx, {item_id: restarted(item, now) for item_id, item in reset.items()})
    bump_revision(tx, reset.keys())
    touched = tuple(dict.fromkeys(item.root_id for item in reset.values()))
    return Reset(tuple(reset), touched, tuple(paused), waiting)


def failed_rows(tx: Tx, root_id: int) -> list[int]:
    """Return what a retry is to name: the title when it failed as a whole, else its failed episodes."""
    query = select(MediaItem.id, MediaItem.last_state).where(
        MediaItem.root_id == root_id,
        MediaItem.is_requested.is_(True),
        or_(MediaItem.failed_at.is_not(None), MediaItem.id == root_id),
    )
    rows = {row.id: row.last_state for row in tx.connection.execute(query)}
    if rows.pop(root_id, None) is States.Failed:
        return [root_id]
    return sorted(rows)


def _targets(path: tuple[Node, ...]) -> list[tuple[Node, ...]]:
    """Return the paths (from the root down) of the rows that a retry of the last node of `path` is about."""
    node = path[-1]
    found = [path]
    for child in node.children:
        leaf_at_rest = child.item.type.is_leaf and child.item.last_state in LEFT_ALONE
        if child.item.is_requested and not leaf_at_rest:
            found.extend(_targets((*path, child)))
    return found
