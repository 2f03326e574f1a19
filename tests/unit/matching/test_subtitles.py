"""Which subtitles of a torrent belong to which video, and how they are called beside it."""

import pytest

from program.media.entry import TorrentFile
from program.media.wanted import Wanted
from program.services.matching.map_files import map_files
from program.services.matching.subtitle_words import read_words
from tests.support.wishes import GIGABYTE, MEGABYTE, torrent, wanted_film, wanted_show

FILM = "Lantern.2020.1080p.mkv"


def tails(files: tuple[TorrentFile, ...], wanted: Wanted | None = None) -> dict[str, dict[str, str]]:
    """Return, by video, the subtitles with what follows the video's name."""
    matches = map_files(wanted or wanted_film(), "Lantern 2020", files)
    return {match.file.path: {one.file.path: one.tail for one in match.subtitles} for match in matches}


@pytest.mark.parametrize(
    ("path", "tail"),
    [
        ("Lantern.2020.1080p.srt", ".srt"),
        ("Lantern.2020.1080p.en.srt", ".en.srt"),
        ("Lantern.2020.1080p.eng.forced.SRT", ".en.forced.srt"),
        ("Lantern.2020.1080p.German.HI.ass", ".de.sdh.ass"),
        ("Lantern.2020.1080p.hi.vtt", ".hi.vtt"),
        ("Subs/2_English.srt", ".en.srt"),
        ("Subs/English (SDH).srt", ".en.sdh.srt"),
        ("Subs/Português (Brasil).srt", ".pt-BR.srt"),
        ("Subs/Spanish (Latin America).sup", ".es.sup"),
        ("Subs/Chinese (Traditional).srt", ".zh-TW.srt"),
        ("Subs/简体中文.ass", ".zh.ass"),
        ("Subs/日本語.srt", ".ja.srt"),
        ("Subs/한국어.srt", ".ko.srt"),
        ("Subs/العربية.srt", ".ar.srt"),
        ("Subs/עברית.srt", ".he.srt"),
        ("Subs/Ελληνικά.srt", ".el.srt"),
        ("Subs/हिन्दी.srt", ".hi.srt"),
        ("Subs/Русские (форсированные).srt", ".srt"),
        ("Subs/French/Lantern.srt", ".fr.srt"),
        ("Subs/Forced/fr.srt", ".fr.forced.srt"),
        ("Another Release of Lantern - ita.srt", ".it.srt"),
        ("nobody knows.srt", ".srt"),
    ],
)
def test_the_only_video_has_every_subtitle_with_its_language_and_kind(path: str, tail: str) -> None:
    assert tails(torrent(FILM, (path, 60_000))) == {FILM: {path: tail}}


def test_several_of_one_kind_are_counted_and_the_one_with_the_videos_name_is_the_first() -> None:
    files = torrent(FILM, "Subs/2_English.srt", "Subs/10_English.srt", "Lantern.2020.1080p.en.srt")
    assert tails(files)[FILM] == {
        "Lantern.2020.1080p.en.srt": ".en.srt",
        "Subs/2_English.srt": ".2.en.srt",
        "Subs/10_English.srt": ".3.en.srt",
    }


def test_both_files_of_a_pair_have_one_name() -> None:
    files = torrent(FILM, "Subs/a.en.idx", "Subs/a.en.sub", "Subs/b.en.idx", "Subs/b.en.sub", "Subs/c.en.srt")
    assert tails(files)[FILM] == {
        "Subs/a.en.idx": ".en.idx",
        "Subs/a.en.sub": ".en.sub",
        "Subs/b.en.idx": ".2.en.idx",
        "Subs/b.en.sub": ".2.en.sub",
        "Subs/c.en.srt": ".en.srt",
    }


def test_a_pack_gives_each_episode_its_own_and_nobody_what_is_nobodys() -> None:
    first, second = "Pioneer.One.S01E01.720p.mkv", "Season 1/Pioneer.One.S01E02.720p.mkv"
    files = torrent(
        (first, GIGABYTE),
        (second, GIGABYTE),
        "Pioneer.One.S01E01.720p.en.srt",
        "Subs/Pioneer.One.S01E02.720p/3_German.srt",
        "Subs/1x02.fr.srt",
        "Subs/Pioneer.One.S01E02.OTHER-GROUP/4_Spanish.srt",
        "Subs/Pioneer.One.S01E01.OTHER-GROUP.Tell.Me.No.srt",
        "Subs/S01E06.en.srt",
        "Subs/whose.srt",
        "Pioneer.One.S01E01.720p.nfo",
    )
    assert tails(files, wanted_show()) == {
        first: {
            "Pioneer.One.S01E01.720p.en.srt": ".en.srt",
            "Subs/Pioneer.One.S01E01.OTHER-GROUP.Tell.Me.No.srt": ".srt",
        },
        second: {
            "Subs/Pioneer.One.S01E02.720p/3_German.srt": ".de.srt",
            "Subs/1x02.fr.srt": ".fr.srt",
            "Subs/Pioneer.One.S01E02.OTHER-GROUP/4_Spanish.srt": ".es.srt",
        },
    }


def test_what_belongs_to_a_sample_or_to_another_film_is_not_the_films() -> None:
    files = torrent(
        "Lantern (2020)/Lantern.2020.mkv",
        "Lantern (2020)/en.srt",
        "Lantern 2 (2023)/Lantern.2.2023.mkv",
        "Lantern 2 (2023)/en.srt",
        "Lantern 2 (2023)/Lantern.2.2023.de.srt",
        ("Lantern (2020)/Sample/lantern-sample.mkv", MEGABYTE),
        "Lantern (2020)/Sample/lantern-sample.en.srt",
    )
    assert tails(files) == {"Lantern (2020)/Lantern.2020.mkv": {"Lantern (2020)/en.srt": ".en.srt"}}


def test_each_part_of_a_film_has_its_own() -> None:
    files = torrent(
        "Lantern.2020.CD1.avi", "Lantern.2020.CD2.avi", "Lantern.2020.CD1.en.srt", "Lantern.2020.CD2.en.srt"
    )
    assert tails(files) == {
        "Lantern.2020.CD1.avi": {
            "Lantern.2020.CD1.en.srt": ".en.srt",
            "Lantern.2020.CD2.en.srt": " - part2.en.srt",
        }
    }


def test_an_empty_subtitle_is_none() -> None:
    files = (*torrent(FILM), TorrentFile("Lantern.2020.1080p.en.srt", 0, "9"))
    assert tails(files) == {FILM: {}}


@pytest.mark.parametrize("text", ["The.English.Patient.1996", "Tell.Me.No", "This Is It", "Room 237 Cut", ""])
def test_words_of_a_title_are_no_languages(text: str) -> None:
    assert read_words(text, is_whole=True).language is None
