"""What comes out when."""

from __future__ import annotations

from datetime import timedelta

from program.media.item import Ids, ReleaseKind
from tests.api.home import Home
from tests.db.library import NOW, episode, film_metadata, season
from tests.web.visitor import Visitor


def coming(home: Home) -> None:
    """Ask for a series with an episode in ten days and a film in forty."""
    home.library.show(season(1, [episode(1), episode(2, aired_at=NOW + timedelta(days=10))]))
    film = home.library.film(Ids(tmdb="133701"), "Tears of Steel")
    releases = {ReleaseKind.DIGITAL: NOW + timedelta(days=40)}
    home.library.index(film, film_metadata(Ids(tmdb="133701"), "Tears of Steel", releases=releases))


def test_what_comes_next_is_a_list_of_days_without_the_empty_ones(home: Home, owner: Visitor) -> None:
    coming(home)
    page = owner.open("/calendar")
    assert "Sun 11 May Pioneer One S01E02 · Part 2" in page.text
    assert "Tue 10 Jun Tears of Steel" in page.text
    assert "Mon 12" not in page.text


def test_a_month_is_a_sheet_with_all_its_days(home: Home, owner: Visitor) -> None:
    coming(home)
    page = owner.open("/calendar?month=2031-05")
    cells = [given["class"] for name, given in page.seen.tags if "weekday-" in given.get("class", "")]
    assert len(cells) == 31
    assert cells[0] == "weekday-4 today free"
    assert cells[10] == "weekday-7"
    assert "Sunday 11 Pioneer One S01E02" in page.text
    assert "Tears of Steel" not in page.text
    assert "Tuesday 10 Tears of Steel" in owner.open("/calendar?month=2031-06").text


def test_a_month_without_anything_says_so(home: Home, owner: Visitor) -> None:
    coming(home)
    assert "Nothing comes out in this month" in owner.open("/calendar?month=2035-01").text


def test_the_calendar_can_be_subscribed_to(home: Home, owner: Visitor) -> None:
    coming(home)
    page = owner.open("/calendar")
    address = next(given["value"] for _, given in page.seen.tags if given.get("id") == "ical")
    assert address.startswith(owner.base)
    told = Visitor(home.server.port).open(address.removeprefix(owner.base))
    assert told.status == 200
    assert "Pioneer One" in told.answer.text


def test_the_list_leads_to_the_month_and_the_month_to_the_list(home: Home, owner: Visitor) -> None:
    home.library.film()
    agenda = owner.open("/calendar")
    month = owner.open(agenda.seen.links["Month"])
    assert "May 2031" in month.text
    assert owner.open(month.seen.links["Coming up"]).path == "/calendar"


def test_reasons_say_instants_as_the_viewer_does(home: Home, owner: Visitor) -> None:
    aired = NOW + timedelta(days=3)
    show = home.library.show(season(1, [episode(1, aired_at=aired)]))
    assert "UTC" in (home.library.item(show, 1, 1).schedule.next_reason or "")
    text = owner.open("/activity").text
    assert "counts as released from Sun 12:30" in text
    assert "UTC" not in text
