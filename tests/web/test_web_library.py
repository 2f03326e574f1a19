"""The wall of posters."""

from __future__ import annotations

import pytest

from program.media.item import Ids, ReleaseKind
from program.media.metadata import ContentRequest
from tests.api.home import Home
from tests.db.library import LONG_AGO, NOW, episode, film_metadata, season
from tests.web.visitor import Visitor


def chips(visitor: Visitor, path: str = "/") -> str:
    """Return the words of the wall."""
    return visitor.open(path).text


def test_an_empty_library_says_what_to_do_next(owner: Visitor) -> None:
    page = owner.open("/")
    assert "Your library is empty" in page.text
    assert page.seen.links["Add a title"] == "/discover"


def test_each_title_stands_there_with_a_word_for_its_state(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    home.library.complete(film, film)
    later = film_metadata(
        Ids(tmdb="133701"), "Tears of Steel", releases={ReleaseKind.DIGITAL: NOW.replace(day=20)}
    )
    (wish,) = home.context.actions.add([home_wish("133701")])
    assert wish.item_id
    home.library.index(wish.item_id, later)
    text = chips(owner)
    assert "Ready Sintel 2010" in text
    assert "Searching Big Buck Bunny" in text
    assert "20 May Tears of Steel" in text
    assert "3 titles" in text
    assert "1 being searched" in text
    assert "Next: Tears of Steel" in text


def home_wish(tmdb: str) -> ContentRequest:
    return ContentRequest(source="web", is_movie=True, ids=Ids(tmdb=tmdb))


def test_a_series_says_how_much_of_it_is_there(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1, 3))
    home.library.complete(show, home.library.item(show, 1, 1).id)
    page = owner.open("/")
    assert "1 of 3 Pioneer One" in page.text
    (bar,) = [tag for name, tag in page.seen.tags if name == "progress"]
    assert (bar["value"], bar["max"]) == ("1", "3")


def test_a_title_that_was_not_looked_up_has_the_name_it_was_asked_for_by(home: Home, owner: Visitor) -> None:
    home.library.ask(home_wish("99"))
    assert "Requested TMDB 99" in chips(owner)


def test_what_is_chosen_is_shown_and_nothing_else(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.complete(film, film)
    home.library.show(season(1))
    assert "Pioneer One" not in chips(owner, "/?show=ready")
    assert "Sintel" not in chips(owner, "/?kind=series").partition("Newest")[2]
    found = chips(owner, "/?search=sint")
    assert "“sint”" in found
    assert "Pioneer One" not in found.partition("Newest")[2]
    assert "Nothing like that" in chips(owner, "/?search=nowhere")


def test_titles_can_be_put_in_order(home: Home, owner: Visitor) -> None:
    home.library.film()
    home.clock.advance(60)
    home.library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    newest, by_title = chips(owner), chips(owner, "/?sort=title-back")
    assert newest.index("Big Buck Bunny") < newest.index("Sintel")
    assert by_title.index("Sintel") < by_title.index("Big Buck Bunny")


def test_a_long_library_has_pages(home: Home, owner: Visitor) -> None:
    for number in range(1, 51):
        home.library.ask(home_wish(str(number)))
    first = owner.open("/")
    assert "Page 1 of 2" in first.text
    second = owner.open(first.seen.links["Next"])
    assert "Page 2 of 2" in second.text
    assert second.text.count("Requested") == 2


@pytest.mark.parametrize(
    "path", ["/?page=0", "/?page=abc", "/?page=99999999999999999999", "/?show=x&kind=y&sort=z", "/?page=7"]
)
def test_an_address_that_makes_no_sense_still_shows_the_library(
    home: Home, owner: Visitor, path: str
) -> None:
    home.library.film()
    assert owner.open(path).status == 200


def test_ticked_titles_are_paused_together_and_the_page_says_so(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    other = home.library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    after = owner.send(owner.open("/?sort=title"), "/several", button="pause", ids=[str(film), str(other)])
    assert "Paused: 2 of 2 titles." in after.text
    assert after.path == "/?sort=title"
    assert after.text.count("Paused Sintel") == 1
    resumed = owner.send(after, "/several", button="unpause", ids=[str(film)])
    assert "Sintel goes on." in resumed.text


def test_nothing_ticked_is_told(home: Home, owner: Visitor) -> None:
    home.library.film()
    assert "Tick some titles first." in owner.send(owner.open("/"), "/several", button="remove").text
    bad = owner.send(owner.open("/"), "/several", button="remove", ids=["abc", "-1", "9" * 30])
    assert "Tick some titles first." in bad.text


def test_what_needs_a_person_is_counted_at_the_top_of_every_page(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.commit(film, {film: {"failed_at": NOW, "failed_reason": "searched 20 times"}})
    assert "1 need you" in owner.open("/calendar").text
    assert "Gave up Sintel" in chips(owner, "/?show=needs-you")


def test_episodes_that_come_out_next_are_named(home: Home, owner: Visitor) -> None:
    parts = [episode(1), episode(2, aired_at=NOW.replace(day=9))]
    home.library.show(season(2, parts))
    text = chips(owner)
    assert "Next: Pioneer One S02E02 9 May" in text
    assert LONG_AGO < NOW


def test_what_the_library_has_not_can_be_looked_for_to_add_it(home: Home, owner: Visitor) -> None:
    home.library.film()
    page = owner.open("/?search=cosmos laundromat")
    assert page.seen.links["Look for “cosmos laundromat” to add it"] == "/discover?q=cosmos+laundromat"
