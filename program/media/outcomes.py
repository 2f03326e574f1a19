"""What the end of a job writes into the facts of a row; every function returns the changes by fact name.

Flows commit these and nothing of their own about failures, cooldowns and giving up, so that each way of ending has one meaning.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from program.media.facts import BETTER_MAY_APPEAR, Policy, is_current, lacks_metadata
from program.media.item import Item
from program.media.schedule import INDEX_FAILURES_MAX, error_hold, is_exhausted

Changes = Mapping[str, object]

# Any success ends a row of failures.
SUCCESS: Changes = MappingProxyType({"failures": 0, "hold_until": None, "hold_reason": None})


def search_found(now: datetime) -> Changes:
    """A search that left a usable release. The caller adds `active_stream`."""
    return {**SUCCESS, "scraped_at": now, "scraped_times": 0}


def first_found_at(item: Item, now: datetime) -> datetime:
    """Return when a usable release was found first, `now` when it is the first time."""
    facts = item.facts
    is_again = facts.scraped_times == 0 and is_current(facts, facts.scraped_at)
    return facts.scraped_at if is_again and facts.scraped_at is not None else now


def search_waits(found_at: datetime, until: datetime) -> Changes:
    """A search that left a usable release which is not taken before `until`, so that better ones can appear."""
    return {**search_found(found_at), "hold_until": until, "hold_reason": BETTER_MAY_APPEAR}


def search_missed(item: Item, now: datetime, policy: Policy) -> Changes:
    """A search that at least one scraper answered and that left no usable release; a leaf fails after the last one."""
    times = item.facts.scraped_times + 1
    changes: dict[str, object] = {**SUCCESS, "scraped_at": now, "scraped_times": times}
    if item.type.is_leaf and is_exhausted(times, policy):
        changes["failed_at"] = now
        changes["failed_reason"] = f"searched {times} times without a usable release"
    return changes


def job_failed(item: Item, now: datetime, reason: str) -> Changes:
    """A job that ended without an outcome: an outage, a crash, a kill."""
    failures = item.facts.failures + 1
    return {
        "failures": failures,
        "hold_until": error_hold(failures, now),
        "hold_reason": f"retry after an error: {reason}",
    }


def job_delayed(until: datetime, reason: str) -> Changes:
    """A job that a provider asked to come back later; it is no failure."""
    return {"hold_until": until, "hold_reason": reason}


def index_failed(item: Item, now: datetime, reason: str) -> Changes:
    """An index job that ended without an outcome; it holds back the index, not a search."""
    failures = item.facts.failures + 1
    return {
        "failures": failures,
        "index_hold_until": error_hold(failures, now),
        "hold_reason": f"retry after an error: {reason}",
    }


def index_delayed(until: datetime, reason: str) -> Changes:
    """An index job that a provider asked to come back later."""
    return {"index_hold_until": until, "hold_reason": reason}


def index_found(now: datetime) -> Changes:
    """An index that brought metadata. A wait that a later service asked for stays in force."""
    return {
        "failures": 0,
        "indexed_at": now,
        "index_tried_at": now,
        "index_failures": 0,
        "index_hold_until": None,
        "contradiction": None,
    }


def index_missed(item: Item, now: datetime, reason: str) -> Changes:
    """An index that was answered "not found", or with something that contradicts the request.

    Only a title that has no metadata is given up. The caller adds `contradiction` where there is one.
    """
    facts = item.facts
    failures = facts.index_failures + 1 if is_current(facts, facts.index_tried_at) else 1
    changes: dict[str, object] = {
        "failures": 0,
        "index_tried_at": now,
        "index_failures": failures,
        "index_hold_until": None,
    }
    if lacks_metadata(facts) and failures >= INDEX_FAILURES_MAX:
        changes["failed_at"] = now
        changes["failed_reason"] = f"looked up {failures} times: {reason}"
    return changes


def post_failed(item: Item, now: datetime, reason: str) -> Changes:
    """A post-processing that failed; it is given up after the third."""
    return {
        **job_failed(item, now, reason),
        "post_failures": item.facts.post_failures + 1,
    }


def post_done(now: datetime) -> Changes:
    """A post-processing that went through."""
    return {**SUCCESS, "post_processed_at": now, "post_failures": 0}


def registered(now: datetime) -> Changes:
    """A file that has appeared in the file system."""
    return {**SUCCESS, "registered_at": now, "post_failures": 0}


def confirmed(by: str, now: datetime) -> Changes:
    """A media server (or `NO_SERVER`, `UNCONFIRMED`) that settles the question whether the file is in a library."""
    return {**SUCCESS, "confirmed_at": now, "confirmed_by": by, "post_failures": 0}


def restarted(item: Item, now: datetime) -> Changes:
    """A person's Retry: from Indexed, due now; the file stays until it is replaced. Nothing that failed before counts."""
    return {
        **SUCCESS,
        "restarted_at": now,
        "failed_at": None,
        "failed_reason": None,
        "scraped_at": None,
        "scraped_times": 0,
        "active_stream": None,
        "index_tried_at": None,
        "index_failures": 0,
        "index_hold_until": None,
        "post_failures": 0,
        "contradiction": item.facts.contradiction if lacks_metadata(item.facts) else None,
    }
