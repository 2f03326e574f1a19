"""The plugin queues: one job is one question to one plugin (or one thing told to it).

What the event names by its id is read from the database just before the hook is called, at each attempt. A provider that asks
to wait a little is asked again by the same job; one that asks to wait long, or rests after failures, answers `Paused`, so that
the flow can write the date down, go on with another provider, and let the job end.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from program.db import items, torrents
from program.errors import Cancelled, NotFound, RetryLater, sentence_of
from program.events import (
    DownloadRequested,
    Event,
    ScrapeRequested,
    Snapshot,
    StreamLinkRequested,
    Told,
    TorrentRemoveRequested,
)
from program.media.item import MediaType, Node
from program.media.wanted import NOT_IN_LIBRARY, wanted_for
from program.plugins import Tripped
from program.queues import ChildPolicy, Done, Job, JobSpec, Outcome
from program.services.flows import names
from program.services.flows.context import FlowContext, missing_leaves

# A wait up to this long is spent parked; a longer one is given back to the flow.
PARK = timedelta(seconds=30)
# What was read this recently is not read again.
FRESH = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Paused:
    """Answer of a plugin that cannot be asked before `until`."""

    until: datetime
    reason: str


def said_by(key: str, trouble: object) -> str:
    """Return a trouble as a sentence that begins with the plugin's key, as most of them do already."""
    told = sentence_of(trouble) if isinstance(trouble, BaseException) else str(trouble)
    sentence = told.removesuffix(".")
    return sentence if sentence.startswith(f"{key}: ") else f"{key}: {sentence}"


def ask(key: str, event: Event, title: str, *, attempts: int = 3) -> JobSpec:
    """Return the job that asks plugin `key` what `event` asks, for a parent that goes on whatever becomes of it.

    attempts: runs in all.
    """
    queue = names.plugin_queue(event.type, key)
    return JobSpec(queue=queue, name=title, data=event, policy=ChildPolicy.IGNORE, attempts=attempts)


def ask_all(ctx: FlowContext, event: Event, title: str) -> tuple[JobSpec, ...]:
    """Return a job for each usable plugin that answers `event`."""
    return tuple(ask(key, event, title) for key in ctx.registry.hooks_for(event.type))


def handle(ctx: FlowContext, key: str, job: Job) -> Outcome:
    """Ask the plugin `key` what the job's event asks."""
    event = fresh(ctx, job.data_as(Event), job.created_at)
    try:
        return Done(_answer(ctx, key, event))
    except Tripped as rest:
        return Done(Paused(rest.at, rest.reason))
    except RetryLater as wait:
        # Whoever reads a file is not kept waiting: another source may have it now.
        if wait.at - ctx.clock.now() <= PARK and not isinstance(event, StreamLinkRequested):
            _spare_the_others(ctx, key, job.queue)
            raise
        return Done(Paused(wait.at, wait.reason))


def _spare_the_others(ctx: FlowContext, key: str, queue: str) -> None:
    """Start no job of a queue before the plugin's service may be asked again, where it has said so of all calls."""
    # A plugin that was switched off meanwhile is not asked again anyway.
    with suppress(NotFound):
        until = ctx.registry.get(key).http.statistics().paused_until
        if until is not None:
            ctx.engine.rate_limit(queue, min(until, ctx.clock.now() + PARK))


def _answer(ctx: FlowContext, key: str, event: Event) -> object:
    if not isinstance(event, DownloadRequested | TorrentRemoveRequested):
        return ctx.registry.call(key, event)
    with ctx.in_hand.alone(key, event.infohash, ctx.clock.now()):
        if isinstance(event, DownloadRequested):
            return ctx.registry.call(key, event)
        return _removal(ctx, key, event)


def _removal(ctx: FlowContext, key: str, event: TorrentRemoveRequested) -> Paused | None:
    """Have a leftover deleted and forget it; what somebody has taken or is looking through meanwhile is no leftover."""
    with ctx.db.read() as tx:
        is_left = any((one.provider, one.infohash) == (key, event.infohash) for one in torrents.half_made(tx))
    if not is_left or ctx.in_hand.is_held(key, event.infohash):
        return Paused(ctx.clock.now(), f"{key}: the torrent is needed")
    ctx.registry.call(key, event)
    with ctx.db.write() as tx:
        torrents.forget(tx, key, event.infohash)
    return None


def fresh(ctx: FlowContext, event: Event, made_at: datetime) -> Event:
    """Return an event with what the database says now of the title it is about; made_at: when what is in it was read.

    Raises Cancelled when it asks something about a title that was removed meanwhile; who is told of one learns that it is gone.
    """
    is_known = isinstance(event, ScrapeRequested) and event.wanted.item_id != NOT_IN_LIBRARY
    if isinstance(event, ScrapeRequested) and is_known and ctx.clock.now() - made_at > FRESH:
        root = _root(ctx, event.wanted.item_id)
        if root is None:
            raise Cancelled(f"item {event.wanted.item_id} is not in the library any more")
        missing = missing_leaves(root)
        return replace(event, wanted=wanted_for(root, event.wanted.item_id, missing=missing))
    if isinstance(event, Told) and event.item_id is not None:
        root = _root(ctx, event.item_id)
        return replace(event, item=snapshot_of(root, event.item_id) if root else None)
    return event


def _root(ctx: FlowContext, item_id: int) -> Node | None:
    with ctx.db.read() as tx:
        root_id = items.root_of(tx, [item_id]).get(item_id)
        return items.tree(tx, root_id, ctx.clock.now(), ctx.providers()) if root_id is not None else None


def snapshot_of(root: Node, item_id: int) -> Snapshot | None:
    """Return a row of a title as hooks see it; None when it is not there."""
    path = root.path_to(item_id)
    if not path:
        return None
    top, item = root.item, path[-1].item
    numbers = {node.item.type: node.item.number for node in path}
    return Snapshot(
        id=item.id,
        type=item.type,
        title=top.title,
        state=item.last_state,
        year=top.year,
        ids=top.ids,
        season=numbers.get(MediaType.SEASON),
        episode=numbers.get(MediaType.EPISODE),
        name=item.title if item.type is MediaType.EPISODE else "",
        poster=top.poster,
        since=top.created_at,
    )
