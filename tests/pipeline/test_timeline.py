"""The story that each title tells: every step, why, and what comes next."""

from datetime import timedelta

from program.cli.report import story_of
from program.demo.launch import Servers
from program.media.item import Ids
from program.media.metadata import ContentRequest
from tests.support.pipeline import Pipeline

SINTEL, SINTEL_IMDB = 45745, "tt1727587"
PIONEER, PIONEER_IMDB = 170551, "tt1748166"
PACK = "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def steps(pipeline: Pipeline, item_id: int) -> list[tuple[str, str]]:
    return [(row.step, row.outcome) for row in pipeline.story(item_id)]


def test_a_film_tells_every_step_from_the_wish_to_the_end(pipeline: Pipeline) -> None:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert steps(pipeline, film) == [
        ("request", "created"),
        ("index", "indexed"),
        ("scrape", "found"),
        ("download", "taken"),
        ("complete", "registered"),
        ("complete", "completed"),
        ("post-process", "done"),
    ]


def test_who_asked_is_told_once_however_often_the_list_is_read(pipeline: Pipeline) -> None:
    wish = ContentRequest(
        source="overseerr", is_movie=True, ids=Ids(tmdb=str(SINTEL)), external_id="7", requested_by="Ada"
    )
    for _ in range(3):
        found = pipeline.actions.add([wish], by_person=False)
    film = found[0].item_id
    assert film is not None
    rows = [row for row in pipeline.story(film) if row.step == "request"]
    assert len(rows) == 1
    assert "Ada" in rows[0].sentence
    assert "Overseerr" in rows[0].sentence


def test_a_wish_for_more_seasons_names_them(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    pipeline.add_show(PIONEER, seasons=(1,))
    first, second = [row for row in pipeline.story(show) if row.step == "request"]
    assert "season 2" in first.sentence
    assert (second.outcome, "season 1" in second.sentence) == ("updated", True)


def test_a_search_in_vain_says_when_the_next_one_is(pipeline: Pipeline, servers: Servers) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    row = pipeline.story(film)[-1]
    assert (row.step, row.outcome) == ("scrape", "nothing_fits")
    assert row.next_at == pipeline.item(film).schedule.next_attempt_at


def test_an_outage_says_when_the_next_attempt_is(pipeline: Pipeline, servers: Servers) -> None:
    servers.control("/faults", {"provider": "tmdb", "kind": "status", "status": 503})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=2 * MINUTE)
    row = pipeline.story(film)[-1]
    assert row.step == "index"
    assert row.next_at == pipeline.item(film).schedule.reindex_at
    assert row.next_at is not None


def test_a_season_tells_of_its_pack_and_what_that_lacked(pipeline: Pipeline, servers: Servers) -> None:
    servers.control("/catalog", {"op": "drop_file", "release": PACK, "season": 1, "episode": 2})
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    rows = [row for row in pipeline.story(pipeline.season(show, 1).id) if row.step == "download"]
    assert [row.outcome for row in rows] == ["taken", "rest_singly"]
    assert "5 of 6" in rows[0].sentence


def test_a_removed_episode_says_so(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    episode = pipeline.episode(show, 2, 1).id
    pipeline.actions.remove([episode])
    assert steps(pipeline, episode)[-1] == ("person", "removed")
    assert not pipeline.item(episode).is_requested


def test_an_endless_name_does_not_make_an_endless_story(pipeline: Pipeline, servers: Servers) -> None:
    name = f"Sintel.2010.1080p.WEB-DL.AAC2.0.H.264-{'LONG' * 300}"
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    row = {"name": name, "seeders": 9, "right": True, "files": [["Sintel.2010.mkv", "feature"]]}
    servers.control("/catalog", {"op": "add_release", "imdb": SINTEL_IMDB, "row": row})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert max(len(row.sentence) for row in pipeline.story(film)) <= 600


def test_the_printed_story_of_a_show_tells_of_its_episodes_and_of_the_next_look(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    with pipeline.db.read() as tx:
        lines = story_of(tx, show).text().splitlines()
    assert lines[0].startswith("Pioneer One (2010) is Ongoing; next look ")
    assert any("S02E01 download: Real-Debrid holds" in line for line in lines)
    assert any(" index: Found “Pioneer One”" in line and "Next look " in line for line in lines)


def test_the_printed_story_says_what_a_film_waits_for(pipeline: Pipeline, servers: Servers) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    pipeline.actions.pause([film])
    with pipeline.db.read() as tx:
        head = story_of(tx, film).text().splitlines()[0]
    assert head == "Sintel (2010) is Paused (paused: waits for you)"
