"""A film's way from the request to Completed, against the stand-ins of all services: one film, and 500 of 36 releases each.

The stand-ins have a process of their own, so that what they cost is not counted; they answer at once and have no rate limits.
"""

import time
from collections.abc import Generator, Sequence

import RTN

from bench import Bar, Family, Row, Stage, Trial, percentile, seconds
from bench.mounted_reads import reading
from bench.stand_ins import BARE_DEBRID_CALLS, RELEASES, Home
from bench.timing import cpu_seconds, rss_mib, session_cpu

FILMS = 500
P99 = 0.99
MS = 1000
BARE_CALLS = "the bare calls that a film needs, one after the other"
RTN_PARSE = "RTN.parse of their names, its CPU"


class Films(Family):
    """One program from the first film to the last."""

    key = "films"
    title = "Films from the request to Completed"
    seconds = 2400
    needs = ("ffmpeg",)

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield one film at a time, then many, then as many again while somebody reads."""
        home = Home(stage)
        yield Trial(
            (Row("one film, request to Completed", "s", BARE_CALLS, Bar.value(1.5)),),
            ours=lambda: (seconds(home.complete, home.new_films(1)),),
            reference=lambda: (home.bare_calls(home.new_films(1)),),
        )
        films = stage.size(FILMS, tiny=3)
        yield _many(home, films)
        yield _while_reading(home, films, stage.size(10, tiny=1))


def _many(home: Home, films: int) -> Trial:
    """Return the trial of many films at once; what they leave behind in memory is looked at when they are done."""

    def ours() -> Sequence[float]:
        rows, calls, cpu = home.new_films(films), home.calls(), session_cpu(home.pid)
        wall = seconds(home.complete, rows)
        spent = (session_cpu(home.pid) - cpu) / films
        return 60 * films / wall, spent, (home.calls() - calls) / films, rss_mib(home.pid)

    def reference() -> Sequence[float]:
        before = rss_mib(home.pid)
        rows = home.new_films(max(1, films // 10))
        pace = 60 * len(rows) / home.bare_calls(rows)
        names = [release["name"] for row in rows for release in row["releases"]]
        cpu = cpu_seconds(lambda: [RTN.parse(name) for name in names]) / len(rows)
        return pace, cpu, BARE_DEBRID_CALLS, before

    at = f"{films} films of {RELEASES} releases"
    rows = (
        Row(f"{at}: pace", "films/minute", BARE_CALLS),
        Row(f"{at}: CPU a film", "s", RTN_PARSE, Bar.beyond(0.05)),
        Row(f"{at}: debrid calls a film", "calls", "the bare calls", Bar.value(4)),
        Row(f"{at}: memory after them", "MiB", "before them"),
    )
    return Trial(rows, ours, reference, most_rounds=1)


def _while_reading(home: Home, films: int, idle: float) -> Trial:
    """Return the trial of as many again, while somebody reads a file that is in memory already."""
    settled = rss_mib(home.pid)

    def ours() -> Sequence[float]:
        rows = home.new_films(films)
        with reading(home.file()) as times:
            home.complete(rows)
        return MS * percentile(times, P99), rss_mib(home.pid)

    def reference() -> Sequence[float]:
        with reading(home.file()) as times:
            time.sleep(idle)
        return MS * percentile(times, P99), settled

    at = f"another {films} films"
    rows = (
        Row(f"{at}: cached 4 KiB reads meanwhile, p99", "ms", "the same reads before them", Bar.value(10)),
        Row(f"{at}: memory after them", "MiB", "before them"),
    )
    return Trial(rows, ours, reference, most_rounds=1)
