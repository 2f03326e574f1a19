"""Events from content services."""

from __future__ import annotations

import pytest

from tests.api.home import KEY, Home


@pytest.fixture
def letterbox(home: Home) -> Home:
    """A home with a content service."""
    home.use(content={"letterbox": {"enabled": True}})
    return home


def path_with_token(home: Home) -> str:
    """Return the address that a service without headers is told."""
    (provider,) = [one for one in home.get("/providers")["providers"] if one["key"] == "letterbox"]
    return str(provider["webhook"]).removeprefix("/api/v1")


def test_an_event_with_the_key_in_a_header_becomes_a_wish(letterbox: Home) -> None:
    for headers in ({"X-Api-Key": KEY}, {"Authorization": KEY}):
        answer = letterbox.call("POST", "/webhook/letterbox", key=None, headers=headers, json=["45745"])
        assert answer.json()["success"] is True
    (item,) = letterbox.get("/items")["items"]
    assert item["tmdb_id"] == "45745"
    assert letterbox.get(f"/items/{item['id']}")["requests"][0]["source"] == "letterbox"


def test_an_event_that_asks_for_nothing_is_taken(letterbox: Home) -> None:
    assert letterbox.post("/webhook/letterbox", []) == {"success": True, "message": "Nothing to do"}


def test_a_service_without_headers_has_an_address_of_its_own(letterbox: Home) -> None:
    path = path_with_token(letterbox)
    assert KEY not in path
    assert letterbox.call("POST", path, key=None, json=["45745"]).status_code == 200
    assert letterbox.get("/items")["total_items"] == 1


def test_an_address_with_a_wrong_token_opens_nothing(letterbox: Home) -> None:
    wrong = path_with_token(letterbox)[:-1] + "x"
    assert letterbox.refused("POST", wrong, key=None, json=["45745"])[0] == 401
    assert letterbox.refused("POST", "/webhook/letterbox", key=None, json=["45745"])[0] == 401
    assert letterbox.get("/items")["total_items"] == 0


def test_an_event_that_cannot_be_read_is_422_with_the_reason(letterbox: Home) -> None:
    status, detail = letterbox.refused("POST", "/webhook/letterbox", data=b"<html>")
    assert status == 422
    assert detail.startswith("letterbox: webhook: Invalid JSON")


def test_only_content_services_in_use_take_events(home: Home) -> None:
    home.use(downloaders={"vault": {"enabled": True}})
    assert home.refused("POST", "/webhook/letterbox", json=[]) == (404, "letterbox is not in use")
    assert home.refused("POST", "/webhook/vault", json=[]) == (404, "vault takes no webhooks")


def test_a_list_does_not_bring_back_what_was_removed(letterbox: Home) -> None:
    letterbox.post("/webhook/letterbox", ["45745"])
    (item,) = letterbox.get("/items")["items"]
    letterbox.post("/items/remove", {"ids": [item["id"]]})
    letterbox.post("/webhook/letterbox", ["45745"])
    assert letterbox.get("/items")["total_items"] == 0
