"""When a season or a show is searched as a whole, and which rows wait for that search."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from program.media.facts import Policy, has_stream, is_failed, is_left_out, lacks_metadata, released_at
from program.media.item import Item, MediaType, Node, ShowStatus, States
from program.media.schedule import was_searched
from program.media.state import Derived

# A pack that fails by error this often in a row no longer holds back its episodes.
PACK_PATIENCE = 3

# What a row beneath may be in while the pack is still worth a search; the first two can be searched.
SEARCHABLE = (States.Indexed, States.Unknown)
STOPPED = (States.Paused, States.Failed)


def is_pack(node: Node, root: Item, states: Mapping[int, Derived], now: datetime, policy: Policy) -> bool:
    """Return True when the row is searched as a whole.

    That is a season whose requested episodes are all released and none beyond Indexed, and with `prefer_packs` an ended show
    of such seasons; at least one episode must be one that can be searched.
    """
    item = node.item
    if not item.is_requested or not _is_sound(item) or item.facts.paused_at is not None:
        return False
    if item.type is MediaType.SHOW and not (policy.prefer_packs and root.show_status is ShowStatus.ENDED):
        return False
    if item.type.is_leaf or not all(_is_open(season, root) for season in _seasons(node)):
        return False
    leaves = list(_members(node, root))
    return all(_fits(leaf, states[leaf.id].state, now, policy) for leaf in leaves) and any(
        states[leaf.id].state in SEARCHABLE for leaf in leaves
    )


def holds_back(pack: Item) -> bool:
    """Return True while the rows beneath a pack wait for it: before its search, and until what it found is tried."""
    facts = pack.facts
    return facts.failures < PACK_PATIENCE and (facts.scraped_times == 0 or has_stream(facts))


def missed(item: Item) -> bool:
    """Return True when a season or show was searched as a whole in vain: what is beneath goes singly, at the front."""
    return was_searched(item.facts) and item.facts.scraped_times > 0 and not has_stream(item.facts)


def _seasons(node: Node) -> Iterator[Node]:
    """Yield the seasons that a show's pack is to bring, beside those that a person stopped."""
    if node.item.type is MediaType.SHOW:
        yield from (s for s in node.children if s.item.is_requested and s.item.facts.paused_at is None)


def _is_open(season: Node, root: Item) -> bool:
    """Return True when a season leaves room for the pack of its show: nothing of its own is under way."""
    if any(True for _ in _members(season, root)):
        return _is_sound(season.item) and not has_stream(season.item.facts)
    return all(is_left_out(leaf.item, root) for leaf in season.children)


def _is_sound(item: Item) -> bool:
    return not lacks_metadata(item.facts) and not (item.type.is_root and is_failed(item.facts))


def _members(node: Node, root: Item) -> Iterator[Item]:
    """Yield the requested episodes that a pack is to bring."""
    parents = (node,) if node.item.type is MediaType.SEASON else _seasons(node)
    for parent in parents:
        for leaf in parent.children:
            if leaf.item.is_requested and not is_left_out(leaf.item, root):
                yield leaf.item


def _fits(leaf: Item, state: States, now: datetime, policy: Policy) -> bool:
    released = released_at(leaf, policy)
    if released is None or released > now:
        return False
    if state in SEARCHABLE:
        return not lacks_metadata(leaf.facts)
    return state in STOPPED
