"""Films, shows, seasons and episodes as frozen snapshots.

A snapshot is what one transaction read; nothing in it changes. A title is a tree: a `Node` holds an item and its children
(a film has none), so that a rule sees all it needs and asks nobody.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, StrEnum
from types import MappingProxyType


class States(Enum):
    """The twelve states of an item."""

    Unknown = "Unknown"
    Unreleased = "Unreleased"
    Ongoing = "Ongoing"
    Requested = "Requested"
    Indexed = "Indexed"
    Scraped = "Scraped"
    Downloaded = "Downloaded"
    Symlinked = "Symlinked"
    Completed = "Completed"
    PartiallyCompleted = "PartiallyCompleted"
    Failed = "Failed"
    Paused = "Paused"


class MediaType(StrEnum):
    """What an item is. Films and episodes are leaves; shows and seasons are parents."""

    MOVIE = "movie"
    SHOW = "show"
    SEASON = "season"
    EPISODE = "episode"

    @property
    def is_leaf(self) -> bool:
        """True when a file can belong to it."""
        return self in (MediaType.MOVIE, MediaType.EPISODE)

    @property
    def is_root(self) -> bool:
        """True when nothing stands above it."""
        return self in (MediaType.MOVIE, MediaType.SHOW)


class ShowStatus(StrEnum):
    """What the metadata service says about a show's future."""

    CONTINUING = "continuing"
    ENDED = "ended"
    UPCOMING = "upcoming"
    UNKNOWN = "unknown"


class ReleaseKind(StrEnum):
    """Kinds of release dates of a film, and `tv` for an air date."""

    PREMIERE = "premiere"
    LIMITED = "limited"
    THEATRICAL = "theatrical"
    DIGITAL = "digital"
    PHYSICAL = "physical"
    TV = "tv"
    # The one date a service gives without saying of what kind it is.
    PRIMARY = "primary"


class QueueClass(StrEnum):
    """How urgent the next attempt is (engine: priority class)."""

    INTERACTIVE = "interactive"
    FRONT = "front"
    NORMAL = "normal"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids at the metadata services, as strings; None when not known."""

    imdb: str | None = None
    tmdb: str | None = None
    tvdb: str | None = None

    def __bool__(self) -> bool:
        """Return True when at least one id is known."""
        return any((self.imdb, self.tmdb, self.tvdb))


@dataclass(frozen=True, slots=True)
class Title:
    """A name of an item. country: ISO 3166-1 alpha-2 lower case; language: ISO 639-1; None when not known.

    is_own: a person added it; it stays whatever a metadata service says.
    """

    text: str
    country: str | None = None
    language: str | None = None
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why an item makes no sense. with_metadata: the metadata is usable, a later service answered nonsense."""

    reason: str
    with_metadata: bool


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What one media server knows of an item. asked_times: questions so far; scanned_at: the last scan of its folder."""

    server: str
    asked_times: int = 0
    asked_at: datetime | None = None
    scanned_at: datetime | None = None
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything about a row that its state and its dates are derived from. Datetimes are aware UTC.

    usable_streams: streams that pass the rules, are found since `restarted_at` and are not blocked at every enabled provider.
    scraped_times: searches since the last reset or success that at least one scraper answered and that left no usable stream.
    hold_until: no attempt before that instant, because of `hold_reason` (an error, a provider that asked to wait).
    upgrade_at: when a better or a further copy is looked for, of what is Completed.
    """

    paused_at: datetime | None = None
    failed_at: datetime | None = None
    failed_reason: str | None = None
    indexed_at: datetime | None = None
    index_tried_at: datetime | None = None
    index_failures: int = 0
    index_hold_until: datetime | None = None
    restarted_at: datetime | None = None
    scraped_at: datetime | None = None
    scraped_times: int = 0
    usable_streams: int = 0
    active_stream: str | None = None
    entry_at: datetime | None = None
    registered_at: datetime | None = None
    confirmed_at: datetime | None = None
    confirmed_by: str | None = None
    post_processed_at: datetime | None = None
    post_failures: int = 0
    failures: int = 0
    hold_until: datetime | None = None
    hold_reason: str | None = None
    contradiction: Contradiction | None = None
    upgrade_at: datetime | None = None
    confirmations: tuple[Confirmation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a row is next worth looking at, and why. reindex_at is set on roots only."""

    next_attempt_at: datetime | None = None
    next_reason: str | None = None
    next_class: QueueClass = QueueClass.NORMAL
    reindex_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row of the library.

    number: season number of a season, episode number of an episode. releases: film dates by kind. aired_at: air time of an
    episode, first air time of a season or show. runtime: minutes. country, language: ISO 3166-1 alpha-2 lower, ISO 639-1.
    wanted_seasons: seasons asked for by number (empty with `wants_future` = all but specials); on shows only. ranking_profile,
    library_profiles: what a person chose for a title; None: the settings decide; an empty name is the usual ranking.
    revision: rises when a person changes their mind about the row; jobs compare it.
    """

    id: int
    type: MediaType
    root_id: int
    parent_id: int | None = None
    number: int | None = None
    absolute_number: int | None = None
    title: str = ""
    original_title: str | None = None
    aliases: tuple[Title, ...] = ()
    year: int | None = None
    ids: Ids = Ids()
    releases: Mapping[ReleaseKind, datetime] = field(default_factory=lambda: MappingProxyType({}))
    aired_at: datetime | None = None
    network: str | None = None
    country: str | None = None
    language: str | None = None
    genres: tuple[str, ...] = ()
    runtime: int | None = None
    poster: str | None = None
    is_anime: bool = False
    show_status: ShowStatus | None = None
    is_requested: bool = True
    wants_future: bool = False
    wanted_seasons: tuple[int, ...] = ()
    ranking_profile: str | None = None
    library_profiles: tuple[str, ...] | None = None
    facts: Facts = Facts()
    schedule: Schedule = Schedule()
    last_state: States = States.Unknown
    revision: int = 0
    created_at: datetime | None = None

    def with_facts(self, **changes: object) -> "Item":
        """Return a copy whose facts have `changes`."""
        return replace(self, facts=replace(self.facts, **changes))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Node:
    """An item with everything beneath it. children: ordered by number."""

    item: Item
    children: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all beneath it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, item_id: int) -> "Node | None":
        """Return the node of `item_id`, or None."""
        return next((node for node in self.walk() if node.item.id == item_id), None)

    def leaves(self) -> Iterator["Node"]:
        """Yield the films and episodes at or beneath this node."""
        return (node for node in self.walk() if node.item.type.is_leaf)

    def path_to(self, item_id: int) -> tuple["Node", ...]:
        """Return the nodes from this one down to `item_id`, both included; empty when it is not beneath."""
        if self.item.id == item_id:
            return (self,)
        for child in self.children:
            below = child.path_to(item_id)
            if below:
                return (self, *below)
        return ()
