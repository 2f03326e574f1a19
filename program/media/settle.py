"""What stands in every row of a title: its state, when it is next worth looking at, and why.

`settle` is the only place that writes states and dates. It reads facts, the clock's `now` and the dates that are there (a row
that is due keeps its place in the line), so it can run at any time and as often as one likes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from program.media.facts import Policy, has_stream, is_failed, is_left_out, lacks_metadata, released_at
from program.media.item import Facts, Item, MediaType, Node, QueueClass, Schedule, States
from program.media.packs import holds_back, is_pack, missed
from program.media.reindex import reindex_at
from program.media.schedule import (
    confirming,
    next_question,
    post_processing_due,
    search_at,
    search_cooldown,
    was_searched,
)
from program.media.state import Derived, derive, tally


@dataclass(frozen=True, slots=True)
class RowUpdate:
    """The state and the dates of a row that differ from what its snapshot says."""

    item_id: int
    last_state: States
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Plan:
    """When a row is next worth looking at. at None: not by itself."""

    at: datetime | None
    reason: str | None = None
    queue_class: QueueClass = QueueClass.NORMAL


@dataclass(frozen=True, slots=True)
class Above:
    """What the rows above mean for a row. paused: the ancestor that stops it; pack: the one whose search it waits for."""

    paused: Item | None = None
    pack: Item | None = None
    missed: bool = False


@dataclass(frozen=True, slots=True)
class Title:
    """A tree with what is derived from it once."""

    root: Node
    states: Mapping[int, Derived]
    now: datetime
    policy: Policy


def settle(root: Node, now: datetime, policy: Policy) -> tuple[RowUpdate, ...]:
    """Return the rows whose state or dates differ from what the snapshot says; empty when all is settled."""
    title = Title(root, derive(root, now, policy), now, policy)
    return tuple(_updates(title, root, Above()))


def apply(root: Node, updates: tuple[RowUpdate, ...]) -> Node:
    """Return the tree with `updates` written into it."""
    return _applied(root, {update.item_id: update for update in updates}) if updates else root


def settled(root: Node, now: datetime, policy: Policy) -> Node:
    """Return the tree as it stands at `now`."""
    return apply(root, settle(root, now, policy))


def label(item: Item) -> str:
    """Return a short name of a row beneath a show, or its title."""
    if item.type is MediaType.SEASON:
        return f"Season {item.number}" if item.number else "the specials"
    return f"Episode {item.number}" if item.type is MediaType.EPISODE else item.title or "the title"


# The walk ----------------------------------------------------------------------------------------------------------------


def _updates(title: Title, node: Node, above: Above) -> Iterator[RowUpdate]:
    item = node.item
    state = title.states[item.id].state
    as_pack = above.paused is None and is_pack(node, title.root.item, title.states, title.now, title.policy)
    schedule = _schedule(title, node, above, as_pack=as_pack)
    if (state, schedule) != (item.last_state, item.schedule):
        yield RowUpdate(item.id, state, schedule)
    pack = above.pack or (item if as_pack and holds_back(item) else None)
    is_paused = item.facts.paused_at is not None
    below = Above(above.paused or (item if is_paused else None), pack, above.missed or missed(item))
    for child in node.children:
        yield from _updates(title, child, below)


def _schedule(title: Title, node: Node, above: Above, *, as_pack: bool) -> Schedule:
    item = node.item
    plan = _plan(title, node, above, as_pack=as_pack)
    if plan.at is not None:
        plan = _held(item.facts, plan)
    is_root = node is title.root
    reindex = reindex_at(title.root, title.states, title.now, title.policy) if is_root else None
    return Schedule(
        next_attempt_at=_not_before(plan.at, title.now, item.schedule.next_attempt_at),
        next_reason=plan.reason,
        next_class=plan.queue_class,
        reindex_at=_not_before(reindex, title.now, item.schedule.reindex_at),
    )


def _not_before(at: datetime | None, now: datetime, present: datetime | None) -> datetime | None:
    """Return `at`; for one that is due the date that is there when it is due too, else `now`."""
    if at is None or at > now:
        return at
    return present if present is not None and present <= now else now


def _held(facts: Facts, plan: Plan) -> Plan:
    """Return the plan, put off when a hold lasts longer."""
    if plan.at is None or facts.hold_until is None or facts.hold_until <= plan.at:
        return plan
    return replace(plan, at=facts.hold_until, reason=facts.hold_reason or plan.reason)


def _plan(title: Title, node: Node, above: Above, *, as_pack: bool) -> Plan:
    item = node.item
    derived = title.states[item.id]
    if not item.is_requested:
        return Plan(None)
    if item.facts.paused_at is not None:
        return Plan(None, "paused: waits for you")
    if above.paused is not None:
        return Plan(None, f"paused with {label(above.paused)}")
    if derived.state is States.Failed and (item.type.is_leaf or is_failed(item.facts)):
        return Plan(None, f"waits for you: {derived.reason or 'failed'}")
    if item.type.is_leaf:
        return LEAF_PLANS[derived.state](title, item, above)
    return _parent_plan(title, node, above, as_pack=as_pack)


# Leaves ------------------------------------------------------------------------------------------------------------------


def _with_the_index(title: Title, item: Item, _above: Above) -> Plan:
    return Plan(None, title.states[item.id].reason or _index_sentence(title.root.item, item))


def _index_sentence(root: Item, item: Item) -> str:
    facts = root.facts
    if facts.contradiction is not None:
        return facts.contradiction.reason
    if facts.index_hold_until is not None and facts.hold_reason:
        return facts.hold_reason
    if facts.index_failures:
        return f"looked up {facts.index_failures} times, not found"
    return "is looked up" if item is root else f"with the index of {label(root)}"


def _unreleased(title: Title, item: Item, _above: Above) -> Plan:
    return Plan(released_at(item, title.policy), title.states[item.id].reason)


def _unknown(title: Title, item: Item, above: Above) -> Plan:
    if lacks_metadata(item.facts):
        return _with_the_index(title, item, above)
    released = released_at(item, title.policy)
    if released is None or released > title.now:
        return Plan(released, title.states[item.id].reason)
    return _indexed(title, item, above)


def _indexed(title: Title, item: Item, above: Above) -> Plan:
    if above.pack is not None:
        return Plan(None, f"with the search of {label(above.pack)}")
    is_first = not was_searched(item.facts)
    queue_class = QueueClass.FRONT if is_first and above.missed else QueueClass.NORMAL
    return replace(_search(title, item), queue_class=queue_class)


def _scraped(title: Title, _item: Item, _above: Above) -> Plan:
    return Plan(title.now, "a release is to be downloaded")


def _downloaded(title: Title, _item: Item, _above: Above) -> Plan:
    return Plan(title.now, "is to appear in the file system")


def _symlinked(title: Title, item: Item, _above: Above) -> Plan:
    question = next_question(item, title.now, title.policy)
    if question is None or confirming(item, title.policy):
        return Plan(title.now, "no media server is left to ask")
    return Plan(question[0], f"{title.policy.titles.get(question[1], question[1])} is asked for it")


def _completed(title: Title, item: Item, _above: Above) -> Plan:
    if post_processing_due(item.facts):
        return Plan(title.now, "post-processing")
    question = next_question(item, title.now, title.policy)
    upgrade = item.facts.upgrade_at
    if upgrade is not None and (question is None or upgrade < question[0]):
        return Plan(upgrade, "a better copy is looked for", QueueClass.BACKGROUND)
    return (
        Plan(None)
        if question is None
        else Plan(question[0], f"{title.policy.titles.get(question[1], question[1])} is asked for it")
    )


LEAF_PLANS: Mapping[States, Callable[[Title, Item, Above], Plan]] = {
    States.Requested: _with_the_index,
    States.Unknown: _unknown,
    States.Unreleased: _unreleased,
    States.Indexed: _indexed,
    States.Scraped: _scraped,
    States.Downloaded: _downloaded,
    States.Symlinked: _symlinked,
    States.Completed: _completed,
}


# Parents -----------------------------------------------------------------------------------------------------------------


def _parent_plan(title: Title, node: Node, above: Above, *, as_pack: bool) -> Plan:
    if as_pack and above.pack is not None:
        return Plan(None, f"with the search of {label(above.pack)}")
    if as_pack and has_stream(node.item.facts):
        return Plan(title.now, "a pack is to be downloaded")
    if as_pack:
        is_first = not was_searched(node.item.facts)
        queue_class = QueueClass.FRONT if is_first and above.missed else QueueClass.NORMAL
        return replace(_search(title, node.item), queue_class=queue_class)
    return Plan(None, _person_sentence(title, node) or title.states[node.item.id].reason)


def _search(title: Title, item: Item) -> Plan:
    last = search_at(item.facts)
    if last is None:
        return Plan(title.now, "is to be searched")
    times = item.facts.scraped_times
    return Plan(
        last + search_cooldown(times, title.policy), f"searched {times} times without a usable release"
    )


def _person_sentence(title: Title, node: Node) -> str | None:
    """Return what a person has to do when the rest of a season or show is Failed or Paused."""
    rest = [state for state in _leaf_states(title, node) if state is not States.Completed]
    if rest and all(state in (States.Failed, States.Paused) for state in rest):
        return f"waits for you: {tally(rest)}"
    return None


def _leaf_states(title: Title, node: Node) -> Iterator[States]:
    """Yield the states of the requested leaves that can still come; those of a paused season are paused."""
    for child in node.children:
        if child.item.facts.paused_at is not None and child.item.is_requested:
            yield from (States.Paused for leaf in child.leaves() if leaf.item.is_requested)
        elif not child.item.type.is_leaf:
            yield from _leaf_states(title, child)
        elif child.item.is_requested and not is_left_out(child.item, title.root.item):
            yield title.states[child.item.id].state


def _applied(node: Node, updates: Mapping[int, RowUpdate]) -> Node:
    children = tuple(_applied(child, updates) for child in node.children)
    update = updates.get(node.item.id)
    if update is None:
        return Node(node.item, children)
    return Node(replace(node.item, last_state=update.last_state, schedule=update.schedule), children)
