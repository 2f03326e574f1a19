"""A search's answers as a whole: merging, hashes, rank, order, and the way through another process."""

import base64
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest
from RTN import parse as rtn_parse
from RTN.models import DefaultRanking, SettingsModel
from RTN.ranker import get_rank

from program.media.release import Candidate, JudgedRelease
from program.services.matching.judge import judge, normal_hash
from program.services.matching.rank import order
from program.services.matching.sandbox import (
    MapTask,
    ParseTask,
    ValidateTask,
    map_items_to_files,
    parse_scrape_results,
    validate_torrent_files,
)
from program.settings.ranking import TermOption
from tests.support.wishes import FILM_ID, GIGABYTE, NOW, found, options, torrent, verdict, wanted_film

HASH = "0123456789abcdef0123456789abcdef01234567"


def judged(*releases: object) -> tuple[JudgedRelease, ...]:
    return judge(wanted_film(), releases, options(), NOW)  # type: ignore[arg-type]


def candidate(release: JudgedRelease, **changes: object) -> Candidate:
    return Candidate(id=1, item_id=FILM_ID, release=replace(release, **changes), found_at=NOW)  # type: ignore[arg-type]


def test_one_torrent_from_two_scrapers_is_one_release() -> None:
    short = found("Lantern 2020", infohash=HASH.upper(), seeders=3, cached_at=("realdebrid",))
    long = found("Lantern.2020.1080p.WEB-DL", infohash=HASH, source="torrentio", seeders=9, size=2 * GIGABYTE)
    (release,) = judged(short, long)
    assert release.raw_title == "Lantern.2020.1080p.WEB-DL"
    assert release.sources == ("zilean", "torrentio")
    assert (release.seeders, release.size, release.cached_at) == (9, 2 * GIGABYTE, ("realdebrid",))


def test_every_release_comes_back() -> None:
    answers = judged(found("Lantern.2020.1080p.WEB"), found("Other.2020.1080p.WEB"), found(""))
    assert [answer.rejection is None for answer in answers] == [True, False, False]


def test_a_base32_hash_is_the_same_torrent() -> None:
    assert normal_hash(base64.b32encode(bytes.fromhex(HASH)).decode()) == HASH
    assert normal_hash(HASH.upper()) == HASH


@pytest.mark.parametrize("infohash", ["a" * 64, "xyz", "", "g" * 40, "1" * 32])
def test_what_is_no_hash_is_refused(infohash: str) -> None:
    (release,) = judged(found("Lantern.2020.1080p.WEB", infohash=infohash))
    assert release.rejection is not None
    assert release.rejection.code == "bad_hash"


def test_the_points_add_up_to_the_rank() -> None:
    release = verdict(wanted_film(), "Lantern.2020.1080p.WEB-DL.DDP5.1.H.264")
    assert release.score == {"quality.webdl": 200, "quality.avc": 500, "audio.dolby_digital_plus": 150}
    assert release.rank == sum(release.score.values()) == 850


@pytest.mark.parametrize(
    "tail",
    [
        "1080p.WEB-DL.DDP5.1.H.264-OPEN",
        "2160p.UHD.BluRay.x265.10bit.HDR.DV.TrueHD.7.1.Atmos-OPEN",
        "1080p.BluRay.x264.DTS-HD.MA.5.1-OPEN",
        "720p.WEBRip.x264.AAC-OPEN",
        "720p.HDTV.x264-OPEN",
        "1080p.BluRay.REPACK.x264.FLAC.2.0-OPEN",
    ],
)
def test_ranks_are_those_of_rank_torrent_name(tail: str) -> None:
    everything = {key: replace(term, rank=None) for key, term in options().terms.items()}
    taken = {key: TermOption(fetch=True, rank=term.rank) for key, term in everything.items()}
    release = verdict(wanted_film(), f"Lantern.2020.{tail}", options(terms=taken))
    theirs = rtn_parse(f"Lantern.2020.{tail}")
    # RTN counts repack and the like only beside a season or HDR; we always do.
    extra = 20 if "REPACK" in tail else 0
    settings = SettingsModel()
    assert release.rank == get_rank(theirs, settings, DefaultRanking()) + extra


def test_the_users_points_replace_the_usual_ones() -> None:
    terms = {**options().terms, "quality.webdl": TermOption(fetch=True, rank=7)}
    release = verdict(wanted_film(), "Lantern.2020.1080p.WEB-DL", options(terms=terms))
    assert release.score == {"quality.webdl": 7}


def test_preferred_names_and_languages_outweigh_the_rest() -> None:
    ranking = options(preferred=("-grp$",), languages_preferred=frozenset({"de"}))
    release = verdict(wanted_film(), "Lantern.2020.GERMAN.1080p.WEB-GRP", ranking)
    assert release.score["preferred"] == release.score["preferred_language"] == 10_000


def test_a_rank_under_the_floor_is_refused() -> None:
    release = verdict(wanted_film(), "Lantern.2020.1080p.WEBRip", options(remove_ranks_under=0))
    assert release.rejection is not None
    assert release.rejection.code == "low_rank"


def test_the_order_is_resolution_rank_cached_seeders_size() -> None:
    base = verdict(wanted_film(), "Lantern.2020.1080p.WEB")
    best = [
        candidate(base, resolution="2160p", rank=1),
        candidate(base, resolution="1080p", rank=9),
        candidate(base, resolution="1080p", rank=5, cached_at=("x",)),
        candidate(base, resolution="1080p", rank=5, seeders=50),
        candidate(base, resolution="1080p", rank=5, seeders=5, size=9),
        candidate(base, resolution="1080p", rank=5, seeders=5, size=8),
        candidate(base, resolution="unknown", rank=99),
    ]
    assert order(reversed(best)) == best


def test_rank_may_count_before_resolution() -> None:
    base = verdict(wanted_film(), "Lantern.2020.1080p.WEB")
    sharp, dear = candidate(base, resolution="2160p", rank=1), candidate(base, resolution="720p", rank=9)
    assert order([sharp, dear]) == [sharp, dear]
    assert order([sharp, dear], options(order="rank")) == [dear, sharp]


def test_only_the_best_of_each_resolution_are_kept_when_asked() -> None:
    base = verdict(wanted_film(), "Lantern.2020.1080p.WEB")
    three = [candidate(base, rank=rank) for rank in (3, 2, 1)]
    assert order(three, options(per_resolution=2)) == three[:2]


def test_the_sandbox_takes_and_gives_values_that_travel() -> None:
    film = wanted_film()
    files = torrent("Lantern.2020.1080p.WEB.mkv", "Sample/sample.mkv")
    search = ParseTask(film, (found("Lantern.2020.1080p.WEB"), found("x")), options(), NOW)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        releases = pool.submit(parse_scrape_results, search).result(60)
        matches = pool.submit(map_items_to_files, MapTask(film, "Lantern 2020", files)).result(60)
        answer = pool.submit(validate_torrent_files, ValidateTask(film, matches, files)).result(60)
    assert releases == parse_scrape_results(search)
    assert [release.rejection is None for release in releases] == [True, False]
    assert [match.file.path for match in matches] == ["Lantern.2020.1080p.WEB.mkv"]
    assert answer.is_useful
    assert pickle.loads(pickle.dumps(releases)) == releases  # noqa: S301 - our own values
