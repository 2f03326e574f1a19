"""How long a start takes, and what a program that has nothing to do holds and spends: with an empty library and a large one."""

import time
from collections.abc import Generator, Sequence
from datetime import UTC, datetime

from bench import Bar, Family, Row, Stage, Trial, seconds
from bench.home import installed, running
from bench.timing import rss_mib, session_cpu
from program.demo.launch import Installation
from program.vfs.tree import Tree, TreeFile

# With so many items some 100,000 of them have a file.
ITEMS = 108_000
FILES = 100_000
# A start has some tidying to do before it rests.
SETTLE_SECONDS = 15
IDLE_SECONDS = 20
MINUTE = 60
EMPTY = "the same with an empty library"
MODIFIED = datetime(2024, 1, 1, tzinfo=UTC)


class Start(Family):
    """The program is started and stopped for each round."""

    key = "start"
    title = "Start, memory and idling"
    seconds = 900

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the tree alone, then the whole program."""
        yield _tree(stage.size(FILES, tiny=100))
        yield _programs(stage)


def _programs(stage: Stage) -> Trial:
    items = stage.size(ITEMS, tiny=200)
    large, empty = installed(stage.folder / "large", items), installed(stage.folder / "empty", 0)
    waits = stage.size(SETTLE_SECONDS, tiny=1), stage.size(IDLE_SECONDS, tiny=1)
    at = f"at {items:,} items"
    rows = (
        Row(f"start until mount and API are ready {at}", "s", EMPTY, Bar.value(5)),
        Row(f"the CPU of that start {at}", "s", EMPTY),
        Row(f"memory {at}, at rest", "MiB", EMPTY, Bar.beyond(100)),
        Row(f"CPU of a minute at rest {at}", "s", EMPTY),
    )
    return Trial(rows, lambda: _life(large, *waits), lambda: _life(empty, *waits))


def _life(made: Installation, settle: float, idle: float) -> Sequence[float]:
    """Start the program, let it come to rest, look at it; return the rows' numbers."""
    start = time.perf_counter()
    with running(made) as program:
        pid = program.child.pid
        ready, spent = time.perf_counter() - start, session_cpu(pid)
        time.sleep(settle)
        before = session_cpu(pid)
        time.sleep(idle)
        return ready, spent, rss_mib(pid), (session_cpu(pid) - before) * MINUTE / idle


def _tree(files: int) -> Trial:
    made = [
        TreeFile(
            path=f"/movies/Film {number // 2} (2000) {{tmdb-{number // 2}}}/Film {number}.mkv",
            entry_id=number,
            size=1,
            modified=MODIFIED,
            identity=str(number),
        )
        for number in range(files)
    ]

    def bare() -> None:
        tree: dict[str, dict[str, TreeFile]] = {}
        for file in made:
            folder, _, name = file.path.rpartition("/")
            tree.setdefault(folder, {})[name] = file

    row = Row(f"tree of {files:,} files, built", "s", "dicts of the same folders and names")
    return Trial((row,), lambda: (seconds(Tree, made),), lambda: (seconds(bare),))
