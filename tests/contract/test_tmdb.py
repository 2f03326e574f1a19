"""TMDB: films by either id, dates by kind, names by country."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from program.demo.launch import Servers
from program.media.item import Ids, ReleaseKind, Title
from program.media.metadata import Metadata
from program.services.indexers.tmdb import Tmdb
from tests.support.providers import Make, make


def day(year: int, month: int, date: int) -> datetime:
    return datetime(year, month, date, tzinfo=UTC)


def dated(kind: int, date: str) -> dict[str, Any]:
    return {
        "certification": "",
        "descriptors": [],
        "iso_639_1": "",
        "note": "",
        "release_date": date,
        "type": kind,
    }


FILM: dict[str, Any] = {
    "adult": False,
    "genres": [{"id": 18, "name": "Drama"}],
    "id": 101,
    "imdb_id": "tt0000101",
    "origin_country": ["FR"],
    "original_language": "fr",
    "original_title": "Film Démo",
    "poster_path": "/p.jpg",
    "production_countries": [{"iso_3166_1": "FR", "name": "France"}],
    "release_date": "2031-02-03",
    "runtime": 90,
    "status": "Released",
    "title": "Demo Film",
    "external_ids": {"imdb_id": "tt0000101", "wikidata_id": None},
    "release_dates": {
        "results": [
            {"iso_3166_1": "FR", "release_dates": [dated(3, "2031-02-03T00:00:00.000Z")]},
            {
                "iso_3166_1": "US",
                "release_dates": [
                    dated(2, "2031-03-01T00:00:00.000Z"),
                    dated(4, "2031-05-01T00:00:00.000Z"),
                    dated(4, "2032-05-01T00:00:00.000Z"),
                    dated(5, "2031-06-01T00:00:00.000Z"),
                ],
            },
        ]
    },
    "alternative_titles": {
        "titles": [
            {"iso_3166_1": "DE", "title": "Der Demofilm", "type": ""},
            {"iso_3166_1": "US", "title": "The Demo", "type": "working title"},
        ]
    },
    "translations": {
        "translations": [
            {"iso_3166_1": "DE", "iso_639_1": "de", "data": {"title": "Der Demofilm"}},
            {"iso_3166_1": "FR", "iso_639_1": "fr", "data": {"title": ""}},
        ]
    },
}


def film_of(plugin: Tmdb, ids: Ids) -> Metadata:
    film = plugin.movie(ids)
    assert film is not None
    return film


def serve(server: HTTPServer, film: dict[str, Any]) -> None:
    server.expect_request(f"/movie/{film['id']}").respond_with_json(film)


def test_a_film_is_read_whole(odd: HTTPServer, odd_url: str) -> None:
    serve(odd, FILM)
    film = film_of(make(Tmdb, odd_url), Ids(tmdb="101"))
    assert film.ids == Ids(imdb="tt0000101", tmdb="101")
    assert (film.title, film.original_title, film.year, film.runtime) == ("Demo Film", "Film Démo", 2031, 90)
    assert (film.country, film.language, film.genres, film.is_anime) == ("fr", "fr", ("Drama",), False)
    assert film.poster == "https://image.tmdb.org/t/p/w500/p.jpg"
    assert film.releases == {
        ReleaseKind.THEATRICAL: day(2031, 2, 3),
        ReleaseKind.LIMITED: day(2031, 3, 1),
        ReleaseKind.DIGITAL: day(2031, 5, 1),
        ReleaseKind.PHYSICAL: day(2031, 6, 1),
        ReleaseKind.PRIMARY: day(2031, 2, 3),
    }
    assert film.aliases == (
        Title("Der Demofilm", "de"),
        Title("The Demo", "us"),
        Title("Der Demofilm", "de", "de"),
    )


@pytest.mark.parametrize(
    "ids", [Ids(tmdb="45745"), Ids(imdb="tt1727587"), Ids(imdb="tt1727587", tmdb="999999")]
)
def test_a_film_is_found_by_either_id(provider: Make, ids: Ids) -> None:
    film = film_of(provider(Tmdb), ids)
    assert (film.title, film.year, film.ids) == ("Sintel", 2010, Ids(imdb="tt1727587", tmdb="45745"))


def test_a_read_access_token_works_as_well_as_a_key(servers: Servers) -> None:
    ready = servers.ready["tmdb"]
    for key in (ready["key"], ready["token"]):
        plugin = make(Tmdb, ready["url"], api_key=key)
        plugin.check()
        assert film_of(plugin, Ids(tmdb="45745")).title == "Sintel"
    asked = servers.control("/requests?provider=tmdb")["requests"]
    assert not any(ready["token"] in one["path"] for one in asked)


@pytest.mark.parametrize(
    "ids", [Ids(tmdb="999999"), Ids(imdb="tt9999999"), Ids(tvdb="9"), Ids(imdb="tt1748166")]
)
def test_an_id_that_is_not_of_a_film_is_not_known(provider: Make, ids: Ids) -> None:
    assert provider(Tmdb).movie(ids) is None


def test_of_several_films_under_one_imdb_id_the_one_that_bears_it_is_taken(
    odd: HTTPServer, odd_url: str
) -> None:
    odd.expect_request(
        "/find/tt0000101", query_string={"external_source": "imdb_id", "api_key": "k"}
    ).respond_with_json({"movie_results": [{"id": 100}, {"id": 101}], "tv_results": []})
    serve(odd, {**FILM, "id": 100, "imdb_id": "tt0000100", "external_ids": {}})
    serve(odd, FILM)
    assert film_of(make(Tmdb, odd_url, api_key="k"), Ids(imdb="tt0000101")).ids.tmdb == "101"


def test_a_film_of_which_little_is_known_is_read_all_the_same(odd: HTTPServer, odd_url: str) -> None:
    bare = {
        "id": 7,
        "title": "Untitled",
        "imdb_id": "",
        "release_date": "",
        "runtime": 0,
        "poster_path": None,
    }
    serve(odd, bare)
    film = film_of(make(Tmdb, odd_url), Ids(tmdb="7", imdb="tt0000007"))
    assert film.ids == Ids(imdb="tt0000007", tmdb="7")
    assert (film.year, film.runtime, film.poster, film.country, dict(film.releases)) == (
        None,
        None,
        None,
        None,
        {},
    )


def test_a_date_that_is_none_is_left_out(odd: HTTPServer, odd_url: str) -> None:
    serve(
        odd,
        {
            **FILM,
            "release_date": "2031-02-31",
            "release_dates": {"results": [{"release_dates": [dated(9, "x")]}]},
        },
    )
    assert dict(film_of(make(Tmdb, odd_url), Ids(tmdb="101")).releases) == {}


@pytest.mark.parametrize(
    ("changes", "is_anime"),
    [
        ({"keywords": {"keywords": [{"id": 210024, "name": "anime"}]}}, True),
        ({"genres": [{"id": 16, "name": "Animation"}], "original_language": "ja"}, True),
        ({"genres": [{"id": 16, "name": "Animation"}], "original_language": "cn"}, True),
        ({"genres": [{"id": 16, "name": "Animation"}], "original_language": "en"}, False),
    ],
)
def test_anime_is_told_by_keyword_or_by_language(
    odd: HTTPServer,
    odd_url: str,
    changes: dict[str, Any],
    is_anime: bool,  # noqa: FBT001
) -> None:
    serve(odd, {**FILM, **changes})
    assert film_of(make(Tmdb, odd_url), Ids(tmdb="101")).is_anime is is_anime


def test_films_are_found_by_their_name(provider: Make, odd: HTTPServer, odd_url: str) -> None:
    (found,) = provider(Tmdb).search("sintel")
    assert (found.title, found.year, found.is_movie, found.ids) == ("Sintel", 2010, True, Ids(tmdb="45745"))
    assert list(provider(Tmdb).search("nothing has this name")) == []
    rows = [{"id": 7, "title": "Bare", "release_date": "", "overview": None, "poster_path": None}, {"id": 8}]
    odd.expect_request("/search/movie").respond_with_json({"results": rows})
    (bare,) = make(Tmdb, odd_url).search("bare")
    assert (bare.title, bare.year, bare.overview, bare.poster) == ("Bare", None, "", None)


# --- how shows are rated


@pytest.mark.parametrize(
    "ids",
    [Ids(tmdb="33170"), Ids(tvdb="170551"), Ids(imdb="tt1748166"), Ids(tvdb="999999", imdb="tt1748166")],
)
def test_a_show_is_rated_by_any_id(provider: Make, ids: Ids) -> None:
    assert provider(Tmdb).rating(ids) == 7.0


@pytest.mark.parametrize("ids", [Ids(), Ids(tmdb="999999"), Ids(tvdb="999999"), Ids(imdb="tt1254207")])
def test_a_show_that_is_not_known_has_no_rating(provider: Make, ids: Ids) -> None:
    assert provider(Tmdb).rating(ids) is None


def test_a_show_without_votes_has_no_rating(odd_server: HTTPServer) -> None:
    odd_server.expect_request("/tv/7").respond_with_json({"vote_average": 0.0, "vote_count": 0})
    assert make(Tmdb, odd_server.url_for(""), api_key="key").rating(Ids(tmdb="7")) is None
