"""A library of any size, written straight into a database: films and series in the states and with the dates of a real home's.

Of a hundred films 85 are Completed, 7 are searched for, 5 are to come, 3 have Failed. A series has three seasons of twenty
episodes; every third still runs, and its last episode is searched for. Each file has its entry, its source and its place in the
tree; each film has releases, each row a story.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import ColumnElement, func, insert, select

from program.db.engine import Database, Tx
from program.db.rows import columns_of
from program.db.tables import Base, DecisionRow, EntryItem, MediaEntry, MediaItem, Source, Stream
from program.media.item import Facts, Ids, Item, MediaType, Node, ReleaseKind, ShowStatus
from program.media.settle import settled
from program.media.state import Policy

SEASONS, EPISODES = 3, 20
ROWS_OF_A_SHOW = 1 + SEASONS * (1 + EPISODES)
# Of a hundred rows, so many are films.
FILM_SHARE = 30
# Of a hundred films, the first so many are to come, the next are searched for, the next have failed.
TO_COME, SEARCHED, FAILED = 5, 12, 15
RELEASES_OF_A_FILM = 2
RUNS_EVERY = 3
FIRST_RELEASE = datetime(1990, 1, 1, 20, tzinfo=UTC)
# Some 34 years, so that nothing of it is in the future.
RELEASE_DAYS = 12_600
# What was asked for, came over five years.
HOURS_BETWEEN, YEARS_OF_HOURS = 73, 5 * 365 * 24
SIZE = 4_000_000_000
ROWS_AT_ONCE = 5_000
BLOCK = 2_000
# Per table: the columns that lead to a row of the block, its own first, and those whose text is another one in each copy.
COPIED: tuple[tuple[type[Base], tuple[str, ...], tuple[str, ...]], ...] = (
    (MediaItem, ("id", "root_id", "parent_id"), ("title", "title_key", "imdb", "tmdb", "tvdb")),
    (MediaEntry, ("id",), ("infohash",)),
    (Source, ("entry_id",), ("torrent_id",)),
    (EntryItem, ("item_id", "entry_id"), ()),
    (Stream, ("item_id",), ("infohash",)),
    (DecisionRow, ("item_id",), ()),
)


def fill(db: Database, rows: int, now: datetime) -> int:
    """Write a library of about so many items into an empty database and return how many; nothing in it is due at `now`.

    A large library is a small one many times over, copied by the database itself: that is fifty times as quick.
    """
    block = min(rows, BLOCK)
    films = max(1, block * FILM_SHARE // 100)
    shows = max(1, (block - films) // ROWS_OF_A_SHOW)
    with db.write() as tx:
        writer = _Writer(tx)
        for title in _titles(films, shows, now):
            writer.add(settled(title, now, Policy()))
        writer.flush()
        written = films + shows * ROWS_OF_A_SHOW
        copies = max(1, rows // written)
        for number in range(1, copies):
            _copy(tx, written, number)
    return written * copies


def _copy(tx: Tx, block: int, number: int) -> None:
    """Write the first `block` items once more, as other titles."""
    for table, moved, marked in COPIED:
        columns = table.__table__.columns
        # A row that no other names gets its id from the database.
        values: dict[str, ColumnElement[Any]] = {
            column.name: column for column in columns if column.name != "id" or "id" in moved
        }
        values |= {name: columns[name] + number * block for name in moved}
        values |= {name: columns[name] + f" {number}" for name in marked}
        if table is MediaEntry:
            # A folder of its own for each title.
            values["path"] = func.replace(columns["path"], " (", f" {number} (")
        chosen = select(*values.values()).where(columns[moved[0]] <= block)
        tx.connection.execute(insert(table).from_select(list(values), chosen))


class _Writer:
    """Writes titles a few thousand rows at a time."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        tables: tuple[type[Base], ...] = (MediaItem, MediaEntry, Source, EntryItem, Stream, DecisionRow)
        self._rows: dict[type[Base], list[dict[str, object]]] = {table: [] for table in tables}

    def add(self, title: Node) -> None:
        """Add a title with everything beneath it, and the files of what has one."""
        for node in title.walk():
            item = node.item
            self._rows[MediaItem].append(
                {**columns_of(item), "id": item.id, "root_id": item.root_id, "service_id": None}
            )
            self._rows[DecisionRow].append(_decision(item))
            if item.facts.registered_at is not None:
                self._rows[MediaEntry].append(_entry(item, title.item))
                self._rows[Source].append(_source(item))
                self._rows[EntryItem].append(
                    {"entry_id": item.id, "item_id": item.id, "linked_at": item.facts.registered_at}
                )
            if item.type is MediaType.MOVIE:
                self._rows[Stream] += [_stream(item, number) for number in range(RELEASES_OF_A_FILM)]
        if len(self._rows[MediaItem]) >= ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what is left."""
        for table, rows in self._rows.items():
            if rows:
                self._tx.connection.execute(insert(table), rows)
            rows.clear()


def _titles(films: int, shows: int, now: datetime) -> Iterator[Node]:
    ids = count(1)
    for number in range(films):
        yield Node(_film(number, next(ids), now))
    for number in range(shows):
        yield _show(number, ids, now)


def _film(number: int, item_id: int, now: datetime) -> Item:
    """Return a film; its state follows from its number."""
    released = FIRST_RELEASE + timedelta(days=number % RELEASE_DAYS)
    kind = number % 100
    if kind < TO_COME:
        released, facts = now + timedelta(days=1 + number % 90), Facts(indexed_at=now)
    elif kind < SEARCHED:
        facts = _searched(now)
    elif kind < FAILED:
        facts = Facts(indexed_at=released, failed_at=now, failed_reason="searched 20 times")
    else:
        facts = _done(released)
    return Item(
        id=item_id,
        root_id=item_id,
        type=MediaType.MOVIE,
        title=f"Film {number:06}",
        year=released.year,
        ids=Ids(imdb=f"tt{number:08}", tmdb=str(number + 1)),
        releases={ReleaseKind.DIGITAL: released},
        genres=("Drama",),
        country="us",
        language="en",
        runtime=101,
        poster=f"/film-{number}.jpg",
        facts=facts,
        created_at=_asked(number, now),
    )


def _show(number: int, ids: "count[int]", now: datetime) -> Node:
    runs = number % RUNS_EVERY == 0
    root_id, asked = next(ids), _asked(number, now)
    first = FIRST_RELEASE + timedelta(days=number % RELEASE_DAYS - SEASONS * 365)
    seasons = []
    for season in range(SEASONS):
        season_id, begins = next(ids), first + timedelta(days=365 * season)
        episodes = []
        for episode in range(EPISODES):
            aired = begins + timedelta(days=7 * episode)
            is_last = season == SEASONS - 1 and episode == EPISODES - 1
            item = Item(
                id=next(ids),
                root_id=root_id,
                type=MediaType.EPISODE,
                parent_id=season_id,
                number=episode + 1,
                absolute_number=season * EPISODES + episode + 1,
                title=f"Chapter {episode + 1}",
                aired_at=aired,
                runtime=44,
                facts=_searched(now) if runs and is_last else _done(aired),
                created_at=asked,
            )
            episodes.append(Node(item))
        item = Item(
            id=season_id,
            root_id=root_id,
            type=MediaType.SEASON,
            parent_id=root_id,
            number=season + 1,
            title=f"Season {season + 1}",
            aired_at=begins,
            facts=Facts(indexed_at=begins),
            created_at=asked,
        )
        seasons.append(Node(item, tuple(episodes)))
    show = Item(
        id=root_id,
        root_id=root_id,
        type=MediaType.SHOW,
        title=f"Series {number:05}",
        year=first.year,
        ids=Ids(imdb=f"tt9{number:07}", tvdb=str(number + 1)),
        aired_at=first,
        country="us",
        language="en",
        runtime=44,
        poster=f"/show-{number}.jpg",
        show_status=ShowStatus.CONTINUING if runs else ShowStatus.ENDED,
        wants_future=True,
        facts=Facts(indexed_at=now),
        created_at=asked,
    )
    return Node(show, tuple(seasons))


def _done(at: datetime) -> Facts:
    return Facts(
        indexed_at=at,
        scraped_at=at,
        entry_at=at,
        registered_at=at,
        confirmed_at=at,
        confirmed_by="none",
        post_processed_at=at,
    )


def _searched(now: datetime) -> Facts:
    return Facts(indexed_at=now, scraped_at=now, scraped_times=4)


def _asked(number: int, now: datetime) -> datetime:
    """Return when a title was asked for: evenly over some years."""
    return now - timedelta(hours=number * HOURS_BETWEEN % YEARS_OF_HOURS, seconds=number)


def _entry(item: Item, root: Item) -> dict[str, object]:
    name = f"{root.title} {item.id}.1080p.mkv"
    folder = f"movies/{root.title} ({root.year})"
    if item.absolute_number is not None:
        folder = f"shows/{root.title} ({root.year})/Season {(item.absolute_number - 1) // EPISODES + 1:02}"
    return {
        "id": item.id,
        "infohash": f"{item.id:040x}",
        "path_in_torrent": name,
        "original_name": name,
        "size": SIZE + item.id,
        "path": f"/{folder}/{name}",
        "version": "1080p",
        "probed": None,
        "created_at": item.facts.registered_at,
        "registered_at": item.facts.registered_at,
    }


def _source(item: Item) -> dict[str, object]:
    return {
        "entry_id": item.id,
        "provider": "realdebrid",
        "torrent_id": f"T{item.id}",
        "file_id": "1",
        "link": f"https://link.example/{item.id}",
        "url": None,
        "url_expires_at": None,
        "failures": 0,
        "failed_at": None,
        "failed_reason": None,
    }


def _stream(item: Item, number: int) -> dict[str, object]:
    return {
        "item_id": item.id,
        "infohash": f"{number}{item.id:039x}",
        "raw_title": f"{item.title.replace(' ', '.')}.{item.year}.1080p.WEB-DL.DDP5.1.H.264-NORTH{number}",
        "sources": ("torrentio",),
        "size": SIZE,
        "seeders": 10,
        "cached_at": (),
        "parsed": {"title": item.title, "year": item.year, "resolution": "1080p", "quality": "WEB-DL"},
        "rejection_code": "size",
        "rejection_sentence": "is too small for its runtime",
        "rejection_permanent": True,
        "rank": 0,
        "score": {},
        "resolution": "1080p",
        "lines": 1080,
        "similarity": 1.0,
        "blacklisted": None,
        "found_at": item.created_at,
    }


def _decision(item: Item) -> dict[str, object]:
    return {
        "item_id": item.id,
        "at": item.created_at,
        "step": "scrape",
        "outcome": "found",
        "sentence": "2 releases were found, none of them fits.",
        "data": {},
        "next_at": None,
        "provider": None,
        "attempt": None,
        "ms": 120,
    }
