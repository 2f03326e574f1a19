"""A file that nobody gives the bytes of any more: another release is searched, and takes its place once it is ready."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from program.db import entries, items, sources, streams
from program.db.decisions import Decision
from program.db.engine import Tx
from program.media.entry import Entry
from program.media.facts import is_failed
from program.media.item import Item, Node
from program.media.naming import is_subtitle
from program.media.outcomes import SUCCESS, Changes, restarted
from program.media.release import Block
from program.services.flows.context import FlowContext

STEP = "repair"
# A no that may be another one tomorrow, and for how long it is believed.
FOR_NOW, BELIEVED = frozenset({"not_cached", "gone"}), timedelta(hours=24)


def tell(
    ctx: FlowContext,
    entry: Entry,
    outcome: str,
    sentence: str,
    *,
    provider: str | None = None,
    next_at: datetime | None = None,
    facts: Callable[[Tx, Node, Item], Changes] | None = None,
) -> None:
    """Write a step into the stories of a file's titles, and the changes of their facts with it."""
    with ctx.db.read() as tx:
        roots = set(items.root_of(tx, entry.item_ids).values())
    for root_id in sorted(roots):
        with ctx.db.write(root_id) as tx:
            root = ctx.tree(tx, root_id)
            leaves = [node.item for node in root.walk() if node.item.id in entry.item_ids]
            told = [
                Decision(leaf.id, STEP, outcome, sentence, provider=provider, next_at=next_at)
                for leaf in leaves
            ]
            changes = {leaf.id: facts(tx, root, leaf) for leaf in leaves} if facts else {}
            ctx.commit(tx, root_id, changes, told)


def give_up(ctx: FlowContext, entry: Entry, refusals: Collection[tuple[str, str, str]]) -> None:
    """Have another release searched for the titles of a file; refusals: (provider, code, reason) of everybody who was asked.

    The file stays in the tree until its replacement is there. A title that nobody wants any more, that is paused, or that has
    another file already is left alone.
    """
    now = ctx.clock.now()
    said = "; ".join(sorted({provider for provider, _, _ in refusals}))
    if entry.video_id is not None and is_subtitle(entry.original_name):
        _drop(ctx, entry, entry.video_id, said)
        return

    def another(tx: Tx, root: Node, leaf: Item) -> Changes:
        path = root.path_to(leaf.id)
        is_wanted = leaf.is_requested and not any(node.item.facts.paused_at for node in path)
        if not is_wanted or is_failed(leaf.facts) or not _is_the_copy(tx, entry, leaf.id):
            return SUCCESS
        for provider, code, reason in refusals:
            until = now + BELIEVED if code in FOR_NOW else None
            for node in path:
                block = Block(provider=provider, code=_as_block(code), sentence=reason, until=until)
                streams.block(tx, node.item.id, entry.infohash, block, now)
        # Without a further copy the title lacks nothing; only that one is looked for.
        return {**SUCCESS, "upgrade_at": now} if entry.ranking_profile else restarted(leaf, now)

    with ctx.db.write() as tx:
        sources.set_given_up(tx, _whole(entry), now)
    sentence = f"No service gives its bytes any more ({said}): another release is searched; the file stays until then."
    tell(ctx, entry, "given_up", sentence, facts=another)


def _drop(ctx: FlowContext, subtitle: Entry, video_id: int, said: str) -> None:
    """Take a subtitle away: what it stands beside is worth no search, and one that cannot be read troubles players."""
    with ctx.db.write() as tx:
        entries.remove(tx, (subtitle.id,))
        video = entries.get(tx, video_id)
    if video is not None and video.registered_at is not None:
        ctx.library.apply((video,), ())
    sentence = (
        f"No service gives {subtitle.original_name} any more ({said}): the subtitle is gone, the video stays."
    )
    tell(ctx, subtitle, "subtitle_gone", sentence)


def come_back(ctx: FlowContext, entry: Entry) -> None:
    """Let the titles of a file that was given up have it again, unless another one has come for them."""
    with ctx.db.write() as tx:
        sources.set_given_up(tx, _whole(entry), None)
        if not all(_is_the_copy(tx, entry, item_id) for item_id in entry.item_ids):
            return
        entries.relink(tx, entry.video_id or entry.id, ctx.clock.now())
    tell(ctx, entry, "came_back", "It can be read again, so it stays.")


def _whole(entry: Entry) -> tuple[int, ...]:
    """Return a file and, of a film's further part, the first one: one of them without the other is no film."""
    return (entry.id,) if entry.video_id is None else (entry.id, entry.video_id)


def _is_the_copy(tx: Tx, entry: Entry, item_id: int) -> bool:
    """Return whether a file is the one that an item has of its kind (the usual copy, or a further one of a profile).

    A film's further part is as much as its first one.
    """
    copies = (
        one for one in entries.for_items(tx, (item_id,)) if one.ranking_profile == entry.ranking_profile
    )
    return next((one.id for one in copies), None) == (entry.video_id or entry.id)


def _as_block(code: str) -> str:
    """Return a refusal in the words that searches know."""
    return code if code in ("not_cached", "infringing", "no_video", "wrong_files") else "dead"
