"""What a person does with items over the API."""

from __future__ import annotations

import threading

import pytest
import requests

from program.db import items
from program.media.item import Ids, States
from tests.api.home import Home
from tests.db.library import NOW, season


def test_films_are_added_by_their_ids_in_quotes_or_not(home: Home) -> None:
    body = home.post("/items/add", {"media_type": "movie", "tmdb_ids": ["10378", 45745], "tvdb_ids": []})
    assert len(body["ids"]) == 2
    assert body["message"] == "Added 2 items"
    assert home.woken == 1
    listed = home.get("/items?states=Requested")["items"]
    assert {item["tmdb_id"] for item in listed} == {"10378", "45745"}
    assert set(home.library.due()) == set(body["ids"])
    assert home.get(f"/items/{body['ids'][0]}/timeline")["reindex_at"] == "2031-05-01T12:00:00.000Z"


def test_a_show_is_added_with_the_seasons_that_are_wanted(home: Home) -> None:
    (show,) = home.post("/items/add", {"media_type": "tv", "tvdb_ids": ["170551"], "seasons": [2, 1, 2]})[
        "ids"
    ]
    (request,) = home.get(f"/items/{show}")["requests"]
    assert (request["source"], request["seasons"]) == ("api", [1, 2])


def test_a_title_can_be_added_by_its_imdb_id(home: Home) -> None:
    (film,) = home.post("/items/add", {"media_type": "movie", "imdb_ids": ["tt1727587"]})["ids"]
    assert home.get("/items/tt1727587?media_type=movie")["id"] == film


def test_adding_a_title_twice_makes_no_second_one(home: Home) -> None:
    for _ in range(2):
        home.post("/items/add", {"media_type": "movie", "tmdb_ids": ["10378"]})
    assert home.get("/items")["total_items"] == 1


def test_a_failed_film_is_retried_from_the_beginning_of_its_search(home: Home) -> None:
    film = home.library.film()
    home.library.commit(film, {film: {"failed_at": NOW, "failed_reason": "20 searches", "scraped_times": 20}})
    assert home.get("/items?state=Failed")["items"][0]["scraped_times"] == 20
    home.clock.advance(1)
    body = home.post("/items/retry", {"ids": [film]})
    assert body["ids"] == [film]
    assert body["items"][0]["done"] is True
    after = home.get(f"/items/{film}")
    assert (after["last_state"], after["scraped_times"], after["failed_at"]) == ("Indexed", 0, None)
    assert home.get(f"/items/{film}/timeline")["timeline"][-1]["outcome"] == "retried"


def test_a_pause_of_a_show_keeps_its_episodes_states_and_unpause_goes_on(home: Home) -> None:
    show = home.library.show(season(1))
    before = home.library.state(show, 1, 1)
    assert home.post("/items/pause", {"ids": [str(show)]})["items"][0]["sentence"] == "Pioneer One is paused"
    assert home.get(f"/items/{show}")["state"] == "Paused"
    assert home.library.state(show, 1, 1) is before
    home.post("/items/unpause", {"ids": [str(show)]})
    assert home.get(f"/items/{show}")["state"] != "Paused"
    again = home.post("/items/unpause", {"ids": [show]})
    assert again["message"] == "Unpaused 0 items; Pioneer One is not paused"
    assert again["items"][0]["done"] is False


def test_a_reset_takes_the_file_away(home: Home) -> None:
    film = home.library.film()
    entry = home.library.complete(film, film)
    home.clock.advance(1)
    home.post("/items/reset", {"ids": [film]})
    assert home.library.state(film) is States.Requested
    assert home.folder.removed == [entry]


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_an_item_is_removed_by_either_method(home: Home, method: str) -> None:
    film = home.library.film()
    answer = home.call(method, "/items/remove", json={"ids": [str(film)]})
    assert answer.status_code == 200
    assert answer.json()["ids"] == [film]
    assert home.get("/items")["total_items"] == 0


def test_the_whole_library_is_retried_without_a_body_or_with_an_empty_one(home: Home) -> None:
    film = home.library.film()
    home.library.commit(film, {film: {"failed_at": NOW}})
    home.clock.advance(1)
    json_type = {"Content-Type": "application/json"}
    assert home.call("POST", "/items/retry_library", headers=json_type, data=b"").json()["ids"] == [film]
    home.engine.run_until_idle()
    assert home.get(f"/items/{film}")["state"] == "Indexed"
    assert home.post("/items/retry_library")["message"] == "1 title is started afresh"


def test_a_retry_of_a_large_library_is_answered_before_it_is_done_and_shows_how_far_it_is(home: Home) -> None:
    films = [home.library.film(Ids(tmdb=str(number))) for number in range(1, 26)]
    for film in films:
        home.library.commit(film, {film: {"failed_at": NOW}})
    home.clock.advance(1)
    answer = home.post("/items/retry_library")
    assert (answer["message"], answer["ids"]) == ("25 titles are started afresh", films)
    assert {home.get(f"/items/{film}")["state"] for film in films} == {"Failed"}
    home.engine.run_one()
    (job,) = home.get("/queues/retry-library/jobs")["jobs"]
    assert (job["name"], job["reason"]) == ("the whole library", "20 of 25 titles")
    home.post("/items/retry_library")
    assert len(home.get("/queues/retry-library/jobs")["jobs"]) == 1, (
        "what was begun goes on, and is not begun twice"
    )
    home.engine.run_until_idle()
    assert "Failed" not in {home.get(f"/items/{film}")["state"] for film in films}


def test_an_empty_library_can_be_retried(home: Home) -> None:
    empty = {"message": "0 titles are started afresh", "ids": [], "items": []}
    assert home.post("/items/retry_library") == empty


@pytest.mark.parametrize("action", ["retry", "pause", "unpause", "reset", "remove"])
def test_an_unknown_id_is_404_with_the_id_and_nothing_is_done(home: Home, action: str) -> None:
    film = home.library.film(Ids(tmdb="45745"))
    before = home.library.item(film)
    assert home.refused("POST", f"/items/{action}", json={"ids": [film, 4711]}) == (
        404,
        "no item has the id 4711",
    )
    assert home.library.item(film) == before


def test_an_id_that_stands_twice_is_acted_on_once(home: Home) -> None:
    film = home.library.film()
    assert home.post("/items/pause", {"ids": [film, str(film)]})["ids"] == [film]


def test_hundreds_of_films_are_added_in_one_call(home: Home) -> None:
    body = home.post("/items/add", {"media_type": "movie", "tmdb_ids": [str(n) for n in range(1, 301)]})
    assert len(set(body["ids"])) == 300


def call_while_removed(home: Home, item_id: int, path: str, body: object) -> requests.Response:
    """Return the answer to a call that has found a title, and has its turn once another call has removed it."""
    answers: list[requests.Response] = []
    thread = threading.Thread(target=lambda: answers.append(home.call("POST", path, json=body)))
    with home.library.db.write(item_id) as tx:
        items.delete(tx, [item_id], tombstone=True)
        thread.start()
        thread.join(0.3)
    thread.join(10)
    return answers[0]


def test_a_title_that_is_removed_in_that_instant_is_not_there(home: Home) -> None:
    film = home.library.film()
    answer = call_while_removed(home, film, "/items/retry", {"ids": [film]})
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        f"item {film} is not in the library any more",
    )


def test_a_title_that_is_removed_while_it_is_asked_for_again_is_added_or_asked_for_in_a_moment(
    home: Home,
) -> None:
    wish = {"media_type": "movie", "tmdb_ids": ["10378"]}
    (film,) = home.post("/items/add", wish)["ids"]
    answer = call_while_removed(home, film, "/items/add", wish)
    if answer.status_code != 200:
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        home.post("/items/add", wish)
    (item,) = home.get("/items")["items"]
    assert item["id"] != film
