"""Two rows that turn out to be one title: the older one stays and takes over who asked and what files there are."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import aliased

from program.db import decisions, entries
from program.db.engine import Tx
from program.db.retry import failed_rows, reset_for_retry
from program.db.seasons import ask_for
from program.db.tables import EntryItem, ItemRequest, MediaItem
from program.db.views import Decision
from program.media.item import MediaType

Season = aliased(MediaItem, name="season")


@dataclass(frozen=True, slots=True)
class LooseFile:
    """A file whose item is gone. season, number: which episode it was of; None for a film."""

    entry_id: int
    season: int | None
    number: int | None
    linked_at: datetime


def hand_over(tx: Tx, older: int, younger: int, now: datetime) -> list[LooseFile]:
    """Move the wishes of the younger row to the older one and remove it; return its files, to be attached anew."""
    row = tx.connection.execute(
        select(MediaItem.type, MediaItem.wanted_seasons, MediaItem.wants_future).where(
            MediaItem.id == younger
        )
    ).one()
    files = _files(tx, younger)
    tx.connection.execute(update(ItemRequest).where(ItemRequest.item_id == younger).values(item_id=older))
    tx.connection.execute(delete(MediaItem).where(MediaItem.root_id == younger))
    if row.type is MediaType.SHOW:
        ask_for(tx, older, row.wanted_seasons)
        if row.wants_future:
            ask_for(tx, older, None)
    failed = failed_rows(tx, older)
    if failed:
        reset_for_retry(tx, failed, now)
    sentence = f"Item {younger} turned out to be the same title; who asked for it is moved here."
    decisions.write(tx, [Decision(older, "index", "merged", sentence, {"removed": younger})], now)
    return files


def attach(tx: Tx, root_id: int, files: list[LooseFile]) -> tuple[int, ...]:
    """Attach files to the same film or episodes of the title that stayed; return the entries that have no place and are removed."""
    if not files:
        return ()
    leaves = _leaves(tx, root_id)
    links = {
        (file.entry_id, leaves[place]): file.linked_at
        for file in files
        if (place := (file.season, file.number)) in leaves
    }
    rows = [
        {"entry_id": entry_id, "item_id": item_id, "linked_at": at}
        for (entry_id, item_id), at in links.items()
    ]
    if rows:
        tx.connection.execute(insert(EntryItem), rows)
    homeless = {file.entry_id for file in files} - {entry_id for entry_id, _ in links}
    entries.remove(tx, homeless)
    return tuple(sorted(homeless))


def _files(tx: Tx, root_id: int) -> list[LooseFile]:
    query = (
        select(EntryItem.entry_id, Season.number, MediaItem.number, EntryItem.linked_at)
        .join(MediaItem, MediaItem.id == EntryItem.item_id)
        .outerjoin(Season, Season.id == MediaItem.parent_id)
        .where(MediaItem.root_id == root_id)
    )
    return [LooseFile(*row) for row in tx.connection.execute(query)]


def _leaves(tx: Tx, root_id: int) -> dict[tuple[int | None, int | None], int]:
    query = (
        select(Season.number, MediaItem.number, MediaItem.id)
        .outerjoin(Season, Season.id == MediaItem.parent_id)
        .where(MediaItem.root_id == root_id, MediaItem.type.in_((MediaType.MOVIE, MediaType.EPISODE)))
    )
    return {(season, number): item_id for season, number, item_id in tx.connection.execute(query)}
