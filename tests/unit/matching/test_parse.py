"""What names say: a list written by hand, and sentences on the technical part."""

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from program.services.matching.parse import Outline, outline, parse

PIECES = (
    "S01E02",
    "1x03",
    "2010",
    "[Group]",
    "-",
    "05",
    "(1080p)",
    "E1-E9999",
    "S1-S99",
    ".",
    "_",
    "/",
    "4K",
    "[",
    "]",
    "(",
)
CASES = Path(__file__).parents[2] / "cases" / "names.txt"


def _rows() -> list[tuple[str, ...]]:
    lines = CASES.read_text(encoding="utf-8").splitlines()
    cells = [
        [part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")
    ]
    return [tuple([*row, "", "", "", ""][:5]) for row in cells]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _when(read: Outline) -> str:
    if isinstance(read.air_date, date):
        return read.air_date.isoformat()
    return str(read.year) if read.year else ""


@pytest.mark.parametrize(("name", "title", "seasons", "episodes", "when"), _rows())
def test_a_name_is_read_as_a_person_would(
    name: str, title: str, seasons: str, episodes: str, when: str
) -> None:
    read = outline(name)
    found = (read.title, read.seasons, read.episodes, _when(read))
    assert found == (title, _numbers(seasons), _numbers(episodes), when)


@pytest.mark.parametrize(
    ("name", "resolution"),
    [
        ("Lantern 2020 WEB-DL 4K", "2160p"),
        ("Lantern.2004.576p.DVDRip.x264.4kids", "576p"),
        ("Lantern 2020 [1920x1080]", "1080p"),
        ("Lantern (1993) [Lantern 1993 720p BluRay REMUX AVC]", "720p"),
        ("Lantern.2020.1080i.HDTV", "1080p"),
        ("Lantern 2020 UHD BluRay", "2160p"),
        ("Lantern 2020", "unknown"),
    ],
)
def test_the_number_of_lines_says_the_resolution(name: str, resolution: str) -> None:
    assert parse(name).resolution == resolution


@pytest.mark.parametrize(
    "name",
    [
        "Lantern.2024.1080p.HD-TS.x264",
        "Lantern.2024.1080p.HDTS.x264",
        "Lantern.2024.V1.1080p.HQ.HDCAM.x264",
        "Lantern.2024.1080p.TELESYNC.x264",
        "Lantern.2024.CAMRip.XviD",
        "Lantern 2024 1080p TS x264",
        "Lantern.2024.DVDScr.x264",
        "Lantern.2024.1080p.PreDVDRip",
    ],
)
def test_every_spelling_of_a_camera_copy_is_one(name: str) -> None:
    parsed = parse(name)
    assert parsed.flags & {"camera", "trash"}


def test_a_transport_stream_from_a_disc_is_no_camera_copy() -> None:
    assert not parse("Lantern.2024.1080p.BluRay.REMUX.ts").flags & {"camera", "trash"}


def test_a_language_in_the_title_says_nothing_about_the_sound() -> None:
    assert parse("The.Danish.Lantern.2015.720p.BluRay").languages == ()


def test_subtitles_are_no_sound() -> None:
    parsed = parse("Lantern.S03E02.Ger.Eng.Sub.AAC.1080p.WEB")
    assert parsed.languages == ("de",)
    assert parsed.subtitles == ("en",)
    assert parse("Lantern.S01E01.VOSTFR.1080p.WEB").languages == ()


def test_a_title_is_never_indecent() -> None:
    assert "adult" not in parse("XXX.2002.MULTi.1080p.BluRay.x264-LOST").flags


@pytest.mark.parametrize("name", ["Lantern 2018 3D Blu-ray 1080p", "Lantern.2018.1080p.H-SBS"])
def test_three_dimensions_are_seen(name: str) -> None:
    assert "three_d" in parse(name).flags


@pytest.mark.parametrize("name", ["Lantern.2010.2160p.Upscaled.BRRip", "Lantern 2010 2160p UpsUHD HEVC"])
def test_blown_up_pictures_are_seen(name: str) -> None:
    assert "upscaled" in parse(name).flags


def test_a_film_keeps_its_part_in_the_title() -> None:
    name = "Lantern.Wars.Episode.4.1977.1080p.BluRay"
    assert outline(name).title == "Lantern Wars"
    assert outline(name, of_film=True).title == "Lantern Wars Episode 4"


def test_both_sides_of_a_slash_may_be_the_title() -> None:
    read = outline("Босх: Спадок (S2E1-4) / Lantern: Legacy (S2E1-4) (2023) WEB-DL 1080p")
    assert {reading.text for reading in read.readings} >= {"Босх: Спадок", "Lantern: Legacy"}
    assert read.episodes == (1, 2, 3, 4)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=120))
def test_any_string_gives_a_value(name: str) -> None:
    assert parse(name).raw == name


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=12,
    )
)
def test_pieces_of_names_in_any_order_give_a_value(pieces: list[str]) -> None:
    name = " ".join(pieces)
    assert parse(name, of_film=len(pieces) % 2 == 0).raw == name


def test_a_very_long_name_is_read_quickly() -> None:
    assert parse("S01E01-" * 500).raw


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Lantern.Night.S02E01.The.Start.720p.WEB.x264-GLOW", "The Start"),
        ("Lantern Night - S02E01 - The Start (1080p).mkv", "The Start"),
        ("Lantern Night - 2x01 - 24 Hours.avi", "24 Hours"),
        ("Lantern.Night.S02E01.The.Start-GLOW", "The Start"),
        ("Lantern.Night.S02E01.PROPER.720p.WEB", ""),
        ("Lantern.Night.S02E01.GERMAN.720p.WEB", ""),
        ("Lantern.Night.S02E01-GLOW", ""),
        ("Lantern.Night.2012.01.15.Ida.Marsh.1080p.WEB", "Ida Marsh"),
        ("[Glow] Lantern Night - 05 - Hills, Valleys [720p]", "Hills, Valleys"),
        ("Lantern Night S02 Frost Edition 1080p", ""),
        ("Lantern.2012.1080p.BluRay.x264-GLOW", ""),
    ],
)
def test_the_title_of_an_episode_is_what_stands_behind_its_numbers(name: str, title: str) -> None:
    assert parse(name).episode_title == title
