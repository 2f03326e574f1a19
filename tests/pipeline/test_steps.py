"""A title's way through the queues: which jobs take it from one state to the next, and what they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import ClassVar

from program.db import streams
from program.events import ItemCompleted, LibraryScanRequested, SubtitleRequested
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.queues import JobState
from program.services.flows import names
from program.services.plugin import Hook, Scraper, Updater
from program.settings.provider import ProviderSettings
from tests.support.pipeline import Pipeline

SINTEL = 45745
SECONDS = timedelta(seconds=10)


class FinderSettings(ProviderSettings):
    """A made-up index."""


class Finder(Scraper[FinderSettings]):
    """Finds one release of its own."""

    Settings = FinderSettings
    infohash = ""
    release = "Sintel.2010.1080p.BluRay.x264-OPEN"

    def check(self) -> None:
        """Work."""

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Find it."""
        return (FoundRelease(self.infohash, self.release, self.key),)


class First(Finder):
    """One index."""

    key, title, infohash = "first", "First", "a" * 40
    release = "Sintel.2010.720p.BluRay.x264-OPEN"


class Second(Finder):
    """Another."""

    key, title, infohash = "second", "Second", "b" * 40


class Subtitler(Finder):
    """Notes for which items it is asked for subtitles."""

    key, title = "subtitler", "Subtitler"
    asked: ClassVar[list[int]] = []

    def hooks(self) -> Mapping[str, Hook]:
        """Answer with one subtitle."""
        return {SubtitleRequested.type: self.find}

    def find(self, event: SubtitleRequested) -> tuple[object, ...]:
        """Note the question."""
        self.asked.append(event.item_id)
        return ("1\n00:00:01,000 --> 00:00:02,000\nHello\n",)


class Shelf(Updater[FinderSettings]):
    """A made-up media server."""

    key, title = "shelf", "Shelf"
    Settings = FinderSettings
    scanned: ClassVar[list[str]] = []
    is_there = False

    def check(self) -> None:
        """Work."""

    def refresh(self, folder: str) -> None:
        """Note the folder."""
        self.scanned.append(folder)

    def has(self, wanted: LibraryScanRequested) -> bool:
        """Answer as the test says."""
        return self.is_there


def test_one_job_takes_a_film_from_its_search_to_its_end(pipeline: Pipeline) -> None:
    pipeline.add_movie(SINTEL)
    pipeline.run(for_=SECONDS, step=timedelta(seconds=1))
    ended = {queue: pipeline.engine.jobs(queue, (JobState.COMPLETED,)) for queue in names.ITEM_QUEUES}
    assert {queue: len(views) for queue, views in ended.items()} == dict.fromkeys(names.ITEM_QUEUES, 1)


def test_what_two_scrapers_find_is_gathered(make_pipeline: Callable[..., Pipeline]) -> None:
    pipeline = make_pipeline(
        plugin_classes=(First, Second),
        scraping__torrentio__enabled=False,
        downloaders__realdebrid__enabled=False,
        scraping__first__enabled=True,
        scraping__second__enabled=True,
    )
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=SECONDS)
    with pipeline.db.read() as tx:
        found = streams.candidates(tx, film, pipeline.clock.now(), ())
    assert {candidate.release.infohash for candidate in found} == {First.infohash, Second.infohash}


def test_a_finished_film_has_subtitles_asked_for_once(make_pipeline: Callable[..., Pipeline]) -> None:
    Subtitler.asked.clear()
    pipeline = make_pipeline(plugin_classes=(Subtitler,), scraping__subtitler__enabled=True)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=30))
    assert pipeline.state(film) == "Completed"
    assert Subtitler.asked == [film]
    assert [type(event) for event in pipeline.told].count(ItemCompleted) == 1
    (job,) = pipeline.engine.jobs(names.REQUEST_SUBTITLES)
    assert job.state is JobState.COMPLETED


def test_what_was_under_way_when_the_program_was_killed_is_done_at_the_next_start(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    before = make_pipeline()
    film = before.add_movie(SINTEL)
    before.loop.turn()
    assert before.engine.held(names.PROCESS_ITEM_REQUEST), "a job has been begun for it"
    after = make_pipeline()
    after.run(for_=SECONDS)
    assert after.state(film) == "Completed"


def test_the_best_release_is_the_active_stream(make_pipeline: Callable[..., Pipeline]) -> None:
    pipeline = make_pipeline(
        plugin_classes=(First, Second),
        scraping__torrentio__enabled=False,
        downloaders__realdebrid__enabled=False,
        scraping__first__enabled=True,
        scraping__second__enabled=True,
    )
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=SECONDS)
    assert pipeline.state(film) == "Scraped"
    assert pipeline.item(film).facts.active_stream == Second.infohash
    with pipeline.db.read() as tx:
        best = streams.candidates(tx, film, pipeline.clock.now(), ())[0].release
    assert (best.infohash, best.resolution) == (Second.infohash, "1080p")
    assert best.score["quality.bluray"] > 0


def test_a_film_is_completed_when_a_media_server_that_scanned_its_folder_has_it(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    Shelf.scanned, Shelf.is_there = [], False
    pipeline = make_pipeline(plugin_classes=(Shelf,), updaters__shelf__enabled=True)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=SECONDS)
    assert pipeline.state(film) == "Symlinked"
    (folder,) = set(Shelf.scanned)
    assert folder.endswith("/mount/movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]")
    Shelf.is_there = True
    pipeline.run(for_=timedelta(minutes=1))
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).facts.confirmed_by == "shelf"


def test_removing_a_film_removes_its_pending_job_and_that_jobs_id(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.loop.turn()
    assert pipeline.engine.held(names.PROCESS_ITEM_REQUEST) == {f"process-item-request-{film}"}
    pipeline.actions.remove([film])
    assert pipeline.engine.held(names.PROCESS_ITEM_REQUEST) == frozenset()
    assert pipeline.engine.jobs(names.PROCESS_ITEM_REQUEST) == []
