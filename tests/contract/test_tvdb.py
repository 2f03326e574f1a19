"""TheTVDB: shows by each id, orders of episodes, air times as instants, tokens that end, pages that do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from loguru import logger
from pytest_httpserver import HTTPServer
from werkzeug import Request
from werkzeug import Response as Answer

from program.clock import ManualClock
from program.demo.launch import Servers
from program.errors import BadAnswer, Misconfigured
from program.media.item import Ids, ShowStatus, Title
from program.media.metadata import EpisodeMetadata, Metadata
from program.services.indexers import air_times, country_code, language_code
from program.services.indexers.tvdb import Tvdb
from tests.support.providers import Make, make

NOW = datetime(2031, 1, 8, tzinfo=UTC)
OFFICIAL = {"id": 1, "name": "Aired Order", "type": "official"}
ABSOLUTE = {"id": 3, "name": "Absolute Order", "type": "absolute"}


def episode(number: int, season: int | None, place: int | None, **changes: Any) -> dict[str, Any]:
    plain = {
        "id": number,
        "seriesId": 9,
        "name": f"名{number}",
        "aired": "2031-01-05",
        "runtime": 24,
        "absoluteNumber": 0,
    }
    return {**plain, "seasonNumber": season, "number": place, "finaleType": None, **changes}


SERIES: dict[str, Any] = {
    "id": 9,
    "name": "デモ",
    "image": "/banners/v4/series/9/posters/x.jpg",
    "aliases": [{"language": "eng", "name": "Demo the Show"}, {"language": "deu", "name": "Die Demo"}],
    "firstAired": "2030-01-05",
    "nextAired": "2031-01-12",
    "status": {"id": 1, "name": "Continuing", "recordType": "series", "keepUpdated": True},
    "originalCountry": "jpn",
    "originalLanguage": "jpn",
    "averageRuntime": 24,
    "year": "2030",
    "airsTime": "23:00",
    "originalNetwork": {"id": 1, "name": "Demo TV", "country": "jpn"},
    "latestNetwork": {"id": 1, "name": "Demo TV", "country": "jpn"},
    "genres": [{"id": 27, "name": "Anime", "slug": "anime"}],
    "artworks": None,
    "characters": None,
    "episodes": None,
    "remoteIds": [
        {"id": "tt0000202", "type": 2, "sourceName": "IMDB"},
        {"id": "202", "type": 12, "sourceName": "TheMovieDB.com"},
    ],
    "seasons": [
        {"id": 90, "type": OFFICIAL, "number": 0},
        {"id": 91, "type": OFFICIAL, "number": 1},
        {"id": 92, "type": OFFICIAL, "number": 2},
        {"id": 94, "type": OFFICIAL, "number": 3, "name": "The Last"},
        {"id": 93, "type": ABSOLUTE, "number": 1},
    ],
    "seasonTypes": [OFFICIAL, ABSOLUTE],
    "translations": {
        "nameTranslations": [
            {"name": "Demo Show (2030)", "language": "eng", "isPrimary": True, "aliases": ["Demo the Show"]}
        ]
    },
}
PAGES: dict[str, list[dict[str, Any]]] = {
    "official": [
        episode(900000, 0, 1, aired="2029-12-01"),
        episode(900001, 1, 1, aired="2030-01-05"),
        episode(900002, 1, 2, aired="2030-01-12"),
        episode(900003, 2, 1),
        episode(900004, 2, 2, aired="2031-01-12"),
        episode(900005, 2, 3, aired=None),
        episode(900006, None, None),
    ],
    "official/eng": [episode(900003, 2, 1, name="Three"), episode(900004, 2, 2, name=None)],
    "absolute": [episode(900001, 1, 1), episode(900002, 1, 2), episode(900003, 1, 3), episode(900004, 1, 4)],
}


class Service:
    """A TheTVDB with one show. tokens: those that are good now."""

    def __init__(
        self, server: HTTPServer, series: dict[str, Any], pages: dict[str, list[dict[str, Any]]]
    ) -> None:
        self.series = series
        self.pages = pages
        self.tokens: set[str] = set()
        self.logins = 0
        self.page_size = 500
        server.expect_request("/login", method="POST").respond_with_handler(self._login)
        server.expect_request("/series/9/extended").respond_with_handler(lambda r: self._data(r, self.series))
        for order in pages:
            server.expect_request(f"/series/9/episodes/{order}").respond_with_handler(
                partial(self._page, order=order)
            )

    def _login(self, _: Request) -> Answer:
        self.logins += 1
        self.tokens = {f"token-{self.logins}"}
        return answer({"status": "success", "data": {"token": f"token-{self.logins}"}})

    def _page(self, request: Request, order: str) -> Answer:
        page, rows = int(request.args["page"]), self.pages[order]
        more = (page + 1) * self.page_size < len(rows)
        links = {
            "next": f"https://api4.thetvdb.com/v4/series/9/episodes/{order}?page={page + 1}" if more else None
        }
        part = rows[page * self.page_size : (page + 1) * self.page_size]
        return self._data(request, {"episodes": part}, links=links)

    def _data(self, request: Request, data: object, **more: object) -> Answer:
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return answer({"status": "failure", "message": "Unauthorized", "data": None}, 401)
        return answer({"status": "success", "data": data, **more})


def answer(data: object, status: int = 200) -> Answer:
    return Answer(json.dumps(data), status, content_type="application/json")


def show_of(plugin: Tvdb, ids: Ids) -> Metadata:
    show = plugin.show(ids)
    assert show is not None
    return show


@pytest.fixture
def service(odd: HTTPServer) -> Service:
    return Service(odd, dict(SERIES), dict(PAGES))


@pytest.fixture
def tvdb(service: Service, odd_url: str) -> Tvdb:
    return make(Tvdb, odd_url, ManualClock(NOW))


def test_a_show_is_read_whole(tvdb: Tvdb) -> None:
    show = show_of(tvdb, Ids(tvdb="9"))
    assert show.ids == Ids(imdb="tt0000202", tmdb="202", tvdb="9")
    assert (show.title, show.original_title, show.year, show.runtime) == ("Demo Show", "デモ", 2030, 24)
    assert (show.network, show.country, show.language) == ("Demo TV", "jp", "ja")
    assert (show.genres, show.is_anime, show.show_status) == (("Anime",), True, ShowStatus.CONTINUING)
    assert show.poster == "https://artworks.thetvdb.com/banners/v4/series/9/posters/x.jpg"
    assert show.aliases == (
        Title("デモ", None, "ja"),
        Title("Demo the Show", None, "en"),
        Title("Die Demo", None, "de"),
        Title("Demo Show", None, "en"),
    )


def test_air_times_are_instants(tvdb: Tvdb) -> None:
    show = show_of(tvdb, Ids(tvdb="9"))
    assert show.first_aired_at == datetime(2030, 1, 5, 14, tzinfo=UTC)
    assert show.next_air_at == datetime(2031, 1, 12, 14, tzinfo=UTC)
    [first, *_] = show.seasons[2].episodes
    assert first.aired_at == datetime(2031, 1, 5, 14, tzinfo=UTC)


def test_specials_and_announced_seasons_are_known_and_ghosts_are_not(tvdb: Tvdb) -> None:
    show = show_of(tvdb, Ids(tvdb="9"))
    shape = [(season.number, season.title, len(season.episodes)) for season in show.seasons]
    assert shape == [(0, "Specials", 1), (1, "Season 1", 2), (2, "Season 2", 3), (3, "The Last", 0)]


def test_an_episode_has_its_absolute_number_and_its_english_name(tvdb: Tvdb) -> None:
    second = show_of(tvdb, Ids(tvdb="9")).seasons[2].episodes
    assert second[0] == EpisodeMetadata(
        service_id="900003",
        number=1,
        title="Three",
        absolute_number=3,
        aired_at=datetime(2031, 1, 5, 14, tzinfo=UTC),
        runtime=24,
    )
    assert [(one.title, one.absolute_number, one.aired_at is None) for one in second[1:]] == [
        ("名900004", 4, False),
        ("名900005", None, True),
    ]


def test_the_stand_in_s_show_is_read(servers: Servers, provider: Make) -> None:
    servers.control("/options", {"tvdb_page_size": 3})
    show = provider(Tvdb).show(Ids(tvdb="170551"))
    assert (show.title, show.ids.imdb, show.country, show.language) == (
        "Pioneer One",
        "tt1748166",
        "us",
        "en",
    )
    assert [(season.number, len(season.episodes)) for season in show.seasons] == [(0, 1), (1, 6), (2, 4)]
    # 20:00 in New York on 16 June 2010.
    assert show.seasons[1].episodes[0].aired_at == datetime(2010, 6, 17, 0, tzinfo=UTC)
    assert show.next_air_at == show.seasons[2].episodes[3].aired_at


def test_a_show_is_found_by_its_imdb_id(provider: Make) -> None:
    assert provider(Tvdb).show(Ids(imdb="tt1748166")).ids.tvdb == "170551"


@pytest.mark.parametrize("ids", [Ids(tvdb="999999"), Ids(imdb="tt9999999"), Ids(tmdb="424242"), Ids()])
def test_an_id_that_is_not_of_a_show_is_not_known(provider: Make, ids: Ids) -> None:
    assert provider(Tvdb).show(ids) is None


def test_of_the_rows_under_a_remote_id_only_the_show_that_bears_it_is_taken(
    odd: HTTPServer, service: Service, tvdb: Tvdb
) -> None:
    rows = [
        {"season": {"id": 3}},
        {"movie": {"id": 202}},
        {"series": {"id": 8, "name": "x"}},
        {"series": {"id": 9}},
    ]
    odd.expect_request("/search/remoteid/202").respond_with_json({"status": "success", "data": rows})
    odd.expect_request("/series/8/extended").respond_with_json(
        {"data": {"id": 8, "remoteIds": [{"id": "202", "type": 10}]}}
    )
    assert show_of(tvdb, Ids(tmdb="202")).ids.tvdb == "9"


@pytest.mark.parametrize("nothing", [None, []])
def test_an_unknown_remote_id_comes_in_two_forms(odd: HTTPServer, tvdb: Tvdb, nothing: object) -> None:
    odd.expect_request("/search/remoteid/tt1").respond_with_json({"status": "success", "data": nothing})
    assert tvdb.show(Ids(imdb="tt1")) is None


def test_a_show_that_is_not_found_by_one_id_is_tried_by_the_next(odd: HTTPServer, tvdb: Tvdb) -> None:
    odd.expect_request("/series/7/extended").respond_with_json({"message": "NotFoundException"}, 404)
    odd.expect_request("/search/remoteid/tt0000202").respond_with_json({"data": [{"series": {"id": 9}}]})
    assert show_of(tvdb, Ids(tvdb="7", imdb="tt0000202")).ids.tvdb == "9"


def test_one_login_serves_many_questions(service: Service, tvdb: Tvdb) -> None:
    tvdb.show(Ids(tvdb="9"))
    tvdb.show(Ids(tvdb="9"))
    assert service.logins == 1


def test_a_refused_token_leads_to_one_new_login(service: Service, tvdb: Tvdb) -> None:
    tvdb.show(Ids(tvdb="9"))
    service.tokens.clear()
    show_of(tvdb, Ids(tvdb="9"))
    assert service.logins == 2


def test_a_token_is_renewed_before_it_ends(service: Service, odd_url: str) -> None:
    clock = ManualClock(NOW)
    tvdb = make(Tvdb, odd_url, clock)
    tvdb.show(Ids(tvdb="9"))
    clock.advance(timedelta(days=26))
    tvdb.show(Ids(tvdb="9"))
    assert service.logins == 2


def test_a_key_that_asks_for_a_pin_says_so(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/login").respond_with_json({"message": "InvalidValueType: pin required"}, 400)
    with pytest.raises(Misconfigured) as caught:
        make(Tvdb, odd_url).check()
    assert caught.value.field == "pin"


def test_a_pin_is_sent_only_when_there_is_one(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/login").respond_with_json({"data": {"token": "t"}})
    make(Tvdb, odd_url, api_key="k").check()
    make(Tvdb, odd_url, api_key="k", pin="1234").check()
    assert [asked.get_json() for asked, _ in odd.log] == [{"apikey": "k"}, {"apikey": "k", "pin": "1234"}]


@pytest.fixture
def lines() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(lambda line: written.append(str(line)), format="{message}")
    yield written
    logger.remove(sink)


def test_pages_that_repeat_themselves_are_left(odd: HTTPServer, odd_url: str, lines: list[str]) -> None:
    Service(odd, dict(SERIES, seasonTypes=[OFFICIAL], originalLanguage="eng"), {})
    body = {
        "data": {"episodes": [episode(1, 1, 1)]},
        "links": {"next": "https://api4.thetvdb.com/v4/x?page=1"},
    }
    odd.expect_request("/series/9/episodes/official").respond_with_json(body)
    show = show_of(make(Tvdb, odd_url), Ids(tvdb="9"))
    assert len(show.seasons[1].episodes) == 1
    assert sum("/episodes/official" in asked.path for asked, _ in odd.log) == 2
    assert any("do not end" in line for line in lines)


def test_a_page_that_is_missing_is_not_taken_for_the_end(odd: HTTPServer, odd_url: str) -> None:
    Service(odd, dict(SERIES, seasonTypes=[OFFICIAL], originalLanguage="eng"), {})
    first = {
        "data": {"episodes": [episode(1, 1, 1)]},
        "links": {"next": "https://api4.thetvdb.com/v4/x?page=1"},
    }
    odd.expect_request("/series/9/episodes/official", query_string="page=0").respond_with_json(first)
    odd.expect_request("/series/9/episodes/official", query_string="page=1").respond_with_json({}, status=404)
    with pytest.raises(BadAnswer, match="page 1 of the episodes of show 9 is not there"):
        make(Tvdb, odd_url).show(Ids(tvdb="9"))


def test_a_show_without_an_english_name_keeps_its_own(service: Service, tvdb: Tvdb) -> None:
    service.series |= {
        "translations": None,
        "aliases": None,
        "genres": None,
        "remoteIds": None,
        "status": None,
    }
    show = show_of(tvdb, Ids(tvdb="9", imdb="tt0000202"))
    assert (show.title, show.original_title) == ("デモ", None)
    assert (show.ids.imdb, show.show_status) == ("tt0000202", ShowStatus.UNKNOWN)


@pytest.mark.parametrize(
    ("country", "airs", "date", "instant"),
    [
        ("usa", "20:00", "2031-07-01", datetime(2031, 7, 2, 0, tzinfo=UTC)),
        ("usa", "8:00 PM", "2031-01-01", datetime(2031, 1, 2, 1, tzinfo=UTC)),
        ("jpn", "25:30", "2031-01-05", datetime(2031, 1, 5, 16, 30, tzinfo=UTC)),
        ("gbr", None, "2031-07-01", datetime(2031, 6, 30, 23, tzinfo=UTC)),
        ("xyz", "12:00 am", "2031-07-01", datetime(2031, 7, 1, tzinfo=UTC)),
        (None, "soon", "2031-07-01", datetime(2031, 7, 1, tzinfo=UTC)),
        # The clocks go forward at two that night: midnight and noon are 11 hours apart.
        ("deu", "12:00", "2031-03-30", datetime(2031, 3, 30, 10, tzinfo=UTC)),
        ("deu", "12:00", "", None),
        ("deu", "12:00", "2031-02-31", None),
    ],
)
def test_a_date_and_a_time_of_day_stand_for_an_instant(
    country: str | None, airs: str | None, date: str, instant: datetime | None
) -> None:
    assert air_times([country], airs).instant(date) == instant


def test_the_network_s_country_serves_when_the_show_s_is_not_known() -> None:
    assert air_times([None, "jpn"], "09:00").instant("2031-01-01") == datetime(2031, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("jpn", "ja"),
        ("deu", "de"),
        ("ger", "de"),
        ("zho", "zh"),
        ("por", "pt"),
        ("pt", "pt"),
        ("fra", "fr"),
        (None, None),
        ("??", None),
    ],
)
def test_languages_have_two_letters(code: str | None, language: str | None) -> None:
    assert language_code(code) == language


def test_countries_have_two_letters() -> None:
    assert [country_code(code) for code in ("usa", "JPN", "xyz", None)] == ["us", "jp", None, None]


def test_shows_are_found_by_their_name(provider: Make, odd: HTTPServer, odd_url: str) -> None:
    (found,) = provider(Tvdb).search("pioneer")
    assert (found.title, found.year, found.is_movie, found.ids) == (
        "Pioneer One",
        2010,
        False,
        Ids(tvdb="170551"),
    )
    assert list(provider(Tvdb).search("nothing has this name")) == []
