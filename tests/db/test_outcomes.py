"""`commit_outcome`: facts, states, dates and the reason are one transaction, also for two at once."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from program.db import items
from program.db.commit import bump_revision
from program.db.views import Decision
from program.errors import Cancelled
from program.media.item import Contradiction, Ids, States
from program.media.metadata import ContentRequest
from program.media.outcomes import job_failed
from tests.db.library import Library, release, season, wish


def test_facts_states_dates_and_the_decision_come_together(library: Library) -> None:
    film = library.film()
    library.find_releases(film, release("a" * 40))
    made = Decision(film, "scrape", "found", "1 release passes.", {"new": 1}, ms=12)
    root = library.commit(film, {film: {"scraped_at": library.now, "active_stream": "a" * 40}}, made)
    assert root == library.tree(film)
    assert root.item.last_state is States.Scraped
    assert root.item.schedule.next_attempt_at == library.now
    (written,) = library.timeline(film)
    assert (written.step, written.sentence, written.data, written.ms) == (
        "scrape",
        "1 release passes.",
        {"new": 1},
        12,
    )
    assert written.at == library.now


def test_every_fact_comes_back_as_it_was_written(library: Library) -> None:
    film = library.film()
    at = library.now - timedelta(hours=1)
    facts = {
        "paused_at": at,
        "failed_reason": "gave up",
        "index_failures": 3,
        "hold_until": at,
        "confirmed_by": "plex",
        "contradiction": Contradiction("a film with seasons", with_metadata=True),
    }
    library.commit(film, {film: facts})
    stored = library.facts(film)
    assert {name: getattr(stored, name) for name in facts} == facts


def test_intent_is_written_the_same_way(library: Library) -> None:
    show = library.show(season(1, 1), wanted=(1,))
    library.commit(show, {show: {"wants_future": True, "wanted_seasons": (1, 4)}})
    assert (library.item(show).wants_future, library.item(show).wanted_seasons) == (True, (1, 4))


def test_a_name_that_is_no_fact_is_refused_and_nothing_is_written(library: Library) -> None:
    film = library.film()
    with pytest.raises(KeyError, match="colour"):
        library.commit(film, {film: {"failures": 2, "colour": "red"}})
    assert library.facts(film).failures == 0


def test_states_are_settled_up_to_the_show(library: Library) -> None:
    show = library.show(season(1, 2))
    library.complete(show, library.item(show, 1, 1).id)
    assert library.state(show) is States.PartiallyCompleted
    library.complete(show, library.item(show, 1, 2).id)
    assert [library.state(show), library.state(show, 1)] == [States.Completed, States.Completed]
    assert library.wrong() == ()


def test_an_error_puts_the_row_off_and_says_why(library: Library) -> None:
    film = library.film()
    library.commit(film, {film: job_failed(library.item(film), library.now, "the network is down")})
    schedule = library.item(film).schedule
    assert schedule.next_attempt_at is not None
    assert schedule.next_attempt_at > library.now
    assert schedule.next_reason == "retry after an error: the network is down"


def test_a_decision_about_an_episode_that_is_gone_stands_at_the_title(library: Library) -> None:
    show = library.show(season(1, 1))
    library.commit(show, {9_999: {"failures": 1}}, Decision(9_999, "scrape", "none", "Nothing found."))
    assert [made.sentence for made in library.timeline(show)] == ["Nothing found."]


def test_a_title_that_is_gone_calls_the_work_off(library: Library) -> None:
    film = library.film()
    with library.db.write() as tx:
        items.delete(tx, [film], tombstone=False)
    with pytest.raises(Cancelled):
        library.commit(film, {film: {"failures": 1}})


def test_a_changed_mind_is_counted(library: Library) -> None:
    film = library.film()
    with library.db.write(film) as tx:
        bump_revision(tx, [film])
        bump_revision(tx, [film])
    assert library.item(film).revision == 2


def test_two_episodes_that_finish_at_once_leave_the_season_right(library: Library) -> None:
    show = library.show(season(1, 2))
    episodes = [library.item(show, 1, number).id for number in (1, 2)]
    together = threading.Barrier(2)
    broken: list[BaseException] = []

    def finish(item_id: int) -> None:
        together.wait(10)
        try:
            library.complete(show, item_id)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            broken.append(error)

    threads = [threading.Thread(target=finish, args=(item_id,)) for item_id in episodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert broken == []
    assert library.state(show, 1) is States.Completed
    assert library.state(show) is States.Completed
    assert library.wrong() == ()


@pytest.mark.parametrize("by_person", [True, False], ids=["people", "lists"])
def test_two_wishes_for_a_new_title_at_once_are_one_row(library: Library, by_person: bool) -> None:  # noqa: FBT001
    together = threading.Barrier(4)
    outcomes: list[str] = []

    def ask(number: int) -> None:
        source = "api" if by_person else f"list{number}"
        together.wait(10)
        (accepted,) = library.ask(wish(Ids(tmdb="7"), source=source), by_person=by_person)
        outcomes.append(accepted.outcome)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["created", "known", "known", "known"]
    with library.db.read() as tx:
        assert len(items.all_roots(tx)) == 1
    assert library.wrong() == ()


def test_lists_that_name_the_same_titles_in_another_order_do_not_block_each_other(library: Library) -> None:
    wishes = [wish(Ids(tmdb=str(number))) for number in range(40)]
    library.ask(*wishes)
    together = threading.Barrier(2)
    outcomes: list[set[str]] = []

    def ask(*wanted: ContentRequest) -> None:
        together.wait(10)
        outcomes.append({accepted.outcome for accepted in library.ask(*wanted)})

    threads = [threading.Thread(target=ask, args=order) for order in (wishes, wishes[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert outcomes == [{"known"}, {"known"}]
