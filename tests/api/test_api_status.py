"""How things stand: health, counts, providers, accounts, calendar, log."""

from __future__ import annotations

import pytest

from program.media.item import Ids, ReleaseKind
from tests.api.home import KEY, Home
from tests.db.library import NOW, film_metadata, season


@pytest.mark.parametrize("path", ["//health", "/health"])
def test_a_program_that_works_is_live_and_ready(home: Home, path: str) -> None:
    body = home.get(path, key=None)
    assert (body["live"], body["ready"], body["state"], body["database"], body["vfs"]) == (
        True,
        True,
        "Running",
        True,
        True,
    )


def test_a_program_without_its_mount_is_live_and_not_ready(home: Home) -> None:
    home.mounted = False
    answer = home.call("GET", "/health", key=None)
    assert answer.status_code == 503
    assert (answer.json()["live"], answer.json()["ready"], answer.json()["vfs"]) == (True, False, False)


def test_the_counts_of_an_empty_library_are_numbers(home: Home) -> None:
    body = home.get("/stats")
    assert body["total_items"] == body["incomplete_items"] == body["total_symlinks"] == 0
    assert len(body["states"]) == 12
    assert set(body["states"].values()) == {0}
    assert (body["activity"], body["media_year_releases"]) == ({}, [])


def test_the_counts_of_a_library(home: Home) -> None:
    film = home.library.film()
    home.library.show(season(1))
    home.library.complete(film, film)
    body = home.get("/stats")
    assert (body["total_movies"], body["total_shows"], body["total_seasons"], body["total_episodes"]) == (
        1,
        1,
        1,
        2,
    )
    assert (body["states"]["Completed"], body["incomplete_items"]) == (1, 4)
    assert body["activity"] == {"2031-05-01": 2}
    assert {"year": 2010, "count": 1} in body["media_year_releases"]


def test_without_a_debrid_service_the_accounts_are_an_empty_list(home: Home) -> None:
    assert home.get("/downloader_user_info") == {"services": []}


def test_an_account_says_whether_it_is_paid_and_how_long(home: Home) -> None:
    home.use(downloaders={"vault": {"enabled": True}})
    (account,) = home.get("/downloader_user_info")["services"]
    assert (account["service"], account["premium_status"], account["username"]) == (
        "vault",
        "premium",
        "demo",
    )
    assert (account["premium_days_left"], account["points"]) == (31, 7)


def test_a_service_that_does_not_answer_is_in_the_list_with_its_reason(home: Home) -> None:
    home.use(downloaders={"vault": {"enabled": True, "per_page": 1}})
    (account,) = home.get("/downloader_user_info")["services"]
    assert (account["premium_status"], account["error"]) == ("unknown", "vault: no answer within 20 s")


def test_services_are_green_red_or_not_known_yet(home: Home) -> None:
    home.use(
        scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}},
        downloaders={"vault": {"enabled": True}},
    )
    assert home.get("/services") == {"database": True, "vfs": True, "vault": None, "sample": None}
    home.registry.validate(NOW)
    assert home.get("/services") == {"database": True, "vfs": True, "vault": True, "sample": False}
    (sample,) = [one for one in home.get("/providers")["providers"] if one["key"] == "sample"]
    assert (sample["title"], sample["state"]) == ("Sample Index", "unreachable")
    assert sample["reason"]
    assert sample["next_check_at"] > "2031-05-01T12:00:00.000Z"


def test_the_lifecycle_shows_where_the_program_stands_and_how_it_came_there(home: Home) -> None:
    body = home.get("/lifecycle")
    (machine,) = body["machines"]
    assert (machine["name"], machine["state"]) == ("Program", "Running")
    assert [move["state"] for move in machine["history"]] == ["Idle", "Bootstrapping", "Running"]
    assert body["vfs"]["files"] == 3


def test_the_calendar_has_films_and_episodes_by_item(home: Home) -> None:
    film = home.library.film()
    soon = film_metadata(releases={ReleaseKind.DIGITAL: NOW.replace(day=20)})
    home.library.index(film, soon)
    show = home.library.show(season(1), ids=Ids(tvdb="170551"))
    episode = home.library.item(show, 1, 1).id
    data = home.get("/calendar")["data"]
    assert data[str(film)]["aired_at"] == "2031-05-20T12:00:00.000Z"
    assert (data[str(film)]["item_type"], data[str(film)]["tmdb_id"]) == ("movie", "45745")
    assert str(episode) not in data
    old = home.get("/calendar?start=2030-01-01&end=2030-12-31")["data"][str(episode)]
    assert (old["show_title"], old["season"], old["episode"], old["tvdb_id"]) == (
        "Pioneer One",
        1,
        1,
        "170551",
    )
    assert old["last_state"] == "Indexed"


def test_the_log_is_shown_without_secrets_and_may_be_missing(home: Home) -> None:
    assert home.get("/logs") == {"logs": []}
    folder = home.store.folder / "logs"
    folder.mkdir()
    (folder / "rivulet.log").write_text(f"one\ntwo\nkey {KEY}\n")
    assert home.get("/logs?limit=2")["logs"] == ["two", "key ••••••"]
