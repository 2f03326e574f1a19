"""What leaves the database room, beside the values of `program.media`: frozen, and no wider than its reader needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, NamedTuple

from program.media.entry import Companion, Trouble
from program.media.item import Ids, Item, MediaType, States
from program.media.release import JsonValue

Outcome = Literal["created", "updated", "known", "retried", "paused", "tombstoned"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a wish. item_id, root_id: None only for a tombstone. sentence: for the person who asked."""

    item_id: int | None
    root_id: int | None
    outcome: Outcome
    sentence: str


@dataclass(frozen=True, slots=True)
class Reset:
    """What a retry did. reset: leaves and parents whose facts were cleared. roots: to be settled by `commit_outcome`.

    paused: rows skipped because they are paused themselves. waiting: reset rows mapped to the paused ancestor they wait for.
    """

    reset: tuple[int, ...]
    roots: tuple[int, ...]
    paused: tuple[int, ...]
    waiting: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Due:
    """A row that is worth looking at now."""

    item_id: int
    root_id: int


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """What storing metadata did. root_id: the row that has it now.

    merged_into: the older row of the same title, when `root_id` as asked for is gone. added_*: items that are new.
    removed_entries: files that lost their item.
    """

    root_id: int
    merged_into: int | None = None
    added_seasons: tuple[int, ...] = ()
    added_episodes: tuple[int, ...] = ()
    removed_entries: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredStreams:
    """new: releases not seen before for this item. usable: releases of this search that pass the rules."""

    new: int
    usable: int


@dataclass(frozen=True, slots=True)
class TorrentOnAccount:
    """A torrent that only removed items used. torrent_id None: it never got one."""

    provider: str
    infohash: str
    torrent_id: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a removal took away. items: every row removed, or emptied (a season or episode stays known, not asked for).

    roots: titles that remain and are to be settled by `commit_outcome`. entries: files removed, to be taken out of the tree.
    torrents: what no remaining file uses.
    """

    items: tuple[int, ...]
    roots: tuple[int, ...]
    entries: tuple[int, ...]
    torrents: tuple[TorrentOnAccount, ...]


class Sort(StrEnum):
    """Orders of a list. Dates are those of the wish."""

    TITLE_ASC = "title_asc"
    TITLE_DESC = "title_desc"
    DATE_ASC = "date_asc"
    DATE_DESC = "date_desc"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which rows of the library, in which order. Empty means no restriction.

    types: with `anime` true only anime of these types. requested_by, sources: what one of these persons, or of these lists and
    services, asked for, with what is beneath it. page: from 1. only_requested: leave out what nobody asked for.
    """

    states: frozenset[States] = frozenset()
    types: frozenset[MediaType] = frozenset()
    anime: bool = False
    search: str = ""
    ids: tuple[int, ...] = ()
    requested_by: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    sort: Sort = Sort.DATE_DESC
    page: int = 1
    limit: int = 24
    only_requested: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """A row of a list. parent_ids: of the show, for a season or episode. aired_at: earliest release or air date."""

    id: int
    type: MediaType
    title: str
    ids: Ids
    parent_ids: Ids
    show_title: str | None
    season: int | None
    episode: int | None
    year: int | None
    poster: str | None
    aired_at: datetime | None
    is_anime: bool
    last_state: States
    scraped_times: int
    next_attempt_at: datetime | None
    next_reason: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. total: rows on all pages."""

    rows: tuple[ItemRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceView:
    """Where a file's bytes come from. troubles: the times at which none came, since they last did, the oldest first."""

    provider: str
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file of an item. probed: what the analysis found in it, None before.

    mend_at: when its sources are looked at again; given_up_at: since when another release is searched in its place.
    companions: what stands beside it.
    """

    entry_id: int
    original_name: str
    size: int
    path: str
    version: str
    infohash: str
    sources: tuple[SourceView, ...]
    registered_at: datetime | None
    mend_at: datetime | None
    given_up_at: datetime | None
    profiles: tuple[str, ...]
    probed: Mapping[str, JsonValue] | None
    companions: tuple[Companion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildView:
    """A season or an episode on its show's page."""

    id: int
    type: MediaType
    number: int
    title: str
    aired_at: datetime | None
    is_requested: bool
    last_state: States
    scraped_times: int
    next_attempt_at: datetime | None
    next_reason: str | None
    paused_at: datetime | None
    files: tuple[FileView, ...] = ()
    children: tuple["ChildView", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    """Who asked. seasons None: all, also future ones."""

    source: str
    external_id: str
    requested_by: str | None
    seasons: tuple[int, ...] | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetail:
    """Everything an item's page prints but its timeline and candidates.

    item: with its facts and dates; `usable_streams`, `entry_at` and confirmations are not filled here. show_*: of the show above a
    season or episode. season: number of the season an episode is in.
    """

    item: Item
    show_id: int | None
    show_title: str | None
    show_ids: Ids
    season: int | None
    files: tuple[FileView, ...]
    children: tuple[ChildView, ...]
    requests: tuple[RequestView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts of what is asked for.

    incomplete: rows that are not Completed. activity: films and shows added, by day of one year. years: films and shows by year.
    """

    by_type: Mapping[MediaType, int]
    states: Mapping[States, int]
    total: int
    incomplete: int
    activity: Mapping[date, int]
    years: tuple[tuple[int | None, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRow:
    """A film or episode with the date it comes out. ids, show_title: of the film or of the episode's show."""

    item_id: int
    type: MediaType
    ids: Ids
    show_title: str
    title: str
    aired_at: datetime
    season: int | None
    episode: int | None
    last_state: States


class StandingFile(NamedTuple):
    """A file that stands in the tree, as the tree knows it: a part of `Entry`. There are as many as a library has files."""

    id: int
    infohash: str
    path_in_torrent: str
    size: int
    path: str
    created_at: datetime
    registered_at: datetime
    profiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewCompanion:
    """A file of the same torrent that is to stand beside a video; see `Companion`."""

    path_in_torrent: str
    size: int
    file_id: str
    link: str | None
    tail: str
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """A file that a provider holds for some items. path: where it will stand in the tree, rendered."""

    infohash: str
    path_in_torrent: str
    original_name: str
    size: int
    path: str
    version: str
    item_ids: tuple[int, ...]
    provider: str
    torrent_id: str
    file_id: str
    link: str | None = None
    ranking_profile: str = ""
    companions: tuple[NewCompanion, ...] = ()


@dataclass(frozen=True, slots=True)
class HalfMade:
    """A torrent that was to be put on an account and of which it is not known whether anybody uses it.

    intended_at: since when; without an id it may be there nevertheless, put there after that.
    """

    provider: str
    infohash: str
    torrent_id: str | None
    item_id: int | None
    intended_at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """One step of an item's story: what happened, why, when next. ms: how long it took."""

    item_id: int
    step: str
    outcome: str
    sentence: str
    data: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    next_at: datetime | None = None
    provider: str | None = None
    attempt: int | None = None
    ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision(Decision):
    """A decision as it was written down."""

    id: int
    at: datetime
