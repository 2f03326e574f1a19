"""Plugins in the pipeline: one that hangs, raises or answers nonsense takes nothing from the others, and is named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pytest_httpserver import HTTPServer

from program.bus import Bus
from program.db import items, streams
from program.errors import RetryLater
from program.events import (
    CoreStarted,
    DownloadIncorrectState,
    DownloadRequested,
    DownloadSuccess,
    Event,
    ExternalItemRequested,
    IndexFailed,
    IndexSuccess,
    ItemCompleted,
    ItemRequestConflict,
    ItemRequestCreated,
    ItemRequestFailed,
    ItemRequestRemoved,
    NoStreamsFound,
    ScrapeError,
    ScrapeIncorrectState,
    ScrapeRequested,
    ScrapeSuccess,
    Told,
)
from program.media.item import Ids, ReleaseKind
from program.media.metadata import ContentRequest, Metadata
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.plugins import Allowed, AnyPlugin, find
from program.services.flows import request_content_services
from program.services.plugin import Hook, Indexer, Plugin, Scraper
from program.settings.provider import ProviderSettings
from tests.support.pipeline import Pipeline

SINTEL = 45745
ROOT = Path(__file__).resolve().parents[2]
HASHES = {
    f"{digit}" * 40: f"Sintel.2010.{height}p.BluRay.x264-OPEN" for digit, height in (("a", 1080), ("b", 720))
}
FAR = timedelta(hours=12)


class MadeUpSettings(ProviderSettings):
    """A provider of a test."""


class MadeUp(Scraper[MadeUpSettings]):
    """A made-up index; what it finds its subclasses say."""

    Settings = MadeUpSettings
    deadline_seconds = 0.15

    def check(self) -> None:
        """Work."""

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Find the two releases."""
        return tuple(FoundRelease(infohash, title, self.key) for infohash, title in HASHES.items())


class Answering(MadeUp):
    """Answers."""

    key, title = "answering", "Answering"


class Raising(MadeUp):
    """Raises."""

    key, title = "raising", "Raising"

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Stumble over its own feet."""
        raise KeyError("seeders")


class Hanging(MadeUp):
    """Hangs."""

    key, title = "hanging", "Hanging"
    gate = threading.Event()

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Never come back while the test runs."""
        self.gate.wait(60)
        return ()


class Nonsense(MadeUp):
    """Answers what is none."""

    key, title = "nonsense", "Nonsense"
    answer: object = None

    def hooks(self) -> Mapping[str, Hook]:
        """Answer with what the test says."""
        return {ScrapeRequested.type: lambda _event: type(self).answer}


@pytest.fixture(autouse=True)
def _nothing_hangs_on() -> Iterator[None]:
    Hanging.gate.clear()
    yield
    Hanging.gate.set()


@pytest.fixture
def with_plugins(make_pipeline: Callable[..., Pipeline]) -> Callable[..., Pipeline]:
    """Make a pipeline that searches with the test's own providers only, and has nobody to download from."""

    def make(*classes: type[AnyPlugin], **settings: Any) -> Pipeline:
        enabled = {f"{plugin.section}__{plugin.key}__enabled": True for plugin in classes}
        off = {"scraping__torrentio__enabled": False, "downloaders__realdebrid__enabled": False}
        return make_pipeline(plugin_classes=classes, **{**off, **enabled, **settings})

    return make


def hashes(pipeline: Pipeline, item_id: int) -> set[str]:
    """Return the hashes of the releases that are kept of an item."""
    with pipeline.db.read() as tx:
        found = streams.candidates(tx, item_id, pipeline.clock.now(), ())
    return {candidate.release.infohash for candidate in found}


def last_faults(pipeline: Pipeline) -> dict[str, str]:
    """Return what is said of each provider that failed."""
    return {
        status.key: status.health.last_fault.sentence
        for status in pipeline.registry.statuses()
        if status.health.last_fault
    }


def test_of_three_searches_one_hangs_one_raises_and_the_third_counts(
    with_plugins: Callable[..., Pipeline],
) -> None:
    pipeline = with_plugins(Hanging, Raising, Answering)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(minutes=2))
    assert pipeline.state(film) == "Scraped"
    assert hashes(pipeline, film) == set(HASHES)
    assert last_faults(pipeline) == {
        "hanging": f"hanging: {ScrapeRequested.type} did not end within 0.15 s",
        "raising": "KeyError: 'seeders'",
    }
    search = next(row for row in pipeline.story(film) if row.step == "scrape")
    assert search.data["answered"] == ["answering"]
    assert {str(trouble).partition(":")[0] for trouble in search.data["troubles"]} == {"Hanging", "Raising"}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "<html><body>502 Bad Gateway</body></html>",
        [FoundRelease("c" * 40, "Sintel.2010.2160p.WEB-DL.x265-FAKE", "nonsense")],
        ({"infohash": "c" * 40, "title": "Sintel"},),
        (FoundRelease("not a hash", "Sintel.2010.2160p.WEB-DL.x265-FAKE", "nonsense"),),
        (FoundRelease("c" * 40, "Sintel.2010\0.2160p", "nonsense", size=2**70),),
    ],
    ids=["nothing", "html", "a list", "mappings", "no hash", "what cannot be stored"],
)
def test_nonsense_of_one_search_takes_nothing_from_the_others(
    with_plugins: Callable[..., Pipeline], answer: object
) -> None:
    Nonsense.answer = answer
    pipeline = with_plugins(Nonsense, Answering)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(minutes=1))
    assert pipeline.state(film) == "Scraped"
    assert hashes(pipeline, film) == set(HASHES)
    assert set(last_faults(pipeline)) == {"nonsense"}


class Shelf(Indexer[MadeUpSettings]):
    """Knows every number as a film of 2010."""

    key, title = "shelf", "Shelf"
    Settings = MadeUpSettings
    kinds = frozenset({"movie"})

    def check(self) -> None:
        """Work."""

    def movie(self, ids: Ids) -> Metadata:
        """Know it."""
        day = self.clock.now() - timedelta(days=3650)
        return Metadata(ids=ids, title="Sintel", year=2010, releases={ReleaseKind.DIGITAL: day})


def counts(pipeline: Pipeline) -> dict[str, int]:
    """Return how many rows are in each state."""
    with pipeline.db.read() as tx:
        found = items.stats(tx, pipeline.clock.now().year).states
    return {state.value: count for state, count in found.items() if count}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_no_title_is_lost_while_one_search_hangs_and_another_raises(
    with_plugins: Callable[..., Pipeline], count: int
) -> None:
    pipeline = with_plugins(Hanging, Raising, Answering, Shelf, indexing__tmdb__enabled=False)
    pipeline.actions.add(
        [
            ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(1000 + number)))
            for number in range(count)
        ]
    )
    pipeline.run_until(lambda: counts(pipeline) == {"Scraped": count}, within=FAR, step=timedelta(minutes=1))
    health = {status.key: status.health for status in pipeline.registry.statuses()}
    assert health["answering"].failures == 0
    for key in ("hanging", "raising"):
        assert health[key].rests_until is not None
        assert health[key].stuck <= 8


# Told


class Listening(Plugin[MadeUpSettings]):
    """Notes what it is told."""

    key, title = "listening", "Listening"
    section = "notifications"
    Settings = MadeUpSettings
    heard: ClassVar[list[Told]] = []

    def check(self) -> None:
        """Work."""

    def hooks(self) -> Mapping[str, Hook]:
        """Listen to a few."""
        return dict.fromkeys(
            (CoreStarted.type, ItemRequestCreated.type, IndexSuccess.type), self.heard.append
        )


def test_a_hook_is_told_with_what_the_library_says_when_it_is_called(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    Listening.heard.clear()
    pipeline = make_pipeline(plugin_classes=(Listening,), notifications__listening__enabled=True)
    bus = Bus(pipeline.engine, pipeline.registry, pipeline.clock)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=10))
    for event in (CoreStarted(), ItemRequestCreated(item_id=film), ScrapeSuccess(item_id=film)):
        bus.publish(event)
    queues = {queue for queue in pipeline.engine.counts() if "listening" in queue}
    assert queues == {
        f"{event}.plugin[listening]" for event in pipeline.registry.publishable() if "requested" not in event
    }
    pipeline.run()
    pipeline.actions.remove([film])
    bus.publish(IndexSuccess(item_id=film, title="Sintel"))
    pipeline.run()
    started, created, gone = Listening.heard
    assert (type(started), started.item) == (CoreStarted, None)
    assert created.item is not None
    assert (created.item.title, created.item.year, created.item.ids.tmdb) == ("Sintel", 2010, str(SINTEL))
    assert (gone.title, gone.item) == ("Sintel", None), "the title was removed before the hook was called"


def told(pipeline: Pipeline) -> list[type[Told]]:
    """Return the kinds of events that were told, and forget them."""
    kinds = [type(event) for event in pipeline.told]
    pipeline.told.clear()
    return kinds


def test_a_film_tells_of_each_step_on_its_way(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    began = pipeline.clock.now()
    pipeline.run(for_=timedelta(seconds=10))
    (got,) = [event for event in pipeline.told if isinstance(event, DownloadSuccess)]
    assert (got.item_id, got.provider) == (film, "realdebrid")
    assert timedelta(0) < timedelta(milliseconds=got.duration_ms) <= pipeline.clock.now() - began
    assert told(pipeline) == [ItemRequestCreated, IndexSuccess, ScrapeSuccess, DownloadSuccess, ItemCompleted]
    pipeline.add_movie(SINTEL)
    pipeline.actions.remove([film])
    assert told(pipeline) == [ItemRequestConflict, ItemRequestRemoved]


def test_a_list_that_repeats_itself_tells_nothing(pipeline: Pipeline) -> None:
    wish = ContentRequest(source="list", is_movie=True, ids=Ids(tmdb=str(SINTEL)), external_id="1")
    nameless = ContentRequest(source="list", is_movie=True, ids=Ids(), external_id="2")
    request_content_services.store(pipeline.ctx, [wish], by_person=False)
    assert told(pipeline) == [ItemRequestCreated]
    request_content_services.store(pipeline.ctx, [wish, nameless], by_person=False)
    assert told(pipeline) == [ItemRequestFailed]


def test_a_webhook_tells_that_it_asked(pipeline: Pipeline) -> None:
    wish = ContentRequest(source="overseerr", is_movie=True, ids=Ids(tmdb=str(SINTEL)), external_id="1")
    pipeline.actions.add([wish], by_person=False)
    assert told(pipeline) == [ItemRequestCreated, ExternalItemRequested]


def test_what_goes_wrong_is_told_as_what_it_is(with_plugins: Callable[..., Pipeline]) -> None:
    pipeline = with_plugins(Raising)
    pipeline.add_movie(SINTEL)
    unknown = pipeline.add_movie(999_999)
    pipeline.run(for_=timedelta(seconds=5))
    kinds = told(pipeline)
    assert ScrapeError in kinds
    assert NoStreamsFound not in kinds, "nobody has searched"
    assert IndexFailed in kinds
    assert pipeline.state(unknown) == "Requested"


@pytest.mark.parametrize(
    ("changed_while", "event"),
    [(ScrapeRequested, ScrapeIncorrectState), (DownloadRequested, DownloadIncorrectState)],
)
def test_what_comes_for_a_title_that_was_changed_meanwhile_is_told_and_dropped(
    make_pipeline: Callable[..., Pipeline], changed_while: type[Event], event: type[Told]
) -> None:
    pipeline = make_pipeline()
    film = pipeline.add_movie(SINTEL)
    call, times = pipeline.registry.call, []

    def changing(key: str, asked: Event) -> object:
        answer = call(key, asked)
        if isinstance(asked, changed_while) and not times:
            times.append(1)
            with pipeline.db.write(film) as tx:
                items.bump_revision(tx, [film])
        return answer

    pipeline.registry.call = changing  # type: ignore[method-assign]
    pipeline.run(for_=timedelta(seconds=10))
    assert event in told(pipeline)
    assert pipeline.state(film) == "Completed"


def test_a_search_that_waited_asks_for_what_is_wanted_by_then(with_plugins: Callable[..., Pipeline]) -> None:
    asked: list[Wanted] = []

    class Asking(MadeUp):
        """Notes what it is asked, and wants to be asked again the first time."""

        key, title = "asking", "Asking"

        def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
            """Put it off once."""
            asked.append(wanted)
            if len(asked) == 1:
                raise RetryLater(self.clock.now() + timedelta(seconds=20), "in a moment")
            return ()

    pipeline = with_plugins(Asking)
    film = pipeline.add_movie(SINTEL)
    pipeline.run()
    with pipeline.db.write(film) as tx:
        items.store_metadata(
            tx, film, Metadata(ids=Ids(tmdb=str(SINTEL)), title="Sintel", year=2011), pipeline.clock.now()
        )
    pipeline.run(for_=timedelta(seconds=30))
    assert [wanted.year for wanted in asked] == [2010, 2011]


def test_the_example_of_the_documentation_rings_for_a_finished_film(
    make_pipeline: Callable[..., Pipeline], tmp_path: Path, httpserver: HTTPServer
) -> None:
    folder = tmp_path / "config-of-the-example" / "plugins"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "doorbell.py").write_text((ROOT / "docs/examples/doorbell.py").read_text())
    (folder / "doorbell.py").chmod(0o600)
    (doorbell,) = [
        plugin for plugin in find(Allowed(folder.parent, files=True)).classes if plugin.key == "doorbell"
    ]
    httpserver.expect_oneshot_request(
        "/ring", method="POST", json={"title": "Sintel", "season": None, "episode": None}
    ).respond_with_data(status=204)
    pipeline = make_pipeline(
        plugin_classes=(doorbell,),
        notifications__doorbell__enabled=True,
        notifications__doorbell__url=httpserver.url_for("/"),
    )
    bus = Bus(pipeline.engine, pipeline.registry, pipeline.clock)
    pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=10))
    for event in pipeline.told:
        bus.publish(event)
    pipeline.run(for_=timedelta(seconds=10))
    httpserver.check_assertions()
    assert len(httpserver.log) == 1
    assert pipeline.registry.statuses()[-1].health.failures == 0
