"""A release that a person rules out, for a film, an episode or a whole season."""

from datetime import timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

SINTEL = 45745
PIONEER = 170551
MINUTE = timedelta(minutes=1)


def release_of(pipeline: Pipeline, item_id: int) -> str:
    """Return the infohash of the torrent that an item's file was taken from last."""
    taken = [row.data["infohash"] for row in pipeline.story(item_id) if row.outcome == "taken"]
    return str(taken[-1])


def test_a_film_gets_another_release(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    bad = release_of(pipeline, film)
    pipeline.actions.blacklist(film, bad, "the sound is off")
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert release_of(pipeline, film) != bad


def test_an_episode_of_a_pack_gets_another_release_and_the_others_keep_theirs(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    episodes = [pipeline.episode(show, 1, number).id for number in range(1, 7)]
    pack = release_of(pipeline, episodes[1])
    pipeline.actions.blacklist(episodes[1], pack, "the picture is green")
    pipeline.run(for_=5 * MINUTE)
    assert {pipeline.state(episode) for episode in episodes} == {"Completed"}
    assert release_of(pipeline, episodes[1]) != pack
    assert release_of(pipeline, episodes[2]) == pack


def test_a_season_whose_pack_is_ruled_out_is_fetched_again_from_others(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    season = pipeline.season(show, 1).id
    episodes = [pipeline.episode(show, 1, number).id for number in range(1, 7)]
    pack = release_of(pipeline, season)
    pipeline.actions.blacklist(season, pack, "another language")
    pipeline.run(for_=10 * MINUTE)
    assert {pipeline.state(episode) for episode in episodes} == {"Completed"}
    assert pack not in {release_of(pipeline, episode) for episode in episodes}
