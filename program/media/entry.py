"""Files: what a torrent holds, which of it is wanted, and where its bytes come from."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

# How far a provider's clock may be behind ours.
CLOCKS_APART = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class TorrentFile:
    """One file of a torrent at a provider. path: inside the torrent, `/` between folders; size: bytes.

    file_id: the provider's own id of the file. link: what the provider wants back when a URL is asked for; None until it has one.
    """

    path: str
    size: int
    file_id: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class FetchedTorrent:
    """A torrent that a provider holds completely. torrent_id: the provider's id.

    is_foreign: it was on the account before and was not put there by us, so it is never deleted.
    """

    provider: str
    torrent_id: str
    infohash: str
    name: str
    files: tuple[TorrentFile, ...]
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class AccountTorrent:
    """A torrent on an account, as its list shows it. is_ready: its files can be read. added_at: aware UTC, None when not told."""

    torrent_id: str
    infohash: str
    name: str
    is_ready: bool
    added_at: datetime | None = None

    def is_added_since(self, intended_at: datetime | None) -> bool:
        """Return whether it came to the account after we wrote down that we would add it; False when either is not known."""
        if intended_at is None or self.added_at is None:
            return False
        return self.added_at >= intended_at - CLOCKS_APART


@dataclass(frozen=True, slots=True)
class Subtitle:
    """A subtitle file of a torrent. tail: how its name goes on after that of its video, e.g. `.en.forced.srt`.

    language: ISO 639-1, with a country where that makes it another one (`pt-BR`); None when not told.
    """

    file: TorrentFile
    tail: str
    language: str | None


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file of a torrent and the leaves (item ids) it holds; a double episode is one file of two.

    parts: the further files of a film whose first part `file` is, in their order. subtitles: of all these.
    """

    file: TorrentFile
    item_ids: tuple[int, ...]
    parts: tuple[TorrentFile, ...] = ()
    subtitles: tuple[Subtitle, ...] = ()


@dataclass(frozen=True, slots=True)
class Companion:
    """A file that stands beside a video: a subtitle or a further part. tail: how its name goes on after that of the video."""

    entry_id: int
    tail: str
    size: int
    identity: str
    language: str | None

    def is_wanted(self, languages: Collection[str]) -> bool:
        """Return whether it is to be shown where only these languages are wanted; none: all."""
        return not languages or self.language is None or self.language in languages


@dataclass(frozen=True, slots=True)
class Link:
    """Where bytes can be read now. expires_at: aware UTC, None when not told."""

    url: str
    expires_at: datetime | None
    provider: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """One time at which a source gave no bytes. code: the provider's word, or `dead_link` for what its CDN said; see `health`."""

    at: datetime
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySource:
    """One place an entry's bytes come from. url: the last resolved address, kept until `url_expires_at`."""

    id: int
    entry_id: int
    provider: str
    torrent_id: str
    file_id: str
    link: str | None
    url: str | None = None
    url_expires_at: datetime | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One virtual file. path: where it stands in the tree, rendered; size: bytes; version: e.g. `1080p`; profiles: their keys.

    ranking_profile: the one that it is a further copy by, empty for the usual copy. video_id: of the file that it stands beside,
    with the items of that, None for a file of its own.
    """

    id: int
    item_ids: tuple[int, ...]
    infohash: str
    path_in_torrent: str
    original_name: str
    size: int
    path: str
    version: str
    created_at: datetime
    registered_at: datetime | None = None
    mend_at: datetime | None = None
    given_up_at: datetime | None = None
    profiles: tuple[str, ...] = ()
    sources: tuple[EntrySource, ...] = ()
    ranking_profile: str = ""
    video_id: int | None = None


def is_same_file(path: str, size: int, other_path: str, other_size: int) -> bool:
    """Return whether two files of one torrent, as two providers tell of them, are one; some tell the torrent's own folder too."""
    if size != other_size:
        return False
    return path == other_path or path.endswith(f"/{other_path}") or other_path.endswith(f"/{path}")
