"""Which file of a torrent is which film or episode; which files are nothing of it."""

import pytest

from program.media.entry import TorrentFile
from program.media.wanted import Wanted
from program.services.matching.map_files import map_files
from program.services.matching.validate_files import validate_files
from tests.support.wishes import GIGABYTE, MEGABYTE, episode_id, torrent, wanted_film, wanted_show


def film_in(files: tuple[TorrentFile, ...], wanted: Wanted | None = None) -> str | None:
    matches = map_files(wanted or wanted_film(), "Lantern 2020 1080p", files)
    return matches[0].file.path if matches else None


def episodes_in(wanted: Wanted, name: str, files: tuple[TorrentFile, ...]) -> dict[int, str]:
    return {id_: match.file.path for match in map_files(wanted, name, files) for id_ in match.item_ids}


# Films --------------------------------------------------------------------------------------------------------------------


def test_the_film_is_taken_and_not_what_comes_with_it() -> None:
    files = torrent(
        ("Extras/Lantern.The.Making.Of.mkv", 900 * MEGABYTE),
        ("Sample/lantern-sample.mkv", 60 * MEGABYTE),
        ("Lantern.2020.1080p.WEB.mkv", 8 * GIGABYTE),
        "Lantern.2020.nfo",
    )
    assert film_in(files) == "Lantern.2020.1080p.WEB.mkv"


@pytest.mark.parametrize("suffix", ["-deleted", "-trailer", "-other", "-featurette", "-behindthescenes"])
def test_an_extra_is_one_by_the_end_of_its_name_even_when_larger(suffix: str) -> None:
    files = torrent(("Lantern (2020).mkv", GIGABYTE), (f"Something{suffix}.mkv", 9 * GIGABYTE))
    assert film_in(files) == "Lantern (2020).mkv"


def test_a_group_that_is_called_like_an_extra_makes_no_extra_of_its_film() -> None:
    files = torrent(
        "Lantern.2020.1080p.WEB.x264-OTHER.mkv", ("Lantern.2020.1080p.WEB.x264-trailer.mkv", 90 * MEGABYTE)
    )
    assert film_in(files) == "Lantern.2020.1080p.WEB.x264-OTHER.mkv"


@pytest.mark.parametrize("path", ["film.mkv", "lntrn-1080p.mkv", "LANTERN/VTS.MKV", "Lantern/Lantern.M2TS"])
def test_a_lone_video_of_any_name_is_the_film(path: str) -> None:
    assert film_in(torrent(path)) == path


def test_a_film_in_a_collection_is_found_by_title_and_year() -> None:
    files = torrent(
        ("Lanterns/Lantern 1 (1999)/Lantern.1.1999.1080p.mkv", 9 * GIGABYTE),
        ("Lanterns/Lantern (2020)/Lantern.2020.1080p.mkv", 5 * GIGABYTE),
        ("Lanterns/Lantern 2 (2023)/Lantern.2.2023.1080p.mkv", 7 * GIGABYTE),
    )
    assert film_in(files) == "Lanterns/Lantern (2020)/Lantern.2020.1080p.mkv"


def test_another_film_is_not_taken_for_want_of_a_better() -> None:
    assert film_in(torrent("Harbour.2011.1080p.mkv")) is None
    assert film_in(torrent("Lantern.1999.1080p.mkv")) is None


def test_two_nameless_films_of_one_size_are_nobodys() -> None:
    assert film_in(torrent(("a.mkv", GIGABYTE), ("b.mkv", GIGABYTE))) is None


@pytest.mark.parametrize(
    "paths",
    [
        ["Lantern.2020.CD1.avi", "Lantern.2020.CD2.avi"],
        ["Lantern.2020.part2.mkv", "Lantern.2020.part1.mkv", "Lantern.2020.part3.mkv"],
        ["CD1/lantern.avi", "CD2/lantern.avi"],
        ["cd1.avi", "cd2.avi", ("making.of.avi", MEGABYTE)],
    ],
)
def test_a_film_in_parts_is_one_film_with_its_parts_in_their_order(paths: list[str]) -> None:
    (match,) = map_files(wanted_film(), "Lantern 2020", torrent(*paths))
    parts = [match.file.path, *(file.path for file in match.parts)]
    assert parts == sorted(path for path in paths if isinstance(path, str))


@pytest.mark.parametrize(
    "paths",
    [
        ["Lantern.2020.CD1.avi"],
        ["Lantern.2020.CD2.avi", "Lantern.2020.CD3.avi"],
        ["Lantern.2020.CD1.avi", "Lantern.2020.CD3.avi"],
        ["Lantern.2020.part1.mkv"],
        ["CD2/lantern.avi"],
    ],
)
def test_a_film_of_which_a_part_lacks_is_none(paths: list[str]) -> None:
    assert film_in(torrent(*paths)) is None


def test_a_whole_film_is_taken_before_one_in_parts() -> None:
    files = torrent("Lantern.2020.CD1.avi", "Lantern.2020.CD2.avi", "Lantern.2020.1080p.mkv")
    assert film_in(files) == "Lantern.2020.1080p.mkv"


def test_a_part_in_a_title_is_no_part_of_a_file() -> None:
    film = wanted_film("The Long Walk Part1", year=2020)
    assert film_in(torrent("The.Long.Walk.Part1.2020.mkv"), film) == "The.Long.Walk.Part1.2020.mkv"


def test_an_episode_is_no_film() -> None:
    assert film_in(torrent("Lantern.S01E01.mkv")) is None


def test_a_film_called_sample_is_no_sample() -> None:
    film = wanted_film("The Free Sample")
    assert film_in(torrent("The.Free.Sample.2020.mkv"), film) == "The.Free.Sample.2020.mkv"


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (["Sample/lantern.mkv"], "samples_only"),
        (["lantern.rar", "lantern.r00"], "archives_only"),
        (["Sample/lantern.mkv", "lantern.rar"], "archives_only"),
        (["Extras/lantern.mkv"], "extras_only"),
        (["readme.txt"], "no_video"),
        ([], "no_video"),
        (["Harbour.2011.1080p.mkv"], "not_inside"),
    ],
)
def test_a_torrent_without_the_film_says_what_it_has(paths: list[str], code: str) -> None:
    files = torrent(*paths)
    verdict = validate_files(wanted_film(), map_files(wanted_film(), "Lantern 2020", files), files)
    assert not verdict.is_useful
    assert verdict.rejection is not None
    assert verdict.rejection.code == code


# Episodes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "Pioneer.One.S02E03.1080p.WEB.mkv",
        "pioneer.one.s02e03.mkv",
        "po-s02e03.mkv",
        "Season 2/Pioneer One - 2x03 - Title.mkv",
        "Season 2/03 - Title.mkv",
        "Season 02/E03.mkv",
        "S02/Pioneer One - 03.mkv",
        "Stagione 2/03_xxx.mkv",
        "Series 2/2.03 Title.avi",
        "Pioneer One/2/203 Title.mkv",
        "Pioneer.One.S01E09.mkv",
        "[Glow] Pioneer One - 09 [1080p].mkv",
        "Pioneer One Season 2 Episode 03 - Title.avi",
        "Pioneer.One.2012.01.22.mkv",
        "Pioneer.One.The.Long.Signal.1080p.mkv",
    ],
)
def test_an_episode_is_found_by_every_way_to_count_it(path: str) -> None:
    wanted = wanted_show(season=2, episode=3, titles={(2, 3): "The Long Signal"}, is_anime=True)
    assert episodes_in(wanted, "Pioneer One", torrent(path)) == {episode_id(2, 3): path}


def test_the_season_of_the_torrent_counts_when_files_name_none() -> None:
    assert episodes_in(wanted_show(season=2), "Pioneer.One.S02.720p", torrent("03.mkv")) == {
        episode_id(2, 3): "03.mkv"
    }


def test_one_file_may_be_two_episodes() -> None:
    path = "Pioneer.One.S01E01E02.mkv"
    assert episodes_in(wanted_show(season=1), "Pioneer One S01", torrent(path)) == {
        episode_id(1, 1): path,
        episode_id(1, 2): path,
    }


def test_a_glued_number_is_two_episodes_unless_there_are_so_many() -> None:
    path = "Pioneer.One.S01E0102.mkv"
    assert set(episodes_in(wanted_show(season=1), "Pioneer One", torrent(path))) == {
        episode_id(1, 1),
        episode_id(1, 2),
    }
    long = wanted_show(seasons={1: 300}, season=1)
    assert set(episodes_in(long, "Pioneer One", torrent(path))) == {episode_id(1, 102)}


def test_several_seasons_come_from_their_folders() -> None:
    files = torrent("S1/Pioneer One - S01E01.mkv", "S2/Pioneer One - S02E01.mkv", "S2/Extras/NCOP 01.mkv")
    assert episodes_in(wanted_show(), "Pioneer One S01-S02", files) == {
        episode_id(1, 1): "S1/Pioneer One - S01E01.mkv",
        episode_id(2, 1): "S2/Pioneer One - S02E01.mkv",
    }


@pytest.mark.parametrize(
    "path",
    [
        "Sample/pioneer.one.s02e03.sample.mkv",
        "pioneer.one.s02e03-sample.mkv",
        "Extras/Pioneer One S02E03 Interview.mkv",
        "Pioneer One - 09.5 [1080p].mkv",
        "Pioneer One S02 - NCOP 03.mkv",
        "Pioneer.One.S02E00.mkv",
        "Pioneer.One.2005.Christmas.Special.2015.mkv",
        "Harbour.Master.S02E03.nfo",
    ],
)
def test_what_is_no_episode_is_left(path: str) -> None:
    assert episodes_in(wanted_show(season=2), "Pioneer One S02", torrent(path)) == {}


def test_a_small_sample_beside_its_episode_is_left() -> None:
    files = torrent(("x.s02e03.sample.1080p.mkv", 20 * MEGABYTE), ("x.s02e03.1080p.mkv", GIGABYTE))
    assert episodes_in(wanted_show(season=2), "Pioneer One S02", files) == {
        episode_id(2, 3): "x.s02e03.1080p.mkv"
    }


def test_an_episode_called_sample_is_taken() -> None:
    wanted = wanted_show(season=2, titles={(2, 3): "Free Sample"})
    path = "Pioneer One - S02E03 - Free Sample.mkv"
    assert episodes_in(wanted, "Pioneer One S02", torrent(path)) == {episode_id(2, 3): path}


def test_of_two_files_for_one_episode_the_larger_is_taken() -> None:
    files = torrent(("a/Pioneer.One.S02E03.mkv", GIGABYTE), ("b/Pioneer.One.S02E03.mkv", 2 * GIGABYTE))
    assert episodes_in(wanted_show(season=2), "Pioneer One S02", files) == {
        episode_id(2, 3): "b/Pioneer.One.S02E03.mkv"
    }


def test_another_show_in_the_same_torrent_is_left() -> None:
    files = torrent(("Harbour.Master.S02E03.mkv", 2 * GIGABYTE), "Pioneer.One.S02E01.mkv")
    assert episodes_in(wanted_show(season=2), "Collection", files) == {
        episode_id(2, 1): "Pioneer.One.S02E01.mkv"
    }


def test_specials_are_found_by_number_and_by_title() -> None:
    wanted = wanted_show(seasons={0: 2, 1: 6}, season=0, titles={(0, 2): "The Lost Reel"})
    files = torrent("Specials/Pioneer.One.S00E01.mkv", "Specials/The Lost Reel.mkv")
    assert episodes_in(wanted, "Pioneer One", files) == {
        episode_id(0, 1): "Specials/Pioneer.One.S00E01.mkv",
        episode_id(0, 2): "Specials/The Lost Reel.mkv",
    }


def test_a_file_holds_only_what_is_wanted_or_beside_it() -> None:
    wanted = wanted_show(season=1, episode=2)
    files = torrent("Pioneer.One.S01E01E02.mkv", "Pioneer.One.S01E03.mkv")
    assert set(episodes_in(wanted, "Pioneer One S01", files)) == {episode_id(1, 1), episode_id(1, 2)}


def test_a_part_of_a_season_is_worth_keeping() -> None:
    wanted = wanted_show(season=2)
    files = torrent("Pioneer.One.S02E01.mkv", "Pioneer.One.S02E02.mkv")
    verdict = validate_files(wanted, map_files(wanted, "Pioneer One S02", files), files)
    assert verdict.outcome == "partial"
    assert verdict.missing == (episode_id(2, 3), episode_id(2, 4))


def test_a_whole_season_is_all_there_is() -> None:
    wanted = wanted_show(season=2)
    files = torrent(*(f"Pioneer.One.S02E0{n}.mkv" for n in range(1, 5)))
    assert validate_files(wanted, map_files(wanted, "Pioneer One S02", files), files).outcome == "ok"


def test_an_empty_file_is_no_episode() -> None:
    wanted = wanted_show(season=2, episode=1)
    files = torrent(("Pioneer.One.S02E01.mkv", 0))
    assert not validate_files(wanted, map_files(wanted, "Pioneer One S02", files), files).is_useful
