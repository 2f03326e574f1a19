"""Editing a title: wanted seasons, names, ranking, folders; at once, told in the story, refused with the place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.media.item import Ids, States, Title
from program.media.wanted import wanted_for
from program.services.flows.copies import rankings
from tests.api.home import Home
from tests.db.library import LONG_AGO, film_metadata, season, show_metadata

PROFILES = {
    "ranking": {
        "profiles": {"small": {"lists": ["nobody"]}, "second": {"lists": ["nobody"], "beside": True}}
    },
    "vfs": {"profiles": {"kids": {"path": "/kids", "rules": {"genres": ["Family"]}}}},
}

REFUSED: tuple[tuple[dict[str, object], str], ...] = (
    ({}, "body: name at least one of "),
    ({"wanted_seasons": [7]}, "wanted_seasons: there is no season 7; known are 1, 2"),
    (
        {"wanted_seasons": [], "wants_future": False},
        "wanted_seasons: want at least one season, or future ones",
    ),
    ({"wanted_seasons": [-1]}, "wanted_seasons"),
    ({"wanted_seasons": None}, "wanted_seasons: "),
    ({"ranking_profile": "huge"}, "ranking_profile: there is no profile “huge”; there is none yet"),
    ({"library_profiles": ["kids"]}, "library_profiles: there is no profile “kids”; there is none yet"),
    ({"own_titles": ["  "]}, "own_titles[0]: "),
    ({"own_titles": ["x" * 201]}, "own_titles[0]: "),
    ({"own_titles": ["a\nb"]}, "own_titles[0]: "),
    ({"title": "Other"}, "title: "),
)

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def story(home: Home, item_id: int) -> str:
    """The last sentence of an item's story."""
    return home.library.timeline(item_id)[-1].sentence


def test_a_season_that_is_newly_wanted_is_searched_for(home: Home) -> None:
    show = home.library.show(season(1), season(2), wanted=(1,))
    assert not home.library.item(show, 2).is_requested
    said = home.call("PATCH", f"/items/{show}", json={"wanted_seasons": [1, 2]}).json()
    assert said["items"][0]["sentence"] == "season 2 is wanted now"
    assert [home.library.item(show, 2, n).is_requested for n in (1, 2)] == [True, True]
    assert (
        home.library.item(show, 2).id in home.library.due()
        or home.library.item(show, 2, 1).id in home.library.due()
    )
    assert story(home, show) == "Edited over the API: season 2 is wanted now."
    assert home.woken
    assert home.library.wrong() == ()


def test_a_season_that_is_no_longer_wanted_is_left_alone_and_keeps_its_files(home: Home) -> None:
    show = home.library.show(season(0, 1), season(1), season(2))
    first = home.library.item(show, 2, 1).id
    home.library.complete(show, first)
    body = {"wanted_seasons": [1], "wants_future": False}
    said = home.call("PATCH", f"/items/{show}", json=body).json()
    assert (
        said["items"][0]["sentence"]
        == "season 2 is not wanted any more; future seasons are not wanted any more"
    )
    beneath = {home.library.item(show, 2).id, first, home.library.item(show, 2, 2).id}
    assert not beneath & set(home.library.due())
    assert home.folder.removed == []
    # The next look-up does not bring it back, nor a season that is new.
    home.library.index(show, show_metadata(season(0, 1), season(1), season(2, 3), season(3)))
    assert [home.library.item(show, n).is_requested for n in (0, 1, 2, 3)] == [False, True, False, False]
    told = home.get(f"/items/{show}")
    assert (told["wanted_seasons"], told["wants_future"]) == ([1], False)
    assert home.library.wrong() == ()


def test_names_of_ones_own_are_searched_by_and_outlive_a_look_up(home: Home) -> None:
    film = home.library.film(aliases=(Title("Durian", "nl"),))
    home.library.find_releases(film)
    home.library.commit(film, {film: {"scraped_at": home.library.now, "scraped_times": 3}})
    assert film not in home.library.due()
    said = home.call(
        "PATCH", f"/items/{film}", json={"own_titles": ["Sintel Open Movie", " sintel open movie"]}
    ).json()
    assert said["items"][0]["sentence"] == "also called “Sintel Open Movie” now; searched afresh"
    assert film in home.library.due()
    home.library.index(film, film_metadata(aliases=(Title("Durian", "nl"),)))
    wanted = wanted_for(home.library.tree(film), film, missing=frozenset({film}))
    assert [title.text for title in wanted.titles] == ["Durian", "Sintel Open Movie"]
    told = home.get(f"/items/{film}")
    assert (told["aliases"], told["own_titles"]) == (["Durian"], ["Sintel Open Movie"])
    home.call("PATCH", f"/items/{film}", json={"own_titles": []})
    assert home.get(f"/items/{film}")["own_titles"] == []
    assert story(home, film).startswith("Edited over the API: not called “Sintel Open Movie” any more")


def test_a_finished_film_is_not_searched_again_for_a_new_name(home: Home) -> None:
    film = home.library.film()
    home.library.complete(film, film)
    home.call("PATCH", f"/items/{film}", json={"own_titles": ["Durian"]})
    assert home.library.state(film) is States.Completed


def test_ranking_and_folders_are_chosen_in_place_of_the_rules(home: Home) -> None:
    home.use(**PROFILES)
    film = home.library.film()
    body = {"ranking_profile": "small", "library_profiles": ["kids"]}
    said = home.call("PATCH", f"/items/{film}", json=body).json()
    sentence = said["items"][0]["sentence"]
    assert sentence == "ranked by “small” now; in the folder /kids as well; searched afresh"
    with home.library.db.read() as tx:
        assert rankings(home.store.current, tx, film).usual is home.store.current.ranking.profiles["small"]
    told = home.get(f"/items/{film}")
    assert (told["ranking_profile"], told["library_profiles"]) == ("small", ["kids"])
    said = home.call(
        "PATCH", f"/items/{film}", json={"ranking_profile": None, "library_profiles": None}
    ).json()
    assert said["items"][0]["sentence"] == (
        "ranked as the settings say; in the folders that the settings say; searched afresh"
    )
    with home.library.db.read() as tx:
        assert rankings(home.store.current, tx, film).usual is home.store.current.ranking


def test_what_is_as_it_was_changes_nothing(home: Home) -> None:
    show = home.library.show(season(1), wanted=(1,))
    before = len(home.library.timeline(show))
    said = home.call("PATCH", f"/items/{show}", json={"wanted_seasons": [1], "own_titles": []}).json()
    assert said["items"][0] == {
        "id": show,
        "title": "Pioneer One",
        "sentence": "nothing is other than it was",
        "done": False,
    }
    assert len(home.library.timeline(show)) == before


def test_what_cannot_be_is_refused_with_its_place(home: Home) -> None:
    show = home.library.show(season(1), season(2))
    for body, detail in REFUSED:
        status, said = home.refused("PATCH", f"/items/{show}", json=body)
        assert (status, said[: len(detail)]) == (422, detail), body
    assert home.library.timeline(show) == ()


def test_only_a_title_can_be_edited_and_only_a_show_has_seasons(home: Home) -> None:
    home.use(**PROFILES)
    show, film = home.library.show(season(1)), home.library.film(Ids(tmdb="1"))
    part = home.library.item(show, 1, 1).id
    assert home.refused("PATCH", f"/items/{part}", json={"own_titles": []}) == (
        422,
        f"item_id: edit the show, which is item {show}",
    )
    assert home.refused("PATCH", f"/items/{film}", json={"wanted_seasons": [1]}) == (
        422,
        "wanted_seasons: a film has no seasons",
    )
    assert home.refused("PATCH", f"/items/{film}", json={"ranking_profile": "second"})[1].startswith(
        "ranking_profile: “second” is for a further copy"
    )
    assert home.refused("PATCH", "/items/999", json={"own_titles": []})[0] == 404


def test_a_season_that_gave_up_begins_anew_when_it_is_wanted_again(home: Home) -> None:
    show = home.library.show(season(1), season(2))
    part = home.library.item(show, 2, 1).id
    gone = {"failed_at": home.library.now, "failed_reason": "searched 20 times", "scraped_times": 20}
    home.library.commit(show, {part: gone})
    home.call("PATCH", f"/items/{show}", json={"wanted_seasons": [1], "wants_future": True})
    home.clock.advance(60)
    assert home.library.now > LONG_AGO + timedelta(days=1)
    home.call("PATCH", f"/items/{show}", json={"wanted_seasons": [1, 2]})
    assert home.library.facts(show, 2, 1).failed_at is None
