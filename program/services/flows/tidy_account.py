"""Queue `tidy-account`: deletes our own torrents that were begun and are not needed any more.

A torrent is written down before it is added and ticked off once its files are taken. What is left over after a crash, or could not
be deleted when it did not fit, goes when its title has its files or is gone; until then the next attempt for the title uses it. So
does one whose files were all replaced.
"""

from dataclasses import dataclass

from program.db import items, torrents
from program.db.engine import Tx
from program.db.torrents import HalfMade
from program.events import TorrentRemoveRequested
from program.queues import Done, Job, JobSpec, Outcome, Priority, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext, missing_leaves
from program.services.flows.plugin_hook import Paused, ask


@dataclass(frozen=True, slots=True)
class Tidy:
    """Data of the job: there is nothing to say."""


def job() -> JobSpec:
    """Return the job that tidies up."""
    return JobSpec(
        queue=names.TIDY_ACCOUNT,
        name="leftover torrents",
        data=Tidy(),
        dedup_id=names.TIDY_ACCOUNT,
        priority=Priority.BACKGROUND,
    )


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Ask the providers to forget the leftovers; return how many they have forgotten."""
    if not job.has_waited:
        return _ask(ctx)
    # A provider that asks to wait has removed nothing.
    return Done(sum(not isinstance(value, Paused) for _, _, value in job.children.values()))


def _ask(ctx: FlowContext) -> Outcome:
    with ctx.db.read() as tx:
        waiting = _items_without_file(ctx, tx)
        half_made = torrents.half_made(tx)
    enabled = ctx.providers()
    left = tuple(
        torrent for torrent in half_made if torrent.item_id not in waiting and torrent.provider in enabled
    )
    if not left:
        return Done(0)
    return WaitFor(tuple(ask(torrent.provider, _removal(torrent), torrent.infohash) for torrent in left))


def _items_without_file(ctx: FlowContext, tx: Tx) -> frozenset[int]:
    """Return the items, leaves and parents, that still lack a file."""
    wanted = [torrent.item_id for torrent in torrents.half_made(tx) if torrent.item_id is not None]
    roots = set(items.root_of(tx, wanted).values())
    trees = items.trees(tx, sorted(roots), ctx.clock.now(), ctx.providers())
    nodes = (node for root in trees for node in root.walk())
    return frozenset(node.item.id for node in nodes if missing_leaves(node))


def _removal(torrent: HalfMade) -> TorrentRemoveRequested:
    return TorrentRemoveRequested(torrent.torrent_id, torrent.infohash, torrent.intended_at)
