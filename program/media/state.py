"""What state a row is in: two tables of rules over its facts, read from the top; the first rule that holds decides.

A film or an episode is read from its own facts (`LEAF_RULES`), a season or a show from its children (`PARENT_RULES`). Nothing
here asks the clock or the database: facts and `now` in, a state and a sentence out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from program.media.facts import (
    Policy,
    has_stream,
    is_current,
    is_failed,
    is_growing,
    is_left_out,
    released_at,
    waits_for_seasons,
)
from program.media.item import Facts, Item, MediaType, Node, ShowStatus, States

__all__ = ["LEAF_RULES", "PARENT_RULES", "Derived", "Policy", "States", "derive", "released_at", "state_of"]

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Derived:
    """A state and, where one is needed, the sentence that says why."""

    state: States
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Rule(Generic[V]):
    """One row of a table. when: the condition in words, for the docs; state: the answer, or how to find it (`shown` in words)."""

    code: str
    when: str
    holds: Callable[[V], bool]
    state: States | Callable[[V], States]
    reason: Callable[[V], str | None] = lambda _view: None
    shown: str | None = None

    def answer(self, view: V) -> Derived:
        """Return what this rule says of `view`."""
        state = self.state if isinstance(self.state, States) else self.state(view)
        return Derived(state, self.reason(view))


# Leaves ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeafView:
    """What the rules of a film or an episode look at."""

    item: Item
    root: Item
    now: datetime
    released_at: datetime | None

    @property
    def facts(self) -> Facts:
        """Return the row's facts."""
        return self.item.facts

    @property
    def is_released(self) -> bool:
        """Return True when its release date is past."""
        return self.released_at is not None and self.released_at <= self.now

    def has(self, at: datetime | None) -> bool:
        """Return True for a fact that counts."""
        return is_current(self.item.facts, at)


def _contradiction(view: "LeafView | ParentView") -> str | None:
    return view.item.facts.contradiction.reason if view.item.facts.contradiction else None


def _release_sentence(view: LeafView) -> str:
    if view.released_at is None:
        return "no release date is known"
    return f"counts as released from {view.released_at:%Y-%m-%d %H:%M} UTC"


def _has_id(view: "LeafView | ParentView") -> bool:
    return bool(view.item.ids or view.root.ids)


LEAF_RULES: tuple[Rule[LeafView], ...] = (
    # A pause has no restart to survive: only a person sets it, only a person lifts it.
    Rule("L0", "paused", lambda v: v.facts.paused_at is not None, States.Paused),
    Rule("L1", "failed", lambda v: is_failed(v.facts), States.Failed, lambda v: v.facts.failed_reason),
    Rule("L2", "confirmed", lambda v: v.has(v.facts.confirmed_at), States.Completed),
    Rule("L3", "registered in the file system", lambda v: v.has(v.facts.registered_at), States.Symlinked),
    Rule("L4", "has an entry with a source", lambda v: v.has(v.facts.entry_at), States.Downloaded),
    Rule("L5", "has an active stream", lambda v: v.facts.active_stream is not None, States.Scraped),
    Rule(
        "L6",
        "not indexed, an id is known",
        lambda v: v.facts.indexed_at is None and _has_id(v),
        States.Requested,
    ),
    Rule(
        "L6",
        "not indexed, no id is known",
        lambda v: v.facts.indexed_at is None,
        States.Unknown,
        lambda _v: "no id of a metadata service is known",
    ),
    Rule("L7", "contradictory", lambda v: v.facts.contradiction is not None, States.Unknown, _contradiction),
    Rule("L8", "not released", lambda v: not v.is_released, States.Unreleased, _release_sentence),
    Rule("L9", "otherwise", lambda _v: True, States.Indexed),
)


# Parents -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Child:
    """What a parent sees of one child. is_released: a requested leaf at or beneath it is released."""

    state: States
    is_requested: bool
    is_released: bool
    is_left_out: bool = False

    @property
    def is_out(self) -> bool:
        """Return True when something of it exists for viewers."""
        if self.state in (States.Paused, States.Unknown):
            return self.is_released
        return self.state is not States.Unreleased


@dataclass(frozen=True, slots=True)
class ParentView:
    """What the rules of a season or a show look at. children: those that count."""

    item: Item
    root: Item
    children: tuple[Child, ...]

    @property
    def facts(self) -> Facts:
        """Return the row's facts."""
        return self.item.facts

    @property
    def is_root(self) -> bool:
        """Return True for a show."""
        return self.item.type.is_root

    def every(self, *states: States) -> bool:
        """Return True when each child is in one of `states`."""
        return all(child.state in states for child in self.children)

    def some(self, *states: States) -> bool:
        """Return True when a child is in one of `states`."""
        return any(child.state in states for child in self.children)

    @property
    def something_out(self) -> bool:
        """Return True when a child is out."""
        return any(child.is_out for child in self.children)


# How far a leaf is; a parent shows the least of its children.
ADVANCE: tuple[States, ...] = (
    States.Unknown,
    States.Requested,
    States.Indexed,
    States.Scraped,
    States.Downloaded,
    States.Symlinked,
)
NOT_BEYOND_INDEXED = (
    States.Unknown,
    States.Requested,
    States.Indexed,
    States.Unreleased,
    States.Paused,
    States.Failed,
)


def _least_advanced(view: ParentView) -> States:
    least = min((ADVANCE.index(c.state) for c in view.children if c.state in ADVANCE), default=0)
    if ADVANCE[least] is States.Scraped and not has_stream(view.facts):
        return States.Indexed
    return ADVANCE[least]


def tally(states: Iterable[States]) -> str:
    """Return how many are paused and how many failed, in words."""
    counts = Counter(states)
    stopped = ((States.Failed, "failed"), (States.Paused, "paused"))
    return ", ".join(f"{counts[state]} {word}" for state, word in stopped if counts[state])


def _empty_sentence(view: ParentView) -> str:
    if waits_for_seasons(view.item):
        return "waits for a season that is not known yet"
    return "has no episodes yet"


PARENT_RULES: tuple[Rule[ParentView], ...] = (
    Rule("P0", "paused", lambda v: v.facts.paused_at is not None, States.Paused),
    Rule(
        "P0",
        "a show whose index failed",
        lambda v: v.is_root and is_failed(v.facts),
        States.Failed,
        lambda v: v.facts.failed_reason,
    ),
    Rule("P1", "contradictory", lambda v: v.facts.contradiction is not None, States.Unknown, _contradiction),
    Rule(
        "P1",
        "not indexed, an id is known",
        lambda v: v.facts.indexed_at is None and _has_id(v),
        States.Requested,
    ),
    Rule(
        "P1",
        "not indexed, no id is known",
        lambda v: v.facts.indexed_at is None,
        States.Unknown,
        lambda _v: "no id of a metadata service is known",
    ),
    Rule("P2", "no child counts", lambda v: not v.children, States.Unreleased, _empty_sentence),
    Rule("P3", "all Paused", lambda v: v.every(States.Paused), States.Paused),
    Rule("P4", "all Failed", lambda v: v.every(States.Failed), States.Failed),
    Rule(
        "P5",
        "all Paused or Failed",
        lambda v: v.every(States.Paused, States.Failed),
        States.Paused,
        lambda v: tally(c.state for c in v.children),
    ),
    Rule(
        "P6",
        "nothing is out, one Unreleased",
        lambda v: not v.something_out and v.some(States.Unreleased),
        States.Unreleased,
    ),
    Rule(
        "P7",
        "one Unreleased or Ongoing, something is out",
        lambda v: v.something_out and v.some(States.Unreleased, States.Ongoing),
        States.Ongoing,
    ),
    Rule(
        "P8",
        "the show continues, future seasons are wanted, something is out",
        lambda v: is_growing(v.item) and v.item.wants_future and v.something_out,
        States.Ongoing,
    ),
    Rule("P9", "all Completed", lambda v: v.every(States.Completed), States.Completed),
    Rule(
        "P10",
        "one Completed, PartiallyCompleted or Symlinked, not all Symlinked",
        lambda v: (
            v.some(States.Completed, States.PartiallyCompleted, States.Symlinked)
            and not v.every(States.Symlinked)
        ),
        States.PartiallyCompleted,
    ),
    Rule(
        "P11",
        "a usable pack stream of its own, no child beyond Indexed",
        lambda v: has_stream(v.facts) and v.every(*NOT_BEYOND_INDEXED),
        States.Scraped,
    ),
    Rule(
        "P12",
        "otherwise",
        lambda _v: True,
        _least_advanced,
        shown="the least advanced child that is neither Paused nor Failed, in the order "
        + ", ".join(state.value for state in ADVANCE)
        + "; a Scraped that only a child has is shown as Indexed",
    ),
)


# Deriving a tree ---------------------------------------------------------------------------------------------------------


def derive(root: Node, now: datetime, policy: Policy) -> Mapping[int, Derived]:
    """Return the state of every row of a title by id."""
    found: dict[int, Derived] = {}
    _derive(root, root.item, now, policy, found)
    return found


def state_of(node: Node, now: datetime, policy: Policy, *, root: Item | None = None) -> Derived:
    """Return the state of one row. root: its film or show when `node` is beneath it."""
    found: dict[int, Derived] = {}
    _derive(node, root or node.item, now, policy, found)
    return found[node.item.id]


def _derive(node: Node, root: Item, now: datetime, policy: Policy, found: dict[int, Derived]) -> Child:
    item = node.item
    if item.type.is_leaf:
        view = LeafView(item, root, now, released_at(item, policy))
        found[item.id] = derived = _first(LEAF_RULES, view)
        return Child(
            derived.state, item.is_requested, item.is_requested and view.is_released, is_left_out(item, root)
        )
    seen = tuple(_derive(child, root, now, policy, found) for child in node.children)
    children = _counted(item, seen)
    found[item.id] = derived = _first(PARENT_RULES, ParentView(item, root, children))
    is_barren = not children and root.show_status is ShowStatus.ENDED and item.type is MediaType.SEASON
    return Child(derived.state, item.is_requested, any(child.is_released for child in seen), is_barren)


def _counted(item: Item, seen: tuple[Child, ...]) -> tuple[Child, ...]:
    """Return the children that a parent is judged by: the requested ones; all of them when it asks for nothing."""
    asked = tuple(child for child in seen if child.is_requested)
    if not asked and waits_for_seasons(item):
        return ()
    return tuple(child for child in asked or seen if not child.is_left_out)


def _first(rules: tuple[Rule[V], ...], view: V) -> Derived:
    return next(rule for rule in rules if rule.holds(view)).answer(view)
