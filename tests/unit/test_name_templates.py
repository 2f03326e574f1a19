"""Naming templates: what they make of titles, and what is wrong with one that cannot be used."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from program.media.name_samples import samples
from program.media.naming import NameFacts, edition_of, render, safe_name
from program.media.templates import DEFAULTS, Templates, check
from program.settings.models import RootSettings
from program.settings.problems import explain

FILM = NameFacts("Demo Film", 2031, tmdb_id=101, imdb_id="tt0000101", tag="2160p", edition="Director's Cut")
EPISODE = NameFacts(
    "Demo Show", 2030, tvdb_id=9, season=1, episodes=(1, 2), tag="720p", episode_title="Pilot"
)
FOLDER = "Demo Film (2031) {tmdb-101} [tmdbid=101]"


def test_versions_and_editions_are_named_as_plex_and_jellyfin_read_them() -> None:
    path = render(FILM)
    assert path == f"/movies/{FOLDER}/{FOLDER} - 2160p {{edition-Director's Cut}}.mkv"
    name = path.rpartition("/")[2]
    # Plex looks for the braces anywhere; Jellyfin wants the folder's name, then a dash, then a label.
    assert re.search(r"\{edition-([^}]*)\}", name)
    assert name.removeprefix(FOLDER).startswith(" - ")


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        (
            {"movie_folder": "{title} ({year})"},
            "Demo Film (2031)/Demo Film (2031) - 2160p {edition-Director's Cut}.mkv",
        ),
        (
            {"movie_folder": "{title} ({year}) {{imdb-{imdb_id}}}", "movie_file": "{folder}"},
            "Demo Film (2031) {imdb-tt0000101}/Demo Film (2031) {imdb-tt0000101}.mkv",
        ),
        ({"movie_folder": "{tmdb_id}", "movie_file": "{title} [{version}]"}, "101/Demo Film [2160p].mkv"),
        (
            {"movie_folder": "{title} - {original_title}", "movie_file": "{title} - {tvdb_id} - {version}"},
            "Demo Film/Demo Film - 2160p.mkv",
        ),
    ],
)
def test_a_films_templates_are_filled_and_what_is_not_known_leaves_nothing(
    templates: dict[str, str], expected: str
) -> None:
    assert render(FILM, Templates(**templates)) == f"/movies/{expected}"


def test_the_releases_name_and_the_number_over_the_whole_show_can_be_in_a_name() -> None:
    templates = Templates(
        movie_file="{folder} - {original_name}",
        episode_file="{title} - {episodes} - {absolute:03} - {original_name}",
    )
    film = replace(FILM, original_name="Demo.Film.2031.2160p.WEB-DEMO", part=2)
    assert render(film, templates) == f"/movies/{FOLDER}/{FOLDER} - Demo.Film.2031.2160p.WEB-DEMO - part2.mkv"
    episode = replace(EPISODE, original_name="[Demo] Show - 07", absolute=7)
    assert render(episode, templates).endswith("/Demo Show - s01e01-e02 - 007 - Demo Show - 07.mkv")
    assert render(EPISODE, templates).endswith("/Demo Show - s01e01-e02.mkv")
    for kind in ("movie_folder", "show_folder", "season_folder"):
        with pytest.raises(ValueError, match="original_name"):
            check(
                kind,
                "{title} {season} {original_name}" if kind == "season_folder" else "{title} {original_name}",
            )


def test_an_episodes_templates_are_filled() -> None:
    templates = Templates(
        show_folder="{title}",
        season_folder="S{season:02}",
        episode_file="{folder} {episodes} {episode_title} [{version}]",
    )
    assert render(EPISODE, templates) == "/shows/Demo Show/S01/Demo Show s01e01-e02 Pilot [720p].mkv"


def test_all_versions_of_a_long_title_have_one_folder_that_their_names_begin_with() -> None:
    paths = {
        render(NameFacts("映" * 100, 2031, tmdb_id=1, tag=tag, edition=edition))
        for tag in ("", "2160p")
        for edition in ("", "Director's Cut")
    }
    assert len({path.split("/")[2] for path in paths}) == 1
    for path in paths:
        _, _, folder, name = path.split("/")
        assert name.startswith(folder)
        assert len(name.encode()) <= 255
    assert len(paths) == 4


@pytest.mark.parametrize(
    ("name", "edition"),
    [
        ("Demo.Film.2031.Directors.Cut.1080p.mkv", "Director's Cut"),
        ("Demo Film (2031) Director's Cut 1080p.mkv", "Director's Cut"),
        ("Demo.Film.2031.EXTENDED.1080p.mkv", "Extended"),
        ("Demo_Film_2031_IMAX_2160p.mkv", "IMAX"),
        ("Demo.Film.2031.REMASTERED.mkv", "Remastered"),
        ("The.Final.Cut.2031.1080p.mkv", ""),
        ("Extended.mkv", ""),
        ("Demo.Film.2031.1080p.mkv", ""),
    ],
)
def test_an_edition_is_read_behind_the_year(name: str, edition: str) -> None:
    assert edition_of(name) == edition


@given(
    st.text(),
    st.text(max_size=40),
    st.sampled_from(["", "1080p"]),
    st.one_of(st.none(), st.integers(1870, 2200)),
)
def test_any_title_gives_safe_names_with_any_templates(
    title: str, edition: str, tag: str, year: int | None
) -> None:
    templates = Templates(
        movie_folder="{title} - {year}",
        movie_file="{{{title}}} {edition} ({version})",
        season_folder="{season}",
    )
    for used in (DEFAULTS, templates):
        for facts in (
            NameFacts(title, year, tag=tag, edition=edition),
            NameFacts(title, year, season=1, episodes=(1,), tag=tag, episode_title=title),
        ):
            for part in render(facts, used).split("/")[1:]:
                assert 0 < len(part.encode()) <= 255
                assert safe_name(part) == part


@pytest.mark.parametrize(
    ("name", "template", "said"),
    [
        ("movie_folder", "{titel}", "unknown field {titel} (did you mean {title}?)"),
        ("movie_folder", "{title} {episode}", "unknown field {episode}"),
        ("movie_folder", "{title} {x}", "unknown field {x}; there are ids"),
        ("movie_folder", "Films", "needs {title} or an id, or two titles would share a name"),
        ("movie_file", "{version}", "needs {folder}, {title} or an id"),
        ("season_folder", "{title}", "needs {season}, or all seasons would share a folder"),
        (
            "episode_file",
            "{title} {season}",
            "needs {episodes} or {episode}, or all episodes would share a name",
        ),
        ("movie_folder", "{title}/{year}", "must be one name, without / or"),
        ("movie_folder", "{title", "is no template: "),
        ("movie_folder", "{title!r}", "is no template: {title!r} is not known here"),
        ("movie_folder", "{title:>20}", "only numbers are padded"),
        ("movie_folder", "{title.x}", "unknown field {title.x}"),
        ("movie_folder", "{title}" + "x" * 90, "has more than 80 bytes beside its fields"),
    ],
)
def test_a_template_that_cannot_be_used_is_told_with_its_place(name: str, template: str, said: str) -> None:
    wrong = json.dumps({"vfs": {"naming": {name: template}}})
    with pytest.raises(ValidationError) as caught:
        RootSettings.model_validate_json(wrong, strict=True)
    [problem] = explain(caught.value, RootSettings, {})
    assert problem.path == f"vfs.naming.{name}"
    assert said in problem.reason


def test_the_samples_show_what_differs() -> None:
    shown = {sample.about: sample.path for sample in samples(DEFAULTS)}
    assert len(set(shown.values())) == len(shown)
    assert shown["a double episode"].endswith("/Season 01/Pioneer One (2010) - s01e03-e04 - 720p.mkv")
    assert shown["a film of which little is known"] == (
        "/movies/Caminandes - Llama Drama/Caminandes - Llama Drama.mkv"
    )
