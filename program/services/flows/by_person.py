"""What a person's actions on a title share: one transaction, after which the work that is under way for it is called off."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from program.db import items
from program.db.decisions import Decision
from program.db.engine import Tx
from program.db.views import Reset
from program.media.item import Node
from program.services.flows import names
from program.services.flows.context import FlowContext


@contextmanager
def changed(ctx: FlowContext, root_id: int, item_id: int) -> Iterator[tuple[Tx, Node, datetime]]:
    """One transaction on a title, after which the jobs of the item and of what is beneath are called off.

    Raises Cancelled when the title was removed.
    """
    with ctx.db.write(root_id) as tx:
        root = ctx.tree(tx, root_id)
        yield tx, root, ctx.clock.now()
    call_off(ctx, root, item_id)


def call_off(ctx: FlowContext, root: Node, item_id: int) -> None:
    """Remove the jobs of an item and of what is beneath it."""
    node = root.find(item_id)
    for beneath in node.walk() if node else ():
        for queue, key in names.all_item_keys(beneath.item.type, beneath.item.id):
            ctx.engine.remove_deduplicated(queue, key)


def start_afresh(ctx: FlowContext, tx: Tx, root: Node, item_id: int, now: datetime) -> Reset:
    """Have an item searched as if it never was, and what is beneath it and unfinished; return what was and what was not."""
    reset = items.reset_for_retry(tx, [item_id], now)
    decisions = [Decision(row, "person", "retried", "Started afresh by a person.") for row in reset.reset]
    if decisions:
        ctx.commit(tx, root.item.id, {}, decisions)
    return reset
