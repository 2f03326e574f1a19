"""A second reading of the states, written from the rules in words and not from the code: one plain ladder each."""

from datetime import datetime, timedelta

from program.media.item import Item, Node, ReleaseKind, ShowStatus, States
from program.media.state import Policy

S = States
ORDER = [S.Unknown, S.Requested, S.Indexed, S.Scraped, S.Downloaded, S.Symlinked]


def oracle_released(item: Item, now: datetime, policy: Policy) -> bool:
    """Say whether a film or an episode is out."""
    if item.type.value == "episode":
        return item.aired_at is not None and item.aired_at + policy.schedule_offset <= now
    wanted = [item.releases[k] for k in item.releases if k in policy.release_kinds]
    if wanted:
        return min(wanted) + policy.schedule_offset <= now
    rest = [item.releases[k] for k in (ReleaseKind.THEATRICAL, ReleaseKind.PRIMARY) if k in item.releases]
    return bool(rest) and min(rest) + timedelta(days=policy.theatrical_wait.days) <= now


def oracle_leaf(item: Item, root: Item, now: datetime, policy: Policy) -> States:  # noqa: PLR0911 - a ladder on purpose
    """Say the state of a film or an episode."""
    f = item.facts

    def newer(at: datetime | None) -> bool:
        return bool(at) and not (f.restarted_at and at <= f.restarted_at)

    if f.paused_at:
        return S.Paused
    if newer(f.failed_at):
        return S.Failed
    if newer(f.confirmed_at):
        return S.Completed
    if newer(f.registered_at):
        return S.Symlinked
    if newer(f.entry_at):
        return S.Downloaded
    if f.active_stream:
        return S.Scraped
    if not f.indexed_at:
        return S.Requested if item.ids or root.ids else S.Unknown
    if f.contradiction:
        return S.Unknown
    if not oracle_released(item, now, policy):
        return S.Unreleased
    return S.Indexed


def oracle_state(node: Node, root: Item, now: datetime, policy: Policy) -> States:
    """Say the state of any row."""
    if node.item.type.is_leaf:
        return oracle_leaf(node.item, root, now, policy)
    return _parent(node, root, now, policy)


def _never_comes(node: Node, root: Item) -> bool:
    if root.show_status is not ShowStatus.ENDED:
        return False
    if node.item.type.is_leaf:
        return node.item.aired_at is None
    mine = [c for c in node.children if c.item.is_requested] or list(node.children)
    return all(c.item.aired_at is None for c in mine)


def _parent(node: Node, root: Item, now: datetime, policy: Policy) -> States:  # noqa: PLR0911, PLR0912, C901 - a ladder on purpose
    item, f = node.item, node.item.facts
    requested = [c for c in node.children if c.item.is_requested]
    is_show = item.type.value == "show"
    if not requested and is_show and item.is_requested and (item.wants_future or item.wanted_seasons):
        kids = []
    else:
        kids = [c for c in (requested or node.children) if not _never_comes(c, root)]
    states = [oracle_state(c, root, now, policy) for c in kids]
    active = [s for s in states if s not in (S.Paused, S.Failed)]

    def leaf_out(child: Node) -> bool:
        return any(
            leaf.item.is_requested and oracle_released(leaf.item, now, policy)
            for leaf in ([child] if child.item.type.is_leaf else child.children)
        )

    out = [
        s is not S.Unreleased and (s not in (S.Paused, S.Unknown) or leaf_out(c))
        for c, s in zip(kids, states, strict=True)
    ]
    if f.paused_at:
        return S.Paused
    if is_show and f.failed_at and not (f.restarted_at and f.failed_at <= f.restarted_at):
        return S.Failed
    if f.contradiction:
        return S.Unknown
    if not f.indexed_at:
        return S.Requested if item.ids or root.ids else S.Unknown
    if not kids:
        return S.Unreleased
    if set(states) == {S.Paused}:
        return S.Paused
    if set(states) == {S.Failed}:
        return S.Failed
    if not active:
        return S.Paused
    if not any(out) and S.Unreleased in states:
        return S.Unreleased
    if any(out) and (S.Unreleased in states or S.Ongoing in states):
        return S.Ongoing
    continues = item.show_status in (ShowStatus.CONTINUING, ShowStatus.UPCOMING)
    if continues and item.wants_future and any(out):
        return S.Ongoing
    if set(states) == {S.Completed}:
        return S.Completed
    if set(states) & {S.Completed, S.PartiallyCompleted, S.Symlinked} and set(states) != {S.Symlinked}:
        return S.PartiallyCompleted
    own_stream = f.usable_streams > 0 or f.active_stream is not None
    beyond = {S.Scraped, S.Downloaded, S.Symlinked, S.Completed, S.PartiallyCompleted, S.Ongoing}
    if own_stream and not set(states) & beyond:
        return S.Scraped
    least = next(s for s in ORDER if s in active)
    return S.Indexed if least is S.Scraped and not own_stream else least
