"""What changed ranking settings would choose, and why each release found is taken or not."""

from __future__ import annotations

from tests.api.home import Home
from tests.db.library import release

LARGE, SMALL, OLD = "a" * 40, "b" * 40, "c" * 40
NO_1080P = {"resolutions": {"r1080p": False}}


def film_with_releases(home: Home) -> int:
    film = home.library.film()
    found = (
        release(LARGE, 100, raw_title="Sintel.2010.1080p.WEB-DL.x264-A"),
        release(SMALL, 50, raw_title="Sintel.2010.720p.WEB-DL.x264-B"),
        release(OLD, refused="wrong_year", raw_title="Sintel.1999.1080p.WEB-DL-C"),
    )
    home.library.find_releases(film, *found)
    return film


def test_a_title_that_would_choose_differently_is_told_and_nothing_is_saved(home: Home) -> None:
    film = film_with_releases(home)
    before = home.get("/settings/get/all")
    answer = home.post("/settings/preview", {"ranking": NO_1080P})
    (change,) = answer["changes"]
    assert (change["item_id"], answer["checked"], answer["next_after"]) == (film, 1, None)
    assert change["now"]["raw_title"] == "Sintel.2010.1080p.WEB-DL.x264-A"
    assert change["then"]["raw_title"] == "Sintel.2010.720p.WEB-DL.x264-B"
    assert home.get("/settings/get/all") == before


def test_settings_that_change_no_choice_change_nothing(home: Home) -> None:
    film_with_releases(home)
    assert home.post("/settings/preview", {"ranking": {"per_resolution": 2}})["changes"] == []


def test_what_would_take_nothing_says_so(home: Home) -> None:
    film_with_releases(home)
    nothing = {"require": ["a word that no name has"]}
    (change,) = home.post("/settings/preview", {"ranking": nothing})["changes"]
    assert change["then"] is None


def test_a_preview_goes_on_where_the_last_one_ended(home: Home) -> None:
    film = film_with_releases(home)
    first = home.post("/settings/preview", {"ranking": NO_1080P, "limit": 1})
    assert first["next_after"] == film
    rest = home.post("/settings/preview", {"ranking": NO_1080P, "limit": 1, "after": film})
    assert (rest["changes"], rest["checked"], rest["next_after"]) == ([], 0, None)


def test_settings_that_are_wrong_are_refused_with_the_place(home: Home) -> None:
    status, said = home.refused("POST", "/settings/preview", json={"ranking": {"order": "loudest"}})
    assert status == 422
    assert "ranking.order" in said


def test_every_release_of_a_title_tells_what_each_rule_says_and_what_puts_it_above_the_next(
    home: Home,
) -> None:
    film = film_with_releases(home)
    best, second, refused = home.get(f"/items/{film}/streams")["streams"]
    assert "1080p is above 720p" in best["above_next"]
    assert second["above_next"] is None
    asked = {"item_id": film, "releases": [refused["raw_title"]]}
    (explained,) = home.post("/match/explain", asked)["releases"]
    assert refused["rules"] == explained["rules"]
    assert "wrong_year" in {rule["rule"] for rule in refused["rules"] if not rule["passed"]}
