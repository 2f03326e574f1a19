"""The torrents that people look into: each is kept for a while, until its files are taken or it is let go."""

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from program.errors import NotFound, NotPossible
from program.manual.titles import Asked, Target
from program.media.entry import FetchedTorrent, TorrentFile

LIFETIME = timedelta(hours=1)
# More torrents than anybody looks into at a time.
MOST = 64
ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person says that a file belongs: a season and its episodes."""

    season: int
    episodes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A torrent that somebody looks into.

    holder: stands for an item among the torrents in hand. files: its videos, numbered from 1 on. selected: of these numbers, None
    for all. places: what a person said of a file, by its number.
    """

    id: str
    holder: int
    target: Target
    torrent: FetchedTorrent
    resolution: str
    files: Mapping[int, TorrentFile]
    expires_at: datetime
    selected: frozenset[int] | None = None
    places: Mapping[int, Place] = field(default_factory=dict)

    @property
    def asked(self) -> Asked:
        """Return how the title was named."""
        return self.target.asked

    @property
    def chosen(self) -> Mapping[int, TorrentFile]:
        """Return the files to be taken."""
        if self.selected is None:
            return self.files
        return {number: file for number, file in self.files.items() if number in self.selected}


class Sessions:
    """All of them. Thread-safe; they are lost with the process, and what they put on an account is then tidied up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Guarded by the lock. Holders are negative numbers, so that they are no item's.
        self._sessions: dict[str, Session] = {}
        self._holder = 0

    def new_holder(self) -> int:
        """Return a number that stands for an item."""
        with self._lock:
            self._holder -= 1
            return self._holder

    def add(self, session: Session) -> None:
        """Keep a session; raise NotPossible when there are too many."""
        with self._lock:
            if len(self._sessions) >= MOST:
                raise NotPossible(f"{MOST} torrents are being looked into; finish one of them first")
            self._sessions[session.id] = session

    def get(self, session_id: str, now: datetime) -> Session:
        """Return a session, which lives on from now; raise NotFound when there is none, or not any more."""
        with self._lock:
            found = self._sessions.get(session_id)
            if found is None or found.expires_at <= now:
                raise NotFound("this choice of files has expired; begin it again")
            found = self._sessions[session_id] = replace(found, expires_at=now + LIFETIME)
            return found

    def put(self, session: Session) -> None:
        """Change a session, unless it was dropped meanwhile."""
        with self._lock:
            if session.id in self._sessions:
                self._sessions[session.id] = session

    def drop(self, session_id: str) -> None:
        """Forget a session; forgetting twice is fine."""
        with self._lock:
            self._sessions.pop(session_id, None)

    def take_expired(self, now: datetime) -> list[Session]:
        """Forget and return what was left lying."""
        with self._lock:
            expired = [session for session in self._sessions.values() if session.expires_at <= now]
            for session in expired:
                del self._sessions[session.id]
        return expired


def new_id() -> str:
    """Return an id that cannot be guessed."""
    return secrets.token_urlsafe(ID_BYTES)
