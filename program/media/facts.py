"""What the facts of one row mean, before any table is asked: which of them count, when a title is released, what a show awaits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from program.media.item import Facts, Item, MediaType, ReleaseKind, ShowStatus

# `hold_reason` of a row whose first copy waits.
BETTER_MAY_APPEAR = "waits for better copies to appear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the user's settings say about states and dates.

    release_kinds: dates from which a film counts as released, each plus `schedule_offset`. theatrical_wait: after the cinema (or
    the one date of unknown kind) when none of them is known. unknown_date: how often an unknown date is asked for again.
    cooldown_hours: between searches from the 2nd, 5th and 10th miss. max_failed_attempts: misses before Failed, 0 = never.
    prefer_packs: search an ended show before its seasons. servers: keys of the enabled media servers; titles: what they are called.
    """

    release_kinds: frozenset[ReleaseKind] = frozenset(
        {ReleaseKind.DIGITAL, ReleaseKind.PHYSICAL, ReleaseKind.TV}
    )
    schedule_offset: timedelta = timedelta(minutes=30)
    theatrical_wait: timedelta = timedelta(days=90)
    unknown_date: timedelta = timedelta(days=7)
    cooldown_hours: tuple[int, int, int] = (2, 6, 24)
    max_failed_attempts: int = 20
    prefer_packs: bool = False
    servers: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


def is_current(facts: Facts, at: datetime | None) -> bool:
    """Return True when something happened at `at` and no restart made it void since."""
    return at is not None and (facts.restarted_at is None or at > facts.restarted_at)


def is_failed(facts: Facts) -> bool:
    """Return True when the row itself was given up."""
    return is_current(facts, facts.failed_at)


def has_stream(facts: Facts) -> bool:
    """Return True when the row has a release that can be tried."""
    return facts.usable_streams > 0 or facts.active_stream is not None


def waits_for_better(facts: Facts) -> bool:
    """Return True when a release was found that is not taken yet, so that better ones can appear until the next search."""
    return facts.hold_reason == BETTER_MAY_APPEAR and facts.active_stream is None


def lacks_metadata(facts: Facts) -> bool:
    """Return True when what the row is has to be looked up (again) before anything else."""
    return facts.indexed_at is None or (
        facts.contradiction is not None and not facts.contradiction.with_metadata
    )


def is_growing(show: Item) -> bool:
    """Return True for a show that is to get more episodes."""
    return show.show_status in (ShowStatus.CONTINUING, ShowStatus.UPCOMING)


def waits_for_seasons(item: Item) -> bool:
    """Return True for a show of which seasons are asked for that need not be known yet."""
    return (
        item.type is MediaType.SHOW and item.is_requested and bool(item.wants_future or item.wanted_seasons)
    )


def released_at(item: Item, policy: Policy) -> datetime | None:
    """Return the instant from which a film or an episode counts as released, None when no date says so."""
    if item.type is MediaType.EPISODE:
        return None if item.aired_at is None else item.aired_at + policy.schedule_offset
    dates = [at for kind, at in item.releases.items() if kind in policy.release_kinds]
    if dates:
        return min(dates) + policy.schedule_offset
    cinema = [
        at for kind, at in item.releases.items() if kind in (ReleaseKind.THEATRICAL, ReleaseKind.PRIMARY)
    ]
    return min(cinema) + policy.theatrical_wait if cinema else None


def is_estimated(item: Item, policy: Policy) -> bool:
    """Return True when `released_at` is a guess from the cinema date."""
    return item.type is MediaType.MOVIE and not policy.release_kinds & item.releases.keys()


def is_left_out(leaf: Item, root: Item) -> bool:
    """Return True for an episode that will never come: no date, and the show has ended."""
    return leaf.type is MediaType.EPISODE and leaf.aired_at is None and root.show_status is ShowStatus.ENDED
