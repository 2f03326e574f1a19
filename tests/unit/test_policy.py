"""The rules of states and dates follow the settings."""

from datetime import timedelta

from program.media.item import Node, States
from program.media.outcomes import search_missed
from program.media.schedule import is_exhausted, search_cooldown
from program.media.state import state_of
from program.policy import policy_of
from tests.support.sample_plugin import settings
from tests.support.titles import NOW, movie

HOUR = timedelta(hours=1)


def test_unless_told_otherwise_a_search_waits_half_an_hour_then_2_6_and_24_hours() -> None:
    policy = policy_of(settings(), ())
    assert policy.cooldown_hours == (2, 6, 24)
    waits = [search_cooldown(times, policy) / HOUR for times in (1, 2, 4, 5, 9, 10, 50)]
    assert waits == [0.5, 2, 2, 6, 6, 24, 24]


def test_the_waits_after_searches_are_those_of_the_settings() -> None:
    policy = policy_of(settings(scraping={"scrape_cooldown_hours": [1, 3, 9]}), ())
    assert [search_cooldown(times, policy) / HOUR for times in (1, 2, 5, 10)] == [0.5, 1, 3, 9]


def test_the_user_says_after_how_many_searches_a_title_is_given_up() -> None:
    assert policy_of(settings(), ()).max_failed_attempts == 20
    policy = policy_of(settings(scraping={"max_failed_attempts": 3}), ())
    assert [is_exhausted(times, policy) for times in (0, 2, 3, 4)] == [False, False, True, True]
    never = policy_of(settings(scraping={"max_failed_attempts": 0}), ())
    assert not is_exhausted(1000, never)


def test_a_film_that_was_searched_so_often_in_vain_has_failed() -> None:
    policy = policy_of(settings(scraping={"max_failed_attempts": 3}), ())
    for times, state in ((1, States.Indexed), (2, States.Failed)):
        film = movie(scraped_times=times).item
        assert state_of(Node(film.with_facts(**search_missed(film, NOW, policy))), NOW, policy).state is state
