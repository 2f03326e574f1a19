"""The catalog has what the demo promises, and the clips are what they say."""

from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from program.demo.catalog import CACHED, INFRINGING, UNCACHED, Catalog, load_catalog
from program.demo.clips import ClipStore, default_cache

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(NOW)


@pytest.fixture(scope="module")
def clips(catalog: Catalog) -> ClipStore:
    store = ClipStore(default_cache())
    store.prepare(catalog)
    return store


def test_there_are_six_films_or_more_and_each_has_a_right_release_that_is_cached(catalog: Catalog) -> None:
    assert len(catalog.films) >= 6
    for film in catalog.films.values():
        assert [one for one in catalog.listed(film.imdb) if one.right and one.availability == CACHED], (
            film.title
        )


def test_every_film_has_bad_releases_and_the_best_seeded_one_is_bad(catalog: Catalog) -> None:
    for film in catalog.films.values():
        listed = sorted(catalog.listed(film.imdb), key=lambda one: -one.seeders)
        assert not listed[0].right, film.title
        assert listed[0].note


def test_every_bad_release_says_why_it_is_bad(catalog: Catalog) -> None:
    assert not [one.name for one in catalog.releases.values() if not one.right and not one.note]


@pytest.mark.parametrize(
    "word",
    [
        "wrong year",
        "filmed from the screen",
        "sample",
        "similar name",
        "extras",
        "dubbed",
        "sequel",
        "no video",
        "not out yet",
    ],
)
def test_the_tempting_kinds_are_all_there(catalog: Catalog, word: str) -> None:
    assert [one for one in catalog.releases.values() if word in one.note]


def test_some_good_releases_are_not_cached_and_one_is_refused(catalog: Catalog) -> None:
    found = {one.availability for one in catalog.releases.values()}
    assert found == {CACHED, UNCACHED, INFRINGING}


def test_the_series_has_a_pack_for_one_season_and_single_episodes_for_the_other(catalog: Catalog) -> None:
    (show,) = catalog.shows.values()
    right = [one for one in catalog.listed(show.imdb) if one.right and one.availability == CACHED]
    whole = {(one.season, one.number) for one in show.season(1)}
    packs = [
        one
        for one in right
        if {(file.season, file.episode) for file in one.files if file.kind == "episode"} == whole
    ]
    assert packs
    for season in (1, 2):
        for episode in [one for one in show.season(season) if one.aired and one.aired <= NOW.date()]:
            singles = [
                one
                for one in right
                if len(one.files) == 1
                and (one.files[0].season, one.files[0].episode) == (season, episode.number)
            ]
            assert singles, episode
    assert not [one for one in right if len({file.episode for file in one.files if file.season == 2}) > 1]


def test_one_episode_is_always_a_week_ahead_and_has_no_right_release(catalog: Catalog) -> None:
    (show,) = catalog.shows.values()
    coming = [one for one in show.episodes if one.aired and one.aired > NOW.date()]
    assert [(one.season, one.number, one.aired) for one in coming] == [
        (2, 4, (NOW + timedelta(days=7)).date())
    ]
    assert not [
        one
        for one in catalog.listed(show.imdb)
        if one.right and any((file.season, file.episode) == (2, 4) for file in one.files)
    ]


def test_specials_are_known(catalog: Catalog) -> None:
    (show,) = catalog.shows.values()
    assert show.season_numbers == (0, 1, 2)
    assert [one.absolute for one in show.season(0)] == [0]


def test_hashes_are_unique_and_the_same_each_time(catalog: Catalog) -> None:
    assert load_catalog(NOW).releases.keys() == catalog.releases.keys()
    assert all(len(infohash) == 40 for infohash in catalog.releases)


def test_every_file_has_bytes_of_its_own(catalog: Catalog, clips: ClipStore) -> None:
    specs = [file.clip for release in catalog.releases.values() for file in release.files]
    made = [clips.clip(spec) for spec in specs]
    assert len({one.sha256 for one in made}) == len(specs)
    for spec, one in zip(specs, made, strict=True):
        assert one.path.stat().st_size == one.size == clips.size(spec)


def test_a_clip_is_what_its_hash_says(catalog: Catalog, clips: ClipStore) -> None:
    one = clips.clip(next(iter(catalog.releases.values())).files[0].clip)
    assert hashlib.sha256(one.path.read_bytes()).hexdigest() == one.sha256


def test_films_are_of_a_size_that_shows_reading_ahead_and_smaller_than_three_megabytes(
    catalog: Catalog, clips: ClipStore
) -> None:
    films = [
        file
        for release in catalog.releases.values()
        for file in release.files
        if file.kind in ("feature", "episode")
    ]
    assert all(300_000 < clips.size(file.clip) < 3_000_000 for file in films)


@pytest.mark.parametrize("suffix", [".mkv", ".mp4"])
def test_a_clip_plays_for_as_long_as_it_says(catalog: Catalog, clips: ClipStore, suffix: str) -> None:
    film = next(
        file
        for release in catalog.releases.values()
        for file in release.files
        if file.clip.suffix == suffix and file.kind == "feature"
    )
    clip = clips.clip(film.clip)
    assert abs(probe(clip.path)["duration"] - clip.seconds) < 0.2
    assert probe(clip.path)["kinds"] == ["video", "audio"]


def probe(path: Path) -> dict[str, Any]:
    command = [
        "ffprobe",
        "-v",
        "error",
        "-show_entries",
        "format=duration:stream=codec_type",
        "-of",
        "json",
        str(path),
    ]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=30).stdout)
    return {
        "duration": float(found["format"]["duration"]),
        "kinds": [one["codec_type"] for one in found["streams"]],
    }
