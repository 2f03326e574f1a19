"""A small library to test on: titles made the way the program makes them, told in few words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import event

from program.clock import ManualClock
from program.db import check, decisions, entries, items, requests, streams
from program.db.commit import commit_outcome
from program.db.engine import Database
from program.db.views import Accepted, Decision, NewEntry, StoredDecision, StoredMetadata
from program.media.item import Facts, Ids, Item, Node, ReleaseKind, States
from program.media.metadata import ContentRequest, EpisodeMetadata, Metadata, SeasonMetadata
from program.media.release import JudgedRelease, Rejection
from program.media.state import Policy

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)
PROVIDERS = ("alpha", "beta")
FILM = Ids(tmdb="45745")
SHOW = Ids(tvdb="170551")


def wish(ids: Ids = FILM, **parts: object) -> ContentRequest:
    """A wish for a film, of a person through the API."""
    return ContentRequest(**{"source": "api", "is_movie": True, "ids": ids, **parts})  # type: ignore[arg-type]


def show_wish(ids: Ids = SHOW, **parts: object) -> ContentRequest:
    """A wish for a series."""
    return wish(ids, is_movie=False, **parts)


def film_metadata(ids: Ids = FILM, title: str = "Sintel", **parts: object) -> Metadata:
    """A film that came out long ago."""
    releases = {ReleaseKind.DIGITAL: LONG_AGO}
    return Metadata(**{"ids": ids, "title": title, "year": 2010, "releases": releases, **parts})  # type: ignore[arg-type]


def episode(number: int, service_id: str | None = None, **parts: object) -> EpisodeMetadata:
    """An episode that aired long ago."""
    values = {"number": number, "title": f"Part {number}", "aired_at": LONG_AGO + timedelta(days=number)}
    return EpisodeMetadata(service_id=service_id or f"e{number}", **{**values, **parts})  # type: ignore[arg-type]


def season(number: int, episodes: int | Iterable[EpisodeMetadata] = 2) -> SeasonMetadata:
    """A season; by number of episodes, with ids of their own."""
    if isinstance(episodes, int):
        episodes = [episode(part, f"s{number}e{part}") for part in range(1, episodes + 1)]
    return SeasonMetadata(number=number, title=f"Season {number}", episodes=tuple(episodes))


def show_metadata(*seasons: SeasonMetadata, ids: Ids = SHOW, **parts: object) -> Metadata:
    """A series."""
    return Metadata(**{"ids": ids, "title": "Pioneer One", "seasons": seasons, **parts})  # type: ignore[arg-type]


def release(infohash: str, rank: int = 100, *, refused: str | None = None, **parts: object) -> JudgedRelease:
    """A release; refused: the code of the rule that said no."""
    rejection = Rejection(refused, f"it is {refused}") if refused else None
    values = {"raw_title": f"Release {infohash}", "sources": ("torrentio",), "resolution": "1080p"}
    return JudgedRelease(infohash=infohash, rank=rank, rejection=rejection, **{**values, **parts})  # type: ignore[arg-type]


class Library:
    """A database with what tests do to it, each step in a transaction of its own."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        self.policy = Policy()

    @property
    def now(self) -> datetime:
        """The instant the clock stands at."""
        return self.clock.now()

    def ask(self, *wanted: ContentRequest, by_person: bool = True) -> tuple[Accepted, ...]:
        """Have wishes accepted in one transaction."""
        with self.db.write() as tx:
            return requests.accept_many(tx, wanted, self.now, by_person=by_person)

    def index(self, root_id: int, metadata: Metadata) -> StoredMetadata:
        """Store metadata and settle."""
        with self.db.write(root_id) as tx:
            stored = items.store_metadata(tx, root_id, metadata, self.now)
            commit_outcome(tx, stored.root_id, {}, (), self.now, self.policy, PROVIDERS)
        return stored

    def film(self, ids: Ids = FILM, title: str = "Sintel", **parts: object) -> int:
        """Add an indexed film; return its id."""
        (accepted,) = self.ask(wish(ids))
        assert accepted.root_id is not None
        return self.index(accepted.root_id, film_metadata(ids, title, **parts)).root_id

    def show(self, *seasons: SeasonMetadata, ids: Ids = SHOW, wanted: tuple[int, ...] | None = None) -> int:
        """Add an indexed series; return its id."""
        (accepted,) = self.ask(show_wish(ids, seasons=wanted))
        assert accepted.root_id is not None
        return self.index(accepted.root_id, show_metadata(*seasons, ids=ids)).root_id

    def commit(self, root_id: int, changes: Mapping[int, Mapping[str, object]], *made: Decision) -> Node:
        """Commit facts and decisions."""
        with self.db.write(root_id) as tx:
            return commit_outcome(tx, root_id, changes, made, self.now, self.policy, PROVIDERS)

    def tree(self, root_id: int) -> Node:
        """Read a title."""
        with self.db.read() as tx:
            found = items.tree(tx, root_id, self.now, PROVIDERS)
        assert found is not None
        return found

    def item(self, root_id: int, *numbers: int) -> Item:
        """Read the title itself, a season (by number) or an episode (by season and number)."""
        node = self.tree(root_id)
        for number in numbers:
            node = next(child for child in node.children if child.item.number == number)
        return node.item

    def facts(self, root_id: int, *numbers: int) -> Facts:
        """Read the facts of a row."""
        return self.item(root_id, *numbers).facts

    def state(self, root_id: int, *numbers: int) -> States:
        """Read the state of a row."""
        return self.item(root_id, *numbers).last_state

    def find_releases(self, item_id: int, *found: JudgedRelease) -> None:
        """Store what a search found."""
        with self.db.write() as tx:
            streams.store(tx, item_id, found, self.now)

    def add_file(self, *item_ids: int, name: str = "film.mkv", **parts: object) -> int:
        """Add a file of a torrent for these items; return the entry's id."""
        values = {
            "infohash": "a" * 40,
            "path_in_torrent": name,
            "original_name": name,
            "size": 1_000,
            "path": f"/movies/{name}",
            "version": "1080p",
            "item_ids": item_ids,
            "provider": "alpha",
            "torrent_id": "T1",
            "file_id": "1",
        }
        with self.db.write() as tx:
            return entries.create(tx, NewEntry(**{**values, **parts}), self.now)  # type: ignore[arg-type]

    def complete(self, root_id: int, item_id: int, **parts: object) -> int:
        """Bring a leaf to Completed with a file of its own; return the entry's id."""
        self.clock.advance(1)
        entry_id = self.add_file(item_id, **{"name": f"{item_id}.mkv", **parts})
        with self.db.write(root_id) as tx:
            entries.register(tx, [entry_id], self.now)
            done = {"registered_at": self.now, "confirmed_at": self.now, "confirmed_by": "none"}
            changes = {item_id: {**done, "post_processed_at": self.now}}
            commit_outcome(tx, root_id, changes, (), self.now, self.policy, PROVIDERS)
        return entry_id

    def due(self) -> list[int]:
        """Return the ids of what is due now."""
        with self.db.read() as tx:
            return [row.item_id for row in items.due(tx, self.now)]

    def timeline(self, item_id: int) -> tuple[StoredDecision, ...]:
        """Return the story of an item."""
        with self.db.read() as tx:
            return decisions.timeline(tx, item_id)

    def wrong(self) -> tuple[str, ...]:
        """Return what is inconsistent."""
        with self.db.read() as tx:
            return check.inconsistencies(tx, self.now, self.policy, PROVIDERS)


@contextmanager
def statements(db: Database) -> Iterator[list[str]]:
    """Collect the SQL statements of the block, without those that begin and end transactions."""
    engine = db._opened()
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not statement.startswith(("PRAGMA", "BEGIN")):
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)
