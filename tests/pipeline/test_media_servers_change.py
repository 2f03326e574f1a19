"""Media servers that are switched on and off, and files that are lost, while titles wait to be confirmed."""

from collections.abc import Callable
from datetime import timedelta

from program.db import entries
from program.events import LibraryScanRequested
from program.services.flows import names
from tests.support.meanwhile import change_settings, run_to
from tests.support.pipeline import Pipeline

SINTEL = 45745
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
SCAN = names.plugin_queue(LibraryScanRequested.type, "plex")


def test_the_last_server_that_is_switched_off_while_it_is_asked_leaves_the_film_completed(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    run_to(pipeline, SCAN)
    change_settings(pipeline, updaters__plex__enabled=False)
    pipeline.run(for_=10 * SECOND, step=SECOND)
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).facts.confirmed_by == "none"
    assert not [row.sentence for row in pipeline.story(film) if row.outcome == "error"]


def test_a_film_whose_file_is_lost_before_it_is_confirmed_is_searched_again(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    run_to(pipeline, SCAN)
    pipeline.run(for_=SECOND, step=SECOND)
    assert pipeline.state(film) == "Symlinked"
    with pipeline.db.write() as tx:
        entries.remove(tx, [entry.id for entry in entries.for_items(tx, [film])])
    pipeline.run(for_=MINUTE, step=SECOND)
    assert any("lost" in row.sentence for row in pipeline.story(film))
    assert len(pipeline.listing("/movies")) == 1


def test_the_last_question_to_one_server_is_not_the_last_one_of_all(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=5 * HOUR, step=5 * MINUTE)
    change_settings(pipeline, updaters__jellyfin__enabled=True)
    pipeline.run(for_=2 * HOUR, step=5 * MINUTE)
    known = {one.server: one.asked_times for one in pipeline.item(film).facts.confirmations}
    assert known["plex"] == 11
    assert pipeline.state(film) == "Symlinked", "Jellyfin has not been asked for the last time"
    pipeline.run(for_=7 * HOUR, step=5 * MINUTE)
    assert pipeline.item(film).facts.confirmed_by == "unconfirmed"
