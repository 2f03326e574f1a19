"""Overseerr answers as its source says, and sends its webhook."""

from __future__ import annotations

import json

import pytest
import requests
from pytest_httpserver import HTTPServer

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client

SINTEL, PIONEER_ONE = 45745, 33170


def test_a_request_without_a_key_is_403(servers: Servers) -> None:
    root = servers.ready["overseerr"]["root"]
    answer = requests.get(f"{root}/api/v1/request", timeout=SECONDS)
    assert answer.status_code == 403
    assert answer.json() == {"status": 403, "error": "You do not have permission to access this endpoint"}
    assert requests.get(f"{root}/api/v1/status", timeout=SECONDS).json()["version"]


@pytest.mark.parametrize(
    "query",
    [{"sortDirection": "asc"}, {"filter": "completed"}, {"sort": "title"}, {"_": "1"}, {"take": "many"}],
)
def test_it_refuses_what_its_api_does_not_list(overseerr: Client, query: dict[str, str]) -> None:
    answer = overseerr.get("/request", params=query)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"] == f".query.{next(iter(query))}"


def test_requests_are_paged_newest_first(servers: Servers, overseerr: Client) -> None:
    for tmdb in (10378, 45745, 133701):
        servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": tmdb})
    first = overseerr.get(
        "/request", params={"take": "2", "skip": "0", "filter": "approved", "sort": "added"}
    ).json()
    assert first["pageInfo"] == {"pages": 2, "pageSize": 2, "results": 3, "page": 1}
    second = overseerr.get("/request", params={"take": "2", "skip": "2"}).json()
    assert [one["media"]["tmdbId"] for one in first["results"] + second["results"]] == [133701, 45745, 10378]


def test_a_series_request_carries_the_wanted_seasons(overseerr: Client, servers: Servers) -> None:
    servers.control("/catalog", {"op": "request", "media_type": "tv", "tmdb": PIONEER_ONE, "seasons": [1]})
    (one,) = overseerr.get("/request").json()["results"]
    assert (one["type"], one["media"]["tvdbId"], one["status"], one["media"]["status"]) == (
        "tv",
        170551,
        2,
        3,
    )
    assert [(season["seasonNumber"], season["status"]) for season in one["seasons"]] == [(1, 2)]
    assert "seasons" not in one["media"]
    assert "seasons" in overseerr.get(f"/request/{one['id']}").json()["media"]


def test_a_series_may_come_without_its_tvdb_id(overseerr: Client, servers: Servers) -> None:
    servers.control("/catalog", {"op": "request", "media_type": "tv", "tmdb": PIONEER_ONE, "tvdb": None})
    assert overseerr.get("/request").json()["results"][0]["media"]["tvdbId"] is None


def test_asking_twice_is_409_for_a_film_and_202_for_a_series(overseerr: Client) -> None:
    film = {"mediaType": "movie", "mediaId": SINTEL}
    series = {"mediaType": "tv", "mediaId": PIONEER_ONE, "seasons": "all"}
    assert [overseerr.post("/request", json=film).status_code for _ in range(2)] == [201, 409]
    assert [overseerr.post("/request", json=series).status_code for _ in range(2)] == [201, 202]


def test_a_pending_request_is_not_among_the_approved_until_it_is_approved(
    servers: Servers, overseerr: Client
) -> None:
    made = servers.control(
        "/catalog", {"op": "request", "media_type": "movie", "tmdb": SINTEL, "status": "pending"}
    )
    assert overseerr.get("/request", params={"filter": "approved"}).json()["results"] == []
    assert overseerr.post(f"/request/{made['id']}/approve").status_code == 200
    assert len(overseerr.get("/request", params={"filter": "approved"}).json()["results"]) == 1
    assert overseerr.get("/request/count").json()["approved"] == 1


def test_a_title_can_be_marked_as_available(servers: Servers, overseerr: Client) -> None:
    servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": SINTEL})
    media = overseerr.get("/request").json()["results"][0]["media"]["id"]
    assert overseerr.post(f"/media/{media}/partial", json={"is4k": False}).status_code == 400
    assert overseerr.post(f"/media/{media}/available", json={"is4k": False}).json()["status"] == 5
    assert servers.control("/wishes")["requests"][0]["media_status"] == 5
    assert overseerr.post("/media/99/available").status_code == 404


def test_an_unknown_request_is_404(overseerr: Client) -> None:
    assert overseerr.get("/request/9").json() == {"message": "Request not found."}
    assert overseerr("DELETE", "/request/9").status_code == 404


def test_the_webhook_sends_strings_only_and_the_seasons_in_extra(
    servers: Servers, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/hook", headers={"Authorization": "secret"}).respond_with_data("", status=200)
    hook = {"url": httpserver.url_for("/hook"), "authorization": "secret"}
    wish = {"op": "request", "media_type": "tv", "tmdb": PIONEER_ONE, "seasons": [1, 2], "webhook": hook}
    assert servers.control("/catalog", wish)["webhook_status"] == 200
    body = json.loads(httpserver.log[0][0].get_data())
    assert body["notification_type"] == "MEDIA_AUTO_APPROVED"
    assert body["media"] == {
        "media_type": "tv",
        "tmdbId": str(PIONEER_ONE),
        "tvdbId": "170551",
        "status": "PENDING",
        "status4k": "UNKNOWN",
    }
    assert body["extra"] == [{"name": "Requested Seasons", "value": "1, 2"}]
    assert body["subject"] == "Pioneer One (2010)"
    assert (
        servers.control("/catalog", {**wish, "tmdb": 1, "webhook": {"url": httpserver.url_for("/hook")}})[
            "webhook_status"
        ]
        == 500
    )
