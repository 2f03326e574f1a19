"""Trying the whole library again: what is unfinished starts afresh, what is finished is left alone."""

from collections.abc import Callable
from datetime import timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

SINTEL, BUNNY, BUNNY_IMDB = 45745, 10378, "tt1254207"
PIONEER = 170551
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def test_finished_titles_are_left_alone_and_failed_ones_start_afresh(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(scraping__max_failed_attempts=1)
    servers.control("/catalog", {"op": "withdraw", "title": BUNNY_IMDB})
    done, failed, show = pipeline.add_movie(SINTEL), pipeline.add_movie(BUNNY), pipeline.add_show(PIONEER)
    pipeline.run(for_=MINUTE)
    assert (pipeline.state(done), pipeline.state(failed)) == ("Completed", "Failed")
    searches = len(servers.control("/requests?provider=torrentio")["requests"])

    begun = pipeline.actions.retry_library()
    pipeline.engine.run_until_idle()
    assert pipeline.state(done) == "Completed"
    assert pipeline.state(failed) == "Indexed"
    assert failed in begun
    assert done not in begun, "nothing was done to it"
    pipeline.run(for_=MINUTE)
    assert pipeline.state(show) == "Ongoing"
    assert pipeline.season(show, 1).last_state.value == "Completed"
    new = servers.control("/requests?provider=torrentio")["requests"][searches:]
    assert {one["path"].rpartition("/")[2] for one in new} == {f"{BUNNY_IMDB}.json"}


def test_a_film_that_is_not_out_yet_keeps_its_date(pipeline: Pipeline, servers: Servers) -> None:
    later = (pipeline.clock.now() + timedelta(days=20)).date().isoformat()
    servers.control("/catalog", {"op": "film_dates", "tmdb": SINTEL, "premiere": None, "digital": later})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Unreleased"
    before = pipeline.item(film).schedule.next_attempt_at
    assert pipeline.actions.retry_library() == ()
    assert pipeline.item(film).schedule.next_attempt_at == before
