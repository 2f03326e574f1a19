"""The frozen lists of names: how much is read right, and which single names are known to be read wrong."""

import pytest

from program.services.matching.parse import outline, parse
from tests.support.readings import CASES, is_right, read, rows, scores

LISTS = sorted(path.name for path in CASES.glob("readings*.txt"))
# A wrong take fetches a wrong file, a miss leaves a release unused.
PRECISION = 0.99
RECALL = 0.98
# Names that no rule reads right without harming others; each with what is in the way.
KNOWN_WRONG = {
    "Lantern.3D.2012.1080p",  # a title may end so
    "Amber Coast 2-01 Fog.avi",  # as often a score or a title
}


@pytest.mark.parametrize("name", LISTS)
def test_the_names_of_a_list_are_read_right(name: str) -> None:
    listed = rows(CASES / name)
    wrong = {row.name for row in listed if not all(is_right(row, read(row)))}
    assert wrong == KNOWN_WRONG & {row.name for row in listed}


@pytest.mark.parametrize("name", LISTS)
def test_hardly_a_name_is_taken_for_another_and_few_are_missed(name: str) -> None:
    for score in scores(rows(CASES / name)):
        assert score.precision >= PRECISION or score.taken < 40, score
        assert score.recall >= RECALL or score.counted < 40, score


def test_a_number_over_the_whole_show_is_told_beside_the_season() -> None:
    read = parse("[Glow] Lantern Night - S02E03 - 028 - Dawn [720p]")
    assert (read.seasons, read.episodes, read.absolute) == ((2,), (3,), (28,))


def test_a_number_without_a_season_may_count_over_the_whole_show() -> None:
    read = parse("[Glow] Lantern Night - 28 [720p]")
    assert (read.seasons, read.episodes, read.absolute) == ((), (28,), (28,))


def test_a_lone_number_leaves_the_title_with_it_as_a_second_reading() -> None:
    assert outline("Area 51 720p HDTV").titles == ("Area", "Area 51")


def test_the_year_may_belong_to_the_title() -> None:
    assert "Pioneer One 2010" in outline("Pioneer.One.2010.S01E02.720p").titles
