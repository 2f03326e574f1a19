"""What a person does to titles: each action is one transaction per title, then the loop is woken.

Work that is under way for the rows is called off: it carries revisions, and what it brings back after that is kept only
where it is a fact about a
provider.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from program import edits
from program.db import entries, items, replacements, streams, torrents
from program.db.decisions import Decision
from program.db.engine import Tx
from program.db.views import Reset
from program.errors import NotFound
from program.events import ExternalItemRequested, ItemRequestRemoved
from program.media.item import Item, Node
from program.media.metadata import ContentRequest
from program.media.outcomes import Changes, restarted
from program.queues import Priority
from program.services.flows import (
    process_item_request,
    request_content_services,
    retry_library,
    tidy_account,
)
from program.services.flows.by_person import call_off, changed, start_afresh
from program.services.flows.context import FlowContext, item_of, label

# What being as new forgets beside what a retry does; a season or episode keeps its index, which only its show can renew.
FILES_GONE: Changes = {
    "registered_at": None,
    "confirmed_at": None,
    "confirmed_by": None,
    "post_processed_at": None,
}
INDEX_GONE: Changes = {"indexed_at": None, "index_tried_at": None, "contradiction": None}


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What an action did to one item; `sentence` is for the person who asked. item_id None: the wish was not taken."""

    item_id: int | None
    title: str
    sentence: str
    done: bool = True


class Actions:
    """The actions, with the objects they need."""

    def __init__(self, ctx: FlowContext, wake: Callable[[], None]) -> None:
        self._ctx = ctx
        self.wake = wake

    def add(self, wishes: Sequence[ContentRequest], *, by_person: bool = True) -> tuple[ItemResult, ...]:
        """Write wishes down; a title that is known gets what is new in the wish."""
        accepted = request_content_services.store(self._ctx, wishes, by_person=by_person)
        if not by_person:
            for found in accepted:
                self._ctx.tell(ExternalItemRequested(item_id=found.item_id, sentence=found.sentence))
        self.wake()
        return tuple(
            ItemResult(found.item_id, "", found.sentence, done=found.outcome not in ("paused", "tombstoned"))
            for found in accepted
        )

    def retry(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Start the items afresh from Indexed (from Requested where never indexed); a parent's finished leaves are left alone."""
        return self._each(ids, self._retry_one)

    def retry_library(self) -> tuple[int, ...]:
        """Begin to retry every title with something unfinished, and return their ids.

        What is done, not out yet or paused is left alone. The job `retry-library` does it; one that is under way goes on.
        """
        with self._ctx.db.read() as tx:
            ids = items.retryable_roots(tx)
        if ids:
            self._ctx.engine.add(retry_library.job(ids))
        return ids

    def pause(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Pause the items; what is beneath them keeps its state and is not worked on."""
        return self._each(ids, self._pause_one)

    def unpause(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Let the items, or what is paused beneath them, go on."""
        return self._each(ids, self._unpause_one)

    def reset(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Make the items as new: files go, metadata is fetched again; what providers refused stays known."""
        results = []
        for root_id, wanted in self._by_root(ids).items():
            for item_id in wanted:
                with changed(self._ctx, root_id, item_id) as (tx, root, now):
                    gone = self._reset_one(tx, root, item_id, now)
                self._ctx.library.apply((), gone)
                title = label(root, item_id)
                results.append(ItemResult(item_id, title, f"{title} is as new"))
        self.wake()
        return tuple(results)

    def remove(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Take the items out of the library; a list does not bring them back."""
        results = []
        for root_id, wanted in self._by_root(ids).items():
            for item_id in wanted:
                with self._ctx.db.write(root_id) as tx:
                    root = items.tree(tx, root_id, self._ctx.clock.now(), self._ctx.providers())
                    if root is None or root.find(item_id) is None:
                        continue
                    title = label(root, item_id)
                    deleted = items.delete(tx, [item_id], tombstone=True)
                    leftovers = deleted.torrents if self._ctx.settings().downloaders.remove_torrents else ()
                    for torrent in leftovers:
                        torrents.release(tx, torrent.provider, torrent.infohash)
                    # A season or episode stays known, as one that nobody asks for.
                    for remaining in deleted.roots:
                        decision = Decision(item_id, "person", "removed", "Removed by a person.")
                        self._ctx.commit(tx, remaining, {}, [decision])
                call_off(self._ctx, root, item_id)
                self._ctx.library.apply((), deleted.entries)
                if leftovers:
                    self._ctx.engine.add(tidy_account.job())
                self._ctx.tell(
                    ItemRequestRemoved(item_id=item_id, title=title, sentence="Removed by a person")
                )
                results.append(ItemResult(item_id, title, "Removed"))
        self.wake()
        return tuple(results)

    def blacklist(self, item_id: int, infohash: str, reason: str) -> ItemResult:
        """Never use a release for an item and what is beneath it again; where it is in use, search for another."""
        root_id = self._roots([item_id])[item_id]
        with changed(self._ctx, root_id, item_id) as (tx, root, now):
            rows = [node.item for node in (root.find(item_id) or root).walk()]
            used = [row for row in rows if infohash in (row.facts.active_stream, _infohash(tx, row))]
            for row in rows:
                streams.blacklist(tx, row.id, infohash, reason)
            items.bump_revision(tx, [row.id for row in rows])
            told = dict.fromkeys((item_id, *(row.id for row in used)))
            sentence = f"A release was ruled out by a person: {reason}"
            decisions = [Decision(row_id, "person", "blacklisted", sentence) for row_id in told]
            self._ctx.commit(tx, root_id, {row.id: restarted(row, now) for row in used}, decisions)
        self.wake()
        return ItemResult(item_id, label(root, item_id), "Ruled out")

    def unblacklist(self, item_id: int, infohash: str) -> ItemResult:
        """Allow a release again for an item and what is beneath it; it is tried when a search next has need of one."""
        return self._allow(item_id, infohash)

    def allow_all(self, item_id: int) -> ItemResult:
        """Forget everything that a person or a provider has against releases of an item and of what is beneath it."""
        return self._allow(item_id, None)

    def _allow(self, item_id: int, infohash: str | None) -> ItemResult:
        root_id = self._roots([item_id])[item_id]
        with changed(self._ctx, root_id, item_id) as (tx, root, _):
            rows = [node.item for node in (root.find(item_id) or root).walk()]
            for row in rows:
                streams.unblacklist(tx, row.id, infohash)
            if infohash is None:
                streams.unblock(tx, [row.id for row in rows])
            items.bump_revision(tx, [row.id for row in rows])
            decision = Decision(item_id, "person", "allowed", "A person allowed ruled out releases again.")
            self._ctx.commit(tx, root_id, {}, [decision])
        self.wake()
        return ItemResult(item_id, label(root, item_id), "Allowed again")

    def edit(self, item_id: int, wanted: edits.Edit, by: str) -> ItemResult:
        """Have what a person chose for a title count, see `edits`; raise WrongEdit with the place for what cannot be."""
        root_id = self._roots([item_id])[item_id]
        if root_id != item_id:
            raise edits.WrongEdit("item_id", f"edit the show, which is item {root_id}")
        title, said = edits.edit(self._ctx, root_id, wanted, by)
        self.wake()
        return ItemResult(item_id, title, said or "nothing is other than it was", done=bool(said))

    def reindex(self, ids: Sequence[int]) -> tuple[ItemResult, ...]:
        """Have the titles that the items belong to looked up again now; nothing else about them changes."""
        results = []
        for root_id in self._by_root(ids):
            with self._ctx.db.write(root_id) as tx:
                root = self._ctx.tree(tx, root_id)
                decision = Decision(root_id, "person", "reindex", "To be looked up again, by a person.")
                self._ctx.commit(tx, root_id, {}, [decision])
            title = label(root, root_id)
            is_new = self._ctx.engine.add(process_item_request.job(root, Priority.FRONT)).is_new
            sentence = f"{title} is looked up again" if is_new else f"{title} is being looked up already"
            results.append(ItemResult(root_id, title, sentence))
        return tuple(results)

    def _each(
        self, ids: Sequence[int], act: Callable[[Tx, Node, int, datetime], ItemResult]
    ) -> tuple[ItemResult, ...]:
        results = []
        for root_id, wanted in self._by_root(ids).items():
            for item_id in wanted:
                with changed(self._ctx, root_id, item_id) as (tx, root, now):
                    results.append(act(tx, root, item_id, now))
        self.wake()
        return tuple(results)

    def _roots(self, ids: Sequence[int]) -> dict[int, int]:
        with self._ctx.db.read() as tx:
            roots = dict(items.root_of(tx, ids))
        unknown = [str(item_id) for item_id in ids if item_id not in roots]
        if unknown:
            raise NotFound(f"no item has the id {', '.join(unknown)}")
        return roots

    def _by_root(self, ids: Sequence[int]) -> dict[int, list[int]]:
        grouped: dict[int, list[int]] = defaultdict(list)
        for item_id, root_id in self._roots(ids).items():
            grouped[root_id].append(item_id)
        return grouped

    def _retry_one(self, tx: Tx, root: Node, item_id: int, now: datetime) -> ItemResult:
        title = label(root, item_id)
        reset = start_afresh(self._ctx, tx, root, item_id, now)
        if not reset.reset:
            return ItemResult(item_id, title, f"{title} is paused and was left alone", done=False)
        return ItemResult(item_id, title, _retry_sentence(root, reset))

    def _pause_one(self, tx: Tx, root: Node, item_id: int, now: datetime) -> ItemResult:
        title = label(root, item_id)
        items.bump_revision(tx, [item_id])
        decision = Decision(item_id, "person", "paused", "Paused by a person.")
        self._ctx.commit(tx, root.item.id, {item_id: {"paused_at": now}}, [decision])
        return ItemResult(item_id, title, f"{title} is paused")

    def _unpause_one(self, tx: Tx, root: Node, item_id: int, _now: datetime) -> ItemResult:
        title = label(root, item_id)
        node = root.find(item_id) or root
        own = node.item.facts.paused_at is not None
        paused = [item_id] if own else [n.item.id for n in node.walk() if n.item.facts.paused_at is not None]
        if not paused:
            return ItemResult(item_id, title, f"{title} is not paused", done=False)
        items.bump_revision(tx, paused)
        decisions = [Decision(row, "person", "unpaused", "Goes on, by a person.") for row in paused]
        self._ctx.commit(tx, root.item.id, {row: {"paused_at": None} for row in paused}, decisions)
        return ItemResult(item_id, title, f"{title} goes on")

    def _reset_one(self, tx: Tx, root: Node, item_id: int, now: datetime) -> tuple[int, ...]:
        """Return the entries that are gone; a file that another episode is in as well stays for that one."""
        rows = [beneath.item for beneath in (root.find(item_id) or root).walk()]
        ids = [item.id for item in rows]
        links = [(file.id, id_) for file in entries.for_items(tx, ids) for id_ in file.item_ids if id_ in ids]
        gone = replacements.give_up(tx, links)
        items.bump_revision(tx, ids)
        facts = {item.id: _as_new(item, now) for item in rows}
        decision = Decision(item_id, "person", "reset", "Made as new by a person.")
        self._ctx.commit(tx, root.item.id, facts, [decision])
        return gone


def _infohash(tx: Tx, item: Item) -> str | None:
    """Return the torrent that an item's file is from, not that of a copy beside it."""
    files = entries.for_items(tx, [item.id])
    return next((file.infohash for file in files if not file.ranking_profile), None)


def _as_new(item: Item, now: datetime) -> Changes:
    index = INDEX_GONE if item.type.is_root else {}
    return {**restarted(item, now), **FILES_GONE, **index, "paused_at": None}


def _retry_sentence(root: Node, reset: Reset) -> str:
    sentence = f"{sum(item_of(root, row).type.is_leaf for row in reset.reset)} to be searched afresh"
    if reset.paused:
        sentence += f"; {len(reset.paused)} paused and left alone"
    above = sorted({label(root, ancestor) for ancestor in reset.waiting.values()})
    if above:
        sentence += f"; not worked on while {', '.join(above)} is paused"
    return sentence
