"""Which releases are refused, and with which reason; which are taken."""

from dataclasses import replace
from datetime import timedelta

import pytest

from program.media.release import Rejection
from program.services.matching.judge import look_at as look
from program.services.matching.judge import refusals
from program.services.matching.names import Names
from program.services.matching.rules import RULES
from program.services.matching.rules.base import Look, Rule
from program.settings.ranking import TermOption
from tests.support.wishes import GIGABYTE, MEGABYTE, NOW, options, reason, verdict, wanted_film, wanted_show

# Titles -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "Lantern.2020.1080p.WEB",
        "Lantern (2020) [1080p]",
        "Lantern 1080p WEB",
        "lantern.2019.1080p.web",
        "[ www.example.org ] - Lantern.2020.1080p.WEB",
    ],
)
def test_a_film_of_that_title_and_year_is_taken(name: str) -> None:
    assert reason(wanted_film(), name) is None


@pytest.mark.parametrize(
    "name",
    [
        "Against.The.Lantern.2020.1080p.WEB",
        "Daddys.Lantern.2020.1080p.WEB",
        "Lantern.Returns.2020.1080p.WEB",
        "Lanterns.2020.1080p.WEB",
        "Lantern.2.2020.1080p.WEB",
        "Lantern.Part.II.2020.1080p.WEB",
        "The.Making.of.Lantern.2020.1080p.WEB",
    ],
)
def test_a_title_that_only_holds_the_wanted_one_is_another(name: str) -> None:
    assert reason(wanted_film(), name) == "wrong_title"


def test_a_remake_is_refused_by_its_year() -> None:
    assert reason(wanted_film(), "Lantern.1995.1080p.BluRay") == "wrong_year"


def test_one_year_beside_is_the_same_film() -> None:
    assert reason(wanted_film(year=2021), "Lantern.2020.1080p.WEB") is None


def test_a_year_in_the_title_is_no_year_of_release() -> None:
    film = wanted_film("Lantern Runner 2049", year=2017)
    assert reason(film, "Lantern.Runner.2049.2017.1080p.BluRay") is None
    assert reason(film, "Lantern.Runner.2049.1080p.BluRay") is None
    assert reason(wanted_film("Lantern Runner", year=1982), "Lantern.Runner.2049.2017.1080p") == "wrong_title"


def test_an_alias_is_as_good_as_the_title() -> None:
    film = wanted_film(aliases=("Laterne ohne Ende",))
    assert reason(film, "Laterne.ohne.Ende.2020.MULTi.1080p.BluRay") is None


def test_an_alias_that_is_the_title_of_another_film_counts_for_nothing() -> None:
    film = wanted_film(aliases=("Captain Lantern",), other_titles=("Captain Lantern",))
    assert reason(film, "Captain.Lantern.2020.1080p.WEB") == "wrong_title"


@pytest.mark.parametrize("name", ["Die.gruene.Laterne.2020.1080p.WEB", "Die.grune.Laterne.2020.1080p.WEB"])
def test_umlauts_are_written_in_two_ways(name: str) -> None:
    assert reason(wanted_film("Die grüne Laterne"), name) is None


@pytest.mark.parametrize(
    "name", ["Lantern.Wars.4.2020.1080p", "Lantern.Wars.IV.2020.1080p", "Lantern Wars Part 4 2020 1080p"]
)
def test_numbers_of_parts_are_written_in_many_ways(name: str) -> None:
    assert reason(wanted_film("Lantern Wars IV"), name) is None
    assert reason(wanted_film("Lantern Wars V"), name) == "wrong_title"


def test_a_title_in_brackets_behind_its_translation_is_found() -> None:
    wanted = wanted_show("American Lanterns", season=2, episode=1)
    assert reason(wanted, "Lanternas Americanas (American Lanterns) - S02E01 1080p") is None


# Kinds, seasons, episodes -------------------------------------------------------------------------------------------------


def test_an_episode_is_no_film() -> None:
    assert reason(wanted_film(), "Lantern.2020.S01E01.1080p.WEB") == "series_for_film"


@pytest.mark.parametrize(
    "name",
    [
        "Pioneer.One.S02E03.1080p.WEB",
        "Pioneer.One.2x03.1080p.WEB",
        "Pioneer.One.S02.1080p.WEB",
        "Pioneer.One.S01-S02.1080p.WEB",
        "Pioneer.One.S02E02-E03.1080p.WEB",
        "Pioneer One Complete Series 1080p WEB",
        "Pioneer.One.2012.S02E03.1080p.WEB",
        "Pioneer.One.2011.S02E03.1080p.WEB",
        "Pioneer.One.US.S02E03.1080p.WEB",
        "[Glow] Pioneer One - 09 [1080p]",
    ],
)
def test_an_episode_is_in_its_release_and_in_every_pack_that_holds_it(name: str) -> None:
    assert reason(wanted_show(season=2, episode=3), name) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Pioneer.One.S02E04.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.S01E03.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.S01.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.S02E00.Special.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.S02.Special.The.Making.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.1080p.WEB", "wrong_episode"),
        ("Pioneer.One.1995.S02E03.1080p.WEB", "wrong_year"),
        ("Pioneer.One.UK.S02E03.1080p.WEB", "wrong_country"),
        ("Pioneers.S02E03.1080p.WEB", "wrong_title"),
    ],
)
def test_another_episode_is_refused(name: str, code: str) -> None:
    assert reason(wanted_show(season=2, episode=3), name) == code


def test_a_number_over_the_whole_show_may_stand_in_season_one() -> None:
    wanted = wanted_show(seasons={1: 60, 2: 60}, season=2, episode=3)
    assert reason(wanted, "Pioneer One S01E63 1080p") is None
    assert reason(wanted, "Pioneer One S01E03 1080p") == "wrong_episode"


def test_a_daily_show_is_known_by_its_date() -> None:
    wanted = wanted_show(season=2, episode=3)
    assert reason(wanted, "Pioneer.One.2012.01.22.1080p.WEB") is None
    assert reason(wanted, "Pioneer.One.2012.01.29.1080p.WEB") == "wrong_episode"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Pioneer.One.S02.1080p.WEB", None),
        ("Pioneer.One.S01-S03.1080p.WEB", None),
        ("Pioneer.One.S02E01-E04.1080p.WEB", None),
        ("Pioneer.One.S02E03.1080p.WEB", "wrong_season"),
        ("Pioneer.One.S02E01-E02.1080p.WEB", "wrong_season"),
        ("Pioneer.One.S01.1080p.WEB", "wrong_season"),
        ("Pioneer.One.S02.Special.1080p.WEB", "wrong_season"),
    ],
)
def test_a_season_is_a_pack(name: str, code: str | None) -> None:
    assert reason(wanted_show(season=2), name) == code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Pioneer.One.S01-S02.1080p.WEB", None),
        ("Pioneer One Complete Series 1080p", None),
        ("Pioneer.One.S01.1080p.WEB", "incomplete_show"),
        ("Pioneer.One.S01E01.1080p.WEB", "incomplete_show"),
    ],
)
def test_a_show_is_all_of_its_seasons(name: str, code: str | None) -> None:
    assert reason(wanted_show(), name) == code


# Quality ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Lantern.2020.CAM.x264", "camera_copy"),
        ("Lantern.2020.1080p.HDTS.x264", "camera_copy"),
        ("Lantern.2020.480p.WEB", "resolution"),
        ("Lantern.2020.1080p.BluRay.REMUX", "unwanted_property"),
        ("Lantern.2020.3D.1080p.BluRay", "unwanted_property"),
        ("Lantern.2020.2160p.Upscaled.BluRay", "unwanted_property"),
        ("Lantern.2020.2160p.WEB-DL.DV.H265", "dolby_vision_alone"),
        ("Lantern.2020.COMPLETE.BLURAY.1080p", "disc_image"),
        ("Lantern.2020.FRENCH.1080p.WEB", "language"),
        ("Lantern.2020.Trailer.1080p.WEB", "bonus_material"),
    ],
)
def test_what_a_home_does_not_want_is_refused_with_its_reason(name: str, code: str) -> None:
    assert reason(wanted_film(), name) == code


@pytest.mark.parametrize(
    "name",
    [
        "Lantern.2020.2160p.WEB-DL.DV.HDR.H265",
        "Lantern.2020.MULTi.TRUEFRENCH.1080p.WEB",
        "Lantern.2020.German.DL.1080p.WEB",
        "Lantern.2020.FRENCH.ENG.1080p.WEB",
        "Lantern.2020.VOSTFR.1080p.WEB",
    ],
)
def test_what_has_the_original_voices_and_any_picture_is_taken(name: str) -> None:
    assert reason(wanted_film(), name) is None


def test_trash_is_taken_by_who_wants_it() -> None:
    terms = {**options().terms, "trash.cam": TermOption(fetch=True, rank=0)}
    assert (
        reason(wanted_film(), "Lantern.2020.1080p.CAM.x264", options(remove_trash=False, terms=terms)) is None
    )


def test_a_language_in_the_title_is_no_reason_to_refuse() -> None:
    ranking = options(languages_excluded=frozenset({"da"}), allow_english=False)
    assert reason(wanted_film("The Danish Lantern"), "The.Danish.Lantern.2020.720p.BluRay", ranking) is None
    assert reason(wanted_film(), "Lantern.2020.DANISH.720p.BluRay", ranking) == "language"


def test_a_required_language_must_be_there() -> None:
    ranking = options(languages_required=frozenset({"de"}))
    assert reason(wanted_film(), "Lantern.2020.Ger.Eng.1080p.BluRay", ranking) is None
    assert reason(wanted_film(), "Lantern.2020.1080p.BluRay", ranking) == "language"


def test_a_trailer_in_the_title_is_no_trailer() -> None:
    assert reason(wanted_film("Trailer Park"), "Trailer.Park.2020.1080p.WEB") is None
    titles = {(2, 3): "Free Sample"}
    wanted = wanted_show(season=2, episode=3, titles=titles)
    assert reason(wanted, "Pioneer.One.S02E03.Free.Sample.1080p.WEB") is None
    assert reason(wanted, "Pioneer.One.S02E03.Trailer.1080p.WEB") == "bonus_material"


def test_a_film_cannot_be_had_before_it_exists() -> None:
    film = wanted_film(released_at=NOW + timedelta(days=30))
    answer = verdict(film, "Lantern.2020.1080p.WEB").rejection
    assert answer is not None
    assert answer.code == "not_released_yet"
    assert not answer.permanent


def test_a_file_that_is_too_small_is_a_fake() -> None:
    assert reason(wanted_film(), "Lantern.2020.1080p.WEB", size=100 * MEGABYTE) == "size"
    assert reason(wanted_film(), "Lantern.2020.1080p.WEB", size=2 * GIGABYTE) is None


def test_the_size_of_one_file_of_a_pack_is_enough() -> None:
    assert reason(wanted_show(season=2), "Pioneer.One.S02.1080p.WEB", size=200 * MEGABYTE) is None


def test_the_users_expressions_decide() -> None:
    name = "Lantern.2020.1080p.WEB-GRP"
    assert reason(wanted_film(), name, options(exclude=("-grp$",))) == "pattern"
    assert reason(wanted_film(), name, options(exclude=("/-grp$/",))) is None
    assert reason(wanted_film(), name, options(require=("bluray",))) == "pattern"
    assert reason(wanted_film(), name, options(require=("web",))) is None


def test_a_rule_that_crashes_is_a_refusal() -> None:
    def broken(_look: Look) -> Rejection | None:
        raise ZeroDivisionError

    film = wanted_film()
    answers = list(
        refusals(look(film, Names(film), "Lantern 2020 1080p", options(), NOW), [Rule("odd", broken)])
    )
    assert [answer.code for answer in answers] == ["rule_crashed"]
    assert "odd" in answers[0].sentence


def test_every_rule_has_a_code_of_its_own() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("old", "new"), [("Lantern", "Harbour"), ("Lantern", "Quartz"), ("Lantern", "Meadow")]
)
def test_a_verdict_does_not_hang_on_the_name_of_a_title(old: str, new: str) -> None:
    names = [
        "Lantern.2020.1080p.WEB",
        "Lantern.1999.1080p",
        "Lantern.2.2020.1080p",
        "The.Lantern.2020.CAM",
        "My.Lantern.2020.1080p",
    ]
    before = [reason(wanted_film(old), name) for name in names]
    after = [reason(wanted_film(new), name.replace(old, new)) for name in names]
    assert before == after


def test_a_year_far_off_is_refused_for_a_show_only_when_its_seasons_are_known() -> None:
    unknown = replace(wanted_show(season=3, episode=1), season_years=(), episodes=())
    assert reason(unknown, "Pioneer.One.S03E01.2015.1080p.WEB") is None
