"""What decides where a file appears in the library: the facts that profiles and names are made of, and what came of them."""

from collections.abc import Collection, Mapping

from sqlalchemy import Select, bindparam, func, select, update
from sqlalchemy.orm import aliased

from program.db import companions
from program.db.engine import Tx
from program.db.lots import lots
from program.db.rows import AnyRow
from program.db.tables import EntryItem, ItemRequest, MediaEntry, MediaItem
from program.media.item import MediaType
from program.media.naming import NameFacts, edition_of, split_extension, tag_of
from program.media.profiles import TitleFacts


def title_facts(tx: Tx, entry_ids: Collection[int] | None = None) -> dict[int, TitleFacts]:
    """Return, by entry, the facts of the film or show that it belongs to; entry_ids None: of all entries."""
    roots: dict[int, int] = {}
    for some in lots(entry_ids):
        roots |= {row.entry_id: row.root_id for row in tx.connection.execute(_roots(some))}
    facts: dict[int, TitleFacts] = {}
    for some in lots(set(roots.values()) if entry_ids is not None else None):
        facts |= _facts(tx, some)
    return {entry_id: facts[root_id] for entry_id, root_id in roots.items() if root_id in facts}


def facts_of(tx: Tx, root_id: int) -> TitleFacts | None:
    """Return the facts of a film or show, None when there is no such title."""
    return _facts(tx, [root_id]).get(root_id)


def set_profiles(tx: Tx, profiles: Mapping[int, tuple[str, ...]]) -> None:
    """Write down, by entry, the keys of the profiles that it belongs to."""
    if profiles:
        tx.connection.execute(
            update(MediaEntry.__table__)  # type: ignore[arg-type]
            .where(MediaEntry.id == bindparam("entry_id"))
            .values(library_profiles=bindparam("keys")),
            [{"entry_id": entry_id, "keys": keys} for entry_id, keys in profiles.items()],
        )


def newest(tx: Tx, count: int) -> dict[int, str]:
    """Return the path of each of the `count` files that came into the library last, by entry."""
    query = (
        select(MediaEntry.id, MediaEntry.path)
        .where(MediaEntry.registered_at.is_not(None))
        .order_by(MediaEntry.registered_at.desc(), MediaEntry.id.desc())
        .limit(count)
    )
    return {row.id: row.path for row in tx.connection.execute(query)}


def name_facts(tx: Tx, entry_ids: Collection[int] | None = None) -> dict[int, NameFacts]:
    """Return, by entry, what its name is made of; entry_ids None: of all entries."""
    leaf, parent, root = aliased(MediaItem), aliased(MediaItem), aliased(MediaItem)
    query = (
        select(
            *(MediaEntry.id, MediaEntry.version, MediaEntry.original_name),
            *(
                leaf.type,
                leaf.number,
                leaf.title.label("leaf_title"),
                leaf.absolute_number,
                parent.number.label("season"),
            ),
            *(root.title, root.original_title, root.year, root.tmdb, root.tvdb, root.imdb),
        )
        .join(EntryItem, EntryItem.entry_id == MediaEntry.id)
        .join(leaf, leaf.id == EntryItem.item_id)
        .join(root, root.id == leaf.root_id)
        .outerjoin(parent, parent.id == leaf.parent_id)
        .order_by(MediaEntry.id, leaf.number)
    )
    found: dict[int, list[AnyRow]] = {}
    for some in lots(entry_ids):
        narrowed = query if some is None else query.where(MediaEntry.id.in_(some))
        for row in tx.connection.execute(narrowed):
            found.setdefault(row.id, []).append(row)
    in_parts = companions.in_parts(tx)
    return {entry_id: _name_facts(rows, is_part=entry_id in in_parts) for entry_id, rows in found.items()}


def set_paths(tx: Tx, paths: Mapping[int, str]) -> None:
    """Write down, by entry, what it is called."""
    if paths:
        tx.connection.execute(
            update(MediaEntry.__table__)  # type: ignore[arg-type]
            .where(MediaEntry.id == bindparam("entry_id"))
            .values(path=bindparam("new_path")),
            [{"entry_id": entry_id, "new_path": path} for entry_id, path in paths.items()],
        )


def _name_facts(rows: list[AnyRow], *, is_part: bool) -> NameFacts:
    """Return what the name of one file is made of. rows: one for each item it belongs to, by their numbers."""
    first = rows[0]
    is_episode = first.type is MediaType.EPISODE
    return NameFacts(
        title=first.title,
        year=first.year,
        tmdb_id=first.tmdb,
        tvdb_id=first.tvdb,
        imdb_id=first.imdb,
        season=first.season if is_episode else None,
        episodes=tuple(row.number or 0 for row in rows) if is_episode else (),
        extension=first.original_name.rpartition(".")[2],
        tag=tag_of(first.version),
        edition=edition_of(first.original_name),
        episode_title=first.leaf_title if is_episode else "",
        original_title=first.original_title or "",
        part=int(is_part),
        original_name=split_extension(first.original_name)[0],
        absolute=first.absolute_number if is_episode else None,
    )


def _roots(entry_ids: list[int] | None) -> Select[int, int | None]:
    """Return the question for (entry, the film or show it belongs to)."""
    query = (
        select(EntryItem.entry_id, func.min(MediaItem.root_id).label("root_id"))
        .join(MediaItem, MediaItem.id == EntryItem.item_id)
        .group_by(EntryItem.entry_id)
    )
    return query if entry_ids is None else query.where(EntryItem.entry_id.in_(entry_ids))


def _facts(tx: Tx, root_ids: list[int] | None) -> dict[int, TitleFacts]:
    leaf = aliased(MediaItem)
    titles = select(
        MediaItem.id,
        MediaItem.type,
        MediaItem.year,
        MediaItem.genres,
        MediaItem.is_anime,
        MediaItem.language,
        MediaItem.country,
        MediaItem.network,
        MediaItem.rating,
        MediaItem.content_rating,
        MediaItem.ranking_profile,
        MediaItem.library_profiles,
    )
    wishes = select(ItemRequest.item_id, ItemRequest.source, ItemRequest.requested_by)
    wishes = wishes.order_by(ItemRequest.id)
    if root_ids is None:
        has_file = select(leaf.root_id).join(EntryItem, EntryItem.item_id == leaf.id)
        titles = titles.where(MediaItem.id.in_(has_file))
        wishes = wishes.where(ItemRequest.item_id.is_not(None))
    else:
        titles = titles.where(MediaItem.id.in_(root_ids))
        wishes = wishes.where(ItemRequest.item_id.in_(root_ids))
    lists: dict[int, list[str]] = {}
    people: dict[int, list[str]] = {}
    for row in tx.connection.execute(wishes):
        lists.setdefault(row.item_id, []).append(row.source)
        if row.requested_by:
            people.setdefault(row.item_id, []).append(row.requested_by)
    return {
        row.id: _title(row, lists.get(row.id, []), people.get(row.id, []))
        for row in tx.connection.execute(titles)
    }


def _title(row: AnyRow, lists: list[str], people: list[str]) -> TitleFacts:
    return TitleFacts(
        type=row.type,
        year=row.year,
        genres=row.genres,
        is_anime=row.is_anime,
        language=row.language,
        country=row.country,
        network=row.network,
        rating=row.rating,
        content_rating=row.content_rating,
        lists=tuple(dict.fromkeys(lists)),
        requested_by=tuple(dict.fromkeys(people)),
        chosen=row.library_profiles,
        ranking=row.ranking_profile,
    )
