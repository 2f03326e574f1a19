"""Torrentio answers as the Stremio protocol and its own source say."""

from __future__ import annotations

import re

from program.demo.launch import Servers
from tests.demo.conftest import Client

SINTEL = "/stream/movie/tt1727587.json"
PILOT = "/stream/series/tt1748166:1:1.json"


def test_a_stream_has_hash_name_and_a_text_with_seeders_size_and_source(torrentio: Client) -> None:
    streams = torrentio.get(SINTEL).json()["streams"]
    one = next(stream for stream in streams if stream["title"].startswith("Sintel.2010.1080p.BluRay"))
    assert re.fullmatch(r"[0-9a-f]{40}", one["infoHash"])
    assert one["name"] == "Torrentio\n1080p"
    # The film is in a torrent with extras, but its path holds the torrent's title: no line of its own.
    assert re.fullmatch(r"👤 187 💾 [\d.]+ [MG]B ⚙️ 1337x", one["title"].split("\n")[1])
    assert one["fileIdx"] == 2
    assert one["behaviorHints"]["filename"] == "Sintel.2010.1080p.BluRay.x264.DTS-OPEN.mkv"


def test_an_episode_in_a_pack_is_named_on_a_line_of_its_own(torrentio: Client) -> None:
    streams = torrentio.get("/stream/series/tt1748166%3A1%3A2.json").json()["streams"]
    pack = next(stream for stream in streams if stream["title"].startswith("Pioneer.One.S01.1080p"))
    assert "S01E02" in pack["title"].split("\n")[1]
    assert pack["behaviorHints"]["bingeGroup"] == f"torrentio|{pack['infoHash']}"
    assert pack["fileIdx"] == 2


def test_a_pack_has_the_same_hash_for_every_episode(torrentio: Client) -> None:
    hashes = [
        {
            stream["infoHash"]
            for stream in torrentio.get(f"/stream/series/tt1748166:1:{number}.json").json()["streams"]
        }
        for number in (1, 6)
    ]
    assert len(hashes[0] & hashes[1]) >= 2


def test_it_is_sorted_by_quality_and_seeders_and_can_be_sorted_otherwise(torrentio: Client) -> None:
    def seeders(path: str) -> list[int]:
        texts = [stream["title"] for stream in torrentio.get(path).json()["streams"]]
        return [int(found[1]) for text in texts if (found := re.search(r"👤 (\d+)", text))]

    assert torrentio.get(SINTEL).json()["streams"][0]["name"] == "Torrentio\n4k"
    by_seeders = seeders(f"/sort=seeders{SINTEL}")
    assert by_seeders == sorted(by_seeders, reverse=True)


def test_a_filter_drops_qualities(torrentio: Client) -> None:
    names = {
        stream["name"]
        for stream in torrentio.get(f"/sort=qualitysize%7Cqualityfilter=cam,4k{SINTEL}").json()["streams"]
    }
    assert names
    assert not names & {"Torrentio\nCAM", "Torrentio\n4k"}


def test_a_limit_counts_per_quality(torrentio: Client) -> None:
    streams = torrentio.get(f"/sort=qualitysize|limit=1{SINTEL}").json()["streams"]
    assert len({stream["name"] for stream in streams}) == len(streams)


def test_nothing_found_is_an_empty_list_with_200(torrentio: Client) -> None:
    for path in (
        "/stream/movie/tt0000001.json",
        "/stream/series/tt1748166:1.json",
        "/stream/series/tt1748166.json",
        "/stream/movie/tt1748166.json",
    ):
        answer = torrentio.get(path)
        assert (answer.status_code, answer.json()["streams"]) == (200, []), path


def test_an_unknown_route_is_404_with_its_own_body(torrentio: Client) -> None:
    answer = torrentio.get("/nothing/here")
    assert (answer.status_code, answer.json()) == (404, {"err": "not found"})
    assert torrentio.get("/manifest.json").json()["resources"][0]["name"] == "stream"


def test_a_withdrawn_release_is_not_found_until_it_is_published_again(
    servers: Servers, torrentio: Client
) -> None:
    servers.control("/catalog", {"op": "withdraw", "title": "tt1727587"})
    assert torrentio.get(SINTEL).json()["streams"] == []
    servers.control("/catalog", {"op": "publish", "release": "Sintel 2010 720p WEB-DL x264 AAC-CC"})
    assert [stream["title"].split("\n")[0] for stream in torrentio.get(SINTEL).json()["streams"]] == [
        "Sintel 2010 720p WEB-DL x264 AAC-CC"
    ]


def test_without_a_key_the_poorly_seeded_are_trimmed(servers: Servers, torrentio: Client) -> None:
    row = {
        "title": "Made Up Film",
        "year": 2020,
        "tmdb": 9000001,
        "imdb": "tt9000001",
        "premiere": "2020-01-01",
    }
    releases = [
        {"name": f"Made.Up.Film.2020.1080p.WEB.x264-{n:02}", "seeders": n % 7, "shared_clip": True}
        for n in range(80)
    ]
    servers.control("/catalog", {"op": "add_film", "row": {**row, "releases": releases}})
    streams = torrentio.get("/stream/movie/tt9000001.json").json()["streams"]
    assert len(streams) == 50
    assert not [stream for stream in streams if "👤 0" in stream["title"]]
