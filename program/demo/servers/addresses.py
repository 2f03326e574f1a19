"""Addresses on a CDN: each leads to one file and expires."""

import base64
import hashlib
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from program.demo.catalog import ClipSpec
from program.demo.servers.world import World

ID_LENGTH = 13


@dataclass(frozen=True, slots=True)
class CdnLink:
    """An address on the CDN. size and clip: what it serves."""

    id: str
    name: str
    clip: ClipSpec
    size: int
    expires: datetime


@dataclass(slots=True)
class Addresses:
    """What one provider's CDN serves; threads share it."""

    world: World
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _links: dict[str, CdnLink] = field(default_factory=dict)
    _made: int = 0

    def make(self, word: str, name: str, clip: ClipSpec) -> CdnLink:
        """Return a fresh address of a clip under a name; word: what its id is made from."""
        size = self.world.clips.size(clip)
        expires = self.world.clock.now() + timedelta(seconds=self.world.options.link_seconds)
        with self._lock:
            self._made += 1
            made = CdnLink(code(f"{word}-{self._made}"), name, clip, size, expires)
            self._links[made.id] = made
        return made

    def find(self, link_id: str) -> CdnLink | None:
        """Return what an address serves, also when it has expired."""
        with self._lock:
            return self._links.get(link_id)

    def expire_all(self) -> int:
        """Let every address expire now and return how many there were."""
        past = self.world.clock.now() - timedelta(seconds=1)
        with self._lock:
            self._links = {link.id: replace(link, expires=past) for link in self._links.values()}
            return len(self._links)

    def clear(self) -> None:
        """Forget every address."""
        with self._lock:
            self._links.clear()


def code(word: str) -> str:
    """Return 13 letters and digits that look like an id of theirs."""
    digest = hashlib.sha256(word.encode()).digest()
    return base64.b32encode(digest).decode()[:ID_LENGTH]
