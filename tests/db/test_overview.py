"""The library at a glance."""

from __future__ import annotations

from datetime import timedelta

from program.db import overview
from program.db.overview import Parts
from program.db.removal import delete
from program.db.views import Decision
from program.media.item import Ids, MediaType, States
from tests.db.library import NOW, Library, episode, season, wish


def test_titles_are_counted_by_kind_and_state_without_their_parts(library: Library) -> None:
    film = library.film()
    library.show(season(1, 3))
    library.complete(film, film)
    with library.db.read() as tx:
        counts = overview.title_counts(tx)
    assert counts == {(MediaType.MOVIE, States.Completed): 1, (MediaType.SHOW, States.Indexed): 1}


def test_the_parts_of_a_show_are_counted_by_what_is_there_and_what_is_out(library: Library) -> None:
    show = library.show(season(1, [episode(1), episode(2), episode(3, aired_at=NOW + timedelta(days=9))]))
    film = library.film()
    library.complete(show, library.item(show, 1, 1).id)
    with library.db.read() as tx:
        assert overview.parts(tx, [show, film]) == {show: Parts(ready=1, out=2, wanted=3)}
        assert overview.parts(tx, []) == {}


def test_what_waits_is_told_the_soonest_first_with_its_reason(library: Library) -> None:
    later, sooner = library.film(), library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    for film, hours in ((later, 5), (sooner, 2)):
        hold = {"hold_until": NOW + timedelta(hours=hours), "hold_reason": "a service asked to wait"}
        library.commit(film, {film: hold})
    with library.db.read() as tx:
        first, second = overview.waiting(tx, 10)
        assert len(overview.waiting(tx, 1)) == 1
    assert (first.name.title, first.at, first.reason) == (
        "Big Buck Bunny",
        NOW + timedelta(hours=2),
        "a service asked to wait",
    )
    assert second.name.item_id == later


def test_what_happened_last_comes_first_with_the_place_in_its_show(library: Library) -> None:
    show = library.show(season(2))
    part, whole = library.item(show, 2, 1).id, library.item(show, 2).id
    library.commit(show, {}, Decision(part, "scrape", "found", "41 releases"))
    library.commit(show, {}, Decision(whole, "scrape", "found", "a pack"))
    with library.db.read() as tx:
        newest, before = overview.happenings(tx, 2)
    assert (newest.sentence, newest.name.season, newest.name.episode) == ("a pack", 2, None)
    assert (before.sentence, before.name.season, before.name.episode) == ("41 releases", 2, 1)
    assert (before.name.title, before.name.root_id) == ("Pioneer One", show)


def test_wishes_are_told_with_who_asked_also_when_the_title_is_gone(library: Library) -> None:
    library.ask(wish(source="letterbox", external_id="7", requested_by="Ada"), by_person=False)
    film = library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    with library.db.write() as tx:
        delete(tx, [1], tombstone=True)
    with library.db.read() as tx:
        (newest, oldest), total = overview.wishes(tx, 10)
        assert overview.wishes(tx, 1, 1)[0] == (oldest,)
    assert total == 2
    assert newest.name is not None
    assert (newest.name.item_id, newest.name.title) == (film, "Big Buck Bunny")
    assert (oldest.name, oldest.source, oldest.requested_by, oldest.is_movie) == (
        None,
        "letterbox",
        "Ada",
        True,
    )
