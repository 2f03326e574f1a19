"""What a person and other programs wait for: the API and the pages over libraries of 1,000, 10,000 and 100,000 items."""

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import count

from bench import Bar, Family, Row, Stage, Trial, percentile, seconds
from bench.home import OK, Caller, installed, running, signed_in
from program.demo.launch import Installation, call, free_port, wait_until

LARGEST = 100_000
SIZES = (1_000, 10_000, LARGEST)
CALLS = 100
SETTLE_SECONDS = 15
P95 = 0.95
MS = 1000
EMPTY = "an empty Flask answer"
# What the design asks for at the largest size; what is asked of a page is ours.
QUICK = Bar.value(50)
IDS = 500
FIRST_ID = 900_000_000


class Api(Family):
    """One caller on one connection."""

    key = "api"
    title = "Answers of the API and pages, by the size of the library"
    seconds = 900

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the sizes, smallest first."""
        empty = _empty_server(stage)
        for full in SIZES[-1:] if stage.is_tiny else SIZES:
            rows = stage.size(full, tiny=100)
            made = installed(stage.folder / str(rows), rows)
            with running(made):
                # What a start still does in the background is not what is measured here.
                time.sleep(stage.size(SETTLE_SECONDS, tiny=1))
                calls = stage.size(CALLS, tiny=2)
                yield _answers(made, empty, rows, calls)
                if full == LARGEST:
                    yield _pages(made, empty, rows, calls)
                    yield _wishes(stage, made, stage.size(IDS, tiny=5))


def _empty_server(stage: Stage) -> int:
    port = free_port()
    stage.start([sys.executable, "-m", "bench.empty_server", str(port)])

    def answers() -> bool:
        try:
            with closing(Caller(port)) as caller:
                return caller.get("/") != b""
        except OSError:
            return False

    if not wait_until(answers, 30):
        raise RuntimeError("the empty server does not answer")
    return port


def _answers(made: Installation, empty: int, rows: int, calls: int) -> Trial:
    at = f"at {rows:,} items"
    today = datetime.now(UTC).date()
    paths = {
        f"list, p95 {at}": "/api/v1/items?limit=50",
        f"list by title, page 10, p95 {at}": "/api/v1/items?limit=50&page=10&sort=title_asc",
        f"list of what is searched for, p95 {at}": "/api/v1/items?limit=50&state=Indexed",
        f"search, p95 {at}": "/api/v1/items?limit=50&search=series",
        f"stats, p95 {at}": "/api/v1/stats",
        f"calendar of a month, p95 {at}": f"/api/v1/calendar?start={today:%Y-%m}-01&end={today:%Y-%m}-28",
    }
    return _trial(paths, made, {"X-Api-Key": made.key}, empty, calls, QUICK)


def _pages(made: Installation, empty: int, rows: int, calls: int) -> Trial:
    at = f"at {rows:,} items"
    show = _a_show(made)
    paths = {
        f"page: library, p95 {at}": "/",
        f"page: a film, p95 {at}": "/items/1",
        f"page: a series of 60 episodes, p95 {at}": f"/items/{show}",
        f"page: calendar, p95 {at}": "/calendar",
        f"page: statistics, p95 {at}": "/statistics",
    }
    return _trial(paths, made, signed_in(made), empty, calls, None)


def _trial(
    paths: Mapping[str, str],
    made: Installation,
    headers: Mapping[str, str],
    empty: int,
    calls: int,
    bar: Bar | None,
) -> Trial:
    def measured(addresses: Iterable[str], at: Callable[[], Caller]) -> Sequence[float]:
        # A server closes connections that say nothing for long, so each round has its own.
        with closing(at()) as caller:
            return [_p95(caller, path, calls) for path in addresses]

    def ours() -> Sequence[float]:
        return measured(paths.values(), lambda: Caller(made.port, headers))

    def reference() -> Sequence[float]:
        return measured("/" * len(paths), lambda: Caller(empty))

    return Trial(tuple(Row(name, "ms", EMPTY, bar) for name in paths), ours, reference)


def _p95(caller: Caller, path: str, calls: int) -> float:
    caller.get(path)
    return MS * percentile([seconds(caller.get, path) for _ in range(calls)], P95)


def _a_show(made: Installation) -> int:
    with closing(Caller(made.port, {"X-Api-Key": made.key})) as caller:
        found = caller.get("/api/v1/items?type=show&limit=1")
    return int(json.loads(found)["items"][0]["id"])


def _wishes(stage: Stage, made: Installation, ids: int) -> Trial:
    """Ask for other films each time, and write as many rows into a table that has nothing else to do."""
    numbers = count(FIRST_ID)
    table = stage.enter(closing(sqlite3.connect(stage.folder / "bare.db")))
    table.execute("CREATE TABLE wish (id INTEGER PRIMARY KEY, tmdb TEXT UNIQUE)")

    def ours() -> Sequence[float]:
        body = {"media_type": "movie", "tmdb_ids": [str(next(numbers)) for _ in range(ids)]}
        return (seconds(_post, made, body),)

    def reference() -> Sequence[float]:
        rows = [(str(next(numbers)),) for _ in range(ids)]

        def write() -> None:
            with table:
                table.executemany("INSERT INTO wish (tmdb) VALUES (?)", rows)

        return (seconds(write),)

    row = Row(f"POST of {ids} ids", "s", f"{ids} bare INSERTs in SQLite", Bar.value(0.2))
    return Trial((row,), ours, reference)


def _post(made: Installation, body: object) -> None:
    answer = call("POST", f"{made.api}/api/v1/items/add", body, {"X-Api-Key": made.key})
    if answer.status != OK:
        raise RuntimeError(f"POST of {IDS} ids: {answer.status} {answer.data}")
