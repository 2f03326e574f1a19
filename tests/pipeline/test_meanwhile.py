"""What a person does while work for the same title is under way."""

from datetime import timedelta

from program.demo.launch import Servers
from program.services.flows import names
from tests.support.meanwhile import run_to
from tests.support.pipeline import Pipeline

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def test_an_episode_that_is_paused_while_its_season_is_fetched_is_left_out_and_the_rest_comes(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    pipeline.actions.pause([pipeline.episode(show, 1, 2).id])
    pipeline.run(for_=5 * MINUTE)
    states = {number: pipeline.episode(show, 1, number).last_state.value for number in range(1, 7)}
    assert states == {1: "Completed", 2: "Paused", **dict.fromkeys(range(3, 7), "Completed")}


def test_a_season_that_is_asked_for_while_another_is_fetched_stops_nothing(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    run_to(pipeline, names.FIND_VALID_TORRENT)
    pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.season(show, 1).last_state.value == "Completed"
    assert pipeline.episode(show, 2, 3).last_state.value == "Completed"
