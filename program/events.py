"""The events of the program: what services are asked (`…requested`) and what is told to everybody.

An *asked* event goes to one named plugin's queue and has an answer; a *told* event reaches every hook. In a queue an event names
its title by id; the worker loads a fresh snapshot and hands the hook one of the values below.

Three families: `riven.*`, which plugins may hook; `riven-internal.*`, which only the program hears; `riven-external.*`, which comes
from outside.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from program.media.entry import FetchedTorrent, Link, TorrentFile
from program.media.item import Ids, MediaType, States
from program.media.metadata import ContentRequest, Metadata
from program.media.release import FoundRelease
from program.media.wanted import Wanted

# What the names of the events begin with that plugins may hook.
HOOKABLE = "riven."


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; `type` is the name plugins register for; `answer`: the type of a hook's answer."""

    type: ClassVar[str]
    answer: ClassVar[object] = None


# Asked: one plugin, one answer ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContentAnswer:
    """All that a content service wants now. next_poll_seconds None: the service's own interval."""

    requests: tuple[ContentRequest, ...]
    next_poll_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class ContentServiceRequested(Event):
    """Asks a content service what it wants. Answer: `ContentAnswer`."""

    type: ClassVar[str] = "riven.content-service.requested"
    answer: ClassVar[object] = ContentAnswer


@dataclass(frozen=True, slots=True)
class MovieIndexRequested(Event):
    """Asks for a film's metadata. Answer: `Metadata`, or None when the service does not know the ids."""

    type: ClassVar[str] = "riven.media-item.index.requested.movie"
    answer: ClassVar[object] = Metadata | None
    ids: Ids


@dataclass(frozen=True, slots=True)
class ShowIndexRequested(Event):
    """Asks for a show's metadata with all seasons and episodes. Answer: `Metadata` or None."""

    type: ClassVar[str] = "riven.media-item.index.requested.show"
    answer: ClassVar[object] = Metadata | None
    ids: Ids


@dataclass(frozen=True, slots=True)
class ShowRatingRequested(Event):
    """Asks how a show is rated, of a service other than the one that knows its episodes. Answer: 0 to 10, or None."""

    type: ClassVar[str] = "riven.media-item.index.requested.rating"
    answer: ClassVar[object] = float | None
    ids: Ids


@dataclass(frozen=True, slots=True)
class ScrapeRequested(Event):
    """Asks for releases. Answer: a tuple of `FoundRelease`."""

    type: ClassVar[str] = "riven.media-item.scrape.requested"
    answer: ClassVar[object] = tuple[FoundRelease, ...]
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class CacheCheckRequested(Event):
    """Asks which torrents a provider holds. Answer: mapping infohash to a tuple of `TorrentFile`; a missing hash is not held."""

    type: ClassVar[str] = "riven.media-item.download.cache-check-requested"
    answer: ClassVar[object] = Mapping[str, tuple[TorrentFile, ...]]
    infohashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DownloadRequested(Event):
    """Asks a provider to hold a torrent, looking at the account first. Answer: `FetchedTorrent`.

    known_torrent_id: the id written down by an earlier attempt, or None. intended_at: when an earlier attempt began whose end
    is not known (the program was killed): what was added since then is ours. Raises `DownloadRefused` for no.
    """

    type: ClassVar[str] = "riven.media-item.download.requested"
    answer: ClassVar[object] = FetchedTorrent
    infohash: str
    known_torrent_id: str | None = None
    intended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TorrentRemoveRequested(Event):
    """Asks a provider to forget a torrent. Answer: None; an unknown one counts as removed.

    torrent_id None: whatever is there of `infohash` and was added since `intended_at`.
    """

    type: ClassVar[str] = "riven.media-item.download.remove-requested"
    torrent_id: str | None
    infohash: str = ""
    intended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreamLinkRequested(Event):
    """Asks for an address that bytes can be read from now. Answer: `Link`."""

    type: ClassVar[str] = "riven.media-item.stream-link.requested"
    answer: ClassVar[object] = Link
    torrent_id: str
    file_id: str
    link: str | None
    file_name: str
    size: int


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """has_title: the server lists it. sentence: for the timeline."""

    has_title: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class LibraryScanRequested(Event):
    """Asks a media server to scan one folder (`scan`) and whether it has the title. Answer: `ScanAnswer`.

    folder: absolute path in our mount of the title's folder (for an episode its season's); file: the path of its file.
    also: (folder, file) in each further library that it appears in. ids: of the film or show. season, episode: numbers for an
    episode.
    """

    type: ClassVar[str] = "riven.media-item.library-scan.requested"
    answer: ClassVar[object] = ScanAnswer
    media_type: MediaType
    ids: Ids
    title: str
    year: int | None
    season: int | None
    episode: int | None
    folder: str
    file: str
    scan: bool
    also: tuple[tuple[str, str], ...] = ()

    def places(self) -> Iterator["LibraryScanRequested"]:
        """Yield the question for each library that the title appears in."""
        yield replace(self, also=())
        for folder, file in self.also:
            yield replace(self, folder=folder, file=file, also=())


@dataclass(frozen=True, slots=True)
class FolderScanRequested(Event):
    """Asks a media server to scan folders whose files have got other places or names. Answer: None.

    folders: absolute paths in our mount, where files were and where they are. A server need not have a library for all of them.
    """

    type: ClassVar[str] = "riven.library.folder-scan.requested"
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubtitleRequested(Event):
    """Asks for subtitles of one item. Answer: a tuple of subtitles; no service of this kind is shipped yet."""

    type: ClassVar[str] = "riven.media-item.subtitle.requested"
    answer: ClassVar[object] = tuple[object, ...]
    item_id: int


# Told: every hook, no answer -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A row of the library as a hook sees it, read just before the hook is called.

    title, year, ids, poster: of the film or show. season, episode: numbers for what is beneath a show; name: the episode's own
    title. since: when it was asked for.
    """

    id: int
    type: MediaType
    title: str
    state: States
    year: int | None = None
    ids: Ids = Ids()
    season: int | None = None
    episode: int | None = None
    name: str = ""
    poster: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Told(Event):
    """Base of events that are told to every hook.

    item_id: None for events about the program. item: filled in for a hook; None when the title is gone by then.
    """

    item_id: int | None = None
    title: str = ""
    sentence: str = ""
    item: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class CoreStarted(Told):
    """The program runs."""

    type: ClassVar[str] = "riven.core.started"


@dataclass(frozen=True, slots=True)
class CoreShutdown(Told):
    """The program is about to stop; a hook has two seconds."""

    type: ClassVar[str] = "riven.core.shutdown"


@dataclass(frozen=True, slots=True)
class ItemRequestCreated(Told):
    """A wish for a title that was not in the library."""

    type: ClassVar[str] = "riven.item-request.create.success"


@dataclass(frozen=True, slots=True)
class ItemRequestFailed(Told):
    """A wish that could not be written down."""

    type: ClassVar[str] = "riven.item-request.create.error"


@dataclass(frozen=True, slots=True)
class ItemRequestConflict(Told):
    """A person's wish for what is in the library, or was asked for before: nothing is to be done."""

    type: ClassVar[str] = "riven.item-request.create.error.conflict"


@dataclass(frozen=True, slots=True)
class ItemRequestUpdated(Told):
    """A known title was asked for again, or more of it."""

    type: ClassVar[str] = "riven.item-request.update.success"


@dataclass(frozen=True, slots=True)
class ItemRequestRemoved(Told):
    """A title was taken out of the library."""

    type: ClassVar[str] = "riven.item-request.removed"


@dataclass(frozen=True, slots=True)
class IndexSuccess(Told):
    """Metadata was stored."""

    type: ClassVar[str] = "riven.media-item.index.success"


@dataclass(frozen=True, slots=True)
class IndexFailed(Told):
    """Nobody gave metadata: no service knows the title, or none could be asked."""

    type: ClassVar[str] = "riven.media-item.index.error"


@dataclass(frozen=True, slots=True)
class IndexIncorrectState(Told):
    """Metadata came for a title that wants none any more."""

    type: ClassVar[str] = "riven.media-item.index.error.incorrect-state"


@dataclass(frozen=True, slots=True)
class ScrapeSuccess(Told):
    """A search found something usable."""

    type: ClassVar[str] = "riven.media-item.scrape.success"


@dataclass(frozen=True, slots=True)
class ScrapeError(Told):
    """A search that no service answered."""

    type: ClassVar[str] = "riven.media-item.scrape.error"


@dataclass(frozen=True, slots=True)
class ScrapeIncorrectState(Told):
    """Releases came for a title that wants none any more."""

    type: ClassVar[str] = "riven.media-item.scrape.error.incorrect-state"


@dataclass(frozen=True, slots=True)
class NoStreamsFound(Told):
    """A search found nothing usable."""

    type: ClassVar[str] = "riven.media-item.scrape.error.no-streams-found"


@dataclass(frozen=True, slots=True)
class DownloadSuccess(Told):
    """All wanted files have an entry. provider: who holds them; duration_ms: since the download began."""

    type: ClassVar[str] = "riven.media-item.download.success"
    provider: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class DownloadPartialSuccess(Told):
    """Some wanted files have an entry; the rest goes on. provider: who holds them; duration_ms: since the download began."""

    type: ClassVar[str] = "riven.media-item.download.partial-success"
    provider: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class DownloadError(Told):
    """No candidate could be had."""

    type: ClassVar[str] = "riven.media-item.download.error"


@dataclass(frozen=True, slots=True)
class DownloadIncorrectState(Told):
    """Files came for a title that wants none any more."""

    type: ClassVar[str] = "riven.media-item.download.error.incorrect-state"


@dataclass(frozen=True, slots=True)
class ItemCompleted(Told):
    """A title is in the media server's library (or no server is enabled and it is in the folder)."""

    type: ClassVar[str] = "riven.media-item.completed"


# The program's own ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContentServicesDue(Told):
    """Every content service is to be asked now."""

    type: ClassVar[str] = "riven-internal.request-content-services"


@dataclass(frozen=True, slots=True)
class RetryLibrary(Told):
    """What is incomplete is to be looked at again; nothing is reset."""

    type: ClassVar[str] = "riven-internal.retry-library"


@dataclass(frozen=True, slots=True)
class RetryItemDownload(Told):
    """One title is to be looked at again."""

    type: ClassVar[str] = "riven-internal.retry-item-download"


@dataclass(frozen=True, slots=True)
class ExternalItemRequested(Told):
    """A webhook asked for a title; the wish is written down before this is told."""

    type: ClassVar[str] = "riven-external.item-requested"


ASKED: tuple[type[Event], ...] = (
    ContentServiceRequested,
    MovieIndexRequested,
    ShowIndexRequested,
    ShowRatingRequested,
    ScrapeRequested,
    CacheCheckRequested,
    DownloadRequested,
    TorrentRemoveRequested,
    StreamLinkRequested,
    LibraryScanRequested,
    FolderScanRequested,
    SubtitleRequested,
)
TOLD: tuple[type[Told], ...] = (
    CoreStarted,
    CoreShutdown,
    ItemRequestCreated,
    ItemRequestFailed,
    ItemRequestConflict,
    ItemRequestUpdated,
    ItemRequestRemoved,
    IndexSuccess,
    IndexFailed,
    IndexIncorrectState,
    ScrapeSuccess,
    ScrapeError,
    ScrapeIncorrectState,
    NoStreamsFound,
    DownloadSuccess,
    DownloadPartialSuccess,
    DownloadError,
    DownloadIncorrectState,
    ItemCompleted,
    ContentServicesDue,
    RetryLibrary,
    RetryItemDownload,
    ExternalItemRequested,
)
CATALOGUE: Mapping[str, type[Event]] = {event.type: event for event in (*ASKED, *TOLD)}
