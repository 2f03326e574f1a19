"""Torrentio: what is asked for each kind of title, and what is read from its streams."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from program.demo.launch import Servers
from program.errors import NotFound
from program.media.item import Ids, MediaType
from program.media.release import FoundRelease
from program.media.wanted import Wanted, WantedEpisode
from program.services.scrapers import normal_infohash, seeders_in, size_in
from program.services.scrapers.torrentio import Torrentio
from tests.support.providers import Make, make

HASH = "c08a9ee8ce3a5c2c08865e2b05406273cabc97e7"
FILM = Wanted(item_id=1, type=MediaType.MOVIE, title="Demo", ids=Ids(imdb="tt0000101"))


def show(
    kind: MediaType, season: int | None = None, episode: int | None = None, *wanted: tuple[int, int]
) -> Wanted:
    """Return a show of two seasons and specials; `wanted` are the episodes that are asked for."""
    numbers = [(0, 1), *((season, number) for season in (1, 2) for number in (1, 2, 3, 4))]
    episodes = tuple(
        WantedEpisode(item_id=at, season=one[0], number=one[1], is_wanted=one in wanted)
        for at, one in enumerate(numbers)
    )
    return Wanted(
        item_id=1,
        type=kind,
        title="Demo Show",
        ids=Ids(imdb="tt0000202"),
        season=season,
        episode=episode,
        episodes=episodes,
    )


def stream(**changes: Any) -> dict[str, Any]:
    plain = {"name": "Torrentio\n1080p", "title": "Demo.1080p.WEB\n👤 42 💾 1.37 GB ⚙️ EZTV", "infoHash": HASH}
    return {**plain, **changes}


def found(server: HTTPServer, url: str, *streams: object, wanted: Wanted = FILM) -> list[FoundRelease]:
    server.expect_request("/sort=qualitysize/stream/movie/tt0000101.json").respond_with_json(
        {"streams": streams}
    )
    return list(make(Torrentio, url).search(wanted))


def test_a_film_is_found_in_the_stand_in(servers: Servers, provider: Make) -> None:
    wanted = Wanted(item_id=1, type=MediaType.MOVIE, title="Sintel", ids=Ids(imdb="tt1727587"))
    releases = {one.raw_title: one for one in provider(Torrentio).search(wanted)}
    release = releases["Sintel.2010.1080p.BluRay.x264.DTS-OPEN"]
    assert release.source == "torrentio"
    assert release.size is not None
    assert release.seeders is not None
    assert release.infohash in {one["infohash"] for one in servers.control("/catalog")["releases"]}


def test_a_pack_is_found_by_asking_for_an_episode(provider: Make) -> None:
    wanted = Wanted(
        item_id=1, type=MediaType.SEASON, title="Pioneer One", ids=Ids(imdb="tt1748166"), season=1
    )
    titles = [one.raw_title for one in provider(Torrentio).search(wanted)]
    assert "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN" in titles
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        (FILM, ["movie/tt0000101"]),
        (show(MediaType.EPISODE, 2, 3, (2, 3)), ["series/tt0000202:2:3"]),
        (show(MediaType.SEASON, 2, None, (2, 1), (2, 2)), ["series/tt0000202:2:1"]),
        (show(MediaType.SEASON, 2, None, (2, 3), (2, 4)), ["series/tt0000202:2:1", "series/tt0000202:2:3"]),
        (show(MediaType.SHOW, None, None, (0, 1), (1, 1), (2, 1)), ["series/tt0000202:1:1"]),
        (show(MediaType.SHOW, None, None, (2, 2)), ["series/tt0000202:2:1", "series/tt0000202:2:2"]),
    ],
    ids=["film", "episode", "season", "season in part", "show", "show in part"],
)
def test_each_kind_of_title_has_its_question(
    odd: HTTPServer, odd_url: str, wanted: Wanted, paths: list[str]
) -> None:
    for path in paths:
        odd.expect_request(f"/sort=qualitysize/stream/{path}.json").respond_with_json({"streams": []})
    assert list(make(Torrentio, odd_url).search(wanted)) == []
    assert len(odd.log) == len(paths)
    odd.check()


def test_without_an_imdb_id_nothing_is_asked(odd: HTTPServer, odd_url: str) -> None:
    wanted = Wanted(item_id=1, type=MediaType.MOVIE, title="Demo", ids=Ids(tmdb="101"))
    assert list(make(Torrentio, odd_url).search(wanted)) == []
    assert odd.log == []


def test_a_stream_of_a_pack_is_read_whole(odd: HTTPServer, odd_url: str) -> None:
    title = "Demo.S01.1080p.WEB.x264-GRP\nDemo.S01E02.1080p.mkv\n👤 42 💾 1.37 GB ⚙️ EZTV\n🇬🇧 / 🇫🇷"
    hints = {"bingeGroup": f"torrentio|{HASH}", "filename": "Demo.S01E02.1080p.mkv"}
    [release] = found(odd, odd_url, stream(title=title, fileIdx=3, behaviorHints=hints))
    assert release == FoundRelease(
        infohash=HASH,
        raw_title="Demo.S01.1080p.WEB.x264-GRP",
        source="torrentio",
        size=int(1.37 * 1024**3),
        seeders=42,
        file_name="Demo.S01E02.1080p.mkv",
        file_index=3,
    )


def test_what_a_stream_leaves_out_is_unknown(odd: HTTPServer, odd_url: str) -> None:
    [release] = found(odd, odd_url, {"infoHash": HASH.upper(), "title": "Demo.1080p\n⚙️ EZTV"})
    assert (release.infohash, release.size, release.seeders, release.file_index) == (HASH, None, None, None)


def test_a_stream_with_an_address_has_its_hash_in_it(odd: HTTPServer, odd_url: str) -> None:
    url = f"https://torrentio.test/resolve/realdebrid/KEY/{HASH}/null/undefined/Demo.mkv"
    [release] = found(odd, odd_url, {"url": url, "title": "Demo.1080p\n👤 1"})
    assert release.infohash == HASH


def test_messages_and_odd_rows_are_no_releases(odd: HTTPServer, odd_url: str) -> None:
    message = {
        "name": "Torrentio\nRD error",
        "title": "Invalid key",
        "url": "https://torrentio.test/videos/x.mp4",
    }
    rows = (
        message,
        "nonsense",
        stream(infoHash=None),
        stream(infoHash="xyz"),
        stream(fileIdx="two"),
        stream(),
    )
    assert [one.infohash for one in found(odd, odd_url, *rows)] == [HASH]


def test_the_same_hash_counts_once(odd: HTTPServer, odd_url: str) -> None:
    assert len(found(odd, odd_url, stream(), stream(title="Demo again\n👤 1"))) == 1


def test_the_configuration_is_sent_encoded(odd: HTTPServer, odd_url: str) -> None:
    plugin = make(Torrentio, odd_url, options="sort=size|qualityfilter=scr,cam")
    odd.expect_request("/sort=size|qualityfilter=scr,cam/stream/movie/tt0000101.json").respond_with_json(
        {"streams": []}
    )
    plugin.search(FILM)
    assert "%7C" in odd.log[0][0].environ["RAW_URI"]
    assert odd.log[0][0].headers["User-Agent"].startswith("Mozilla/")


def test_a_debrid_key_among_the_options_is_never_shown(odd: HTTPServer, odd_url: str) -> None:
    plugin = make(Torrentio, odd_url, options="sort=size|debrid=ABCDEFGHIJKLMNOPQRST")
    odd.expect_request(
        "/sort=size|debrid=ABCDEFGHIJKLMNOPQRST/stream/movie/tt0000101.json"
    ).respond_with_data("", 404)
    with pytest.raises(NotFound) as caught:
        plugin.search(FILM)
    assert "ABCDEFGHIJKLMNOPQRST" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "infohash"),
    [
        (HASH, HASH),
        (HASH.upper(), HASH),
        ("YCFJ52GOHJOCYCEGLYVQKQDCOPFLZF7H", HASH),
        (HASH.encode().hex(), HASH),
        ("", None),
        ("c08a9ee8", None),
        ("g" * 40, None),
        ("1" * 32, None),
        ("f" * 64, None),
    ],
)
def test_hashes_come_in_several_forms(text: str, infohash: str | None) -> None:
    assert normal_infohash(text) == infohash


@pytest.mark.parametrize(
    ("text", "size", "seeders"),
    [
        ("👤 12 💾 1.46 GB ⚙️ NyaaSi", int(1.46 * 1024**3), 12),
        ("👤0 💾26.6 GB", int(26.6 * 1024**3), 0),
        ("📦 700 MB / 33 GB", 700 * 1024**2, None),
        ("💾 2 TB", 2 * 1024**4, None),
        ("💾 512 kB", 512 * 1024, None),
        ("💾 1.2.3 GB", None, None),
        ("nothing", None, None),
    ],
)
def test_numbers_in_text_are_read_one_by_one(text: str, size: int | None, seeders: int | None) -> None:
    assert (size_in(text), seeders_in(text)) == (size, seeders)
