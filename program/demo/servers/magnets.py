"""The account of AllDebrid, and of TorBox: one entry per hash, with all its files."""

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from program.demo.catalog import CACHED, Release, ReleaseFile
from program.demo.servers.addresses import Addresses, CdnLink, code
from program.demo.servers.world import World

LINK_BASE = "https://alldebrid.com/f/"
QUEUED, DOWNLOADING, READY, DELETED = 0, 1, 4, 11
STATES = {
    QUEUED: "In Queue",
    DOWNLOADING: "Downloading",
    READY: "Ready",
    DELETED: "Deleted on the hoster website",
}
# What one request of 600 a minute may use at most.
PER_MINUTE = 600


@dataclass(slots=True)
class Magnet:
    """One entry of the account. release None: nobody has this torrent."""

    id: int
    infohash: str
    added: datetime
    release: Release | None

    @property
    def name(self) -> str:
        """Return what it is called; a lone file gives its own name."""
        if self.release is None:
            return "noname"
        files = self.release.files
        return files[0].name if len(files) == 1 else self.release.name


@dataclass(slots=True)
class Magnets:
    """One user's magnets; threads share it."""

    world: World
    addresses: Addresses
    provider: str = "alldebrid"
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _magnets: dict[int, Magnet] = field(default_factory=dict)
    _recent: deque[datetime] = field(default_factory=deque)
    _made: int = 0

    def clear(self) -> None:
        """Empty the account."""
        with self._lock:
            self._magnets.clear()
            self._recent.clear()
        self.addresses.clear()

    def admit(self) -> bool:
        """Count a request and return whether the limits allow it."""
        now = self.world.clock.now()
        with self._lock:
            while self._recent and now - self._recent[0] > timedelta(minutes=1):
                self._recent.popleft()
            self._recent.append(now)
            in_second = sum(now - at < timedelta(seconds=1) for at in self._recent)
            limit = self.world.options.alldebrid_rate_per_second
            return limit == 0 or (in_second <= limit and len(self._recent) <= PER_MINUTE)

    def all(self) -> list[Magnet]:
        """Return the entries, newest first."""
        with self._lock:
            return list(self._magnets.values())[::-1]

    def find(self, magnet_id: str | None) -> Magnet | None:
        """Return an entry by its id."""
        with self._lock:
            return self._magnets.get(int(magnet_id)) if magnet_id and magnet_id.isdigit() else None

    def add(self, infohash: str) -> Magnet:
        """Return the entry of a hash, made when there is none."""
        with self.world.lock:
            release = self.world.catalog.find_release(infohash)
        with self._lock:
            known = next((one for one in self._magnets.values() if one.infohash == infohash), None)
            if known is not None:
                return known
            self._made += 1
            made = Magnet(100_000 + self._made, infohash, self.world.clock.now(), release)
            self._magnets[made.id] = made
            return made

    def remove(self, magnet: Magnet) -> None:
        """Take an entry away; its links are dead from then on."""
        with self._lock:
            self._magnets.pop(magnet.id, None)

    def state(self, magnet: Magnet) -> int:
        """Return the entry's status code."""
        if magnet.release is None:
            return QUEUED
        return READY if self.holds(magnet.infohash) else DOWNLOADING

    def holds(self, infohash: str) -> Release | None:
        """Return a torrent that could be read at once, None when it is not held."""
        with self.world.lock:
            release = self.world.catalog.find_release(infohash)
            is_held = release is not None and release.availability == CACHED
            return release if is_held and infohash not in self.world.lacking.get(self.provider, ()) else None

    def active(self) -> int:
        """Return how many entries are not finished."""
        return sum(self.state(one) in (QUEUED, DOWNLOADING) for one in self.all())

    def size_of(self, file: ReleaseFile) -> int:
        """Return how long a file is said to be."""
        return self.world.clips.size(file.clip) + file.announced_extra

    def link_of(self, magnet: Magnet, file: ReleaseFile) -> str:
        """Return the locked link of a file."""
        return LINK_BASE + code(f"{magnet.id}/{file.path}")

    def behind(self, link: str) -> tuple[Magnet, ReleaseFile] | None:
        """Return what a locked link leads to, None when no entry that is ready has it."""
        for magnet in self.all():
            for file in magnet.release.files if magnet.release else ():
                if self.link_of(magnet, file) == link and self.state(magnet) == READY:
                    return magnet, file
        return None

    def unlock(self, link: str) -> tuple[ReleaseFile, CdnLink] | None:
        """Return a fresh address for a locked link, None when it is dead."""
        found = self.behind(link)
        if found is None:
            return None
        file = found[1]
        return file, self.addresses.make(f"unlocked-{link}", file.name, file.clip)
