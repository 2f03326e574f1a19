"""Downloaders: they hold torrents and give addresses of their files. One file per service.

What they share is here: what a file is by its name, whether an answer is about the file that was asked for, and what one remembers
of its account between calls.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Generic, Protocol, TypeVar

from program.clock import Clock
from program.errors import RetryLater, RivuletError
from program.media.naming import is_subtitle
from program.services.plugin import DownloadRefused

# How long the list of the account is believed; our own changes are put in at once.
LIST_SECONDS = 60.0
# No list takes longer to be read.
READ_SECONDS = 600.0
# All download slots are taken: nothing is added for this long.
SLOTS_FULL = timedelta(minutes=5)

_VIDEO = "mkv mp4 avi m4v mov wmv flv webm ts m2ts mts mpg mpeg vob ogm ogv divx 3gp asf rmvb"
VIDEO_SUFFIXES = frozenset(f".{word}" for word in _VIDEO.split())
_ARCHIVE = re.compile(r"\.(?:rar|zip|zipx|7z|tar|gz|r\d\d)$", re.IGNORECASE)
# What runs when it is opened has no place beside a film.
_PROGRAM = re.compile(r"\.(?:exe|scr|lnk|bat|cmd|com|msi|pif|vbs|zipx)$", re.IGNORECASE)
# Packing replaces what Windows does not allow in names.
_REPLACED = re.compile(r'[|"\\?*:<>]')


def is_video(path: str) -> bool:
    """Return whether a file is a video by its name."""
    return PurePosixPath(path).suffix.lower() in VIDEO_SUFFIXES


def is_readable(path: str) -> bool:
    """Return whether a file is of use by its name: a video, or a subtitle that may belong to one."""
    return is_video(path) or is_subtitle(PurePosixPath(path).name)


def is_archive(path: str) -> bool:
    """Return whether a file is an archive by its name: nothing in it can be read in place."""
    return _ARCHIVE.search(path) is not None


def program_among(paths: Iterable[str]) -> str | None:
    """Return a file that runs when it is opened, None when there is none: a torrent that holds one is not to be trusted."""
    return next((path for path in paths if _PROGRAM.search(path)), None)


def plain_name(path: str) -> str:
    """Return the last component of a path in a form for comparing."""
    return _REPLACED.sub("_", unicodedata.normalize("NFC", PurePosixPath(path).name)).casefold()


class Listed(Protocol):
    """A torrent as the account's list shows it."""

    @property
    def id(self) -> str:
        """Return the provider's id."""
        ...


R = TypeVar("R", bound=Listed)


class AccountMemory(Generic[R]):
    """The account's list for a minute, which torrents are ours, and whether there is room for more. Thread-safe.

    read: returns the account by infohash.
    """

    def __init__(self, key: str, clock: Clock, read: Callable[[], Mapping[str, R]]) -> None:
        self._key = key
        self._clock = clock
        self._read = read
        # Guarded by the lock. ours: ids added since the start; expected: hashes that were sent and whose answer was lost.
        self._lock = threading.Lock()
        self._listed: dict[str, R] = {}
        self._listed_at = float("-inf")
        # When each torrent was added that a list which is being read may not show yet.
        self._added_at: dict[str, float] = {}
        self._ours: set[str] = set()
        self._expected: set[str] = set()
        self._no_slot_until: datetime | None = None

    def row(self, infohash: str) -> R | None:
        """Return the account's torrent of that hash, None when there is none."""
        with self._lock:
            began = self._clock.monotonic()
            if began - self._listed_at < LIST_SECONDS:
                return self._listed.get(infohash)
        listed = dict(self._read())
        with self._lock:
            self._added_at = {hash_: at for hash_, at in self._added_at.items() if at > began - READ_SECONDS}
            missed = {
                hash_: self._listed[hash_]
                for hash_, at in self._added_at.items()
                if at >= began and hash_ in self._listed
            }
            self._listed, self._listed_at = {**missed, **listed}, self._clock.monotonic()
            return self._listed.get(infohash)

    def is_ours(self, torrent_id: str, infohash: str) -> bool:
        """Return whether we have put a torrent on the account since the start, or sent its hash without hearing more."""
        with self._lock:
            return torrent_id in self._ours or infohash in self._expected

    @contextmanager
    def adding(self, infohash: str) -> Iterator[None]:
        """Around the call that adds a torrent; raises RetryLater while all slots are taken.

        When its answer is lost, the account is read again before the next attempt, and what is found there of this hash is ours.
        """
        with self._lock:
            until = self._no_slot_until
            if until is None or self._clock.now() >= until:
                self._expected.add(infohash)
                until = None
        if until is not None:
            raise RetryLater(until, f"{self._key}: all download slots of the account are taken")
        try:
            yield
        except RivuletError as error:
            with self._lock:
                self._listed_at = float("-inf")
                if isinstance(error, DownloadRefused | RetryLater):
                    self._expected.discard(infohash)
            raise

    def added(self, infohash: str, row: R) -> None:
        """Note a torrent that was just added."""
        with self._lock:
            self._expected.discard(infohash)
            self._ours.add(row.id)
            self._listed[infohash] = row
            self._added_at[infohash] = self._clock.monotonic()

    def slots_are_full(self) -> RetryLater:
        """Note that there is no room for more torrents; return what to raise."""
        until = self._clock.now() + SLOTS_FULL
        with self._lock:
            self._no_slot_until = until
        return RetryLater(until, f"{self._key}: all download slots are taken")

    def forget(self, torrent_id: str) -> None:
        """Note that a torrent is not on the account any more."""
        with self._lock:
            self._ours.discard(torrent_id)
            self._listed = {known: row for known, row in self._listed.items() if row.id != torrent_id}
