"""Resuming: what is incomplete is looked at again, at a start and now and then. Nothing is reset, no date is put off.

Each title's states and dates are derived from its facts again, so that a date which was lost, or follows from a setting that has
changed, is there again; the loop does the rest.
"""

from collections.abc import Callable, Iterator, Sequence

from program.db import items, wipe
from program.db.engine import Database
from program.log import logger
from program.media.item import Node
from program.media.settle import settle
from program.services.flows.context import FlowContext

# Titles that are looked at together, and the rows that are read in one transaction.
AT_ONCE = 500
ROWS_AT_ONCE = 2000


def resume(ctx: FlowContext, is_stopped: Callable[[], bool]) -> int:
    """Settle every incomplete title; return in how many something had to be written. Ends early when stopped."""
    with ctx.db.read() as tx:
        roots = items.incomplete_roots(tx)
    changed = 0
    for portion in _portions(ctx, roots):
        if is_stopped():
            return changed
        with ctx.db.read() as tx:
            trees = items.trees(tx, portion, ctx.clock.now(), ctx.providers())
        changed += sum(resume_title(ctx, root) for root in trees)
    logger.info("{} titles are incomplete; {} were given a new date or state", len(roots), changed)
    return changed


def _portions(ctx: FlowContext, roots: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(roots), AT_ONCE):
        with ctx.db.read() as tx:
            portions = items.portions(tx, roots[start : start + AT_ONCE], ROWS_AT_ONCE)
        yield from portions


def resume_title(ctx: FlowContext, root: Node) -> bool:
    """Settle one title; return whether anything had to be written."""
    if not settle(root, ctx.clock.now(), ctx.policy()):
        return False
    with ctx.db.write(root.item.id) as tx:
        ctx.commit(tx, root.item.id, {}, ())
    return True


def forget_waits(db: Database) -> None:
    """Make due at once what waits because of an error: a provider that can be used now may be the one it waited for."""
    with db.write() as tx:
        wipe.postponements(tx)
