"""The events of the program: what services are asked (`…requested`) and what is told to everybody.

An *asked* event goes to one named plugin's queue and has an answer; a *told* event reaches every hook. In a queue an event carries
ids; the worker loads a fresh snapshot and hands the hook one of the values below.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from program.media.item import Ids, MediaType
from program.media.metadata import ContentRequest
from program.media.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; `type` is the name plugins register for."""

    type: ClassVar[str]


@dataclass(frozen=True, slots=True)
class ContentServiceRequested(Event):
    """Asks a content service what it wants. Answer: `ContentAnswer`."""

    type: ClassVar[str] = "riven.content-service.requested"


@dataclass(frozen=True, slots=True)
class ContentAnswer:
    """All that a content service wants now. next_poll_seconds None: the service's own interval."""

    requests: tuple[ContentRequest, ...]
    next_poll_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class MovieIndexRequested(Event):
    """Asks for a film's metadata. Answer: `Metadata`, or None when the service does not know the ids."""

    type: ClassVar[str] = "riven.media-item.index.requested.movie"
    ids: Ids


@dataclass(frozen=True, slots=True)
class ShowIndexRequested(Event):
    """Asks for a show's metadata with all seasons and episodes. Answer: `Metadata` or None."""

    type: ClassVar[str] = "riven.media-item.index.requested.show"
    ids: Ids


@dataclass(frozen=True, slots=True)
class ScrapeRequested(Event):
    """Asks for releases. Answer: a tuple of `FoundRelease`."""

    type: ClassVar[str] = "riven.media-item.scrape.requested"
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class CacheCheckRequested(Event):
    """Asks which torrents a provider holds. Answer: mapping infohash to a tuple of `TorrentFile`; a missing hash is not held."""

    type: ClassVar[str] = "riven.media-item.download.cache-check-requested"
    infohashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DownloadRequested(Event):
    """Asks a provider to hold a torrent, looking at the account first. Answer: `FetchedTorrent`.

    known_torrent_id: the id written down by an earlier attempt, or None. intended_at: when an earlier attempt began whose end
    is not known (the program was killed): what was added since then is ours. Raises `DownloadRefused` for no.
    """

    type: ClassVar[str] = "riven.media-item.download.requested"
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
    torrent_id: str
    file_id: str
    link: str | None
    file_name: str
    size: int


@dataclass(frozen=True, slots=True)
class LibraryScanRequested(Event):
    """Asks a media server to scan one folder (`scan`) and whether it has the title. Answer: `ScanAnswer`.

    folder: absolute path in our mount of the title's folder (for an episode its season's); file: the path of its file.
    ids: of the film or show. season, episode: numbers for an episode.
    """

    type: ClassVar[str] = "riven.media-item.library-scan.requested"
    media_type: MediaType
    ids: Ids
    title: str
    year: int | None
    season: int | None
    episode: int | None
    folder: str
    file: str
    scan: bool


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """has_title: the server lists it. sentence: for the timeline."""

    has_title: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class SubtitleRequested(Event):
    """Asks for subtitles of one item. Answer: a tuple of subtitles; no service of this kind is shipped yet."""

    type: ClassVar[str] = "riven.media-item.subtitle.requested"
    item_id: int


@dataclass(frozen=True, slots=True)
class Told(Event):
    """Base of events that are told to every hook. item_id: None for events about the program."""

    item_id: int | None = None
    title: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class CoreStarted(Told):
    """The program runs."""

    type: ClassVar[str] = "riven.core.started"


@dataclass(frozen=True, slots=True)
class CoreShutdown(Told):
    """The program is about to stop."""

    type: ClassVar[str] = "riven.core.shutdown"


@dataclass(frozen=True, slots=True)
class ItemRequestCreated(Told):
    """A wish for a title that was not in the library."""

    type: ClassVar[str] = "riven.item-request.create.success"


@dataclass(frozen=True, slots=True)
class ItemRequestUpdated(Told):
    """A known title was asked for again, or more of it."""

    type: ClassVar[str] = "riven.item-request.update.success"


@dataclass(frozen=True, slots=True)
class IndexSuccess(Told):
    """Metadata was stored."""

    type: ClassVar[str] = "riven.media-item.index.success"


@dataclass(frozen=True, slots=True)
class ScrapeSuccess(Told):
    """A search found something usable."""

    type: ClassVar[str] = "riven.media-item.scrape.success"


@dataclass(frozen=True, slots=True)
class NoStreamsFound(Told):
    """A search found nothing usable."""

    type: ClassVar[str] = "riven.media-item.scrape.error.no-streams-found"


@dataclass(frozen=True, slots=True)
class DownloadSuccess(Told):
    """All wanted files have an entry."""

    type: ClassVar[str] = "riven.media-item.download.success"


@dataclass(frozen=True, slots=True)
class DownloadPartialSuccess(Told):
    """Some wanted files have an entry; the rest goes on."""

    type: ClassVar[str] = "riven.media-item.download.partial-success"


@dataclass(frozen=True, slots=True)
class DownloadError(Told):
    """No candidate could be had."""

    type: ClassVar[str] = "riven.media-item.download.error"


@dataclass(frozen=True, slots=True)
class ItemCompleted(Told):
    """A title is in the media server's library (or no server is enabled and it is in the folder)."""

    type: ClassVar[str] = "riven.media-item.completed"
