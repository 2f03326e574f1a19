"""Writing facts, states and dates into items, many rows in few statements."""

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import BindParameter, bindparam, update

from program.db.engine import Tx
from program.db.rows import DATES, FACTS
from program.db.tables import MediaItem
from program.media.settle import RowUpdate

# What flows and actions may write by name, beside the facts.
INTENT = ("is_requested", "wants_future", "wanted_seasons", "aliases", "ranking_profile", "library_profiles")
WRITABLE = frozenset({*FACTS, *INTENT})


def write_facts(tx: Tx, changes: Mapping[int, Mapping[str, object]]) -> None:
    """Write fact columns by name; raise KeyError for a name that is none. Items that do not exist are passed over."""
    alike: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for item_id, values in changes.items():
        unknown = values.keys() - WRITABLE
        if unknown:
            raise KeyError(f"not a fact of an item: {', '.join(sorted(unknown))}")
        if values:
            alike.setdefault(tuple(sorted(values)), []).append({"item_id": item_id, **values})
    for names, rows in alike.items():
        write_columns(tx, names, rows)


def write_settled(tx: Tx, updates: Iterable[RowUpdate]) -> None:
    """Write the states and dates that `settle` found to differ."""
    rows = [
        {
            "item_id": update.item_id,
            "last_state": update.last_state,
            **{name: getattr(update.schedule, name) for name in DATES},
        }
        for update in updates
    ]
    write_columns(tx, ("last_state", *DATES), rows)


def write_columns(tx: Tx, names: Iterable[str], rows: list[dict[str, object]]) -> None:
    """Write these columns of many items; each row holds their values and `item_id`."""
    if not rows:
        return
    # A parameter of an update must not be named as a column.
    values: dict[str, BindParameter[object]] = {name: bindparam(f"new_{name}") for name in names}
    parameters = [
        {"item_id": row["item_id"], **{f"new_{name}": row[name] for name in values}} for row in rows
    ]
    tx.connection.execute(
        update(MediaItem).where(MediaItem.id == bindparam("item_id")).values(values), parameters
    )


def bump_revision(tx: Tx, item_ids: Collection[int]) -> None:
    """Write down that a person changed their mind about these rows; jobs that began before take notice."""
    tx.connection.execute(
        update(MediaItem).where(MediaItem.id.in_(item_ids)).values(revision=MediaItem.revision + 1)
    )


def look_again(tx: Tx, root_ids: Collection[int]) -> None:
    """Make titles due, so that the next turn derives their states and dates; for changes that are not settled by a commit."""
    tx.connection.execute(
        update(MediaItem)
        .where(MediaItem.id.in_(root_ids))
        # Any past date will do: the turn replaces it.
        .values(next_attempt_at=MediaItem.created_at, next_reason="was changed")
    )
