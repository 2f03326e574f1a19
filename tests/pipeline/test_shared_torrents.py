"""Torrents and files that several titles share: what happens to one leaves the others what they have."""

from datetime import timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
DOUBLE = "Pioneer.One.S02E01E02.1080p.WEB-DL.AAC2.0.H.264-TWIN"
SHOW = "/shows/Pioneer One (2010) {tvdb-170551} [tvdbid=170551]"


def offer_double(servers: Servers) -> None:
    """Let there be nothing but one file of two episodes, and the third by itself."""
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    servers.control(
        "/catalog", {"op": "publish", "release": "Pioneer.One.S02E03.The.Long.Signal.1080p.WEB.H264-OPEN"}
    )
    row = {"name": DOUBLE, "seeders": 9, "right": True, "files": [[f"{DOUBLE}.mkv", "episode", 2, 1]]}
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": row})


def test_a_file_of_two_episodes_stays_for_the_other_when_one_is_fetched_afresh(
    pipeline: Pipeline, servers: Servers
) -> None:
    offer_double(servers)
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    first, second = pipeline.episode(show, 2, 1), pipeline.episode(show, 2, 2)
    assert {first.last_state.value, second.last_state.value} == {"Completed"}
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 2, "one file of two episodes, one of the third"

    servers.control("/catalog", {"op": "withdraw", "release": DOUBLE})
    servers.control(
        "/catalog", {"op": "publish", "release": "Pioneer.One.S02E01.Quarantine.1080p.WEB.H264-OPEN"}
    )
    pipeline.actions.retry([first.id])
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.state(first.id) == "Completed"
    assert pipeline.state(second.id) == "Completed"
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 3, "the second episode still has its file"


def test_a_file_of_two_episodes_stays_for_the_other_when_one_is_reset(
    pipeline: Pipeline, servers: Servers
) -> None:
    offer_double(servers)
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=5 * MINUTE)
    second = pipeline.episode(show, 2, 2)
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    pipeline.actions.reset([pipeline.episode(show, 2, 1).id])
    pipeline.run(for_=MINUTE)
    assert pipeline.state(second.id) == "Completed"
    assert len(pipeline.listing(f"{SHOW}/Season 02")) == 2
