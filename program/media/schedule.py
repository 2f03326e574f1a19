"""When things are tried again: every waiting time of the program, as tables and functions of facts.

A date that comes out of here may lie in the past; it then means "now". `settle` says what stands in the row.
"""

from datetime import datetime, timedelta

from program.media.facts import Policy, is_current
from program.media.item import Confirmation, Facts, Item

# After so many failures in a row (an outage, a crash, a broken answer); the last one repeats for ever.
ERROR_HOLDS: tuple[timedelta, ...] = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
)

# Searches without a usable release, and the wait that follows; the hours come from `Policy.cooldown_hours`.
FIRST_COOLDOWN = timedelta(minutes=30)
COOLDOWN_FROM: tuple[int, int, int] = (2, 5, 10)

# A title that the metadata service does not know, or knows as something else.
INDEX_RETRY_FIRST = timedelta(hours=1)
INDEX_RETRY_LAST = timedelta(hours=24)
INDEX_FAILURES_MAX = 10

# A metadata service is not asked twice about the same title within this time.
REINDEX_PAUSE = timedelta(hours=1)
REINDEX_GROWING = timedelta(hours=24)

# When a media server is asked for a title, counted from the instant its file appeared.
CONFIRM_AFTER: tuple[timedelta, ...] = (
    timedelta(0),
    timedelta(seconds=1),
    timedelta(seconds=3),
    timedelta(seconds=15),
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=2),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=6),
)
# From here on each question comes with a new scan; each is at least twice as late as the one before.
RESCAN_FROM = timedelta(seconds=30)

POST_FAILURES_MAX = 3

# `confirmed_by` when no server was enabled, and when none listed the title to the last question.
NO_SERVER = "none"
UNCONFIRMED = "unconfirmed"


def error_hold(failures: int, now: datetime) -> datetime:
    """Return the instant before which a row that failed `failures` times in a row (1 or more) is left alone."""
    return now + ERROR_HOLDS[min(max(failures, 1), len(ERROR_HOLDS)) - 1]


def search_cooldown(scraped_times: int, policy: Policy) -> timedelta:
    """Return how long to wait after the `scraped_times`-th search without a usable release; zero after none."""
    if scraped_times <= 0:
        return timedelta(0)
    reached = [
        hours
        for start, hours in zip(COOLDOWN_FROM, policy.cooldown_hours, strict=True)
        if scraped_times >= start
    ]
    return timedelta(hours=reached[-1]) if reached else FIRST_COOLDOWN


def is_exhausted(scraped_times: int, policy: Policy) -> bool:
    """Return True when a leaf was searched in vain as often as the user allows."""
    return 0 < policy.max_failed_attempts <= scraped_times


def was_searched(facts: Facts) -> bool:
    """Return True when the row was searched since its last reset."""
    return facts.scraped_times > 0 or is_current(facts, facts.scraped_at)


def search_at(facts: Facts) -> datetime | None:
    """Return the last search in vain that the cooldown counts from; None when a search is due at once."""
    return facts.scraped_at if facts.scraped_times > 0 and is_current(facts, facts.scraped_at) else None


def index_retry(index_failures: int) -> timedelta:
    """Return how long to wait after the `index_failures`-th answer that does not know the title; zero after none."""
    if index_failures <= 0:
        return timedelta(0)
    # Further doublings are beyond the last step anyway.
    return min(INDEX_RETRY_FIRST * (1 << min(index_failures - 1, 8)), INDEX_RETRY_LAST)


def wants_scan(asked_times: int) -> bool:
    """Return True when the question after `asked_times` earlier ones comes with a scan of the folder."""
    if asked_times >= len(CONFIRM_AFTER):
        return False
    return asked_times == 0 or CONFIRM_AFTER[asked_times] >= RESCAN_FROM


def confirming(item: Item, policy: Policy) -> tuple[str, ...]:
    """Return the enabled media servers that list the file that is registered now."""
    known = ((server, _confirmation(item, server)) for server in policy.servers)
    return tuple(server for server, confirmation in known if confirmation and confirmation.confirmed_at)


def questions_so_far(item: Item, server: str) -> int:
    """Return how often `server` was asked for the file that is registered now."""
    confirmation = _confirmation(item, server)
    return confirmation.asked_times if confirmation else 0


def next_question_at(item: Item, server: str) -> datetime | None:
    """Return when `server` is to be asked (next); None when it has the title or was asked the last time.

    A question that came late (the program was off) pushes the next by the same step, so that a server that has just been
    told to scan is not asked ten times in a row.
    """
    registered = item.facts.registered_at
    confirmation = _confirmation(item, server)
    if registered is None or (confirmation and confirmation.confirmed_at):
        return None
    if confirmation is None or not confirmation.asked_times:
        return registered
    asked = confirmation.asked_times
    if asked >= len(CONFIRM_AFTER):
        return None
    planned = registered + CONFIRM_AFTER[asked]
    if confirmation.asked_at is None or confirmation.asked_at < planned:
        return planned
    return confirmation.asked_at + CONFIRM_AFTER[asked] - CONFIRM_AFTER[asked - 1]


def next_question(item: Item, now: datetime, policy: Policy) -> tuple[datetime, str] | None:
    """Return when and which media server is asked next; None when none is left.

    For a title that is Completed already a server counts that has been asked before, or that could have been: one that was
    enabled later is not asked for the whole library.
    """
    facts = item.facts
    dates = []
    for server in policy.servers:
        at = next_question_at(item, server)
        if at is not None and not (is_current(facts, facts.confirmed_at) and _came_later(item, server, now)):
            dates.append((at, server))
    return min(dates, default=None)


def post_processing_due(facts: Facts) -> bool:
    """Return True when the title was confirmed and what follows (analysis, subtitles, notices) was not done since."""
    if not is_current(facts, facts.confirmed_at) or facts.post_failures >= POST_FAILURES_MAX:
        return False
    done, confirmed = facts.post_processed_at, facts.confirmed_at
    return done is None or confirmed is None or done < confirmed or not is_current(facts, done)


def _came_later(item: Item, server: str, now: datetime) -> bool:
    registered = item.facts.registered_at
    if item.facts.confirmed_by == NO_SERVER or registered is None:
        return True
    return questions_so_far(item, server) == 0 and now > registered + CONFIRM_AFTER[-1]


def _confirmation(item: Item, server: str) -> Confirmation | None:
    """Return what `server` was asked about the file that is registered now, without what it said of an earlier one."""
    facts = item.facts
    known = next((c for c in facts.confirmations if c.server == server), None)
    if known is None or facts.registered_at is None:
        return None
    confirmed = known.confirmed_at
    if confirmed is not None and confirmed >= facts.registered_at and is_current(facts, confirmed):
        return known
    if (
        known.asked_at is None
        or known.asked_at < facts.registered_at
        or not is_current(facts, known.asked_at)
    ):
        return None
    return Confirmation(server, known.asked_times, known.asked_at, known.scanned_at)
