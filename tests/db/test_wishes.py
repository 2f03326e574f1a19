"""What becomes of a wish: a new title, a known one, a failed, a paused, a removed one."""

from __future__ import annotations

import pytest

from program.db import items
from program.media.item import Ids, States
from program.media.metadata import ContentRequest
from tests.db.library import FILM, Library, film_metadata, season, show_metadata, show_wish, statements, wish


def a_list(ids: Ids = FILM, entry: str = "7", **parts: object) -> ContentRequest:
    return wish(ids, source="overseerr", external_id=entry, **parts)


def test_a_new_title_is_requested_and_due_at_once(library: Library) -> None:
    (accepted,) = library.ask(wish())
    assert (accepted.outcome, accepted.sentence) == ("created", "TMDB 45745 is added")
    assert accepted.root_id == accepted.item_id
    assert library.state(accepted.item_id) is States.Requested
    assert library.due() == [accepted.item_id]
    assert library.wrong() == ()


def test_a_known_title_stays_one_row_and_says_so_by_its_name(library: Library) -> None:
    film = library.film()
    (accepted,) = library.ask(wish(Ids(imdb="tt1727587", tmdb="45745")))
    assert (accepted.item_id, accepted.outcome) == (film, "known")
    assert accepted.sentence == "Sintel is in the library"
    assert library.item(film).schedule.next_reason != "was changed"


def test_a_film_and_a_series_may_have_the_same_number(library: Library) -> None:
    first, second = library.ask(wish(Ids(tmdb="1")), wish(Ids(tmdb="1"), is_movie=False))
    assert (first.outcome, second.outcome) == ("created", "created")
    assert first.item_id != second.item_id


def test_the_same_title_twice_in_one_call_is_one_row(library: Library) -> None:
    first, second, third = library.ask(
        wish(Ids(tmdb="1")), wish(Ids(tmdb="1", imdb="tt1")), wish(Ids(tmdb="2"))
    )
    assert [first.outcome, second.outcome, third.outcome] == ["created", "known", "created"]
    assert first.item_id == second.item_id != third.item_id


def test_many_wishes_cost_few_statements(library: Library) -> None:
    with statements(library.db) as seen:
        accepted = library.ask(*(wish(Ids(tmdb=str(number))) for number in range(500)))
    # Three that look, and a few batches of inserts.
    assert len(seen) < 15
    assert {one.outcome for one in accepted} == {"created"}
    assert len({one.item_id for one in accepted}) == 500
    assert len(library.due()) == 200


def test_more_wishes_than_a_statement_may_have_conditions_are_accepted(library: Library) -> None:
    answers = library.ask(*(wish(Ids(tmdb=str(number))) for number in range(1, 1_501)))
    assert {answer.outcome for answer in answers} == {"created"}


def test_a_wish_without_any_id_is_refused(library: Library) -> None:
    with pytest.raises(ValueError, match="without any id"):
        library.ask(wish(Ids()))


def test_who_asked_is_kept_once_per_list_entry(library: Library) -> None:
    (accepted,) = library.ask(a_list(requested_by="ada"), by_person=False)
    library.ask(a_list(requested_by="ada"), by_person=False)
    library.ask(wish())
    with library.db.read() as tx:
        detail = items.detail(tx, accepted.item_id)
    assert detail is not None
    assert [(r.source, r.requested_by) for r in detail.requests] == [("overseerr", "ada"), ("api", None)]


class TestSeasons:
    def test_only_the_seasons_asked_for_are_requested(self, library: Library) -> None:
        show = library.show(season(0), season(1), season(2), wanted=(2,))
        assert not library.item(show, 0).is_requested
        assert not library.item(show, 1, 1).is_requested
        assert library.item(show, 2).is_requested
        assert library.item(show, 2, 1).is_requested

    def test_a_wish_without_a_list_of_seasons_means_all_but_the_specials(self, library: Library) -> None:
        show = library.show(season(0), season(1))
        assert library.item(show).wants_future
        assert not library.item(show, 0, 1).is_requested
        assert library.item(show, 1, 1).is_requested

    def test_more_seasons_of_a_completed_show_become_due(self, library: Library) -> None:
        show = library.show(season(1, 1), season(2, 1), wanted=(1,))
        library.complete(show, library.item(show, 1, 1).id)
        assert library.state(show) is States.Completed
        (accepted,) = library.ask(show_wish(seasons=(1, 2)))
        assert accepted.outcome == "updated"
        assert show in library.due()
        library.commit(show, {})
        assert library.state(show) is States.PartiallyCompleted
        assert library.item(show, 2).id in library.due()

    def test_specials_come_when_they_are_asked_for(self, library: Library) -> None:
        show = library.show(season(0, 1), season(1, 1))
        (accepted,) = library.ask(show_wish(seasons=(0,)))
        assert accepted.outcome == "updated"
        assert library.item(show, 0, 1).is_requested

    def test_a_season_that_is_not_known_yet_is_remembered(self, library: Library) -> None:
        show = library.show(season(1, 1), wanted=(1,))
        library.ask(show_wish(seasons=(2,)))
        library.index(show, show_metadata(season(1, 1), season(2, 1)))
        assert library.item(show, 2, 1).is_requested

    def test_a_list_that_grows_adds_only_what_is_new(self, library: Library) -> None:
        library.ask(
            show_wish(source="overseerr", external_id="3", seasons=(1,)),
            by_person=False,
        )
        (again,) = library.ask(show_wish(source="overseerr", external_id="3", seasons=(1,)), by_person=False)
        (more,) = library.ask(show_wish(source="overseerr", external_id="3", seasons=(1, 2)), by_person=False)
        assert (again.outcome, more.outcome) == ("known", "updated")
        assert library.item(more.item_id).wanted_seasons == (1, 2)


class TestFailed:
    def test_a_new_wish_for_a_failed_film_tries_it_again(self, library: Library) -> None:
        film = library.film()
        library.commit(
            film, {film: {"failed_at": library.now, "failed_reason": "gave up", "scraped_times": 20}}
        )
        assert library.state(film) is States.Failed
        library.clock.advance(1)
        (accepted,) = library.ask(wish())
        assert accepted.outcome == "retried"
        assert film in library.due()
        library.commit(film, {})
        assert library.state(film) is States.Indexed
        assert library.facts(film).scraped_times == 0

    def test_a_list_that_repeats_itself_does_not(self, library: Library) -> None:
        (accepted,) = library.ask(a_list(), by_person=False)
        film = accepted.item_id
        library.commit(film, {film: {"failed_at": library.now}})
        (again,) = library.ask(a_list(), by_person=False)
        assert again.outcome == "known"
        assert library.state(film) is States.Failed

    def test_only_the_failed_episodes_of_a_show_start_again(self, library: Library) -> None:
        show = library.show(season(1, 2))
        library.complete(show, library.item(show, 1, 1).id)
        failed = library.item(show, 1, 2).id
        library.commit(show, {failed: {"failed_at": library.now}})
        library.clock.advance(1)
        (accepted,) = library.ask(show_wish())
        assert accepted.outcome == "retried"
        assert library.facts(show, 1, 2).failed_at is None
        assert library.facts(show, 1, 1).restarted_at is None


def test_a_paused_title_says_so_and_stays_paused(library: Library) -> None:
    film = library.film()
    library.commit(film, {film: {"paused_at": library.now}})
    (accepted,) = library.ask(wish())
    assert (accepted.outcome, accepted.sentence) == ("paused", "Sintel is paused; unpause it to go on")
    assert library.state(film) is States.Paused


class TestTombstones:
    def remove(self, library: Library) -> None:
        (accepted,) = library.ask(a_list(), by_person=False)
        with library.db.write(accepted.root_id) as tx:
            items.delete(tx, [accepted.item_id], tombstone=True)

    def test_a_list_does_not_bring_back_what_was_removed(self, library: Library) -> None:
        self.remove(library)
        (accepted,) = library.ask(a_list(), by_person=False)
        assert (accepted.outcome, accepted.item_id) == ("tombstoned", None)
        assert library.due() == []

    def test_another_entry_of_the_list_does(self, library: Library) -> None:
        self.remove(library)
        (accepted,) = library.ask(a_list(entry="8"), by_person=False)
        assert accepted.outcome == "created"

    def test_a_persons_wish_lifts_it(self, library: Library) -> None:
        self.remove(library)
        (created,) = library.ask(wish())
        (listed,) = library.ask(a_list(), by_person=False)
        assert created.outcome == "created"
        assert (listed.outcome, listed.item_id) == ("known", created.item_id)

    def test_it_holds_by_the_ids_the_index_found_too(self, library: Library) -> None:
        (accepted,) = library.ask(a_list(), by_person=False)
        library.index(accepted.item_id, film_metadata(Ids(imdb="tt1727587", tmdb="45745")))
        with library.db.write(accepted.root_id) as tx:
            items.delete(tx, [accepted.item_id], tombstone=True)
        library.ask(wish(Ids(imdb="tt1727587")))
        (listed,) = library.ask(a_list(), by_person=False)
        assert listed.outcome != "tombstoned"

    def test_removing_without_one_lets_the_list_bring_it_back(self, library: Library) -> None:
        (accepted,) = library.ask(a_list(), by_person=False)
        with library.db.write(accepted.root_id) as tx:
            items.delete(tx, [accepted.item_id], tombstone=False)
        (again,) = library.ask(a_list(), by_person=False)
        assert again.outcome == "created"
        assert again.item_id != accepted.item_id
