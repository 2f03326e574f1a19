"""What must always hold in the database, as questions for what does not."""

from collections.abc import Callable, Iterator
from datetime import datetime

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import aliased

from program.db.engine import Tx
from program.db.items import all_roots
from program.db.tables import CompanionEntry, EntryItem, MediaEntry, MediaItem, Source, Stream
from program.db.trees import trees
from program.media.item import MediaType, Node, States
from program.media.settle import settle
from program.media.state import Policy

Parent = aliased(MediaItem, name="parent")
Relative = aliased(MediaItem, name="relative")

LEAVES = (MediaType.MOVIE, MediaType.EPISODE)
# States that say there is a file.
WITH_FILE = (States.Downloaded, States.Symlinked, States.Completed)
# A leaf in one of these waits for nothing.
AT_REST = (States.Completed, States.Paused, States.Failed)
# Titles derived at a time.
BATCH = 200


def inconsistencies(
    tx: Tx,
    now: datetime | None = None,
    policy: Policy | None = None,
    providers: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return a sentence for each broken rule; empty when all is well.

    With `now` and `policy` each state is derived afresh too: where it differs from what is written, a turn of the loop must be due.
    """
    found = [sentence for look in RULES for sentence in look(tx)]
    if now is not None and policy is not None:
        found.extend(_derivations(tx, now, policy, providers))
    return tuple(found)


def _places(tx: Tx) -> Iterator[str]:
    """A film or show stands at the top, a season under a show, an episode under a season, each with its title's id."""
    right = or_(
        and_(
            MediaItem.type.in_((MediaType.MOVIE, MediaType.SHOW)),
            Parent.id.is_(None),
            MediaItem.root_id == MediaItem.id,
        ),
        and_(
            MediaItem.type == MediaType.SEASON,
            Parent.type == MediaType.SHOW,
            MediaItem.root_id == Parent.id,
        ),
        and_(
            MediaItem.type == MediaType.EPISODE,
            Parent.type == MediaType.SEASON,
            MediaItem.root_id == Parent.root_id,
        ),
    )
    query = (
        select(MediaItem.id, MediaItem.type)
        .outerjoin(Parent, Parent.id == MediaItem.parent_id)
        .where(func.coalesce(right, False).is_(False))
    )
    for item_id, kind in tx.connection.execute(query):
        yield f"item {item_id} ({kind.value}) does not stand where such an item belongs"


def _sources(tx: Tx) -> Iterator[str]:
    """A file that belongs to an item has a source."""
    has_source = exists().where(Source.entry_id == EntryItem.entry_id)
    query = select(EntryItem.item_id, EntryItem.entry_id).where(~has_source)
    for item_id, entry_id in tx.connection.execute(query):
        yield f"item {item_id}: its file {entry_id} has no source"


def _owners(tx: Tx) -> Iterator[str]:
    """A file belongs to a film or an episode, or stands beside one that does."""
    stands_beside = exists().where(CompanionEntry.entry_id == MediaEntry.id)
    owned = exists().where(
        EntryItem.entry_id == MediaEntry.id,
        EntryItem.item_id == MediaItem.id,
        MediaItem.type.in_(LEAVES),
    )
    for entry_id in tx.connection.scalars(select(MediaEntry.id).where(~owned, ~stands_beside)):
        yield f"file {entry_id} belongs to no film or episode"


def _copies(tx: Tx) -> Iterator[str]:
    """A file of a torrent is one entry."""
    query = (
        select(MediaEntry.infohash, MediaEntry.path_in_torrent, func.count())
        .group_by(MediaEntry.infohash, MediaEntry.path_in_torrent)
        .having(func.count() > 1)
    )
    for infohash, path, count in tx.connection.execute(query):
        yield f"{path} of torrent {infohash} is there {count} times"


def _paths(tx: Tx) -> Iterator[str]:
    """Two files that both stand in the tree do not stand at the same path."""
    query = (
        select(MediaEntry.path, func.count())
        .where(MediaEntry.registered_at.is_not(None))
        .group_by(MediaEntry.path)
        .having(func.count() > 1)
    )
    for path, count in tx.connection.execute(query):
        yield f"{count} files stand at {path}"


def _active_streams(tx: Tx) -> Iterator[str]:
    """The release chosen for a row is one that was found for its title."""
    stored = exists().where(
        Stream.item_id == Relative.id,
        Relative.root_id == MediaItem.root_id,
        Stream.infohash == MediaItem.active_stream,
    )
    query = select(MediaItem.id).where(MediaItem.active_stream.is_not(None), ~stored)
    for item_id in tx.connection.scalars(query):
        yield f"item {item_id}: the release chosen for it is not among those found"


def _files(tx: Tx) -> Iterator[str]:
    """A film or episode whose state says that it has a file has one; when it says that the file is in the tree, it is."""
    has_file = exists().where(EntryItem.item_id == MediaItem.id)
    in_tree = exists().where(
        EntryItem.item_id == MediaItem.id,
        EntryItem.entry_id == MediaEntry.id,
        MediaEntry.registered_at.is_not(None),
    )
    query = select(MediaItem.id, MediaItem.last_state).where(
        MediaItem.type.in_(LEAVES),
        MediaItem.last_state.in_(WITH_FILE),
        ~has_file | (MediaItem.last_state.in_(WITH_FILE[1:]) & ~in_tree),
    )
    for item_id, state in tx.connection.execute(query):
        yield f"item {item_id} is {state.value} without a file that says so"


RULES: tuple[Callable[[Tx], Iterator[str]], ...] = (
    _places,
    _sources,
    _owners,
    _copies,
    _paths,
    _active_streams,
    _files,
)


def _derivations(tx: Tx, now: datetime, policy: Policy, providers: tuple[str, ...]) -> Iterator[str]:
    roots = all_roots(tx)
    for start in range(0, len(roots), BATCH):
        for root in trees(tx, roots[start : start + BATCH], now, providers):
            if not any(_is_due(node, now) for node in root.walk()):
                yield from _stale(root, now, policy)
            yield from _forgotten(root)


def _is_due(node: Node, now: datetime) -> bool:
    schedule = node.item.schedule
    return any(at is not None and at <= now for at in (schedule.next_attempt_at, schedule.reindex_at))


def _stale(root: Node, now: datetime, policy: Policy) -> Iterator[str]:
    """With nothing due, the states written are those that follow from the facts."""
    for update in settle(root, now, policy):
        node = root.find(update.item_id)
        if node is not None and node.item.last_state is not update.last_state:
            yield (
                f"item {update.item_id} is written as {node.item.last_state.value}, "
                f"its facts say {update.last_state.value}"
            )


def _forgotten(root: Node) -> Iterator[str]:
    """A film or episode that is asked for and not at rest has a date, or a row above it has."""
    if root.item.facts.paused_at is not None or root.item.schedule.reindex_at is not None:
        return
    for leaf in root.leaves():
        path = root.path_to(leaf.item.id)
        dates = [node.item.schedule.next_attempt_at for node in path]
        is_paused = any(node.item.facts.paused_at is not None for node in path)
        if (
            leaf.item.is_requested
            and leaf.item.last_state not in AT_REST
            and not is_paused
            and not any(dates)
        ):
            yield f"item {leaf.item.id} is {leaf.item.last_state.value} and nothing will look at it again"
