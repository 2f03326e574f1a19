"""Of several scrapers one hangs, one has a bug, one talks nonsense: a search brings what the honest one found, and names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from program.db import streams
from program.demo.launch import Servers
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.plugins import PluginStatus
from tests.support.pipeline import Pipeline
from tests.support.scrapers import FIRST, GARBAGE, SCRAPERS, SECOND, IndexServer, hashes_of

SINTEL = 45745
FIVE_HUNDRED = {
    9_000_000 + number: f"{first} {second}"
    for number, (first, second) in enumerate((first, second) for first in FIRST for second in SECOND)
}
YEAR = 2019


@pytest.fixture
def index() -> Iterator[IndexServer]:
    with IndexServer() as server:
        yield server


@pytest.fixture
def searching(make_pipeline: Callable[..., Pipeline], index: IndexServer) -> Callable[..., Pipeline]:
    """A pipeline with these scrapers and nothing to download with, so that a found film stays found."""

    def make(*keys: str, **settings: Any) -> Pipeline:
        return make_pipeline(
            plugin_classes=SCRAPERS,
            downloaders__realdebrid__enabled=False,
            plugins__deadlines={"silent": 0.2},
            **index.settings(*keys),
            **settings,
        )

    return make


def found(pipeline: Pipeline, item_id: int) -> set[str]:
    """Return the hashes that an item has, all of them usable."""
    with pipeline.db.read() as tx:
        candidates = streams.candidates(tx, item_id, pipeline.clock.now(), pipeline.ctx.providers())
    return {candidate.release.infohash for candidate in candidates if candidate.release.rejection is None}


def fault_of(pipeline: Pipeline, key: str) -> str:
    """Return what a plugin is said to have failed by last, as the view of plugins shows it; nothing when it has not."""
    status: PluginStatus = next(one for one in pipeline.registry.statuses() if one.key == key)
    return status.health.last_fault.sentence if status.health.last_fault else ""


def search(pipeline: Pipeline, item_id: int) -> str:
    """Return the sentence of the last search."""
    return next(row.sentence for row in reversed(pipeline.story(item_id)) if row.step == "scrape")


def test_a_scraper_that_hangs_and_one_with_a_bug_take_nothing_from_the_one_that_answers(
    searching: Callable[..., Pipeline],
) -> None:
    pipeline = searching("silent", "broken", "honest")
    film = pipeline.add_movie(SINTEL)
    pipeline.run_until(lambda: pipeline.state(film) == "Scraped", within=timedelta(minutes=2))
    assert found(pipeline, film) == set(hashes_of("Sintel", 2010))
    assert pipeline.item(film).facts.scraped_times == 0, "the search was answered"
    assert "Silent Index: " in search(pipeline, film)
    assert "Broken Index: KeyError: " in search(pipeline, film)
    assert "did not end within 0.2 s" in fault_of(pipeline, "silent")
    assert "KeyError" in fault_of(pipeline, "broken")
    assert fault_of(pipeline, "honest") == ""


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_a_garbage_answer_is_named_and_takes_nothing_from_the_one_that_answers(
    searching: Callable[..., Pipeline], index: IndexServer, kind: str
) -> None:
    index.garbage = kind
    pipeline = searching("babbling", "honest")
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=5))
    assert pipeline.state(film) == "Scraped"
    assert found(pipeline, film) == set(hashes_of("Sintel", 2010))
    assert "Babbling Index: " in search(pipeline, film)
    assert fault_of(pipeline, "babbling").startswith("babbling: ")


def test_rows_that_are_no_releases_are_named_and_take_nothing_from_the_one_that_answers(
    searching: Callable[..., Pipeline],
) -> None:
    pipeline = searching("careless", "honest")
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=5))
    assert found(pipeline, film) == set(hashes_of("Sintel", 2010))
    assert "Careless Index: " in search(pipeline, film)
    assert "none of 3 releases is one" in fault_of(pipeline, "careless")


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_when_only_garbage_comes_the_search_counts_as_an_error_and_not_as_one_in_vain(
    searching: Callable[..., Pipeline], index: IndexServer, kind: str
) -> None:
    index.garbage = kind
    pipeline = searching("babbling")
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=5))
    item = pipeline.item(film)
    assert (pipeline.state(film), item.facts.scraped_times, item.facts.failures) == ("Indexed", 0, 1)
    assert item.schedule.next_attempt_at is not None


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_of_500_films_meanwhile_none_is_lost(searching: Callable[..., Pipeline], servers: Servers) -> None:
    for tmdb, title in FIVE_HUNDRED.items():
        row = {
            "title": title,
            "year": YEAR,
            "tmdb": tmdb,
            "imdb": f"tt{tmdb}",
            "digital": f"{YEAR}-03-01",
            **FACTS,
        }
        servers.control("/catalog", {"op": "add_film", "row": row})
    pipeline = searching("silent", "broken", "honest")
    wishes = [ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(tmdb))) for tmdb in FIVE_HUNDRED]
    added = [result.item_id for result in pipeline.actions.add(wishes)]
    films = {item_id: title for item_id, title in zip(added, FIVE_HUNDRED.values(), strict=True) if item_id}
    pipeline.run_until(
        lambda: pipeline.states_of(films) == {"Scraped"},
        within=timedelta(hours=2),
        step=timedelta(seconds=30),
    )
    wrong = [title for film, title in films.items() if found(pipeline, film) != set(hashes_of(title, YEAR))]
    assert not wrong
    assert len(films) == 500
    assert "did not end within 0.2 s" in fault_of(pipeline, "silent")
    assert "KeyError" in fault_of(pipeline, "broken")


FACTS = {
    "language": "en",
    "country": "GB",
    "runtime": 90,
    "genres": ["Drama"],
    "premiere": f"{YEAR}-01-01",
    "overview": "-",
}
