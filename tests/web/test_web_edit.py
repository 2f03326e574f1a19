"""Editing a title: seasons, names, ranking and folders, without scripts, with words on what will happen and a way back."""

from __future__ import annotations

from program.media.item import Title
from tests.api.home import Home
from tests.api.test_api_edit import PROFILES
from tests.db.library import season, show_metadata
from tests.web.visitor import Visitor


def test_the_form_says_what_there_is_and_what_will_happen(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(0, 1), season(1), season(2), wanted=(1,))
    home.library.complete(show, home.library.item(show, 1, 1).id)
    page = owner.open(owner.open(f"/items/{show}").seen.links["Edit"])
    assert page.path == f"/items/{show}/edit"
    assert "Season 1 1 of 2 ready" in page.text
    assert "Season 2 2 episodes" in page.text
    assert "Specials" in page.text
    assert "Files that are there stay" in page.text
    assert ("season", "1") in page.seen.form("").fields
    assert ("season", "2") not in page.seen.form("").fields


def test_a_ticked_season_is_wanted_and_an_unticked_one_no_more_until_it_is_undone(
    home: Home, owner: Visitor
) -> None:
    show = home.library.show(season(1), season(2), wanted=(1,))
    form = owner.open(f"/items/{show}/edit")
    after = owner.post(
        f"/items/{show}/edit",
        {"csrf": owner.token(), "shown": ["1", "2"], "season": ["2"], "ranking": "", "folders": "rules"},
    )
    assert form.status == 200
    assert after.path == f"/items/{show}"
    assert "Pioneer One: season 2 is wanted now; season 1 is not wanted any more." in after.text
    assert "Edited by a person: season 2 is wanted now; season 1 is not wanted any more." in after.text
    undone = owner.send(after, f"/items/{show}/edit")
    assert "Pioneer One: season 1 is wanted now; season 2 is not wanted any more." in undone.text


def test_a_season_that_came_while_the_form_was_open_stays_as_it_is(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1))
    form = owner.open(f"/items/{show}/edit")
    home.library.index(show, show_metadata(season(1), season(2)))
    after = owner.send(form, "", titles="Pioneer Eins")
    assert "also called “Pioneer Eins” now" in after.text
    assert home.library.item(show, 2).is_requested


def test_what_cannot_be_is_said_beside_the_field_and_nothing_is_lost(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1), season(2))
    page = owner.post(
        f"/items/{show}/edit",
        {
            "csrf": owner.token(),
            "shown": ["1", "2"],
            "titles": "Eins\nZwei",
            "ranking": "",
            "folders": "rules",
        },
    )
    assert page.status == 422
    assert "Want at least one season, or future ones; to want nothing of it, pause or remove it" in page.text
    fields = page.seen.form("").fields
    assert ("titles", "Eins\nZwei") in [(name, text.strip()) for name, text in fields]
    assert ("season", "1") not in fields
    assert home.library.item(show, 1).is_requested


def test_profiles_are_chosen_and_left_to_the_settings_again(home: Home, owner: Visitor) -> None:
    home.use(**PROFILES)
    film = home.library.film(aliases=(Title("Durian"),), genres=("Family",))
    page = owner.open(f"/items/{film}/edit")
    assert "As the rules of the settings say (now /kids)" in page.text
    assert "Known as: Durian" in page.text
    assert "second" not in page.text
    after = owner.send(page, "", ranking="=small", folders="chosen", folder="kids")
    assert "ranked by “small” now; in the folder /kids as well" in after.text
    again = owner.open(f"/items/{film}/edit")
    assert {("ranking", "=small"), ("folders", "chosen"), ("folder", "kids")} <= {*again.seen.form("").fields}
    owner.send(again, "", ranking="", folders="rules")
    assert (home.library.item(film).ranking_profile, home.library.item(film).library_profiles) == (None, None)


def test_without_profiles_the_form_says_where_they_are_made(home: Home, owner: Visitor) -> None:
    page = owner.open(f"/items/{home.library.film()}/edit")
    assert "There are no ranking profiles yet" in page.text
    assert page.seen.links["Make one in the settings"].endswith("/settings/ranking")


def test_an_episode_leads_to_the_form_of_its_show_and_hostile_names_stay_text(
    home: Home, owner: Visitor
) -> None:
    show = home.library.show(season(1))
    part = home.library.item(show, 1, 1).id
    assert owner.open(f"/items/{part}").seen.links["Edit the series"] == f"/items/{show}/edit"
    assert owner.open(f"/items/{part}/edit").path == f"/items/{show}/edit"
    hostile = "<script>alert(1)</script>"
    owner.send(owner.open(f"/items/{show}/edit"), "", titles=hostile)
    page = owner.open(f"/items/{show}/edit")
    assert ("titles", hostile) in [(name, text.strip()) for name, text in page.seen.form("").fields]
    assert hostile not in page.answer.text


def test_a_form_of_another_page_changes_nothing(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1), season(2))
    assert owner.post(f"/items/{show}/edit", {"shown": ["1"], "season": []}).status == 400
    assert home.library.item(show, 1).is_requested
