"""The Real-Debrid account: torrents in their states, and their links."""

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from program.demo.catalog import CACHED, UNCACHED, ClipSpec, Release, ReleaseFile
from program.demo.servers.addresses import ID_LENGTH, Addresses, CdnLink, code
from program.demo.servers.world import World

LINK_BASE = "https://real-debrid.com/d/"
# How far a download has come before it leaves the queue.
QUEUED_SHARE = 0.05
DONE = 100


@dataclass(slots=True)
class Torrent:
    """One entry of the account; the same hash may have several. release None: nobody has this torrent."""

    id: str
    infohash: str
    added: datetime
    release: Release | None
    looks: int = 0
    selected: frozenset[int] = frozenset()
    selected_at: datetime | None = None
    done: bool = False

    def chosen(self) -> list[ReleaseFile]:
        """Return the selected files in file order."""
        files = self.release.files if self.release else ()
        return [file for number, file in enumerate(files, start=1) if number in self.selected]


@dataclass(frozen=True, slots=True)
class Unrestricted:
    """What a link of a torrent leads to. announced: the size that Real-Debrid tells."""

    link: str
    name: str
    announced: int
    made: CdnLink


@dataclass(slots=True)
class Account:
    """One user's torrents and links; threads share it."""

    world: World
    addresses: Addresses
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _torrents: list[Torrent] = field(default_factory=list)
    _downloads: list[dict[str, Any]] = field(default_factory=list)
    _recent: deque[datetime] = field(default_factory=deque)
    _made: int = 0

    def clear(self) -> None:
        """Empty the account."""
        with self._lock:
            self._torrents.clear()
            self._downloads.clear()
            self._recent.clear()
        self.addresses.clear()

    def admit(self) -> bool:
        """Count a request and return whether the limit per minute allows it; refused ones count as well."""
        limit = self.world.options.realdebrid_rate_per_minute
        now = self.world.clock.now()
        with self._lock:
            while self._recent and now - self._recent[0] > timedelta(minutes=1):
                self._recent.popleft()
            self._recent.append(now)
            return limit == 0 or len(self._recent) <= limit

    def torrents(self) -> list[Torrent]:
        """Return the entries, newest first."""
        with self._lock:
            return self._torrents[::-1]

    def find(self, torrent_id: str) -> Torrent | None:
        """Return an entry by its id."""
        with self._lock:
            return next((one for one in self._torrents if one.id == torrent_id), None)

    def add(self, infohash: str) -> Torrent:
        """Make a new entry, whether or not this hash has one already."""
        with self.world.lock:
            release = self.world.catalog.find_release(infohash)
        with self._lock:
            torrent = Torrent(self._new_id(f"torrent-{infohash}"), infohash, self.world.clock.now(), release)
            self._torrents.append(torrent)
            return torrent

    def remove(self, torrent: Torrent) -> None:
        """Take an entry away; its links are dead from then on."""
        with self._lock:
            self._torrents.remove(torrent)

    def size_of(self, file: ReleaseFile) -> int:
        """Return how long a file is said to be."""
        return self.world.clips.size(file.clip) + file.announced_extra

    def active(self) -> list[Torrent]:
        """Return the entries that are not finished."""
        return [one for one in self.torrents() if self.status(one) != "downloaded"]

    def select(self, torrent: Torrent, numbers: frozenset[int]) -> None:
        """Choose files, by their numbers from 1."""
        with self._lock:
            torrent.selected = numbers
            torrent.selected_at = self.world.clock.now()

    def look(self, torrent: Torrent) -> None:
        """Count a look at an entry: a magnet is turned into a torrent after some of them."""
        with self._lock:
            torrent.looks += 1

    def status(self, torrent: Torrent) -> str:
        """Return the entry's status in Real-Debrid's words."""
        if torrent.release is None or torrent.looks < self.world.options.realdebrid_conversion_polls:
            return "magnet_conversion"
        if torrent.selected_at is None:
            return "waiting_files_selection"
        progress = self.progress(torrent)
        if progress >= DONE:
            return "downloaded"
        return "queued" if progress < DONE * QUEUED_SHARE else "downloading"

    def progress(self, torrent: Torrent) -> float:
        """Return how much is there, 0 to 100."""
        if torrent.release is None or torrent.selected_at is None:
            return 0
        if torrent.done or self._availability(torrent.infohash) == CACHED:
            torrent.done = True
            return DONE
        passed = (self.world.clock.now() - torrent.selected_at).total_seconds()
        share = min(
            DONE, round(DONE * passed / max(self.world.options.realdebrid_download_seconds, 0.001), 1)
        )
        torrent.done = share >= DONE
        return share

    def links(self, torrent: Torrent) -> list[str]:
        """Return the links in the order of the selected files; one link for all when they were packed."""
        if self.status(torrent) != "downloaded":
            return []
        if self._is_archive(torrent):
            return [LINK_BASE + code(f"{torrent.id}/archive")]
        return [LINK_BASE + code(f"{torrent.id}/{file.path}") for file in torrent.chosen()]

    def unrestrict(self, link: str) -> Unrestricted | None:
        """Return a fresh address for a link of an entry, None when no entry has it."""
        wanted = link.removeprefix(LINK_BASE)[:ID_LENGTH]
        with self._lock:
            for torrent in self._torrents:
                codes = [one.removeprefix(LINK_BASE) for one in self.links(torrent)]
                if wanted in codes:
                    return self._serve(torrent, codes.index(wanted), LINK_BASE + wanted)
        return None

    def infohash_of(self, link: str) -> str | None:
        """Return the info hash of the entry that has this link."""
        wanted = link.removeprefix(LINK_BASE)[:ID_LENGTH]
        return next((one.infohash for one in self.torrents() if LINK_BASE + wanted in self.links(one)), None)

    def downloads(self) -> list[dict[str, Any]]:
        """Return what was unrestricted, newest first."""
        with self._lock:
            return self._downloads[::-1]

    def keep_download(self, row: dict[str, Any]) -> None:
        """Remember an unrestricted link in the history."""
        with self._lock:
            self._downloads.append(row)

    def forget_download(self, download_id: str) -> bool:
        """Take a row out of the history and return whether it was there."""
        with self._lock:
            before = len(self._downloads)
            self._downloads = [row for row in self._downloads if row["id"] != download_id]
            return len(self._downloads) < before

    def _serve(self, torrent: Torrent, place: int, link: str) -> Unrestricted:
        if self._is_archive(torrent):
            name = f"{torrent.release.name if torrent.release else torrent.id}.rar"
            clip = ClipSpec("blob", ".rar", "")
            self.world.clips.prepare_specs([clip])
            announced = self.world.clips.size(clip)
        else:
            file = torrent.chosen()[place]
            name, clip, announced = file.name, file.clip, self.size_of(file)
        made = self.addresses.make(f"cdn-{link}", name, clip)
        return Unrestricted(link, name, announced, made)

    def _is_archive(self, torrent: Torrent) -> bool:
        chosen = torrent.chosen()
        mixed = len(chosen) > 1 and not all(file.is_video for file in chosen)
        return mixed and self.world.options.realdebrid_archive_when_mixed

    def _availability(self, infohash: str) -> str:
        with self.world.lock:
            if infohash in self.world.lacking.get("realdebrid", ()):
                return UNCACHED
            release = self.world.catalog.find_release(infohash)
            return release.availability if release else CACHED

    def _new_id(self, word: str) -> str:
        with self._lock:
            self._made += 1
            return code(f"{word}-{self._made}")


def root_of(torrent: Torrent) -> str:
    """Return a torrent's name: that of its only file, else of the release."""
    if torrent.release is None:
        return torrent.infohash
    files = torrent.release.files
    single = len(files) == 1 and "/" not in files[0].path
    return PurePosixPath(files[0].path).name if single else torrent.release.name
