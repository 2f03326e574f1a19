"""The whole pipeline in the test's own thread, under a clock that the test moves, against the stand-ins.

    pipeline = Pipeline(tmp_path, servers.ready, database_url)
    pipeline.add_movie(45745)
    pipeline.run()
    assert pipeline.state("Sintel") == "Completed"

Everything is the real thing (database, queues, loop, providers over HTTP, rules) but the mount, which is not started; so
no media server is enabled unless a test wants one, and a title is Completed once it is in the tree. After every turn of the
loop the rules of states and dates are checked on the whole library (`tests/support/invariants.py`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from program import plugins
from program.actions import Actions
from program.clock import ManualClock, SystemClock
from program.db import entries, items
from program.db.decisions import timeline
from program.db.engine import Database
from program.db.status import ProviderStatusStore
from program.db.views import ItemFilter, ItemRow, StoredDecision
from program.demo.launch import install
from program.event_loop import EventLoop
from program.events import StreamLinkRequested, Told
from program.library import MountedLibrary
from program.media.entry import Link
from program.media.item import Ids, Item, MediaType, Node
from program.media.metadata import ContentRequest
from program.plugins import AnyPlugin
from program.policy import policy_of
from program.queues import Engine
from program.services.flows import moved_files
from program.services.flows.context import FlowContext
from program.services.flows.queues import define_flows, define_plugins
from program.settings.models import RootSettings
from program.vfs.vfs import Vfs
from tests.support.invariants import check_turn

# A pipeline that still finds work after so many rounds spins.
MAX_ROUNDS = 200


class ClockedWaits(threading.Event):
    """Waits that move the clock instead of passing time."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        """Move the clock on and return whether the stop was asked for."""
        self._clock.advance(timeout or 0.0)
        return self.is_set()


class Pipeline:
    """One library, its queues and its loop.

    settings: changes of the settings, as a path with dots to a value. plugin_classes: providers of the test beside the
    program's own; they are enabled by their settings, as any. start: where the clock stands at first. mounted: with a real mount.
    """

    def __init__(
        self,
        folder: Path,
        ready: Mapping[str, Any],
        database_url: str,
        settings: Mapping[str, Any] | None = None,
        *,
        plugin_classes: tuple[type[AnyPlugin], ...] = (),
        start: datetime | None = None,
        mounted: bool = False,
    ) -> None:
        self.clock = ManualClock(start or datetime.now(UTC))
        classes = (*plugins.discover(), *plugin_classes)
        changes = {"updaters.plex.enabled": False, "updaters.jellyfin.enabled": False, **(settings or {})}
        installation = install(folder, ready, folder / "mount", changes=changes)
        document = json.loads((installation.config / "settings.json").read_text())
        model = plugins.compose_settings(classes)
        self.settings: RootSettings = model.model_validate(document)
        self.db = Database(database_url, data_dir=folder, clock=self.clock)
        self.db.open()
        status = ProviderStatusStore(self.db)
        self.registry = plugins.Registry(
            self.settings,
            classes,
            lambda kind, section: plugins.make_source(
                kind,
                section,
                clock=self.clock,
                allowed=self.settings.network.networks,
                status=status,
                stopping=ClockedWaits(self.clock),
            ),
            self.clock,
        )
        self.engine = Engine(self.clock)
        # Whoever reads does so in real time.
        resolve, clock = (
            (lambda entry_id, _dead: self.link_of(entry_id), SystemClock())
            if mounted
            else (_no_link, self.clock)
        )
        self.vfs = Vfs(self.settings.vfs, resolve, clock)
        self.library = MountedLibrary(self.vfs, self.db, lambda: self.settings.vfs, folder)
        self.told: list[Told] = []
        self.ctx = FlowContext(
            db=self.db,
            engine=self.engine,
            registry=self.registry,
            clock=self.clock,
            settings=lambda: self.settings,
            policy=lambda: policy_of(self.settings, self.ctx.servers(), self.registry.titles),
            library=self.library,
            tell=self.told.append,
        )
        self.library.tell_moves(partial(moved_files.scan, self.ctx))
        define_flows(self.engine, self.ctx)
        self.registry.before_use(lambda hooked: define_plugins(self.engine, self.ctx, hooked, {}))
        self.loop = EventLoop(self.ctx)
        self.engine.on_finished(self.loop.finished)
        self.actions = Actions(self.ctx, self.loop.wake)
        if mounted:
            self.vfs.start(())

    def link_of(self, entry_id: int) -> Link:
        """Return an address as the provider of a file gives it, past the queues, which run in the test's own thread."""
        with self.db.read() as tx:
            entry = entries.get(tx, entry_id)
        assert entry is not None
        source = entry.sources[0]
        event = StreamLinkRequested(
            source.torrent_id, source.file_id, source.link, entry.original_name, entry.size
        )
        link = self.registry.call(source.provider, event)
        assert isinstance(link, Link)
        return link

    def close(self) -> None:
        """Close what was opened."""
        self.vfs.stop()
        self.engine.close(0.0)
        self.registry.close()
        self.db.close()

    def add_movie(self, tmdb: int) -> int:
        """Ask for a film as a person; return its item id."""
        return self._add(ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(tmdb))))

    def add_show(self, tvdb: int, seasons: tuple[int, ...] | None = None) -> int:
        """Ask for a series as a person; return its item id."""
        return self._add(
            ContentRequest(source="api", is_movie=False, ids=Ids(tvdb=str(tvdb)), seasons=seasons)
        )

    def _add(self, wish: ContentRequest) -> int:
        item_id = self.actions.add([wish])[0].item_id
        assert item_id is not None
        return item_id

    def run(self, *, for_: timedelta = timedelta(0), step: timedelta = timedelta(seconds=5)) -> None:
        """Do all that is due, then move the clock by `step` and go on until `for_` has passed."""
        until = self.clock.now() + for_
        while True:
            self._settle()
            if self.clock.now() >= until:
                return
            self.clock.advance(min(step, until - self.clock.now()))

    def run_until(
        self, predicate: Callable[[], object], *, within: timedelta, step: timedelta = timedelta(seconds=5)
    ) -> None:
        """Do what is due and move the clock until `predicate` holds; fail with the states when it never does."""
        until = self.clock.now() + within
        self._settle()
        while not predicate():
            assert self.clock.now() < until, f"not within {within}: {self.states()}"
            self.clock.advance(step)
            self._settle()

    def _settle(self) -> None:
        for _ in range(MAX_ROUNDS):
            if not self.turn() + self.engine.run_until_idle():
                return
            # Two things never happen at the same instant.
            self.clock.advance(0.001)
        raise AssertionError(f"the loop spins: {self.states()}")

    def turn(self) -> int:
        """Have the loop look at what is due and check the rules of states and dates; return how many jobs were added."""
        added = self.loop.turn()
        check_turn(self.ctx, self.loop, added)
        return added

    def tree(self, root_id: int) -> Node:
        """Return a title as it is now."""
        return self.ctx.load(root_id)

    def item(self, item_id: int) -> Item:
        """Return one row as it is now."""
        with self.db.read() as tx:
            root_id = items.root_of(tx, [item_id])[item_id]
        node = self.tree(root_id).find(item_id)
        assert node is not None
        return node.item

    def state(self, item_id: int) -> str:
        """Return the state of a row."""
        return self.item(item_id).last_state.value

    def states_of(self, item_ids: Collection[int]) -> set[str]:
        """Return the states that rows are in, read at once."""
        with self.db.read() as tx:
            page = items.page(tx, ItemFilter(limit=len(item_ids), ids=tuple(item_ids)))
        assert page.total == len(item_ids), "rows are lost"
        return {row.last_state.value for row in page.rows}

    def rows(self, **wanted: Any) -> tuple[ItemRow, ...]:
        """Return the rows of the library that a list would show."""
        with self.db.read() as tx:
            return items.page(tx, ItemFilter(limit=100, **wanted)).rows

    def episode(self, show_id: int, season: int, number: int) -> Item:
        """Return an episode of a show."""
        for node in self.tree(show_id).children:
            if node.item.number == season:
                return next(leaf.item for leaf in node.children if leaf.item.number == number)
        raise KeyError((season, number))

    def season(self, show_id: int, season: int) -> Item:
        """Return a season of a show."""
        return next(node.item for node in self.tree(show_id).children if node.item.number == season)

    def states(self) -> dict[str, str]:
        """Return what each requested row is called and its state with the reason."""
        found = {}
        for row in self.rows():
            name = (
                row.title
                if row.type in (MediaType.MOVIE, MediaType.SHOW)
                else f"{row.show_title} {row.season}x{row.episode}"
            )
            found[f"{row.id} {name}"] = f"{row.last_state.value} ({row.next_reason} {row.next_attempt_at})"
        return found

    def listing(self, path: str) -> list[str]:
        """Return the names in a folder of the tree."""
        paths = [file.path for file in self.library.load() if file.path.startswith(f"{path}/")]
        return sorted({found.removeprefix(f"{path}/").partition("/")[0] for found in paths})

    def story(self, item_id: int) -> tuple[StoredDecision, ...]:
        """Return the timeline of a row, oldest first."""
        with self.db.read() as tx:
            return timeline(tx, item_id)


def _no_link(_entry_id: int, _dead_url: str | None) -> Any:
    raise AssertionError("nothing is read in these tests")
