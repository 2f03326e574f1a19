"""What stands beside a video in the library: its subtitles, and the further parts of a film; on a real mount."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from program.db import companions, entries
from program.db.check import inconsistencies
from program.demo.launch import Servers
from program.housekeeping import look_after_files, tidy
from program.services.flows import mend_entry
from tests.pipeline.test_better_copies import bytes_at, shown
from tests.support.pipeline import Pipeline
from tests.support.wait import until

pytestmark = pytest.mark.fuse

SINTEL, SINTEL_IMDB = 45745, "tt1727587"
PIONEER, PIONEER_IMDB = 170551, "tt1748166"
HOUR = timedelta(hours=1)
FOLDER = "Sintel (2010) {tmdb-45745} [tmdbid=45745]"
SMALL = {
    "name": "Sintel.2010.720p.WEB-DL.x264-SUBS",
    "seeders": 900,
    "files": [
        ["Sintel.2010.720p.WEB-DL.x264-SUBS.mkv", "feature"],
        ["Sintel.2010.720p.WEB-DL.x264-SUBS.eng.forced.srt", "text"],
        ["Subs/2_English.srt", "text"],
        ["Subs/Русский.ass", "text"],
        ["Sample/sintel-sample.mkv", "sample"],
        ["readme.txt", "text"],
    ],
}
LARGE = {
    "name": "Sintel.2010.1080p.WEB-DL.x264-SUBS",
    "seeders": 900,
    "files": [
        ["Sintel.2010.1080p.WEB-DL.x264-SUBS.mkv", "feature"],
        ["Subs/German.srt", "text"],
    ],
}
SPLIT = {
    "name": "Sintel.2010.DVDRip.XviD-HALVES",
    "seeders": 900,
    "files": [
        ["Sintel.2010.DVDRip.XviD-HALVES.CD1.avi", "feature"],
        ["Sintel.2010.DVDRip.XviD-HALVES.CD2.avi", "extra"],
        ["Sintel.2010.DVDRip.XviD-HALVES.CD2.en.srt", "text"],
    ],
}
HALF = {**SPLIT, "name": "Sintel.2010.DVDRip.XviD-HALF", "files": SPLIT["files"][:1]}
PACK = {
    "name": "Pioneer.One.S01.1080p.WEB.x264-SUBS",
    "seeders": 9000,
    "files": [
        *([f"Pioneer.One.S01E0{n}.1080p.WEB.x264-SUBS.mkv", "episode", 1, n] for n in range(1, 7)),
        ["Subs/Pioneer.One.S01E01.1080p.WEB.x264-SUBS/3_French.srt", "text"],
        ["Subs/1x02.Deutsch.srt", "text"],
    ],
}
WITH_SUBTITLES: dict[str, Any] = {
    "downloaders__realdebrid__enabled": False,
    "downloaders__alldebrid__enabled": True,
    "ranking__upgrade_every_hours": 6,
    "mounted": True,
}

Make = Callable[..., Pipeline]


def offer(servers: Servers, row: dict[str, Any], imdb: str = SINTEL_IMDB) -> None:
    """Offer nothing of a title but this release."""
    servers.control("/catalog", {"op": "withdraw", "title": imdb})
    servers.control("/catalog", {"op": "add_release", "imdb": imdb, "row": row})


def film_of(pipeline: Pipeline) -> tuple[int, Path]:
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=timedelta(seconds=15))
    return film, pipeline.vfs.mount_path / "movies" / FOLDER


def names(folder: Path) -> list[str]:
    return sorted(entry.name.replace(FOLDER, "FILM") for entry in folder.iterdir())


def is_as_served(pipeline: Pipeline, film: int, folder: Path) -> bool:
    """Return whether every file beside the film has the bytes that its provider gives."""
    (video,) = shown(pipeline, film)
    with pipeline.db.read() as tx:
        beside = companions.of(tx, [video.id])[video.id]
    paths = [Path(pipeline.library.real_path(pipeline.vfs.path_of(one.entry_id) or "")) for one in beside]
    assert {path.parent for path in paths} == {folder}
    return all(
        path.read_bytes() == bytes_at(pipeline.link_of(one.entry_id).url)
        for path, one in zip(paths, beside, strict=True)
    )


def test_the_subtitles_of_a_film_stand_beside_it_and_go_with_it(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SMALL)
    pipeline = make_pipeline(**WITH_SUBTITLES, ranking__upgrade_until="1080p")
    film, folder = film_of(pipeline)
    assert names(folder) == [
        "FILM - 720p.en.forced.srt",
        "FILM - 720p.en.srt",
        "FILM - 720p.mkv",
        "FILM - 720p.ru.ass",
    ]
    assert is_as_served(pipeline, film, folder)

    # A better copy has its own; whoever reads one of the old ones keeps it.
    offer(servers, LARGE)
    old = folder / f"{FOLDER} - 720p.ru.ass"
    whole = old.read_bytes()
    with old.open("rb", buffering=0) as reader:
        begun = reader.read(10)
        pipeline.run(for_=7 * HOUR, step=HOUR)
        assert begun + reader.read() == whole
    until(lambda: names(folder) == ["FILM - 720p.de.srt", "FILM - 720p.mkv"])
    tidy(pipeline.ctx)
    with pipeline.db.read() as tx:
        assert [one.tail for beside in companions.of(tx, None).values() for one in beside] == [".de.srt"]

    pipeline.actions.remove([film])
    assert not folder.exists()
    with pipeline.db.read() as tx:
        assert companions.of(tx, None) == {}
        assert inconsistencies(tx) == ()


@pytest.mark.slow
def test_subtitles_of_other_languages_than_the_wanted_ones_are_not_shown(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SMALL)
    pipeline = make_pipeline(**WITH_SUBTITLES, vfs__subtitle_languages=["ru"])
    _, folder = film_of(pipeline)
    assert names(folder) == ["FILM - 720p.mkv", "FILM - 720p.ru.ass"]
    vfs = pipeline.settings.vfs.model_copy(update={"subtitle_languages": ("en", "de")})
    pipeline.settings = pipeline.settings.model_copy(update={"vfs": vfs})
    pipeline.library.rearrange()
    assert names(folder) == ["FILM - 720p.en.forced.srt", "FILM - 720p.en.srt", "FILM - 720p.mkv"]


@pytest.mark.slow
def test_a_second_service_brings_the_subtitles_that_the_first_one_does_not_give(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SMALL)
    both = {"downloaders__alldebrid__enabled": True, "downloaders__order": ["realdebrid", "alldebrid"]}
    pipeline = make_pipeline(mounted=True, **both)
    film, folder = film_of(pipeline)
    (video,) = shown(pipeline, film)
    assert [source.provider for source in video.sources] == ["realdebrid", "alldebrid"]
    assert names(folder) == [
        "FILM - 720p.en.forced.srt",
        "FILM - 720p.en.srt",
        "FILM - 720p.mkv",
        "FILM - 720p.ru.ass",
    ]
    assert is_as_served(pipeline, film, folder)


@pytest.mark.slow
def test_each_episode_of_a_pack_has_its_own_subtitles(make_pipeline: Make, servers: Servers) -> None:
    offer(servers, PACK, PIONEER_IMDB)
    pipeline = make_pipeline(**WITH_SUBTITLES)
    pipeline.add_show(PIONEER, (1,))
    pipeline.run(for_=timedelta(seconds=15))
    (season,) = (pipeline.vfs.mount_path / "shows").glob("*/Season 01")
    beside = [entry.name for entry in season.iterdir() if entry.suffix == ".srt"]
    assert sorted(re.sub(r".* - (s\d+e\d+).*?(\..*)", r"\1\2", name) for name in beside) == [
        "s01e01.fr.srt",
        "s01e02.de.srt",
    ]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_film_in_two_parts_is_one_film_of_two_files(make_pipeline: Make, servers: Servers) -> None:
    offer(servers, SPLIT)
    pipeline = make_pipeline(**WITH_SUBTITLES)
    film, folder = film_of(pipeline)
    assert pipeline.state(film) == "Completed"
    parts = ["FILM - part1.avi", "FILM - part2.avi", "FILM - part2.en.srt"]
    assert names(folder) == parts
    assert is_as_served(pipeline, film, folder)

    # Other templates, the same parts.
    naming = pipeline.settings.vfs.naming.model_copy(update={"movie_file": "{folder} - a copy"})
    vfs = pipeline.settings.vfs.model_copy(update={"naming": naming})
    pipeline.settings = pipeline.settings.model_copy(update={"vfs": vfs})
    pipeline.library.rearrange()
    assert names(folder) == [name.replace("FILM", "FILM - a copy") for name in parts]


@pytest.mark.slow
def test_a_lost_part_of_a_film_is_the_films_loss_and_is_had_again(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SPLIT)
    pipeline = make_pipeline(mounted=True)
    film, folder = film_of(pipeline)
    for torrent in servers.control("/account")["torrents"]:
        servers.control("/account/remove", {"id": torrent["id"]})
    with pipeline.db.read() as tx:
        (video,) = entries.for_items(tx, [film])
        (second,) = companions.of(tx, [video.id])[video.id]
    mend_entry.soon(pipeline.ctx, second.entry_id)
    pipeline.run(for_=timedelta(minutes=1))
    assert [row.outcome for row in pipeline.story(film) if row.step == "repair"] == ["lost", "added_again"]
    assert is_as_served(pipeline, film, folder)


@pytest.mark.slow
def test_a_subtitle_that_nobody_gives_any_more_goes_and_the_film_stays(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SMALL)
    pipeline = make_pipeline(downloaders__realdebrid__subtitles=True, mounted=True)
    film, folder = film_of(pipeline)
    (video,) = shown(pipeline, film)
    with pipeline.db.read() as tx:
        subtitles = [one.entry_id for one in companions.of(tx, [video.id])[video.id]]
    # The service packs from now on, so the torrent is had again without them.
    servers.control("/options", {"realdebrid_archive_when_mixed": True})
    for torrent in servers.control("/account")["torrents"]:
        servers.control("/account/remove", {"id": torrent["id"]})
    for entry_id in (video.id, *subtitles[1:]):
        mend_entry.soon(pipeline.ctx, entry_id)
    two_hours(pipeline)
    assert names(folder) == ["FILM - 720p.en.forced.srt", "FILM - 720p.mkv"], "nobody has read the first one"
    told = [row.outcome for row in pipeline.story(film) if row.step == "repair"]
    assert told.count("subtitle_gone") == 2
    assert "given_up" not in told
    assert pipeline.state(film) == "Completed"
    assert shown(pipeline, film)[0].id == video.id


@pytest.mark.slow
def test_a_film_whose_second_part_nobody_gives_any_more_is_searched_anew(
    make_pipeline: Make, servers: Servers
) -> None:
    offer(servers, SPLIT)
    pipeline = make_pipeline(mounted=True)
    film, folder = film_of(pipeline)
    (video,) = shown(pipeline, film)
    with pipeline.db.read() as tx:
        (second,) = companions.of(tx, [video.id])[video.id]
    servers.control("/catalog", {"op": "availability", "release": video.infohash, "value": "uncached"})
    servers.control("/catalog", {"op": "add_release", "imdb": SINTEL_IMDB, "row": LARGE})
    for torrent in servers.control("/account")["torrents"]:
        servers.control("/account/remove", {"id": torrent["id"]})
    mend_entry.soon(pipeline.ctx, second.entry_id)
    two_hours(pipeline)
    assert names(folder) == ["FILM - 1080p.mkv"]
    assert pipeline.state(film) == "Completed"
    with pipeline.db.read() as tx:
        assert companions.of(tx, None) == {}
        assert inconsistencies(tx) == ()


def two_hours(pipeline: Pipeline) -> None:
    """Let time pass as the clockwork of the program sees it."""
    for _ in range(12):
        look_after_files(pipeline.ctx)
        pipeline.run(for_=timedelta(minutes=10), step=timedelta(minutes=10))


@pytest.mark.slow
def test_half_a_film_is_not_taken(make_pipeline: Make, servers: Servers) -> None:
    offer(servers, HALF)
    pipeline = make_pipeline(**WITH_SUBTITLES)
    film, folder = film_of(pipeline)
    assert pipeline.state(film) == "Indexed"
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("is_packing", [False, True], ids=["one by one", "packed into an archive"])
def test_real_debrid_gives_subtitles_when_asked_to_and_the_film_at_any_rate(
    make_pipeline: Make, servers: Servers, *, is_packing: bool
) -> None:
    servers.control("/options", {"realdebrid_archive_when_mixed": is_packing})
    offer(servers, SMALL)
    pipeline = make_pipeline(downloaders__realdebrid__subtitles=True, mounted=True)
    film, folder = film_of(pipeline)
    assert pipeline.state(film) == "Completed"
    beside = [] if is_packing else ["FILM - 720p.en.forced.srt", "FILM - 720p.en.srt", "FILM - 720p.ru.ass"]
    assert names(folder) == sorted([*beside, "FILM - 720p.mkv"])
    assert len(servers.control("/account")["torrents"]) == 1
