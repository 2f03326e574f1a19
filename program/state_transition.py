"""What comes next for a title: `process_event`, the only place that decides it, and the table it reads.

A decision is made from a settled tree (`program.media.settle`): the states say who moves, the dates say whether now.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from program.media.facts import Policy, lacks_metadata, waits_for_better
from program.media.item import Item, Node, QueueClass, States
from program.media.schedule import next_question, post_processing_due

PROCESS_ITEM_REQUEST = "process-item-request"
PROCESS_MEDIA_ITEM = "process-media-item"
POST_PROCESS_MEDIA_ITEM = "post-process-media-item"


class ItemStep(StrEnum):
    """The steps of `process-media-item`, in their order; its job stands at one of them."""

    SCRAPE = "scrape"
    VALIDATE_SCRAPE = "validate-scrape"
    DOWNLOAD = "download"
    VALIDATE_DOWNLOAD = "validate-download"
    COMPLETE = "complete"
    UPGRADE = "upgrade"


@dataclass(frozen=True, slots=True)
class Step:
    """The next job of a row. step: where in its queue's flow it enters; is_root_item False: one attempt after a pack's miss."""

    service: str
    queue: str
    step: ItemStep | None
    item_id: int
    queue_class: QueueClass
    is_root_item: bool


@dataclass(frozen=True, slots=True)
class Move:
    """Who moves a row on, and by which step of which queue."""

    service: str
    queue: str
    step: ItemStep | None = None


INDEX = Move("indexer", PROCESS_ITEM_REQUEST)
SCRAPE = Move("scraping", PROCESS_MEDIA_ITEM, ItemStep.SCRAPE)
DOWNLOAD = Move("downloader", PROCESS_MEDIA_ITEM, ItemStep.DOWNLOAD)
REGISTER = Move("filesystem", PROCESS_MEDIA_ITEM, ItemStep.COMPLETE)
CONFIRM = Move("updater", PROCESS_MEDIA_ITEM, ItemStep.COMPLETE)
UPGRADE = Move("upgrading", PROCESS_MEDIA_ITEM, ItemStep.UPGRADE)
POST_PROCESS = Move("post_processing", POST_PROCESS_MEDIA_ITEM)

# By `last_state`. A leaf that is Unknown without metadata, or Requested, moves with the index of its root. The table of parents
# is for those that carry a date of their own, which only a season or show that is searched as a whole does.
LEAF_MOVES: Mapping[States, Move] = {
    States.Unknown: SCRAPE,
    States.Indexed: SCRAPE,
    States.Scraped: DOWNLOAD,
    States.Downloaded: REGISTER,
    States.Symlinked: CONFIRM,
    States.Completed: POST_PROCESS,
}
PARENT_MOVES: Mapping[States, Move] = {
    States.Unknown: SCRAPE,
    States.Indexed: SCRAPE,
    States.Scraped: DOWNLOAD,
}


def process_event(root: Node, item_id: int, now: datetime, policy: Policy) -> Step | None:
    """Return the job that `item_id` is due for, None when there is nothing to do for it now.

    root: the settled tree. Any row of a title whose index is due answers with the index of the title: it goes first.
    """
    path = root.path_to(item_id)
    if not path or any(node.item.facts.paused_at is not None for node in path):
        return None
    item, top = path[-1].item, root.item
    index_due = top.is_requested and _is_due(top.schedule.reindex_at, now)
    if not item.is_requested or not (
        _is_due(item.schedule.next_attempt_at, now) or (item is top and index_due)
    ):
        return None
    if index_due:
        is_new = lacks_metadata(top.facts)
        return _step(INDEX, top, QueueClass.NORMAL if is_new else QueueClass.BACKGROUND)
    move = _move(item, now, policy)
    return None if move is None else _step(move, item, item.schedule.next_class)


def _move(item: Item, now: datetime, policy: Policy) -> Move | None:
    if not item.type.is_leaf:
        return SCRAPE if waits_for_better(item.facts) else PARENT_MOVES.get(item.last_state)
    if item.last_state is States.Completed and not post_processing_due(item.facts):
        question = next_question(item, now, policy)
        if _is_due(item.facts.upgrade_at, now) and not (question and question[0] <= now):
            return UPGRADE
        return CONFIRM if question else None
    return LEAF_MOVES.get(item.last_state)


def _step(move: Move, item: Item, queue_class: QueueClass) -> Step:
    return Step(
        move.service,
        move.queue,
        move.step,
        item.id,
        queue_class,
        is_root_item=queue_class is not QueueClass.FRONT,
    )


def _is_due(at: datetime | None, now: datetime) -> bool:
    return at is not None and at <= now


def moves() -> tuple[tuple[str, str, Move], ...]:
    """Return the whole table: state, who, and what moves it, for the docs."""
    rows = [("any with its index due; Requested; Unknown without metadata", "film or show", INDEX)]
    rows += [(state.value, "film or episode", move) for state, move in LEAF_MOVES.items()]
    rows += [(States.Completed.value + ", a media server is left to ask", "film or episode", CONFIRM)]
    rows += [(States.Completed.value + ", a better or further copy is wanted", "film or episode", UPGRADE)]
    rows += [
        (state.value, "season or show searched as a whole", move) for state, move in PARENT_MOVES.items()
    ]
    rows += [("any, while better copies may still appear", "season or show searched as a whole", SCRAPE)]
    return tuple(rows)
