"""TMDB and TVDB answer as their documentation says."""

from __future__ import annotations

from datetime import UTC, datetime

import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client

SINTEL = 45745
PIONEER_ONE, PIONEER_ONE_TMDB = 170551, 33170


def test_tmdb_tells_a_film_with_the_parts_asked_for(tmdb: Client) -> None:
    film = tmdb.get(
        f"/movie/{SINTEL}", params={"append_to_response": "external_ids,release_dates,alternative_titles"}
    ).json()
    assert (film["title"], film["imdb_id"], film["release_date"]) == ("Sintel", "tt1727587", "2010-09-27")
    assert "id" not in film["external_ids"]
    kinds = [one["type"] for country in film["release_dates"]["results"] for one in country["release_dates"]]
    assert 4 in kinds
    assert film["alternative_titles"]["titles"][0]["iso_3166_1"] == "DE"


def test_tmdb_takes_a_bearer_token_as_well(servers: Servers) -> None:
    about = servers.ready["tmdb"]
    answer = requests.get(
        f"{about['url']}/movie/{SINTEL}",
        headers={"Authorization": f"Bearer {about['token']}"},
        timeout=SECONDS,
    )
    assert answer.status_code == 200


def test_tmdb_refuses_a_wrong_key_with_its_own_body(servers: Servers) -> None:
    answer = requests.get(
        f"{servers.ready['tmdb']['url']}/movie/{SINTEL}", params={"api_key": "wrong"}, timeout=SECONDS
    )
    assert answer.status_code == 401
    assert answer.json()["status_code"] == 7
    assert answer.json()["success"] is False


def test_tmdb_knows_no_such_film(tmdb: Client) -> None:
    answer = tmdb.get("/movie/1")
    assert (answer.status_code, answer.json()["status_code"]) == (404, 34)


def test_tmdb_refuses_more_than_twenty_parts(tmdb: Client) -> None:
    answer = tmdb.get(
        f"/movie/{SINTEL}", params={"append_to_response": ",".join(f"season/{n}" for n in range(21))}
    )
    assert (answer.status_code, answer.json()["status_code"]) == (400, 27)


def test_tmdb_finds_by_another_id_and_always_has_all_five_lists(tmdb: Client) -> None:
    found = tmdb.get("/find/tt1727587", params={"external_source": "imdb_id"}).json()
    assert [one["id"] for one in found["movie_results"]] == [SINTEL]
    nothing = tmdb.get("/find/tt9999999", params={"external_source": "imdb_id"})
    assert nothing.status_code == 200
    assert set(nothing.json()) == {
        "movie_results",
        "person_results",
        "tv_results",
        "tv_episode_results",
        "tv_season_results",
    }
    series = tmdb.get(f"/find/{PIONEER_ONE}", params={"external_source": "tvdb_id"}).json()
    assert [one["id"] for one in series["tv_results"]] == [PIONEER_ONE_TMDB]


def test_tmdb_tells_a_series_with_seasons(tmdb: Client) -> None:
    series = tmdb.get(
        f"/tv/{PIONEER_ONE_TMDB}", params={"append_to_response": "external_ids,season/1,season/9"}
    ).json()
    assert series["external_ids"]["tvdb_id"] == PIONEER_ONE
    assert len(series["season/1"]["episodes"]) == 6
    assert "season/9" not in series
    assert tmdb.get(f"/tv/{PIONEER_ONE_TMDB}/season/9").status_code == 404


def test_tvdb_login_gives_a_token_and_a_wrong_key_none(servers: Servers) -> None:
    url = f"{servers.ready['tvdb']['url']}/login"
    assert requests.post(url, json={"apikey": servers.ready["tvdb"]["key"]}, timeout=SECONDS).json()["data"][
        "token"
    ]
    wrong = requests.post(url, json={"apikey": "wrong"}, timeout=SECONDS)
    assert wrong.status_code == 401
    assert wrong.json() == {"status": "failure", "message": "InvalidAPIKey: apikey invalid", "data": None}


def test_tvdb_refuses_calls_without_a_token(servers: Servers) -> None:
    answer = requests.get(f"{servers.ready['tvdb']['url']}/series/{PIONEER_ONE}", timeout=SECONDS)
    assert (answer.status_code, answer.json()["message"]) == (401, "Unauthorized")


def test_tvdb_tells_a_series_in_full(tvdb: Client) -> None:
    series = tvdb.get(
        f"/series/{PIONEER_ONE}/extended", params={"meta": "translations", "short": "true"}
    ).json()["data"]
    assert (series["name"], series["year"], series["status"]["name"]) == ("Pioneer One", "2010", "Continuing")
    assert {(one["type"], one["id"]) for one in series["remoteIds"]} == {
        (2, "tt1748166"),
        (12, str(PIONEER_ONE_TMDB)),
    }
    assert [one["number"] for one in series["seasons"] if one["type"]["type"] == "official"] == [0, 1, 2]
    assert {one["type"]["type"] for one in series["seasons"]} == {"official", "absolute"}
    assert series["translations"]["nameTranslations"][0]["language"] == "eng"
    assert (series["airsTime"], series["characters"], series["artworks"], series["episodes"]) == (
        "20:00",
        None,
        None,
        None,
    )


def test_tvdb_pages_the_episodes_and_says_where_the_next_page_is(servers: Servers, tvdb: Client) -> None:
    servers.control("/options", {"tvdb_page_size": 4})
    seen, page = [], 0
    while True:
        answer = tvdb.get(f"/series/{PIONEER_ONE}/episodes/official", params={"page": str(page)}).json()
        seen += answer["data"]["episodes"]
        if answer["links"]["next"] is None:
            break
        assert answer["links"]["next"].endswith(f"page={page + 1}")
        page += 1
    assert len(seen) == answer["links"]["total_items"] == 11
    assert seen[0]["seasonNumber"] == 0


def test_tvdb_has_another_shape_per_language(tvdb: Client) -> None:
    answer = tvdb.get(f"/series/{PIONEER_ONE}/episodes/official/eng", params={"page": "0"}).json()["data"]
    assert answer["name"] == "Pioneer One"
    assert answer["episodes"][0]["nameTranslations"] is None


def test_tvdb_numbers_the_same_episodes_in_absolute_order(tvdb: Client) -> None:
    official = tvdb.get(f"/series/{PIONEER_ONE}/episodes/official").json()["data"]["episodes"]
    absolute = tvdb.get(f"/series/{PIONEER_ONE}/episodes/absolute").json()["data"]["episodes"]
    first_of_two = next(one for one in official if (one["seasonNumber"], one["number"]) == (2, 1))
    assert next(one for one in absolute if one["id"] == first_of_two["id"])["number"] == 7
    assert tvdb.get(f"/series/{PIONEER_ONE}/episodes/dvd").json()["data"]["episodes"] == []


def test_tvdb_dates_the_last_episode_after_today(tvdb: Client) -> None:
    episodes = tvdb.get(f"/series/{PIONEER_ONE}/episodes/official").json()["data"]["episodes"]
    today = datetime.now(UTC).date().isoformat()
    assert [(one["seasonNumber"], one["number"]) for one in episodes if one["aired"] > today] == [(2, 4)]


def test_tvdb_finds_by_remote_id_and_says_null_for_the_unknown(tvdb: Client) -> None:
    assert tvdb.get("/search/remoteid/tt1748166").json()["data"][0]["series"]["id"] == PIONEER_ONE
    assert tvdb.get("/search/remoteid/tt0000001").json()["data"] is None


def test_tvdb_wants_a_query_to_search(tvdb: Client) -> None:
    assert tvdb.get("/search", params={"remote_id": "tt1748166"}).status_code == 400
    assert tvdb.get("/search", params={"query": "pioneer"}).json()["data"][0]["tvdb_id"] == str(PIONEER_ONE)


def test_tvdb_knows_no_such_series(tvdb: Client) -> None:
    answer = tvdb.get("/series/5/extended")
    assert answer.status_code == 404
    assert answer.json()["message"].startswith("NotFoundException")


def test_a_changed_air_date_and_a_new_episode_show_at_once(servers: Servers, tvdb: Client) -> None:
    servers.control(
        "/catalog", {"op": "air_date", "tvdb": PIONEER_ONE, "season": 2, "episode": 4, "aired": "2020-01-01"}
    )
    servers.control(
        "/catalog",
        {"op": "add_episode", "tvdb": PIONEER_ONE, "season": 2, "number": 5, "title": "New", "aired": None},
    )
    episodes = tvdb.get(f"/series/{PIONEER_ONE}/episodes/official").json()["data"]["episodes"]
    assert [(one["number"], one["aired"]) for one in episodes if one["seasonNumber"] == 2][3:] == [
        (4, "2020-01-01"),
        (5, None),
    ]
