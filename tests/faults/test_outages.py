"""How long a service is left alone that does not answer: never so long that its coming back goes unnoticed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from program.pacing import GENTLE_START, Limits, Pacer, Ticket

START = datetime(2031, 6, 1, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def ask(pacer: Pacer, now: datetime, *, waits: bool = False) -> Ticket | None:
    """Return leave for a call, None when the service rests."""
    leave = pacer.enter(now, (now - START).total_seconds(), is_interactive=waits)
    return leave if isinstance(leave, Ticket) else None


def fail(pacer: Pacer, now: datetime, *, waits: bool = False) -> None:
    ticket = ask(pacer, now, waits=waits)
    assert ticket is not None
    pacer.failed(ticket, now, "no answer")
    pacer.leave(ticket)


def rest(pacer: Pacer, now: datetime) -> timedelta:
    until = pacer.standing().paused_until
    return timedelta(0) if until is None else until - now


def outage_from_the_start(pacer: Pacer) -> datetime:
    """Let every call fail for the first quarter of an hour; return the instant of the first call after it."""
    now = START
    while now - START < GENTLE_START:
        fail(pacer, now)
        now += max(rest(pacer, now), SECOND)
    return now


def test_an_outage_of_a_quarter_of_an_hour_at_the_start_is_not_followed_by_a_long_rest() -> None:
    pacer = Pacer(Limits(), START)
    now = outage_from_the_start(pacer)
    assert rest(pacer, now) <= MINUTE
    fail(pacer, now)
    assert rest(pacer, now) <= 5 * MINUTE


def test_an_outage_that_lasts_is_asked_about_less_and_less() -> None:
    pacer = Pacer(Limits(), START)
    now = outage_from_the_start(pacer)
    rests = []
    for _ in range(5):
        fail(pacer, now)
        rests.append(rest(pacer, now))
        now += rests[-1]
    assert rests == [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR]


def test_what_a_player_asks_in_vain_makes_the_rest_no_longer_for_all_others() -> None:
    pacer = Pacer(Limits(), START)
    now = START + HOUR
    fail(pacer, now)
    fail(pacer, now)
    until = pacer.standing().paused_until
    assert until == now + MINUTE
    for seconds in (11, 22, 33, 44, 55):
        fail(pacer, now + seconds * SECOND, waits=True)
    assert pacer.standing().paused_until == until
    assert ask(pacer, until) is not None


def test_a_player_that_is_answered_ends_the_rest_for_all() -> None:
    pacer = Pacer(Limits(), START)
    now = START + HOUR
    fail(pacer, now)
    fail(pacer, now)
    knock = ask(pacer, now + 11 * SECOND, waits=True)
    assert knock is not None
    pacer.succeeded(knock)
    pacer.leave(knock)
    assert ask(pacer, now + 12 * SECOND) is not None
