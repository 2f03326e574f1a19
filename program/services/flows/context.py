"""What every flow works with, and the few steps that all of them share."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from program.clock import Clock
from program.db import items
from program.db.commit import commit_outcome
from program.db.decisions import Decision
from program.db.engine import Database, Tx
from program.errors import Cancelled
from program.events import Told
from program.media.entry import Entry, Link
from program.media.facts import is_current, is_failed
from program.media.item import Item, Node
from program.media.state import Policy
from program.plugins import Registry
from program.queues import Job
from program.queues.engine import Engine
from program.services.flows.sayings import Sayings
from program.services.flows.torrents_in_hand import TorrentsInHand
from program.services.plugin import Downloader, Updater
from program.settings.models import RootSettings
from program.settings.ranking import RankingOptions

Changes = Mapping[int, Mapping[str, object]]
# Where names are kept that were read before, within the config folder.
NAMES = "cache/names"
# A folder is scanned again at the earliest this long after the last scan.
COLLAPSE_SCANS = timedelta(seconds=10)
# From so many folders on those that may be scanned again anyway are forgotten.
MANY_FOLDERS = 1000
# A source whose addresses fail is asked for new ones this often within as long as one read may take; then the others come first.
MAX_RENEWALS = 2
RENEWALS_WITHIN_SECONDS = 30.0


class Library(Protocol):
    """The part of the virtual file system that the flows use."""

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Show the entries in `added` and take the entry ids in `removed` away."""

    def refresh(self, item_ids: Collection[int]) -> None:
        """Look again in which folders the files of these items belong."""

    def rearrange(self) -> None:
        """Look again where every file belongs."""

    def places(self, entry: Entry) -> tuple[str, ...]:
        """Return the absolute paths on this machine of an entry's file, the main one first; at least one."""

    def is_open(self, entry_id: int) -> bool:
        """Return whether somebody has the file of an entry open."""

    def trouble_at(self, link: Link, size: int) -> str | None:
        """Return why an address does not give a file of that size by its server's own word, None when it does.

        Raises Transient when that cannot be told now.
        """


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a person wants of one search in place of the settings.

    least, most: bytes of a release, None for no limit. any_part: a part of what is wanted will do.
    """

    ranking: RankingOptions | None = None
    least: int | None = None
    most: int | None = None
    any_part: bool = False


NO_OVERRIDES = Overrides()


@dataclass(frozen=True, slots=True)
class ItemJob:
    """The data of a job that belongs to a row.

    revisions: (id, revision) of the row, what is above and what is beneath it. is_root_item False: part of a pack that was not
    found as a whole; it is searched once now, and then at its own dates. overrides: for the search of this job alone.
    """

    root_id: int
    item_id: int
    title: str
    revisions: tuple[tuple[int, int], ...]
    is_root_item: bool = True
    overrides: Overrides = NO_OVERRIDES


class ScanLedger:
    """Remembers when a folder was last scanned by a server, so that a season of new files is one scan and not ten."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str], datetime] = {}

    def claim(
        self, server: str, folder: str, now: datetime, *, changed_at: datetime, again: bool
    ) -> datetime | None:
        """Return when to scan: `now` (which is remembered), later when it was scanned a moment ago, None when there is no need.

        changed_at: when the folder last changed. again: a repeated scan is due although the folder did not change.
        """
        with self._lock:
            last = self._last.get((server, folder))
            if last is not None and last > now:
                # The clock was set back since.
                last = None
            if last is not None and last > changed_at and not again:
                return None
            if last is not None and now - last < COLLAPSE_SCANS:
                return last + COLLAPSE_SCANS
            self._forget_old(now)
            self._last[server, folder] = now
            return now

    def _forget_old(self, now: datetime) -> None:
        """Call with the lock held."""
        if len(self._last) >= MANY_FOLDERS:
            self._last = {place: at for place, at in self._last.items() if now - at < COLLAPSE_SCANS}


class Renewals:
    """Remembers how often a source of a file was asked for another address lately, so that no read asks for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[int, tuple[float, ...]] = {}

    def may_ask(self, source_id: int, now: float) -> bool:
        """Return whether the source may be asked once more now (of the monotonic clock), and remember that it is."""
        with self._lock:
            self._asked = {
                source: recent
                for source, asked in self._asked.items()
                if (recent := tuple(at for at in asked if now - at < RENEWALS_WITHIN_SECONDS))
            }
            asked = self._asked.get(source_id, ())
            if len(asked) >= MAX_RENEWALS:
                return False
            self._asked[source_id] = (*asked, now)
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowContext:
    """The objects the flows use; settings and policy are asked for afresh since they may change while the program runs."""

    db: Database
    engine: Engine
    registry: Registry
    clock: Clock
    settings: Callable[[], RootSettings]
    policy: Callable[[], Policy]
    library: Library
    tell: Callable[[Told], None]
    names_kept_in: Path | None = None
    scans: ScanLedger = field(default_factory=ScanLedger)
    renewals: Renewals = field(default_factory=Renewals)
    in_hand: TorrentsInHand = field(default_factory=TorrentsInHand)

    def providers(self) -> tuple[str, ...]:
        """Return the keys of the enabled debrid services, in the order of preference."""
        return tuple(plugin.key for plugin in self.registry.of(Downloader))

    def servers(self) -> tuple[str, ...]:
        """Return the keys of the enabled media servers, also of one that cannot be used at the moment."""
        return tuple(one.key for one in self.registry.statuses() if one.section == Updater.section)

    @property
    def sayings(self) -> Sayings:
        """Return what makes texts fit for people."""
        return Sayings(self.registry.titles)

    def tree(self, tx: Tx, root_id: int) -> Node:
        """Return the title as it is now; raise Cancelled when it was removed."""
        root = items.tree(tx, root_id, self.clock.now(), self.providers())
        if root is None:
            raise Cancelled(f"item {root_id} is not in the library any more")
        return root

    def load(self, root_id: int) -> Node:
        """Return the title in a transaction of its own; raise Cancelled when it was removed."""
        with self.db.read() as tx:
            return self.tree(tx, root_id)

    def commit(self, tx: Tx, root_id: int, changes: Changes, decisions: Iterable[Decision]) -> Node:
        """Write facts, states, dates and decisions of one title; return it settled.

        What others said is made fit for reading, see `sayings`.
        """
        return commit_outcome(
            tx,
            root_id,
            {item_id: self.sayings.reasons(facts) for item_id, facts in changes.items()},
            [self.sayings.decision(made) for made in decisions],
            self.clock.now(),
            self.policy(),
            self.providers(),
        )

    def same_intent(self, tx: Tx, job: ItemJob) -> bool:
        """Return whether no person changed their mind about the rows of `job` since it began."""
        return revisions(self.tree(tx, job.root_id), job.item_id) == job.revisions

    def check_intent(self, tx: Tx, job: ItemJob) -> None:
        """Raise Cancelled when a person changed their mind about the rows of `job`."""
        if not self.same_intent(tx, job):
            raise Cancelled(f"{job.title} was changed by a person meanwhile")

    @contextmanager
    def telling_when_called_off(self, event: Told) -> Iterator[None]:
        """Tell `event` when the block raises Cancelled: a person changed their mind, or removed the title."""
        try:
            yield
        except Cancelled:
            self.tell(event)
            raise


def check_answered(job: Job) -> None:
    """Raise Cancelled for a job that waited and got nothing: its child was called off, and a new one would be too."""
    if job.has_waited:
        raise Cancelled(f"{job.name}: what it waited for was called off")


def revisions(root: Node, item_id: int) -> tuple[tuple[int, int], ...]:
    """Return (id, revision) of the row `item_id`, its ancestors and all beneath it; empty when it is gone."""
    path = root.path_to(item_id)
    if not path:
        return ()
    above = [node.item for node in path[:-1]]
    beneath = [node.item for node in path[-1].walk()]
    return tuple((item.id, item.revision) for item in (*above, *beneath))


def item_of(root: Node, item_id: int) -> Item:
    """Return the row of `item_id`; raise Cancelled when it was removed."""
    node = root.find(item_id)
    if node is None:
        raise Cancelled(f"item {item_id} is not in the library any more")
    return node.item


def label(root: Node, item_id: int) -> str:
    """Return a name for logs and job lists, such as `Pioneer One S02E03`."""
    numbers = {node.item.type.value: node.item.number or 0 for node in root.path_to(item_id)}
    suffix = f" S{numbers['season']:02d}" if "season" in numbers else ""
    suffix += f"E{numbers['episode']:02d}" if "episode" in numbers else ""
    return f"{root.item.title or f'item {root.item.id}'}{suffix}"


def missing_leaves(root: Node) -> frozenset[int]:
    """Return the ids of the requested leaves that have no file since they were last restarted and are not paused or failed."""
    return frozenset(leaf.item.id for leaf in root.leaves() if _needs_file(leaf.item))


def _needs_file(item: Item) -> bool:
    facts = item.facts
    return item.is_requested and not (
        is_current(facts, facts.entry_at) or facts.paused_at or is_failed(facts)
    )
