"""Asking for titles, and who asked for what."""

from __future__ import annotations

import pytest

from program.media.item import Ids
from program.web import links
from tests.api.home import Home
from tests.db.library import film_metadata, wish
from tests.web.visitor import Visitor


@pytest.mark.parametrize(
    ("what", "kind", "ids"),
    [
        ("https://www.themoviedb.org/movie/45745-sintel", "movie", Ids(tmdb="45745")),
        ("https://www.themoviedb.org/movie/45745-sintel?language=de-DE", "movie", Ids(tmdb="45745")),
        ("themoviedb.org/tv/37980", "tv", Ids(tmdb="37980")),
        ("https://thetvdb.com/dereferrer/series/170551", "tv", Ids(tvdb="170551")),
        ("https://thetvdb.com/?tab=series&id=170551", "tv", Ids(tvdb="170551")),
        ("tvdb:170551", "tv", Ids(tvdb="170551")),
        ("https://www.imdb.com/title/tt1727587/", None, Ids(imdb="tt1727587")),
        ("https://m.imdb.com/de/title/tt1727587/?ref_=x", None, Ids(imdb="tt1727587")),
        ("tmdb:45745", None, Ids(tmdb="45745")),
        ("45745", None, Ids(tmdb="45745")),
    ],
)
def test_what_people_paste_is_read(what: str, kind: str | None, ids: Ids) -> None:
    (named,) = links.read(what, None).named
    assert (named.kind, named.ids) == (kind, ids)


@pytest.mark.parametrize(
    "what",
    [
        "Sintel",
        "https://thetvdb.com/series/pioneer-one",
        "https://thetvdb.com/series/24",
        "https://thetvdb.com/series/24-hours",
        "tmdb:0",
        "tt12",
        "-5",
        "1.5",
    ],
)
def test_what_names_no_title_for_certain_is_not_guessed(what: str) -> None:
    reading = links.read(what, None)
    assert (reading.unread, reading.named) == ((what,), ())


def test_what_the_person_says_counts_where_the_address_does_not_tell() -> None:
    assert [one.kind for one in links.read("tt1727587 themoviedb.org/tv/37980", "movie").named] == [
        "movie",
        "tv",
    ]
    assert links.read("170551", "tv").named[0].ids == Ids(tvdb="170551")


def test_the_same_title_twice_is_one() -> None:
    assert len(links.read("tmdb:45745 45745 themoviedb.org/movie/45745", "movie").named) == 1


@pytest.mark.parametrize(
    ("text", "seasons"),
    [("", None), ("1", (1,)), ("1, 3-5", (1, 3, 4, 5)), ("0 2 2", (0, 2))],
)
def test_seasons_are_written_as_people_write_them(text: str, seasons: tuple[int, ...] | None) -> None:
    assert links.seasons(text) == seasons


@pytest.mark.parametrize("text", ["one", "5-3", "1-9999", "-1", "1;2", "99999"])
def test_seasons_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Write seasons as numbers"):
        links.seasons(text)


def test_a_film_is_added_and_its_page_shown(home: Home, owner: Visitor) -> None:
    page = owner.send(owner.open("/discover"), "", what="https://www.themoviedb.org/movie/45745-sintel")
    assert page.path == "/items/1"
    assert "TMDB 45745 is added." in page.text
    assert "Looking it up" in page.text
    assert home.library.tree(1).item.ids == Ids(tmdb="45745")
    assert home.woken == 1


def test_a_series_is_added_with_its_seasons(home: Home, owner: Visitor) -> None:
    owner.send(owner.open("/discover"), "", what="tvdb:170551", seasons="1, 3")
    item = home.library.tree(1).item
    assert (item.wanted_seasons, item.wants_future) == ((1, 3), False)


def test_several_are_added_at_once(home: Home, owner: Visitor) -> None:
    page = owner.send(owner.open("/discover"), "", what="tmdb:45745 tmdb:10378", kind="movie")
    assert page.path == "/"
    assert "TMDB 45745 is added; TMDB 10378 is added." in page.text


def test_a_title_that_is_there_already_is_told_kindly(home: Home, owner: Visitor) -> None:
    home.library.film()
    page = owner.send(owner.open("/discover"), "", what="tmdb:45745", kind="movie")
    assert "Sintel is in the library." in page.text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"what": "  "}, "Paste the address of a film or series, or its id."),
        ({"what": "tt1727587"}, "choose one"),
        ({"what": "tvdb:170551", "seasons": "some"}, "Write seasons as numbers, e.g. 1, 3-5."),
    ],
)
def test_what_is_wrong_stands_at_the_field_and_what_was_typed_stays(
    home: Home, owner: Visitor, typed: dict[str, str], said: str
) -> None:
    page = owner.send(owner.open("/discover"), "", **typed)
    assert page.status == 422
    assert said in page.text
    assert dict(page.seen.form("").fields)["what"] == typed["what"]
    assert home.get("/items")["total_items"] == 0


def test_a_title_by_its_name_leads_to_where_its_address_is_found(owner: Visitor) -> None:
    page = owner.send(owner.open("/discover"), "", what="Big Buck & Bunny")
    assert "“Big Buck & Bunny” is no address and no id." in page.text
    assert (
        page.seen.links["Look it up at TMDB"]
        == "https://www.themoviedb.org/search?query=Big%20Buck%20%26%20Bunny"
    )


def test_wishes_are_listed_with_who_and_where_from(home: Home, owner: Visitor) -> None:
    home.library.ask(wish(requested_by="Ada", source="letterbox", external_id="7"), by_person=False)
    home.library.index(1, film_metadata())
    owner.send(owner.open("/discover"), "", what="tmdb:10378", kind="movie")
    text = owner.open("/wishes").text
    assert "Not looked up yet These pages just now Requested" in text
    assert "Sintel Ada Letterbox just now Searching" in text


def test_a_removed_title_stays_in_the_list_of_wishes_as_removed(home: Home, owner: Visitor) -> None:
    home.library.ask(wish(source="letterbox", external_id="7"), by_person=False)
    home.context.actions.remove([1])
    assert "Removed (film 7) Letterbox just now Stays away" in owner.open("/wishes").text


def test_no_wishes_yet_says_how_to_begin(owner: Visitor) -> None:
    assert "Nobody has asked for anything yet" in owner.open("/wishes").text
