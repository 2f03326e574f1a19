"""What is due: the longest waiting first, nothing twice, nothing that is paused, and no wish behind a backlog."""

from __future__ import annotations

from datetime import timedelta

from program.db import items
from program.media.item import Ids
from tests.db.library import Library, episode, season, wish


def due(library: Library, limit: int = 200, *, exclude: frozenset[int] = frozenset()) -> list[int]:
    with library.db.read() as tx:
        return [row.item_id for row in items.due(tx, library.now, limit, exclude=exclude)]


def many(library: Library, count: int) -> list[int]:
    """Films that became due one after the other."""
    found = []
    for number in range(count):
        (accepted,) = library.ask(wish(Ids(tmdb=str(1_000 + number))))
        found.append(library.item(accepted.item_id).id)
        library.clock.advance(1)
    return found


def test_rows_are_due_from_their_date_on(library: Library) -> None:
    show = library.show(season(1, [episode(1, aired_at=library.now + timedelta(hours=1))]))
    library.commit(show, {show: {"index_hold_until": library.now + timedelta(days=9)}})
    assert due(library) == []
    library.clock.advance(timedelta(hours=2))
    assert due(library) == [library.item(show, 1, 1).id]


def test_each_row_names_its_title(library: Library) -> None:
    show = library.show(season(1, [episode(1)]), season(2, [episode(1, "x")]))
    with library.db.read() as tx:
        assert {row.root_id for row in items.due(tx, library.now)} == {show}


def test_a_row_with_both_dates_due_comes_once(library: Library) -> None:
    film = library.film()
    library.commit(film, {})
    library.clock.advance(timedelta(days=800))
    assert due(library).count(film) == 1


def test_a_paused_row_and_one_nobody_asked_for_are_not_due(library: Library) -> None:
    film = library.film()
    show = library.show(season(1, 1), season(2, 1), wanted=(1,))
    library.commit(film, {film: {"paused_at": library.now}})
    assert film not in due(library)
    assert library.item(show, 2).id not in due(library)


def test_the_longest_waiting_come_first_when_all_fit(library: Library) -> None:
    films = many(library, 5)
    assert due(library) == films


def test_a_new_wish_does_not_wait_behind_a_backlog(library: Library) -> None:
    films = many(library, 20)
    assert due(library, 8) == [films[-1], films[-2], *films[:6]]


def test_rows_at_work_are_left_out_and_take_no_place(library: Library) -> None:
    films = many(library, 12)
    at_work = frozenset(films[:6])
    assert due(library, 6, exclude=at_work) == films[6:]


def test_all_beneath_a_title_at_work_is_left_out(library: Library) -> None:
    show = library.show(season(1, 2))
    assert due(library) != []
    assert due(library, exclude=frozenset({show})) == []


def test_roots_with_something_left_to_do_are_incomplete(library: Library) -> None:
    show = library.show(season(1, 1), wanted=(1,))
    film = library.film()
    with library.db.read() as tx:
        assert items.all_roots(tx) == (show, film)
        assert items.incomplete_roots(tx) == (show, film)
    library.complete(show, library.item(show, 1, 1).id)
    library.commit(film, {film: {"paused_at": library.now}})
    with library.db.read() as tx:
        assert items.incomplete_roots(tx) == ()


def oldest(library: Library, *, exclude: frozenset[int] = frozenset()) -> object:
    with library.db.read() as tx:
        return items.oldest_due(tx, library.now, exclude=exclude)


def test_the_oldest_due_row_is_known_by_its_date(library: Library) -> None:
    assert oldest(library) is None
    first = library.now
    films = many(library, 3)
    assert oldest(library) == first
    assert oldest(library, exclude=frozenset(films[:1])) == first + timedelta(seconds=1)
    assert oldest(library, exclude=frozenset(films)) is None


def test_what_is_beneath_a_title_at_work_is_not_the_oldest(library: Library) -> None:
    show = library.show(season(1, [episode(1)]))
    assert oldest(library) is not None
    assert oldest(library, exclude=frozenset({show})) is None
