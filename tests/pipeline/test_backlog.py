"""More to do than can be done at once."""

import pytest

from program import event_loop
from program.db.writes import look_again
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.services.flows import names
from tests.support.pipeline import Pipeline

SINTEL = 45745


def test_a_backlog_stays_in_the_database_and_a_new_wish_does_not_wait_behind_it(pipeline: Pipeline) -> None:
    numbers = range(900_000_000, 900_000_700)
    pipeline.actions.add(
        [ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(number))) for number in numbers]
    )
    while pipeline.loop.turn():
        pass
    assert len(live(pipeline)) == 500

    film = pipeline.add_movie(SINTEL)
    pipeline.clock.advance(1)
    while len(live(pipeline)) > 440:
        assert pipeline.engine.run_one()
    pipeline.loop.turn()
    assert names.process_item_request_id(film) in live(pipeline)
    assert len(live(pipeline)) <= 500


def live(pipeline: Pipeline) -> frozenset[str]:
    return pipeline.engine.held(names.PROCESS_ITEM_REQUEST)


def test_a_turn_takes_long_titles_in_portions_and_calls_for_the_next_turn_itself(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop, "ROWS_PER_PORTION", 3)
    for number in range(5):
        pipeline.add_movie(900_000_000 + number)
    pipeline.loop._wake.clear()
    assert pipeline.loop.turn() == 3
    assert pipeline.loop._wake.is_set()
    pipeline.loop._wake.clear()
    assert pipeline.loop.turn() == 2
    assert not pipeline.loop._wake.is_set()


def test_a_title_with_nothing_to_do_does_not_keep_a_turn_from_the_others(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run()
    assert pipeline.state(film) == "Completed"
    monkeypatch.setattr(event_loop, "ROWS_PER_PORTION", 1)
    with pipeline.db.write() as tx:
        look_again(tx, [film])
    pipeline.add_movie(900_000_000)
    assert pipeline.loop.turn() == 1
