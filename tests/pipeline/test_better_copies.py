"""A better copy in the place of the first one, and further copies beside it."""

import hashlib
import http.client
import os
import urllib.parse
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from program.db import entries
from program.demo.launch import Servers
from program.housekeeping import tidy
from program.media.entry import Entry
from tests.support.pipeline import Pipeline
from tests.support.wait import until

SINTEL, BUNNY = 45745, 10378
PIONEER, PIONEER_IMDB = 170551, "tt1748166"
FOLDER = "/movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]"
SMALL, LARGE = "Sintel 2010 720p WEB-DL x264 AAC-CC", "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"
# All copies of a film are of one size there, but for this one.
OTHER_SIZE = {
    "name": "Sintel.2010.1080p.WEB-DL.x264-SIZED",
    "seeders": 9,
    "gb": 1.1,
    "files": [["Sintel.2010.1080p.WEB-DL.x264-SIZED.mkv", "extra"]],
}
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
UNTIL_1080P: dict[str, Any] = {"ranking__upgrade_until": "1080p", "ranking__upgrade_every_hours": 6}

Make = Callable[..., Pipeline]


def with_the_small_one(pipeline: Pipeline, servers: Servers) -> int:
    servers.control("/catalog", {"op": "withdraw", "release": LARGE})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    return film


def offer(servers: Servers, name: str) -> None:
    """Offer an episode of the series' first season, or two in one file."""
    row = {"name": name, "seeders": 50, "gb": 1.0, "files": [[f"{name}.mkv", "episode", 1, 1]]}
    servers.control("/catalog", {"op": "add_release", "imdb": PIONEER_IMDB, "row": row})


def files_of(pipeline: Pipeline, film: int) -> dict[str, str]:
    return {file.path.removeprefix(FOLDER): file.original_name for file in shown(pipeline, film)}


def sentences(pipeline: Pipeline, film: int) -> list[str]:
    return [row.sentence for row in pipeline.story(film) if row.step == "upgrade"]


def test_a_better_copy_takes_the_place_of_the_first_at_the_same_path(
    make_pipeline: Make, servers: Servers
) -> None:
    pipeline = make_pipeline(**UNTIL_1080P)
    film = with_the_small_one(pipeline, servers)
    before = files_of(pipeline, film)
    item = pipeline.item(film)
    assert item.schedule.next_attempt_at is not None
    assert (item.schedule.next_reason, item.schedule.next_class.value) == (
        "a better copy is looked for",
        "background",
    )

    pipeline.run(for_=7 * HOUR, step=HOUR)
    assert files_of(pipeline, film) == before, "nothing better is offered yet"
    servers.control("/catalog", {"op": "publish", "release": LARGE})
    pipeline.run(for_=7 * HOUR, step=HOUR)
    after = files_of(pipeline, film)
    assert list(after) == list(before)
    assert set(after.values()) == {f"{LARGE}.mkv"}
    assert pipeline.state(film) == "Completed"
    assert "in the place of" in sentences(pipeline, film)[-1]
    names = {torrent["filename"] for torrent in servers.control("/account")["torrents"]}
    assert names == {LARGE}, "what is not used any more is off the account"


@pytest.mark.slow
def test_a_copy_of_the_highest_resolution_wanted_is_left_alone_after_a_week(
    make_pipeline: Make, servers: Servers
) -> None:
    pipeline = make_pipeline(**UNTIL_1080P)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    pipeline.run(for_=8 * DAY, step=6 * HOUR)
    assert pipeline.item(film).schedule.next_attempt_at is None
    assert pipeline.state(film) == "Completed"


def test_the_first_copy_stays_when_the_better_one_cannot_be_had(
    make_pipeline: Make, servers: Servers
) -> None:
    pipeline = make_pipeline(**UNTIL_1080P)
    film = with_the_small_one(pipeline, servers)
    before = files_of(pipeline, film)
    servers.control("/catalog", {"op": "availability", "release": LARGE, "value": "infringing"})
    servers.control("/catalog", {"op": "publish", "release": LARGE})
    pipeline.run(for_=14 * HOUR, step=HOUR)
    assert files_of(pipeline, film) == before
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).schedule.next_attempt_at is not None
    assert "cannot be had" in sentences(pipeline, film)[0]


def test_what_was_finished_before_better_copies_were_wanted_is_looked_at_again(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = with_the_small_one(pipeline, servers)
    servers.control("/catalog", {"op": "publish", "release": LARGE})
    ranking = pipeline.settings.ranking.model_copy(update={"upgrade_until": "1080p"})
    pipeline.settings = pipeline.settings.model_copy(update={"ranking": ranking})
    tidy(pipeline.ctx)
    pipeline.run(for_=MINUTE)
    assert set(files_of(pipeline, film).values()) == {f"{LARGE}.mkv"}


def test_without_the_setting_nothing_is_looked_for(pipeline: Pipeline, servers: Servers) -> None:
    film = with_the_small_one(pipeline, servers)
    assert pipeline.item(film).schedule.next_attempt_at is None


def test_a_first_copy_waits_as_long_as_better_ones_may_still_appear(
    make_pipeline: Make, servers: Servers
) -> None:
    pipeline = make_pipeline(ranking__delay_minutes=120, ranking__upgrade_until="1080p")
    servers.control("/catalog", {"op": "withdraw", "release": LARGE})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=HOUR, step=10 * MINUTE)
    item = pipeline.item(film)
    assert (item.last_state.value, item.schedule.next_reason) == (
        "Indexed",
        "waits for better copies to appear",
    )
    pipeline.run(for_=70 * MINUTE, step=10 * MINUTE)
    assert pipeline.state(film) == "Completed"
    assert files_of(pipeline, film) != {}


def test_a_season_that_is_searched_as_a_whole_waits_as_well(make_pipeline: Make) -> None:
    pipeline = make_pipeline(ranking__delay_minutes=120, ranking__upgrade_until="2160p")
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=HOUR, step=10 * MINUTE)
    season, episode = pipeline.season(show, 1), pipeline.episode(show, 1, 2)
    assert season.schedule.next_reason == "waits for better copies to appear"
    assert (episode.last_state.value, episode.schedule.next_reason) == (
        "Indexed",
        "with the search of Season 1",
    )
    pipeline.run(for_=70 * MINUTE, step=10 * MINUTE)
    assert pipeline.season(show, 1).last_state.value == "Completed"


@pytest.mark.slow
def test_a_first_copy_that_is_as_good_as_wanted_does_not_wait(make_pipeline: Make) -> None:
    pipeline = make_pipeline(ranking__delay_minutes=120, ranking__upgrade_until="1080p")
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"


def test_a_file_of_two_episodes_is_replaced_by_one_of_both(make_pipeline: Make, servers: Servers) -> None:
    pipeline = make_pipeline(**UNTIL_1080P)
    servers.control("/catalog", {"op": "withdraw", "title": PIONEER_IMDB})
    offer(servers, "Pioneer.One.S01E01E02.720p.WEB.x264-DUO")
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    pair = [pipeline.episode(show, 1, number).id for number in (1, 2)]
    (before,) = {file.id: file for id_ in pair for file in shown(pipeline, id_)}.values()
    assert len(before.item_ids) == 2

    offer(servers, "Pioneer.One.S01E01.1080p.BluRay.x264-SOLO")
    offer(servers, "Pioneer.One.S01E01E02.1080p.WEB.x264-DUO")
    pipeline.run(for_=8 * HOUR, step=HOUR)
    (after,) = {file.id: file for id_ in pair for file in shown(pipeline, id_)}.values()
    assert (after.path, sorted(after.item_ids)) == (before.path, sorted(before.item_ids))
    assert after.original_name == "Pioneer.One.S01E01E02.1080p.WEB.x264-DUO.mkv"


def test_a_further_copy_stands_beside_the_usual_one(make_pipeline: Make) -> None:
    small = {"beside": True, "resolutions": {"r2160p": False, "r1080p": False}}
    pipeline = make_pipeline(ranking__profiles={"small": small})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    assert len(files_of(pipeline, film)) == 2
    assert set(files_of(pipeline, film).values()) == {f"{LARGE}.mkv", f"{SMALL}.mkv"}
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).schedule.next_attempt_at is None


@pytest.mark.slow
def test_a_further_copy_that_is_missing_holds_nothing_up(make_pipeline: Make) -> None:
    huge = {"beside": True, "resolutions": {"r1080p": False, "r720p": False, "unknown": False}}
    pipeline = make_pipeline(ranking__profiles={"huge": huge})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert len(files_of(pipeline, film)) == 1
    assert pipeline.item(film).schedule.next_attempt_at is not None


def test_who_asks_decides_how_a_title_is_ranked(make_pipeline: Make) -> None:
    small = {"lists": ["api"], "resolutions": {"r2160p": False, "r1080p": False}}
    other = {"people": ["nobody"], "resolutions": {"r720p": False}}
    pipeline = make_pipeline(ranking__profiles={"other": other, "small": small})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=MINUTE)
    assert set(files_of(pipeline, film).values()) == {f"{SMALL}.mkv"}


@pytest.mark.fuse
def test_whoever_reads_keeps_the_old_file_and_the_first_open_after_the_last_close_gets_the_new_one_whole(
    make_pipeline: Make, servers: Servers
) -> None:
    pipeline = make_pipeline(mounted=True, **UNTIL_1080P)
    film = with_the_small_one(pipeline, servers)
    (old,) = shown(pipeline, film)
    path = Path(pipeline.ctx.library.real_path(old.path))
    with path.open("rb") as reader:
        begun = reader.read(70_000)
        servers.control("/catalog", {"op": "add_release", "imdb": "tt1727587", "row": OTHER_SIZE})
        pipeline.run(for_=7 * HOUR, step=HOUR)
        (new,) = shown(pipeline, film)
        assert (new.path, new.infohash != old.infohash, new.size != old.size) == (old.path, True, True)

        assert path.stat().st_size == os.fstat(reader.fileno()).st_size == old.size
        with path.open("rb") as meanwhile:
            whole = meanwhile.read()
        assert len(whole) == old.size
        assert begun + reader.read() == whole
    # The kernel tells of the last close a moment after it.
    until(lambda: path.stat().st_size == new.size)
    link = pipeline.link_of(new.id)
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(bytes_at(link.url)).digest()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def bytes_at(url: str) -> bytes:
    address = urllib.parse.urlsplit(url)
    with closing(http.client.HTTPConnection(address.netloc, timeout=30)) as connection:
        connection.request("GET", f"{address.path}?{address.query}")
        return connection.getresponse().read()


def shown(pipeline: Pipeline, film: int) -> list[Entry]:
    """Return the files of a film that stand in the tree."""
    with pipeline.db.read() as tx:
        return [file for file in entries.for_items(tx, [film]) if file.registered_at is not None]
