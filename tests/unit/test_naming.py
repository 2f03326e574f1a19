"""Names: what Plex and Jellyfin can read, whatever the title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from program.media.naming import NameFacts, numbered, render, safe_name


def film(**facts: object) -> NameFacts:
    return NameFacts(**{"title": "Demo Film", "year": 2031, "tmdb_id": 101, **facts})


def episode(**facts: object) -> NameFacts:
    return NameFacts(
        **{"title": "Demo Show", "year": 2030, "tvdb_id": 9, "season": 1, "episodes": (2,), **facts}
    )


def test_a_film_has_both_id_forms_in_folder_and_file():
    assert render(film(extension="mkv")) == (
        "/movies/Demo Film (2031) {tmdb-101} [tmdbid=101]/Demo Film (2031) {tmdb-101} [tmdbid=101].mkv"
    )


def test_a_version_tag_stands_behind_the_folder_name():
    assert render(film(tag="1080p", extension=".MKV")).endswith(
        "/Demo Film (2031) {tmdb-101} [tmdbid=101] - 1080p.mkv"
    )


def test_an_episode_is_in_its_season_folder():
    assert render(episode(extension="mp4")) == (
        "/shows/Demo Show (2030) {tvdb-9} [tvdbid=9]/Season 01/Demo Show (2030) - s01e02.mp4"
    )


@pytest.mark.parametrize(
    ("season", "episodes", "expected"),
    [
        (1, (1, 2), "Season 01/Demo Show (2030) - s01e01-e02.mkv"),
        (1, (3, 1, 2), "Season 01/Demo Show (2030) - s01e01-e03.mkv"),
        (1, (1, 3), "Season 01/Demo Show (2030) - s01e01e03.mkv"),
        (0, (1,), "Season 00/Demo Show (2030) - s00e01.mkv"),
        (None, (7,), "Season 00/Demo Show (2030) - s00e07.mkv"),
        (12, (101,), "Season 12/Demo Show (2030) - s12e101.mkv"),
    ],
)
def test_seasons_and_episode_runs(season: int | None, episodes: tuple[int, ...], expected: str):
    assert render(episode(season=season, episodes=episodes)).endswith(expected)


@pytest.mark.parametrize(
    ("facts", "folder"),
    [
        (film(tmdb_id=None, imdb_id="tt0000101"), "Demo Film (2031) {imdb-tt0000101} [imdbid=tt0000101]"),
        (film(tmdb_id=None), "Demo Film (2031)"),
        (film(year=None, tmdb_id=None), "Demo Film"),
        (film(title=""), "Untitled (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="???"), "Untitled (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="Face/Off"), "Face-Off (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="Demo: The Return"), "Demo - The Return (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="[REC]"), "REC (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="...and more..."), "and more (2031) {tmdb-101} [tmdbid=101]"),
        (film(title="con", year=None, tmdb_id=None), "con_"),
        (film(title="天空の城", tmdb_id=None), "天空の城 (2031)"),
        (film(title="Ame\u0301lie", tmdb_id=None), "Am\u00e9lie (2031)"),
        (film(title="a\x00b\u202ec\ud800d", tmdb_id=None), "a bcd (2031)"),
        (film(tmdb_id="1}/../x"), "Demo Film (2031) {tmdb-1x} [tmdbid=1x]"),
    ],
)
def test_odd_titles(facts: NameFacts, folder: str):
    assert render(facts).split("/")[2] == folder


def test_a_300_byte_title_is_cut_at_a_character_and_keeps_ids_tag_and_extension():
    path = render(film(title="映" * 100, tag="2160p"))
    _, _, folder, name = path.split("/")
    assert len(name.encode()) <= 255
    assert folder.endswith("(2031) {tmdb-101} [tmdbid=101]")
    assert name == f"{folder} - 2160p.mkv"


@given(st.text(), st.text(max_size=5), st.integers(0, 200), st.lists(st.integers(0, 2000), max_size=3))
def test_every_title_gives_a_path_of_safe_components(
    title: str, extension: str, season: int, episodes: list[int]
):
    facts = NameFacts(title, None, season=season, episodes=tuple(episodes), extension=extension)
    parts = render(facts).split("/")
    assert parts[0] == ""
    assert len(parts) == (5 if episodes else 4)
    for part in parts[1:]:
        assert 0 < len(part.encode()) <= 255
        assert safe_name(part) == part
        assert not set(part) & set('<>:"/\\|?*\0')
        assert part == part.rstrip(" .")


@given(st.text())
def test_making_a_name_safe_twice_changes_nothing(name: str):
    once = safe_name(name)
    assert safe_name(once) == once
    assert 0 < len(once.encode()) <= 255


def test_a_numbered_name_keeps_its_extension_and_the_limit():
    assert numbered("Demo.mkv", 2) == "Demo (2).mkv"
    assert numbered("x" * 251 + ".mkv", 12) == "x" * 246 + " (12).mkv"
