"""What the library adds up to."""

from __future__ import annotations

from datetime import timedelta

from program.media.item import Ids
from tests.api.home import Home
from tests.db.library import release, season
from tests.web.visitor import Page, Visitor


def opened(visitor: Visitor) -> Page:
    page = visitor.open("/statistics")
    assert page.status == 200
    return page


def test_without_titles_there_is_nothing_to_count(owner: Visitor) -> None:
    assert "Nothing to count yet" in opened(owner).text
    assert opened(owner).seen.links["Statistics"] == "/statistics"


def test_titles_files_and_sizes_are_summed_up(home: Home, owner: Visitor) -> None:
    film, show = home.library.film(), home.library.show(season(1))
    home.library.complete(film, film, size=4_000_000_000, version="2160p", infohash="b" * 40)
    home.library.complete(show, home.library.item(show, 1, 1).id, size=1_000_000_000)
    text = opened(owner).text
    assert "titles 2 files 2 in all 5.0 GB" in text
    assert "Ready 1 Completed" in text
    assert "1080p 1 1.0 GB" in text
    assert "2160p 1 4.0 GB" in text


def test_weeks_are_drawn_with_what_arrived_in_them(home: Home, owner: Visitor) -> None:
    early, late = home.library.film(), home.library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    home.library.complete(early, early)
    home.clock.advance(timedelta(weeks=3).total_seconds())
    home.library.complete(late, late)
    html = opened(owner).answer.text
    assert html.count("1 file in the week from ") == 2
    assert html.count("0 files in the week from ") == 24
    assert "2 files since" in html
    home.clock.advance(timedelta(weeks=30).total_seconds())
    assert "None since" in opened(owner).text


def test_the_commonest_reason_to_refuse_stands_first(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    refused = ("wrong_year", "trash", "trash")
    found = [release(str(number) * 40, refused=code) for number, code in enumerate(refused)]
    home.library.find_releases(film, *found, release("9" * 40))
    text = opened(owner).text
    assert "Trash 2 Wrong year 1" in text
    assert "Of the last 4 releases that were found." in text


def test_the_usual_time_from_wish_to_ready_leaves_out_what_was_not_out_yet(
    home: Home, owner: Visitor
) -> None:
    for number, minutes in enumerate((4, 8, 60)):
        film = home.library.film(Ids(tmdb=str(number + 1)), f"Film {number}")
        home.clock.advance(minutes * 60 - 1)
        home.library.complete(film, film)
    assert "from wish to ready, typically 8 min" in opened(owner).text


def test_providers_stand_with_the_calls_they_had(home: Home, owner: Visitor) -> None:
    home.library.film()
    home.use(scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}})
    home.registry.validate(home.library.now)
    text = opened(owner).text
    assert "Calls since the start" in text
    assert "Sample Index" in text
