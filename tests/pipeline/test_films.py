"""A film's way from the wish to the tree, and back to the start."""

from collections.abc import Callable
from datetime import timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

SINTEL, SINTEL_IMDB = 45745, "tt1727587"
BUNNY = 10378
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def test_a_film_that_somebody_asks_for_is_in_the_library_at_once(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=10 * timedelta(seconds=1), step=timedelta(seconds=1))
    assert pipeline.state(film) == "Completed"
    path = "/movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]"
    names = pipeline.listing(path)
    assert len(names) == 1
    assert names[0].startswith("Sintel (2010)")
    assert "1080p" in names[0]


def test_tempting_bad_releases_are_refused_with_the_reason_in_the_timeline(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=10 * timedelta(seconds=1))
    search = next(row for row in pipeline.story(film) if row.step == "scrape")
    refused = {example["release"]: example["why"] for example in search.data["examples"]}
    assert "Sintel.2013.1080p.BluRay.x264.TrueHD-REDUX" in refused
    assert "Sintel.2010.HDCAM.x264-NOPE" in refused
    assert any("2013" in why for why in refused.values())


def test_what_a_provider_does_not_hold_is_left_and_the_next_release_taken(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = pipeline.add_movie(BUNNY)
    pipeline.run(for_=30 * timedelta(seconds=1))
    assert pipeline.state(film) == "Completed"
    names = [torrent["filename"] for torrent in servers.control("/account")["torrents"]]
    assert len(names) == 1, "what was refused was deleted from the account"


def test_a_film_without_releases_waits_longer_each_time_and_says_so(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    item = pipeline.item(film)
    assert item.last_state.value == "Indexed"
    assert item.facts.scraped_times == 1
    assert item.schedule.next_attempt_at is not None
    assert 25 * MINUTE < item.schedule.next_attempt_at - pipeline.clock.now() <= 30 * MINUTE
    pipeline.run(for_=31 * MINUTE, step=MINUTE)
    item = pipeline.item(film)
    assert item.facts.scraped_times == 2
    assert item.schedule.next_attempt_at is not None
    assert HOUR < item.schedule.next_attempt_at - pipeline.clock.now() <= 2 * HOUR


def test_failed_is_retried_by_a_person_from_indexed_and_completes_once_a_release_appears(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(scraping__max_failed_attempts=2)
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    film = pipeline.add_movie(SINTEL)
    pipeline.run_until(lambda: pipeline.state(film) == "Failed", within=2 * HOUR, step=MINUTE)
    pipeline.run(for_=30 * HOUR, step=HOUR)
    assert pipeline.item(film).facts.scraped_times == 2, "a failed title is left alone"

    servers.control("/catalog", {"op": "publish", "title": SINTEL_IMDB})
    pipeline.actions.retry([film])
    item = pipeline.item(film)
    assert (item.last_state.value, item.facts.scraped_times) == ("Indexed", 0)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"


def test_an_outage_of_the_metadata_service_costs_no_attempt_and_heals_by_itself(
    pipeline: Pipeline, servers: Servers
) -> None:
    fault = servers.control("/faults", {"provider": "tmdb", "kind": "status", "status": 503})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=2 * MINUTE, step=timedelta(seconds=10))
    item = pipeline.item(film)
    assert item.last_state.value == "Requested"
    assert item.facts.index_failures == 0
    assert any("TMDB" in row.sentence for row in pipeline.story(film))
    servers.control(f"/faults/{fault['id']}", method="DELETE")
    pipeline.run_until(lambda: pipeline.state(film) == "Completed", within=HOUR, step=MINUTE)


def test_an_unknown_id_is_looked_up_at_growing_intervals_and_then_given_up(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(999_999_999)
    pipeline.run(for_=MINUTE)
    item = pipeline.item(film)
    assert item.last_state.value == "Requested"
    assert item.facts.index_failures == 1
    pipeline.run_until(lambda: pipeline.state(film) == "Failed", within=timedelta(days=12), step=HOUR)
    assert pipeline.item(film).facts.failed_reason


def test_a_removed_film_leaves_nothing_in_the_tree(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    pipeline.actions.remove([film])
    assert pipeline.listing("/movies") == []
    assert pipeline.rows() == ()


def test_the_story_tells_the_folder_that_a_film_is_really_in(make_pipeline: Callable[..., Pipeline]) -> None:
    kids = {"kids": {"path": "/kids", "exclusive": True, "rules": {"types": ["movie"]}}}
    pipeline = make_pipeline(vfs__profiles=kids)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    (told,) = [row.sentence for row in pipeline.story(film) if row.outcome == "registered"]
    assert told.startswith("In the library as /kids/movies/Sintel (2010)")
