"""What a player notices of the program's other work: cached reads through the mount while a search's names are parsed."""

import time
from collections.abc import Generator, Sequence

from bench import Bar, Family, Row, Stage, Trial, percentile
from bench.mounted_reads import reading
from bench.stand_ins import Home

IDLE_SECONDS = 5
P50, P99 = 0.5, 0.99
MS = 1000


class Reads(Family):
    """One film is there; another one's search brings so many names that they go to the sandbox."""

    key = "reads"
    title = "Cached reads of 4 KiB while 2,000 names are parsed in the sandbox"
    seconds = 600
    needs = ("ffmpeg",)

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the one trial: a film with very many releases, from its request to Completed."""
        names, idle = stage.size(2000, tiny=60), stage.size(IDLE_SECONDS, tiny=1)
        home = Home(stage)
        home.complete(home.new_films(1))

        def ours() -> Sequence[float]:
            film = home.new_films(1, releases=names)
            with reading(home.file()) as times:
                home.complete(film)
            return MS * percentile(times, P99), MS * percentile(times, P50)

        def reference() -> Sequence[float]:
            with reading(home.file()) as times:
                time.sleep(idle)
            return MS * percentile(times, P99), MS * percentile(times, P50)

        idle_reads = "the same reads while nothing else happens"
        rows = (
            Row(f"reads while {names:,} names are parsed, p99", "ms", idle_reads, Bar.value(10)),
            Row(f"reads while {names:,} names are parsed, p50", "ms", idle_reads),
        )
        yield Trial(rows, ours, reference)
