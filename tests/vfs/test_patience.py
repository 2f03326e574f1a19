"""Retrying: how often, how soon, with which link."""

from datetime import UTC, datetime, timedelta

import pytest

from program.errors import Final, NotFound, RetryLater, RivuletError, Transient
from program.vfs.answers import DeadLink, Passing, SourceError
from program.vfs.patience import Patience, Retry

NOW = datetime(2031, 6, 1, tzinfo=UTC)


def after(patience: Patience, *errors: SourceError | RivuletError, moment: float = 0.0) -> list[Retry | None]:
    return [patience.after(error, NOW, moment) for error in errors]


def test_a_dead_link_is_replaced_at_once_and_not_for_ever():
    retries = after(Patience(30), *[DeadLink("gone")] * 4)
    assert retries[0] == Retry(0.0, replace=True)
    assert all(retry and retry.replace for retry in retries[:3])
    assert retries[3] is None


def test_a_passing_failure_tries_the_same_link_once_more_then_another():
    assert after(Patience(30), *[Passing("reset")] * 3) == [
        Retry(0.0, replace=False),
        Retry(0.2, replace=True),
        Retry(0.5, replace=False),
    ]


def test_a_stalled_server_is_left_at_once():
    assert after(Patience(30), Passing("nothing comes", stalled=True)) == [Retry(0.0, replace=True)]


@pytest.mark.parametrize(
    ("wait", "expected"),
    [(3.0, Retry(3.0, replace=False)), (0.0, Retry(0.2, replace=False)), (60.0, Retry(0.0, replace=True))],
)
def test_retry_after_is_waited_for_when_a_player_can(wait: float, expected: Retry):
    assert after(Patience(30), Passing("HTTP 429", wait=wait)) == [expected]


@pytest.mark.parametrize("error", [Final("no"), NotFound("no")])
def test_what_is_final_is_given_up(error: RivuletError):
    assert after(Patience(30), error) == [None]


def test_a_resolver_that_says_when_is_waited_for_within_the_limit():
    soon, late = (RetryLater(NOW + timedelta(seconds=seconds), "busy") for seconds in (5, 50))
    assert after(Patience(30), soon) == [Retry(5.0, replace=False)]
    assert after(Patience(30), late) == [None]


def test_it_gives_up_once_the_limit_has_passed_since_the_first_failure():
    patience = Patience(30)
    assert after(patience, Transient("busy"), moment=100.0) != [None]
    assert after(patience, Transient("busy"), moment=129.0) != [None]
    assert after(patience, Transient("busy"), moment=129.9) == [None]


def test_progress_makes_it_forget():
    patience = Patience(30)
    after(patience, *[DeadLink("gone")] * 3)
    patience.came(64 * 1024)
    assert after(patience, DeadLink("gone"), moment=500.0) == [Retry(0.0, replace=True)]


def test_a_few_bytes_are_no_progress():
    patience = Patience(30)
    for _ in range(3):
        after(patience, DeadLink("gone"))
        patience.came(1000)
    assert after(patience, DeadLink("gone")) == [None]
