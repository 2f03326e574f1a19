"""The calls that the specification of the item states shows, as it shows them."""

from __future__ import annotations

import pytest

from program.media.item import Ids, States
from tests.api.home import Home
from tests.db.library import NOW, Library, release, season


def scraped(library: Library, ids: Ids) -> int:
    """Add a film for which a release was found."""
    film = library.film(ids)
    library.find_releases(film, release("a" * 40))
    library.commit(film, {film: {"active_stream": "a" * 40}})
    return film


@pytest.fixture
def titles(home: Home) -> dict[str, int]:
    """Return by state a title in it: a film that failed, one that was scraped, a show of which one episode is there."""
    library = home.library
    failed = library.film(Ids(tmdb="1"))
    library.commit(failed, {failed: {"failed_at": NOW, "scraped_times": 20, "scraped_at": NOW}})
    show = library.show(season(1))
    library.complete(show, library.item(show, 1, 1).id)
    home.clock.advance(1)
    return {
        "Failed": failed,
        "Scraped": scraped(library, Ids(tmdb="2")),
        "PartiallyCompleted": show,
    }


@pytest.mark.parametrize("state", ["Failed", "Scraped", "PartiallyCompleted"])
def test_items_are_filtered_by_their_state(home: Home, titles: dict[str, int], state: str) -> None:
    found = home.get(f"/items?state={state}&type=movie&type=show")["items"]
    assert [item["id"] for item in found] == [titles[state]]
    assert found[0]["last_state"] == state
    assert found[0]["scraped_times"] == (20 if state == "Failed" else 0)
    detail = home.get(f"/items/{titles[state]}")
    assert (detail["last_state"], detail["scraped_times"]) == (state, found[0]["scraped_times"])
    assert {"next_attempt_at", "next_reason", "failed_at"} <= set(detail)


def test_several_items_are_retried_by_their_ids(home: Home, titles: dict[str, int]) -> None:
    films = [titles["Failed"], titles["Scraped"]]
    body = home.post("/items/retry", {"ids": [*films, titles["PartiallyCompleted"]]})
    assert set(body["ids"]) == set(titles.values())
    for film in films:
        facts = home.library.facts(film)
        assert (facts.scraped_at, facts.scraped_times, facts.active_stream) == (None, 0, None)
        assert home.library.state(film) is States.Indexed
    assert set(films) <= set(home.library.due()), "they are searched again at once"
    assert home.woken == 1


def test_items_are_paused_and_go_on_from_where_they_were(home: Home, titles: dict[str, int]) -> None:
    two = [titles["Scraped"], titles["PartiallyCompleted"]]
    assert home.post("/items/pause", {"ids": two})["ids"] == sorted(two)
    assert [home.library.state(item) for item in two] == [States.Paused] * 2
    assert home.get("/items?type=movie&type=show")["total_items"] == 3, "nothing is deleted"
    assert not set(home.library.due()) & set(two)
    assert home.post("/items/unpause", {"ids": two})["ids"] == sorted(two)
    assert [home.library.state(item) for item in two] == [States.Scraped, States.PartiallyCompleted]
    assert titles["Scraped"] in home.library.due()
