"""When a title is looked up again: the earliest need of any row beneath it, not more often than a service should be asked."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from program.media.facts import (
    Policy,
    is_current,
    is_estimated,
    is_failed,
    is_growing,
    lacks_metadata,
    released_at,
    waits_for_seasons,
)
from program.media.item import Item, MediaType, Node, States
from program.media.schedule import REINDEX_GROWING, REINDEX_PAUSE, index_retry
from program.media.state import Derived

# A leaf whose release date is still worth asking for.
WITHOUT_FILE = (States.Unreleased, States.Unknown, States.Indexed)


def reindex_at(root: Node, states: Mapping[int, Derived], now: datetime, policy: Policy) -> datetime | None:
    """Return when the title is to be looked up (again), None for never. It may lie in the past.

    Only the row's own pause or failure stops it, never a state that is derived from the rows beneath.
    """
    item, facts = root.item, root.item.facts
    if not item.is_requested or facts.paused_at is not None or is_failed(facts):
        return None
    if lacks_metadata(facts):
        return _latest(_retry_at(item) or now, facts.index_hold_until)
    last = facts.indexed_at or now
    needs = list(_needs(root, states, last, policy))
    if not needs:
        return None
    asked = max(last, facts.index_tried_at or last)
    return _latest(min(needs), asked + REINDEX_PAUSE, _retry_at(item), facts.index_hold_until)


def _retry_at(item: Item) -> datetime | None:
    """Return the end of the wait after an answer that did not know the title."""
    tried = item.facts.index_tried_at
    if tried is None or not is_current(item.facts, tried):
        return None
    return tried + index_retry(item.facts.index_failures)


def _latest(at: datetime, *others: datetime | None) -> datetime:
    return max(at, *(other for other in others if other is not None), at)


def _needs(root: Node, states: Mapping[int, Derived], last: datetime, policy: Policy) -> Iterator[datetime]:
    for node in root.walk():
        if node.item.is_requested and node.item.facts.paused_at is None and not is_failed(node.item.facts):
            if node.item.type.is_leaf:
                yield from _leaf_needs(node.item, states[node.item.id].state, last, policy)
            elif node.item.facts.contradiction is not None or lacks_metadata(node.item.facts):
                yield last + REINDEX_GROWING
    if root.item.type is MediaType.SHOW:
        yield from _show_needs(root, last, policy)


def _leaf_needs(item: Item, state: States, last: datetime, policy: Policy) -> Iterator[datetime]:
    if state is States.Requested or (state is States.Unknown and lacks_metadata(item.facts)):
        yield last + REINDEX_GROWING
        return
    at = released_at(item, policy)
    if state not in WITHOUT_FILE or (at is not None and at <= last):
        return
    if at is not None:
        # Also when it is past by now: the title was not released when it was last looked up.
        yield at
    if at is None or is_estimated(item, policy):
        # The date that decides is not known yet.
        yield last + policy.unknown_date


def _show_needs(root: Node, last: datetime, policy: Policy) -> Iterator[datetime]:
    item = root.item
    pause: timedelta = REINDEX_GROWING if is_growing(item) else policy.unknown_date
    if _asks_for_unknown(root):
        yield last + pause
    if is_growing(item) and _may_grow(root):
        yield _next_air_at(root, last, policy) or last + REINDEX_GROWING


def _asks_for_unknown(root: Node) -> bool:
    """Return True when a season is asked for that the service does not know, or knows without episodes."""
    item = root.item
    known = {season.item.number for season in root.children}
    asked = [season for season in root.children if season.item.is_requested]
    if any(number not in known for number in item.wanted_seasons) or any(
        not season.children for season in asked
    ):
        return True
    return not asked and (item.wants_future or not root.children)


def _may_grow(root: Node) -> bool:
    """Return True when a new episode or season would be a wanted one."""
    if waits_for_seasons(root.item) and root.item.wants_future:
        return True
    newest = max(root.children, key=lambda season: season.item.number or 0, default=None)
    return newest is not None and newest.item.is_requested


def _next_air_at(root: Node, last: datetime, policy: Policy) -> datetime | None:
    """Return the first air time that lay ahead when the title was last looked up."""
    dates = (
        released_at(leaf.item, policy)
        for season in root.children
        if season.item.number != 0
        for leaf in season.children
    )
    return min((at for at in dates if at is not None and at > last), default=None)
