"""The OpenAPI document is true: whatever is sent, answers are what it says, and nothing breaks inside.

Calls are made up from the document by Schemathesis; four in five are meant to be good ones, on a library with titles, releases and
files, so that most of them do something. Left out, each for its reason: `EXCLUDED` checks and `LEFT_OUT` calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from program.api.auth import address_token
from program.api.server import create_app
from program.clock import ManualClock
from program.db.engine import Database
from tests.api.home import Home
from tests.db.library import NOW, film_metadata, release, season, show_metadata

A, B = "a" * 40, "b" * 40
GOOD_CALLS, BAD_CALLS = 4, 1
# Of all calls at least so many must work.
LEAST_WORKING = 0.6
# Every so manieth good call keeps the made-up parts of its path.
MADE_UP_PATH = 10
EXCLUDED = {
    "positive_data_acceptance": "what one value demands of another (an end after its start) is no matter of a schema",
    "negative_data_rejection": "a number in a query is text, so that what is wrong by type is often right by spelling",
    "unsupported_method": "asked of every path by tests/api/test_api_refusals.py",
    "ignored_auth": "asked of every route by tests/api/test_api_refusals.py",
    "use_after_free": "needs chains of calls; the actions on items have tests of their own",
    "ensure_resource_availability": "needs chains of calls, as above",
    "object_level_authorization": "there is one owner and one key",
}
LEFT_OUT = {
    "/api/v1/stream/events": "an answer without an end",
    "/api/v1/stream/notifications": "an answer without an end",
    "/api/v1/stream/logging": "an answer without an end",
    "/api/v1/stream/hls/{item_id}/index.m3u8": "needs ffmpeg and a video: tests/api/test_web_client.py",
    "/api/v1/stream/hls/{item_id}/segment/{number}.ts": "needs ffmpeg and a video: tests/api/test_web_client.py",
    "/api/v1/stream/file/{item_id}": "needs bytes from a provider: tests/api/test_web_client.py",
}
# What these tests change is what later ones need: these come last.
LAST = ("generateapikey", "items/remove")


class Seeded:
    """A home with titles, releases and files, and what its paths may name."""

    def __init__(self, home: Home) -> None:
        self.home = home
        library = home.library
        self.film = library.film()
        library.index(self.film, film_metadata())
        library.find_releases(
            self.film, release(A, rank=500), release(B, rank=300), release("c" * 40, refused="size")
        )
        self.show = library.show(season(1), season(2))
        library.index(self.show, show_metadata(season(1), season(2)))
        library.complete(self.film, self.film)
        with home.flow.db.read() as tx:
            from_db = tx.connection.exec_driver_sql("select id from media_item order by id").scalars().all()
            streams = tx.connection.exec_driver_sql("select id from stream order by id").scalars().all()
        self.ids, self.streams = list(from_db), list(streams)
        home.use(
            content={"letterbox": {"enabled": True}},
            downloaders={"vault": {"enabled": True, "url": "http://127.0.0.1:9"}},
        )
        self._turn = 0
        # What a schema does not say: which values go together, and which there are.
        title = {"item_id": self.film, "media_type": "movie", "tvdb_id": None, "tmdb_id": None}
        self._bodies: dict[str, Any] = {
            "/settings/set/all": {"log": {"level": "INFO"}},
            "/settings/test/{section}/{key}": {},
            "/scrape/auto": title,
            "/items/{item_id}": {"own_titles": ["Durian"]},
            "/items/add": {"media_type": "movie", "tmdb_ids": ["10378"]},
            "/webhook/{key}": ["10378"],
            "/webhook/{key}/{token}": ["10378"],
            "/match/explain": {"item_id": self.film, "releases": ["Sintel.2010.1080p.mkv"]},
        }
        self._queries: dict[str, Any] = {
            "/scrape": {"item_id": self.film, "media_type": "movie"},
            "/scrape/start_session": {"item_id": self.film, "magnet": A, "media_type": "movie"},
            "/calendar": {"start": "2031-01-01", "end": "2031-06-01"},
            "/items/{item_id}": {"media_type": "item"},
        }

    def place(self, case: Any) -> None:
        """Put what there is into a made-up call."""
        self._turn += 1
        if self._turn % MADE_UP_PATH:
            known = self._known(case.path)
            given = case.path_parameters or {}
            case.path_parameters = {name: known.get(name, value) for name, value in given.items()}
        if isinstance(case.body, dict) and "ids" in case.body:
            case.body = {"ids": [self.ids[self._turn % len(self.ids)]]}
        call = case.path.removeprefix("/api/v1")
        if call in self._bodies:
            case.body = self._bodies[call]
        if call in self._queries:
            case.query = {**(case.query or {}), **self._queries[call]}

    def _known(self, path: str) -> dict[str, str]:
        context = self.home.context
        until = str(int(NOW.timestamp()) + 3600)
        purpose = "webhook letterbox" if "webhook" in path else f"log {until}" if "logs" in path else "feeds"
        return {
            "item_id": str(self.film),
            "stream_id": str(self.streams[self._turn % 2]),
            "queue": "scrape-item",
            "section": "downloaders",
            "key": "vault" if "settings" in path else "letterbox",
            "until": until,
            "token": address_token(context, purpose),
        }


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    folder, clock = tmp_path, ManualClock(NOW)
    database = Database(f"sqlite:///{folder / 'rivulet.db'}", data_dir=folder, clock=clock)
    database.open()
    home = Home(database, clock, folder)
    yield Seeded(home)
    home.close()
    database.close()


def _operations(schema: Any) -> list[Any]:
    found = [result.ok() for result in schema.get_all_operations() if result.ok().path not in LEFT_OUT]
    return sorted(found, key=lambda operation: operation.path.endswith(LAST))


def _calls(seeded: Seeded, count: int) -> Counter[bool]:
    """Make `count` calls; return how many worked and how many did not. Raises with the first that breaks a check."""
    schema = schemathesis.openapi.from_wsgi("/openapi.json", create_app(seeded.home.context))
    operations = _operations(schema)
    excluded = [CHECKS.get_one(name) for name in EXCLUDED]
    each = max(1, count // len(operations))
    worked: Counter[bool] = Counter()

    def make(case: Any, *, is_good: bool) -> None:
        if is_good:
            seeded.place(case)
        key = seeded.home.store.current.api_key.get_secret_value()
        answer = case.call(headers={"X-Api-Key": key})
        case.validate_response(answer, excluded_checks=excluded)
        worked[200 <= answer.status_code < 300] += 1

    for operation in operations:
        good = max(1, each * GOOD_CALLS // (GOOD_CALLS + BAD_CALLS))
        for mode, examples in ((GenerationMode.POSITIVE, good), (GenerationMode.NEGATIVE, each - good)):
            if examples and (mode is GenerationMode.POSITIVE or operation.body or operation.query):
                _run(operation, mode, examples, make)
    return worked


def _run(operation: Any, mode: GenerationMode, examples: int, make: Any) -> None:
    @seed(20_310_501)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        make(case, is_good=mode is GenerationMode.POSITIVE)

    run()


def _report(worked: Counter[bool]) -> float:
    share = worked[True] / worked.total()
    print(f"{worked.total()} calls, {share:.0%} of them work")  # noqa: T201 - the measure of this test
    return share


def test_five_hundred_calls_are_answered_as_the_document_says(seeded: Seeded) -> None:
    worked = _calls(seeded, 700)
    assert _report(worked) >= LEAST_WORKING
    assert worked.total() >= 500


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_five_thousand_calls_are_answered_as_the_document_says(seeded: Seeded) -> None:
    worked = _calls(seeded, 6500)
    assert _report(worked) >= LEAST_WORKING
    assert worked.total() >= 5000


def test_every_check_that_is_left_out_exists_and_has_a_reason() -> None:
    load_all_checks()
    assert set(EXCLUDED) <= set(CHECKS.get_all_names())
    assert all(EXCLUDED.values())
