"""By hand, where no provider is needed: what is refused, what a person has against releases, feeds with hostile titles."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from program.settings.ranking import RankingSettings, overridden
from tests.api.home import Home
from tests.db.library import film_metadata, release, season, show_metadata

A, B = "a" * 40, "b" * 40
HOSTILE = "<script>alert(1)</script>\r\nEND:VCALENDAR\r\n\x07 & \u202e"

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/scrape", "query: name a title by item_id, tmdb_id, tvdb_id or imdb_id"),
        ("/scrape?item_id=99999999999999999999", "item_id: "),
        ("/scrape?item_id=1&ranking_overrides={", "ranking_overrides: must be a JSON object of lists"),
        (
            "/scrape?item_id=1&ranking_overrides=" + "[" * 5000,
            "ranking_overrides: must be a JSON object of lists",
        ),
        (
            '/scrape?item_id=1&ranking_overrides={"colour":["red"]}',
            "ranking_overrides: colour is no group of properties",
        ),
        (
            '/scrape?item_id=1&ranking_overrides={"quality":["vhs2"]}',
            "ranking_overrides: quality has no vhs2",
        ),
        (
            '/scrape?item_id=1&ranking_overrides={"require":["("]}',
            "ranking_overrides: is not a regular expression",
        ),
        ("/stream/hls/1/index.m3u8?pix_fmt=yuv420p;rm", "pix_fmt: "),
        ("/stream/hls/1/index.m3u8?level=4.1%20-f%20null", "level: "),
    ],
)
def test_a_bad_question_is_422_with_its_place(home: Home, path: str, detail: str) -> None:
    status, said = home.refused("GET", path)
    assert status == 422
    assert said.startswith(detail)


@pytest.mark.parametrize(
    "magnet",
    ["", "http://127.0.0.1/x.torrent", "magnet:?xt=urn:btih:xyz", "magnet:?tr=http://10.0.0.1", "f" * 39],
)
def test_what_is_no_magnet_is_refused_and_no_address_in_it_is_asked(home: Home, magnet: str) -> None:
    status, said = home.refused("POST", "/scrape/start_session", params={"item_id": "1", "magnet": magnet})
    assert status == 422
    assert said.startswith("magnet: ")


def test_a_session_that_is_not_there_is_404(home: Home) -> None:
    said = (404, "this choice of files has expired; begin it again")
    for action in ("select_files", "complete", "abort", "update_attributes"):
        assert home.refused("POST", "/scrape/session/nothing", json={"action": action}) == said


def test_a_torrent_cannot_be_had_without_a_debrid_service(home: Home) -> None:
    film = home.library.film()
    home.library.index(film, film_metadata())
    asked = {"item_id": str(film), "magnet": f"magnet:?xt=urn:btih:{A}&dn=Sintel"}
    said = (409, "no debrid service is set up or usable")
    assert home.refused("POST", "/scrape/start_session", params=asked) == said


def test_releases_are_ruled_out_and_allowed_again(home: Home) -> None:
    film = home.library.film()
    home.library.index(film, film_metadata())
    home.library.find_releases(film, release(A, rank=500), release(B, rank=300))
    path = f"/items/{film}/streams"
    number = next(one["id"] for one in home.get(path)["streams"] if one["infohash"] == A)
    home.post(f"{path}/{number}/blacklist?reason=bad sound")
    ruled_out = home.get(path)["blacklisted_streams"]
    assert [(one["infohash"], one["blacklisted"]) for one in ruled_out] == [(A, "bad sound")]
    home.post(f"{path}/{number}/unblacklist")
    assert home.get(path)["blacklisted_streams"] == []
    home.post(f"{path}/{number}/blacklist")
    home.post(f"{path}/reset")
    assert home.get(path)["blacklisted_streams"] == []
    assert home.refused("POST", f"{path}/999/blacklist") == (404, f"item {film} has no release 999")


def test_limits_for_one_search_count_for_every_wanted_season_of_a_show(home: Home) -> None:
    show = home.library.show(season(1), season(2), season(3), wanted=(1, 2))
    asked = {"media_type": "tv", "item_id": show, "max_filesize_override": 700}
    home.post("/scrape/auto", asked)
    waiting = home.engine.jobs("process-media-item")
    assert sorted(job.name for job in waiting) == ["Pioneer One S01", "Pioneer One S02"]


def test_limits_for_a_title_that_is_not_there_yet_are_said_not_to_count(home: Home) -> None:
    asked = {"media_type": "movie", "tmdb_id": "10378", "max_filesize_override": 700}
    (result,) = home.post("/scrape/auto", asked)["items"]
    assert result["sentence"] == (
        "TMDB 10378 is added; limits for a search count once it is in the library: search it again then"
    )
    del asked["max_filesize_override"]
    (result,) = home.post("/scrape/auto", {**asked, "tmdb_id": "45745"})["items"]
    assert result["sentence"] == "TMDB 45745 is added"


def test_a_title_is_looked_up_again_once(home: Home) -> None:
    film = home.library.film()
    home.library.index(film, film_metadata())
    assert home.post("/items/reindex", {"ids": [film]})["items"][0]["sentence"].endswith("is looked up again")
    assert home.post("/items/reindex", {"ids": [film]})["items"][0]["sentence"].endswith(
        "being looked up already"
    )


def test_a_provider_is_tried_with_settings_that_are_not_saved(home: Home) -> None:
    body = home.post("/settings/test/downloaders/vault", {"enabled": True, "url": "http://127.0.0.1:9"})
    assert set(body) == {"works", "state", "message"}
    assert not home.store.current.downloaders.vault.enabled  # type: ignore[attr-defined]
    assert home.refused("POST", "/settings/test/downloaders/none", json={})[0] in (404, 422)


def test_hostile_titles_stay_text_in_the_calendar_and_the_feed(home: Home) -> None:
    film = home.library.film()
    home.library.index(film, film_metadata(title=HOSTILE))
    home.library.complete(film, film)
    show = home.library.show(season(1))
    home.library.index(show, show_metadata(season(1), title=HOSTILE))
    feeds = home.get("/feeds")
    calendar = home.call("GET", f"/{feeds['calendar']}", key=None)
    assert calendar.headers["Content-Type"].startswith("text/calendar")
    lines = calendar.content.decode().split("\r\n")
    assert lines.count("END:VCALENDAR") == 1
    assert all(len(line.encode()) <= 75 for line in lines)
    root = ET.fromstring(home.call("GET", f"/{feeds['arrivals']}", key=None).content)  # noqa: S314 - our own
    assert [item.findtext("title", "")[:8] for item in root.iter("item")] == ["<script>"]


def test_a_search_may_take_other_properties_than_the_settings(home: Home) -> None:
    options = RankingSettings.model_validate({}).plain()
    found = overridden(
        options, {"resolutions": ["r720p"], "quality": ["webdl"], "exclude": ["HDR"], "trash": ["cam"]}
    )
    assert found.resolutions == {"720p"}
    assert found.exclude == ("HDR",)
    assert {path for path, term in found.terms.items() if term.fetch and path.startswith("quality.")} == {
        "quality.webdl"
    }
    assert found.terms["hdr.sdr"] == options.terms["hdr.sdr"]
    assert not found.remove_trash
