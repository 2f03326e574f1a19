"""One turn of the loop with 200 due rows, by the size of the library and by what is due: films, or episodes of long series."""

import gc
import time
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import select, update

from bench import Bar, Family, Row, Stage, Trial, percentile
from bench.library import fill
from program import plugins
from program.clock import SystemClock
from program.db.engine import Database
from program.db.tables import MediaItem
from program.event_loop import ROWS_PER_TURN, EventLoop
from program.media.entry import Entry, Link
from program.media.item import MediaType, States
from program.network import nowhere
from program.plugins import Registry
from program.policy import policy_of
from program.queues.engine import Engine
from program.services.flows.context import FlowContext
from program.services.flows.queues import define_flows
from program.settings.models import RootSettings

SIZES = (1_000, 10_000, 100_000)
TURNS = 20
P95 = 0.95
MS = 1000
# When the searches that are due again were made last.
OLD = datetime(2020, 1, 1, tzinfo=UTC)
BARE = f"a bare SELECT of the {ROWS_PER_TURN} due rows"


class Loop(Family):
    """Turns in this process, on an engine that does nothing with the jobs."""

    key = "loop"
    title = "A turn of the loop with 200 due rows"
    seconds = 600

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the sizes, smallest first."""
        for full in SIZES[-1:] if stage.is_tiny else SIZES:
            rows = stage.size(full, tiny=150)
            with closing(_Home(stage.folder / str(full), rows)) as home:
                turns = stage.size(TURNS, tiny=1)
                yield _trial(home, MediaType.MOVIE, f"due films at {rows:,} items, p95 of a turn", turns)
                yield _trial(home, MediaType.EPISODE, f"due episodes at {rows:,} items, p95 of a turn", turns)


class _Folder:
    """Stands for the mount, which a turn does not touch."""

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Show nothing."""

    def refresh(self, item_ids: Collection[int]) -> None:
        """Have no further folders."""

    def rearrange(self) -> None:
        """Have no further folders."""

    def places(self, entry: Entry) -> tuple[str, ...]:
        """Return the one path as it is."""
        return (entry.path,)

    def is_open(self, entry_id: int) -> bool:  # noqa: ARG002 - as the protocol has it
        """Return that nobody reads."""
        return False

    def trouble_at(self, link: Link, size: int) -> str | None:  # noqa: ARG002 - as the protocol has it
        """Find every address good."""
        return None


class _Home:
    """A filled database and what a loop needs beside it."""

    def __init__(self, folder: Path, rows: int) -> None:
        folder.mkdir()
        self.clock = SystemClock()
        self.db = Database(f"sqlite:///{folder / 'rivulet.db'}", data_dir=folder, clock=self.clock)
        self.db.open()
        fill(self.db, rows, self.clock.now())
        classes = plugins.discover()
        self._settings: RootSettings = plugins.compose_settings(classes).model_validate({})
        self._registry = Registry(
            self._settings,
            classes,
            lambda kind, section, name="": plugins.make_source(
                kind, section, name, clock=self.clock, allowed=nowhere
            ),
            self.clock,
        )

    def close(self) -> None:
        """Close what was opened."""
        self._registry.close()
        self.db.close()

    def loop(self) -> EventLoop:
        """Return a loop whose queues are empty."""
        engine = Engine(self.clock)
        ctx = FlowContext(
            db=self.db,
            engine=engine,
            registry=self._registry,
            clock=self.clock,
            settings=lambda: self._settings,
            policy=lambda: policy_of(self._settings, ()),
            library=_Folder(),
            tell=lambda _event: None,
        )
        define_flows(engine, ctx)
        return EventLoop(ctx)

    def make_due(self, kind: MediaType) -> None:
        """Make up to a turn's worth of searches of one kind due, and no others."""
        searched = select(MediaItem.id).where(MediaItem.last_state == States.Indexed, MediaItem.type == kind)
        later, now = self.clock.now() + timedelta(days=1), self.clock.now()
        with self.db.write() as tx:
            tx.connection.execute(
                update(MediaItem).where(MediaItem.last_state == States.Indexed).values(next_attempt_at=later)
            )
            due = tx.connection.scalars(searched.limit(ROWS_PER_TURN)).all()
            tx.connection.execute(
                update(MediaItem).where(MediaItem.id.in_(due)).values(next_attempt_at=now, scraped_at=OLD)
            )


def _trial(home: _Home, kind: MediaType, name: str, turns: int) -> Trial:
    home.make_due(kind)
    now = home.clock.now()
    query = select(MediaItem.__table__).where(
        MediaItem.next_attempt_at <= now, MediaItem.is_requested.is_(True)
    )

    def bare() -> None:
        with home.db.read() as tx:
            tx.connection.execute(query).all()

    def turn(loop: EventLoop) -> None:
        if not loop.turn():
            raise RuntimeError("a turn found nothing to do")

    def p95(work: Callable[[], Callable[[], None]]) -> Sequence[float]:
        """Return the wall and the CPU time of the work, which is made anew each time before it is timed."""
        taken = [_timed(work()) for _ in range(turns)]
        return [MS * percentile(times, P95) for times in zip(*taken, strict=True)]

    # The first of each reads the database into memory.
    bare()
    turn(home.loop())
    # As the program does after its start.
    gc.freeze()
    return Trial(
        (Row(name, "ms", BARE, Bar.value(50)), Row(f"{name}, its CPU", "ms", BARE, Bar.value(50))),
        ours=lambda: p95(lambda: partial(turn, home.loop())),
        reference=lambda: p95(lambda: bare),
    )


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.thread_time()
    work()
    return time.perf_counter() - wall, time.thread_time() - cpu
