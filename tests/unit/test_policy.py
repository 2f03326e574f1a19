"""The rules of states and dates follow the settings."""

from datetime import timedelta

from program.media.schedule import search_cooldown
from program.policy import policy_of
from tests.support.sample_plugin import settings

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
    assert policy_of(settings(scraping={"max_failed_attempts": 3}), ()).max_failed_attempts == 3
