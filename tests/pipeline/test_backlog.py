"""More to do than can be done at once."""

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
