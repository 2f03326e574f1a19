"""What every provider is: one class in one file, from which settings, limits, queues, hooks and health follow.

A provider learns one of the contracts below (`ContentService`, `Indexer`, `Scraper`, `Downloader`, `Updater`) and nothing else: its
base gives it `http`, `settings` and `clock`. A provider says no by raising one of `program.errors`; it never swallows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, TypeVar

from program.clock import Clock
from program.errors import Final, Misconfigured
from program.events import (
    CacheCheckRequested,
    ContentAnswer,
    ContentServiceRequested,
    DownloadRequested,
    FolderScanRequested,
    LibraryScanRequested,
    MovieIndexRequested,
    ScanAnswer,
    ScrapeRequested,
    ShowIndexRequested,
    ShowRatingRequested,
    StreamLinkRequested,
    TorrentRemoveRequested,
)
from program.http import DataSource, Limits, Response
from program.log import logger
from program.media.entry import AccountTorrent, FetchedTorrent, Link, TorrentFile
from program.media.item import Ids
from program.media.metadata import ContentRequest, FoundTitle, Metadata
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.network import Reach
from program.settings.provider import ProviderSettings

S = TypeVar("S", bound=ProviderSettings)
# Takes the event it is registered for and returns what that event asks for.
Hook = Callable[..., object]


class DownloadRefused(Final):
    """A provider will not hold a torrent.

    code: `not_cached` | `infringing` | `dead` | `no_video` | `gone`. torrent_id: what it left on the account and could not delete.
    retry_at: the refusal is in doubt and holds only until then; None: for as long as its code says.
    """

    def __init__(
        self,
        provider: str,
        code: str,
        reason: str,
        torrent_id: str | None = None,
        *,
        retry_at: datetime | None = None,
    ) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider = provider
        self.code = code
        self.reason = reason
        self.torrent_id = torrent_id
        self.retry_at = retry_at


@dataclass(frozen=True, slots=True)
class Account:
    """What a debrid service says of its account. expires_at: ISO 8601 or None."""

    username: str
    is_premium: bool
    expires_at: str | None = None
    points: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """An outside service that a plugin speaks to. classify: what an answer means by the service's own error codes, or None."""

    address: str
    limits: Limits = Limits()
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    classify: Callable[[Response], Exception | None] | None = None


class Plugin(ABC, Generic[S]):
    """Base of every provider. Its attributes and methods are its manifest.

    key: its name in settings, queues, API and metrics; lower-case letters and digits. section: where its settings stand; `plugins`
    for what is of no kind below. version: its own, as semver. limits: what the vendor allows. concurrency: jobs of one of its
    queues at a time. deadline_seconds: how long one call of a hook or of `check` may take. reach: whether its service may stand at
    home, where nothing is connected to otherwise.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    section: ClassVar[str] = "plugins"
    version: ClassVar[str] = "1.0.0"
    Settings: ClassVar[type[ProviderSettings]]
    limits: ClassVar[Limits] = Limits()
    concurrency: ClassVar[int] = 1
    deadline_seconds: ClassVar[float] = 60.0
    reach: ClassVar[Reach] = Reach.INTERNET

    def __init__(
        self, settings: S, http: DataSource, clock: Clock, further: Mapping[str, DataSource] | None = None
    ) -> None:
        """Take its own settings, its way to its service, the clock, and its ways to `services`, by their names."""
        self.settings = settings
        self.http = http
        self.clock = clock
        self.further = dict(further or {})
        self.log = logger.bind(provider=self.key)

    @classmethod
    def address(cls, settings: S) -> str:
        """Return the base address of the service."""
        return str(getattr(settings, "url", "")).rstrip("/")

    @classmethod
    def headers(cls, settings: S) -> Mapping[str, str]:  # noqa: ARG003 - the default sends none
        """Return the headers of every call, credentials included."""
        return {}

    @classmethod
    def secrets(cls, settings: S) -> tuple[str, ...]:
        """Return the values that must never be printed."""
        return settings.secret_values()

    @classmethod
    def classify(cls, response: Response) -> Exception | None:  # noqa: ARG003 - the default has no codes
        """Return what a response means by the provider's own error codes, or None to judge it by its status."""
        return None

    @classmethod
    def services(cls, settings: S) -> Mapping[str, Service]:  # noqa: ARG003 - most speak to one service only
        """Return the services it speaks to beside its own, by a name each; every one has a pace and pauses of its own."""
        return {}

    @abstractmethod
    def check(self) -> None:
        """Return when address and key work; raise `Misconfigured`, `Unavailable` … otherwise."""

    @abstractmethod
    def hooks(self) -> Mapping[str, Hook]:
        """Return event type to the function that answers it."""


class ContentService(Plugin[S]):
    """Says what people want."""

    section = "content"
    poll_seconds: ClassVar[int] = 300

    def interval_seconds(self) -> int:
        """Return how often it is asked."""
        return self.poll_seconds

    @abstractmethod
    def wanted(self) -> Iterable[ContentRequest]:
        """Return all that is wanted now."""

    def webhook(self, headers: Mapping[str, str], body: bytes) -> tuple[ContentRequest, ...]:  # noqa: ARG002
        """Return what a webhook asks for; raise `BadAnswer` with the place when it is not one."""
        return ()

    def hooks(self) -> Mapping[str, Hook]:
        """Answer the poll."""
        return {ContentServiceRequested.type: self._poll}

    def _poll(self, _event: ContentServiceRequested) -> ContentAnswer:
        return ContentAnswer(tuple(self.wanted()))


class Indexer(Plugin[S]):
    """Knows titles."""

    section = "indexing"
    kinds: ClassVar[frozenset[str]]
    # Whether it knows how shows are rated although it does not know their episodes.
    has_ratings: ClassVar[bool] = False

    def movie(self, ids: Ids) -> Metadata | None:  # noqa: ARG002 - an indexer may know shows only
        """Return a film's metadata, None when it is not known there."""
        return None

    def show(self, ids: Ids) -> Metadata | None:  # noqa: ARG002 - an indexer may know films only
        """Return a show's metadata with every season and episode, None when it is not known there."""
        return None

    def rating(self, ids: Ids) -> float | None:  # noqa: ARG002 - only asked when `has_ratings`
        """Return how a show is rated, 0 to 10, None when that is not known there."""
        return None

    def search(self, text: str) -> Iterable[FoundTitle]:  # noqa: ARG002 - not every service can be searched
        """Return titles that have these words in their names, the likeliest first; for a person who waits."""
        return ()

    def hooks(self) -> Mapping[str, Hook]:
        """Answer for the kinds it knows, `movie` and `show`, and for ratings."""
        known: dict[str, tuple[str, Hook]] = {
            "movie": (MovieIndexRequested.type, lambda event: self.movie(event.ids)),
            "show": (ShowIndexRequested.type, lambda event: self.show(event.ids)),
        }
        hooks = dict(known[kind] for kind in sorted(self.kinds))
        if self.has_ratings:
            hooks[ShowRatingRequested.type] = lambda event: self.rating(event.ids)
        return hooks


class Scraper(Plugin[S]):
    """Finds releases."""

    section = "scraping"
    concurrency = 2
    # Many people run one of their own.
    reach = Reach.HOME

    @abstractmethod
    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Return the releases found; an empty answer means that there are none."""

    def hooks(self) -> Mapping[str, Hook]:
        """Answer a search."""
        return {ScrapeRequested.type: self._search}

    def _search(self, event: ScrapeRequested) -> tuple[FoundRelease, ...]:
        return tuple(self.search(event.wanted))


class Downloader(Plugin[S]):
    """Holds torrents and gives addresses of their files."""

    section = "downloaders"
    concurrency = 4
    has_cache_check: ClassVar[bool] = False

    @abstractmethod
    def fetch(
        self, infohash: str, known_torrent_id: str | None, intended_at: datetime | None = None
    ) -> FetchedTorrent:
        """Return the torrent once every video file can be read; raise `DownloadRefused`.

        Looks at the account before adding, and deletes what it added when it is refused. What is on the account is foreign
        unless it has the known id or was added since `intended_at`.
        """

    @abstractmethod
    def remove(self, torrent_id: str) -> None:
        """Forget a torrent; an unknown id counts as removed."""

    @abstractmethod
    def link(self, wanted: StreamLinkRequested) -> Link:
        """Return an address of the file; raise `DownloadRefused` with code `gone` when it cannot be had any more."""

    @abstractmethod
    def torrents(self) -> Iterable[AccountTorrent]:
        """Return what is on the account."""

    @abstractmethod
    def account(self) -> Account:
        """Return whose account it is and whether it is paid."""

    def cached(self, infohashes: tuple[str, ...]) -> Mapping[str, tuple[TorrentFile, ...]]:  # noqa: ARG002
        """Return the files of the torrents it holds; only asked when `has_cache_check`."""
        return {}

    def hooks(self) -> Mapping[str, Hook]:
        """Answer for torrents and links."""
        hooks: dict[str, Hook] = {
            DownloadRequested.type: self._fetch,
            TorrentRemoveRequested.type: self._remove,
            StreamLinkRequested.type: self.link,
        }
        if self.has_cache_check:
            hooks[CacheCheckRequested.type] = lambda event: self.cached(event.infohashes)
        return hooks

    def _fetch(self, event: DownloadRequested) -> FetchedTorrent:
        return self.fetch(event.infohash, event.known_torrent_id, event.intended_at)

    def _remove(self, event: TorrentRemoveRequested) -> None:
        if event.torrent_id is not None:
            self.remove(event.torrent_id)
            return
        for torrent in tuple(self.torrents()):
            if torrent.infohash == event.infohash and torrent.is_added_since(event.intended_at):
                self.remove(torrent.torrent_id)


class Updater(Plugin[S]):
    """A media server: scans a folder and says what it has."""

    section = "updaters"
    reach = Reach.HOME

    @abstractmethod
    def refresh(self, folder: str) -> None:
        """Have exactly this folder scanned; `folder` is a path in our mount."""

    def refresh_all(self, folders: Sequence[str]) -> None:
        """Have many folders scanned; those that no library of the server looks into are left out."""
        for folder in folders:
            with suppress(Misconfigured):
                self.refresh(folder)

    def sees(self, path: str) -> bool | None:  # noqa: ARG002 - a server may not tell
        """Return whether a library of the server looks into a path of our mount, None when it does not tell."""
        return None

    @abstractmethod
    def has(self, wanted: LibraryScanRequested) -> bool:
        """Return whether the server lists the title (for an episode: that episode)."""

    def hooks(self) -> Mapping[str, Hook]:
        """Answer scans."""
        return {LibraryScanRequested.type: self._scan, FolderScanRequested.type: self._scan_folders}

    def _scan_folders(self, event: FolderScanRequested) -> None:
        self.refresh_all(event.folders)

    def _scan(self, event: LibraryScanRequested) -> ScanAnswer:
        """Scan and look at each place of the title; the server need not have a library for all of them.

        Raises what it raised for the main place when it has a library for none.
        """
        troubles: list[Misconfigured] = []
        found = False
        places = list(event.places())
        for place in places:
            try:
                if place.scan:
                    self.refresh(place.folder)
                found = self.has(place) or found
            except Misconfigured as error:
                troubles.append(error)
        if len(troubles) == len(places):
            raise troubles[0]
        return ScanAnswer(found, f"{self.title} {'has it' if found else 'does not list it yet'}")
