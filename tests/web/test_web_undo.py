"""Taking back what was just done."""

from __future__ import annotations

from program.db import overview
from program.media.item import Ids, States
from tests.api.home import Home
from tests.db.library import season
from tests.web.visitor import Visitor


def test_a_pause_is_taken_back_with_one_press(home: Home, owner: Visitor) -> None:
    film, other = home.library.film(), home.library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    paused = owner.send(owner.open("/"), "/several", button="pause", ids=[str(film), str(other)])
    assert "Paused: 2 of 2 titles. Undo" in paused.text
    back = owner.send(paused, "/several")
    assert home.library.state(film) == home.library.state(other) == States.Indexed
    assert back.path == "/"


def test_the_button_is_gone_on_the_next_page(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    assert "Undo" in owner.send(owner.open(f"/items/{film}"), f"/items/{film}/pause").text
    assert "Undo" not in owner.open(f"/items/{film}").text


def test_what_was_removed_is_asked_for_again_as_it_was(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1), season(2), wanted=(2,))
    removed = owner.send(owner.open(f"/items/{show}/remove"), "")
    assert "Ask for it again" in removed.text
    owner.send(removed, "/discover")
    with home.library.db.read() as tx:
        wishes, _ = overview.wishes(tx, 10)
    standing = [wish for wish in wishes if wish.name]
    assert [(wish.name.title, wish.seasons) for wish in standing if wish.name] == [("", (2,))]


def test_an_episode_that_was_removed_cannot_be_asked_for_as_a_title(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1))
    part = home.library.item(show, 1, 1).id
    removed = owner.send(owner.open(f"/items/{part}/remove"), "")
    assert "Ask for it again" not in removed.text
