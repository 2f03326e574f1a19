"""From rows to the snapshots of `program.media`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row

from program.db.tables import MediaItem
from program.db.titles import title_key
from program.media.item import Confirmation, Facts, Ids, Item, Node, Schedule

AnyRow = Row[*tuple[Any, ...]]

# Loaded from other tables, so they are not columns of an item.
COMPUTED = {"usable_streams", "entry_at", "confirmations"}
FACTS = tuple(field.name for field in fields(Facts) if field.name not in COMPUTED)
DATES = tuple(field.name for field in fields(Schedule))
# Columns of `Item` that stand in the table under the same name and type.
PLAIN = tuple(
    field.name
    for field in fields(Item)
    if field.name in MediaItem.__table__.columns and field.name not in {"facts", "schedule", "ids"}
)


IDS = ("imdb", "tmdb", "tvdb")
_AFTER_PLAIN = len(PLAIN)
_AFTER_IDS = _AFTER_PLAIN + len(IDS)
_AFTER_FACTS = _AFTER_IDS + len(FACTS)
# What `item_of` wants to have selected, in this order.
ITEM: tuple[ColumnElement[Any], ...] = tuple(
    MediaItem.__table__.columns[name] for name in (*PLAIN, *IDS, *FACTS, *DATES)
)


@dataclass(frozen=True, slots=True)
class Extras:
    """What other tables say about an item."""

    usable_streams: int = 0
    entry_at: datetime | None = None
    confirmations: tuple[Confirmation, ...] = ()


NOTHING = Extras()


def item_of(row: AnyRow, extras: Extras = NOTHING) -> Item:
    """Return the snapshot of a row of the columns `ITEM`; a turn reads thousands, so it is made to be quick."""
    facts = Facts(
        **dict(zip(FACTS, row[_AFTER_IDS:_AFTER_FACTS], strict=True)),
        usable_streams=extras.usable_streams,
        entry_at=extras.entry_at,
        confirmations=extras.confirmations,
    )
    return Item(
        **dict(zip(PLAIN, row[:_AFTER_PLAIN], strict=True)),
        ids=Ids(*row[_AFTER_PLAIN:_AFTER_IDS]),
        facts=facts,
        schedule=Schedule(**dict(zip(DATES, row[_AFTER_FACTS:], strict=True))),
    )


def columns_of(item: Item) -> dict[str, object]:
    """Return the columns of a new row for `item`, all but its id, its root and its service id."""
    values = {name: getattr(item, name) for name in PLAIN if name not in ("id", "root_id")}
    values |= {name: getattr(item.facts, name) for name in FACTS}
    values |= {name: getattr(item.schedule, name) for name in DATES}
    values |= {"imdb": item.ids.imdb, "tmdb": item.ids.tmdb, "tvdb": item.ids.tvdb}
    return {
        **values,
        "title_key": title_key(item.title),
        "earliest_at": earliest(item),
        "created_at": item.created_at,
    }


def earliest(item: Item) -> datetime | None:
    """Return the earliest release or air date that is known."""
    return min((*item.releases.values(), *((item.aired_at,) if item.aired_at else ())), default=None)


def ids_of(row: AnyRow) -> Ids:
    """Return the ids at the metadata services."""
    return Ids(imdb=row.imdb, tmdb=row.tmdb, tvdb=row.tvdb)


def forest(items: Iterable[Item]) -> Mapping[int, Node]:
    """Return the trees of `items` by the id of their root; the order of siblings is the order of `items`."""
    below: dict[int | None, list[Item]] = {}
    for item in items:
        below.setdefault(item.parent_id, []).append(item)
    return {root.id: _node(root, below) for root in below.get(None, ())}


def _node(item: Item, below: Mapping[int | None, list[Item]]) -> Node:
    return Node(item, tuple(_node(child, below) for child in below.get(item.id, ())))
