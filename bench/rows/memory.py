"""What a program at rest holds beside a bare Python with the same packages, and what a sandbox's process holds and leaves."""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import Bar, Family, Row, Stage, Trial
from bench.home import installed, running
from bench.names import found, release_names
from bench.timing import rss_mib
from program.demo.launch import Installation, wait_until
from program.media.item import MediaType
from program.media.wanted import Wanted
from program.queues import Sandbox
from program.services.matching.sandbox import ParseTask, parse_scrape_results
from program.settings.ranking import RankingSettings

SETTLE_SECONDS = 15
NAMES = 2000
# What the program cannot do without; `-c` runs after them.
PACKAGES = ("alembic", "apscheduler", "flask", "loguru", "pydantic", "requests", "sqlalchemy", "waitress")
FILM = ("Silent Harbour", 2011)
GONE_SECONDS = 60
NOW = datetime(2024, 6, 1, tzinfo=UTC)


class Memory(Family):
    """Resident memory; what is shared with other processes counts in full."""

    key = "memory"
    title = "Memory of the program and of a sandbox's process"
    seconds = 600

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the program at rest, then a sandbox."""
        home, settle = installed(stage.folder / "home", 0), stage.size(SETTLE_SECONDS, tiny=1)
        bare = f"a bare Python with {len(PACKAGES)} of its packages"
        yield Trial(
            (Row("the program at rest, empty library", "MiB", bare, Bar.value(150)),),
            ours=lambda: (_at_rest(home, settle),),
            reference=lambda: (_bare(f"import {', '.join(PACKAGES)}"),),
        )
        names = stage.size(NAMES, tiny=60)
        yield Trial(
            (
                Row(
                    f"a sandbox's process after {names:,} names",
                    "MiB",
                    "a bare Python with RTN",
                    Bar.value(80),
                ),
                Row("its processes once it rests", "processes", "none", Bar.value(0)),
            ),
            ours=lambda: _sandbox(names),
            reference=lambda: (_bare("import RTN"), 0.0),
        )


def _at_rest(made: Installation, settle: float) -> float:
    with running(made) as program:
        time.sleep(settle)
        return rss_mib(program.child.pid)


def _bare(statement: str) -> float:
    command = [sys.executable, "-c", f"{statement}; print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError(f"a bare Python could not {statement}")
            return rss_mib(process.pid)
        finally:
            process.kill()


def _sandbox(names: int) -> Sequence[float]:
    """Have a sandbox parse names; return what its largest process held then, and how many are left after its idle time."""
    sandbox = Sandbox(processes=1, threshold=1, idle_seconds=1.0)
    before = _workers()
    try:
        sandbox.run(parse_scrape_results, _task(names), size=names, timeout=GONE_SECONDS)
        held = max(map(rss_mib, _workers() - before))
        wait_until(lambda: _workers() == before, GONE_SECONDS)
        return held, float(len(_workers() - before))
    finally:
        sandbox.close()


def _workers() -> set[int]:
    """Return the processes that this one has spawned to work; the one that counts multiprocessing's resources is none."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = {int(pid) for children_of in children for pid in children_of.read_text().split()}
    return {pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def _task(names: int) -> ParseTask:
    title, year = FILM
    film = Wanted(item_id=1, type=MediaType.MOVIE, title=title, year=year, runtime=101, language="en")
    return ParseTask(film, found(release_names(names, seed=1, of=FILM)), RankingSettings().plain(), NOW)
