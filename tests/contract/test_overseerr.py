"""Overseerr and its family: what is read from its list and its webhook, by the parameters that every app knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request
from werkzeug import Response as Answer

from program.demo.launch import Servers
from program.errors import BadAnswer
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.services.content.overseerr import Overseerr
from tests.support.providers import Make, make


def row(number: int, **changes: Any) -> dict[str, Any]:
    """Return a request for a film as the list gives it."""
    media = {"tmdbId": 1000 + number, "tvdbId": None, "imdbId": None, "status": 3, **changes.pop("media", {})}
    plain = {"id": number, "status": 2, "type": "movie", "is4k": False, "media": media, "seasons": []}
    return {**plain, "requestedBy": {"displayName": "u"}, **changes}


def serve(server: HTTPServer, rows: list[Any]) -> None:
    """Serve a list as the app does; a parameter that not every app knows is a 400."""

    def answer(request: Request) -> Answer:
        if set(request.args) - {"take", "skip", "filter", "sort", "requestedBy"}:
            return Answer(json.dumps({"message": "Unknown query parameter"}), 400)
        take, skip = int(request.args["take"]), int(request.args["skip"])
        info = {"pages": 1, "pageSize": take, "results": len(rows), "page": 1}
        body = {"pageInfo": info, "results": rows[skip : skip + take]}
        return Answer(json.dumps(body), content_type="application/json")

    server.expect_request("/api/v1/request").respond_with_handler(answer)


def hook(**parts: Any) -> bytes:
    media = {"media_type": "tv", "tmdbId": "202", "tvdbId": "9", "status": "PENDING", "status4k": "UNKNOWN"}
    body = {
        "notification_type": "MEDIA_APPROVED",
        "event": "Series Request Approved",
        "media": media,
        "request": {"request_id": "12", "requestedBy_username": "u"},
        "extra": [{"name": "Requested Seasons", "value": "1, 3"}],
        **parts,
    }
    return json.dumps(body).encode()


def test_approved_requests_are_wanted_with_their_seasons(servers: Servers, provider: Make) -> None:
    film = {"op": "request", "media_type": "movie", "tmdb": 45745}
    servers.control("/catalog", film)
    servers.control("/catalog", {"op": "request", "media_type": "tv", "tmdb": 33170, "seasons": [2]})
    servers.control("/catalog", {**film, "tmdb": 9761, "status": "pending"})
    wanted = {request.ids.tmdb: request for request in provider(Overseerr).wanted()}
    assert set(wanted) == {"45745", "33170"}
    assert wanted["45745"].is_movie
    assert wanted["45745"].seasons is None
    assert (wanted["33170"].is_movie, wanted["33170"].seasons) == (False, (2,))
    assert wanted["33170"].ids.tvdb == "170551"


def test_a_request_says_who_asked_and_under_which_number(odd: HTTPServer, odd_url: str) -> None:
    serve(odd, [row(12)])
    assert list(make(Overseerr, odd_url).wanted()) == [
        ContentRequest(
            source="overseerr", is_movie=True, ids=Ids(tmdb="1012"), external_id="12", requested_by="u"
        )
    ]


def test_every_page_is_read_and_a_request_that_moves_between_pages_counts_once(
    odd: HTTPServer, odd_url: str
) -> None:
    rows = [row(number) for number in range(250)]
    serve(odd, [*rows[:150], *rows[140:]])
    wanted = list(make(Overseerr, odd_url).wanted())
    assert [one.external_id for one in wanted] == [str(number) for number in range(250)]
    assert len(odd.log) == 3


@pytest.mark.parametrize(
    "changes",
    [{"status": 1}, {"status": 3}, {"is4k": True}, {"type": "music"}],
    ids=["pending", "declined", "4K", "of another kind"],
)
def test_a_request_that_is_not_ours_is_left_alone(
    odd: HTTPServer, odd_url: str, changes: dict[str, Any]
) -> None:
    serve(odd, [row(1, **changes), row(2)])
    assert [one.external_id for one in make(Overseerr, odd_url).wanted()] == ["2"]


def test_unknown_states_and_odd_rows_do_not_cost_the_others(odd: HTTPServer, odd_url: str) -> None:
    rows = [row(1, media={"status": 6}), "nonsense", {"id": 3}, row(4, status=5), row(5, media={"tvdbId": 7})]
    serve(odd, rows)
    assert [one.external_id for one in make(Overseerr, odd_url).wanted()] == ["1", "4", "5"]


def test_seasons_that_were_declined_are_not_wanted(odd: HTTPServer, odd_url: str) -> None:
    seasons = [
        {"seasonNumber": 2, "status": 2},
        {"seasonNumber": 1, "status": 5},
        {"seasonNumber": 3, "status": 3},
    ]
    serve(odd, [row(1, type="tv", seasons=seasons)])
    [wanted] = make(Overseerr, odd_url).wanted()
    assert wanted.seasons == (1, 2)
    assert wanted.ids == Ids(tmdb="1001")


def test_a_webhook_names_the_show_and_its_seasons(odd_url: str) -> None:
    assert make(Overseerr, odd_url).webhook({}, hook(new_unknown_field=1)) == (
        ContentRequest(
            source="overseerr",
            is_movie=False,
            ids=Ids(tmdb="202", tvdb="9"),
            external_id="12",
            requested_by="u",
            seasons=(1, 3),
        ),
    )


def test_numbers_may_come_as_numbers(odd_url: str) -> None:
    media = {"media_type": "movie", "tmdbId": 603, "tvdbId": ""}
    [wanted] = make(Overseerr, odd_url).webhook({}, hook(media=media, request={"request_id": 7}, extra=[]))
    assert (wanted.is_movie, wanted.ids, wanted.external_id) == (True, Ids(tmdb="603"), "7")


@pytest.mark.parametrize(
    "parts",
    [
        {"notification_type": "TEST_NOTIFICATION", "media": None, "request": None, "extra": []},
        {"notification_type": "MEDIA_AVAILABLE"},
        {"notification_type": "MEDIA_PENDING"},
        {"notification_type": "ISSUE_CREATED", "media": None},
        {"event": "4K Series Request Approved"},
    ],
    ids=["test", "available", "pending", "issue", "4K"],
)
def test_other_webhooks_add_nothing(odd_url: str, parts: dict[str, Any]) -> None:
    assert make(Overseerr, odd_url).webhook({}, hook(**parts)) == ()


@pytest.mark.parametrize("parts", [{"extra": []}, {"media": None}, {"media": {"media_type": "tv"}}])
def test_what_a_webhook_lacks_is_read_from_the_app(
    odd: HTTPServer, odd_url: str, parts: dict[str, Any]
) -> None:
    told = row(12, type="tv", media={"tmdbId": 202, "tvdbId": 9}, seasons=[{"seasonNumber": 2, "status": 2}])
    odd.expect_request("/api/v1/request/12").respond_with_json(told)
    [wanted] = make(Overseerr, odd_url).webhook({}, hook(**parts))
    assert (wanted.ids, wanted.seasons) == (Ids(tmdb="202", tvdb="9"), (2,))


def test_a_webhook_without_a_request_is_matched_with_the_list(odd: HTTPServer, odd_url: str) -> None:
    show = row(4, type="tv", media={"tmdbId": 202}, seasons=[{"seasonNumber": 1, "status": 2}])
    serve(odd, [row(3, media={"tmdbId": 202}), show])
    [wanted] = make(Overseerr, odd_url).webhook({}, hook(request=None, extra=[]))
    assert (wanted.external_id, wanted.seasons) == ("4", (1,))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "JSON that breaks off"),
        (b"<html>", "not JSON"),
        (b"[]", "the answer: Input should be"),
        (b"{}", "notification_type: Field required"),
        (hook(media=None, request=None), "media.tmdbId: is missing"),
        (
            hook(extra=[{"name": "Requested Seasons", "value": "one"}]),
            "extra.Requested Seasons: numbers are due",
        ),
        (hook(media={"tmdbId": "1"}), "media.media_type: Field required"),
    ],
)
def test_a_body_that_is_no_webhook_is_refused_with_its_place(odd_url: str, body: bytes, says: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        make(Overseerr, odd_url).webhook({}, body)
    assert says in str(caught.value)
