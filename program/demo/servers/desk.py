"""The requests and media of the Overseerr stand-in."""

import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from program.demo.servers.world import World

PENDING, APPROVED, DECLINED, FAILED = 1, 2, 3, 4
MEDIA_UNKNOWN, MEDIA_PENDING, MEDIA_PROCESSING, MEDIA_PARTIAL, MEDIA_AVAILABLE = 1, 2, 3, 4, 5
MEDIA_WORDS = {
    "unknown": MEDIA_UNKNOWN, "pending": MEDIA_PENDING, "processing": MEDIA_PROCESSING,
    "partial": MEDIA_PARTIAL, "available": MEDIA_AVAILABLE,
}  # fmt: skip
WEBHOOK_SECONDS = 10
USER = {
    "id": 1,
    "email": "demo@example.com",
    "displayName": "demo",
    "plexUsername": None,
    "permissions": 2,
    "avatar": "",
}


@dataclass(slots=True)
class Media:
    """A title as the request app knows it."""

    id: int
    kind: str
    tmdb: int
    tvdb: int | None
    created: datetime
    status: int = MEDIA_UNKNOWN


@dataclass(slots=True)
class Wish:
    """A person's request. seasons: numbers, empty for films."""

    id: int
    media: Media
    seasons: tuple[int, ...]
    created: datetime
    status: int = PENDING
    is_4k: bool = False


@dataclass(slots=True)
class Desk:
    """All requests; threads share it."""

    world: World
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _wishes: list[Wish] = field(default_factory=list)
    _media: list[Media] = field(default_factory=list)

    def clear(self) -> None:
        """Forget all requests."""
        with self._lock:
            self._wishes.clear()
            self._media.clear()

    def wishes(self) -> list[Wish]:
        """Return the requests, newest first."""
        with self._lock:
            return self._wishes[::-1]

    def wish(self, wish_id: int) -> Wish | None:
        """Return a request by its id."""
        return next((one for one in self.wishes() if one.id == wish_id), None)

    def media(self, media_id: int) -> Media | None:
        """Return a title by its id."""
        with self._lock:
            return next((one for one in self._media if one.id == media_id), None)

    def add(
        self,
        kind: str,
        tmdb: int,
        *,
        seasons: tuple[int, ...] = (),
        tvdb: int | None = None,
        status: int = APPROVED,
    ) -> Wish:
        """Keep a request and return it. Raises ValueError when this title (for series: these seasons) is requested already."""
        with self._lock:
            same = [
                one
                for one in self._wishes
                if (one.media.kind, one.media.tmdb) == (kind, tmdb) and one.status != DECLINED
            ]
            free = tuple(number for number in seasons if all(number not in one.seasons for one in same))
            if same and not free:
                raise ValueError("Request for this media already exists.")
            now = self.world.clock.now()
            media = same[0].media if same else Media(len(self._media) + 1, kind, tmdb, tvdb, now)
            if not same:
                self._media.append(media)
            wish = Wish(len(self._wishes) + 1, media, free, now)
            self._wishes.append(wish)
            self.decide(wish, status)
            return wish

    def decide(self, wish: Wish, status: int) -> None:
        """Approve, decline or put back a request; the title's state follows."""
        with self._lock:
            wish.status = status
            if status == APPROVED and wish.media.status < MEDIA_PROCESSING:
                wish.media.status = MEDIA_PROCESSING
            elif status == PENDING and wish.media.status == MEDIA_UNKNOWN:
                wish.media.status = MEDIA_PENDING

    def remove(self, wish: Wish) -> None:
        """Take a request away."""
        with self._lock:
            self._wishes.remove(wish)

    def title_of(self, media: Media) -> str:
        """Return the name as notifications write it: with the year."""
        catalog = self.world.catalog
        film = catalog.films.get(media.tmdb) if media.kind == "movie" else None
        show = catalog.show_by(tmdb=media.tmdb) if media.kind == "tv" else None
        known = film or show
        return f"{known.title} ({known.year})" if known else f"{media.kind} {media.tmdb}"

    def notify(
        self, wish: Wish, url: str, authorization: str | None, kind: str = "MEDIA_AUTO_APPROVED"
    ) -> int:
        """POST a notification about a request and return the status that came back, 0 when nothing did."""
        body = json.dumps(self.notification(wish, kind)).encode()
        call = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})  # noqa: S310 (a test's own address)
        if authorization is not None:
            call.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(call, timeout=WEBHOOK_SECONDS) as response:  # noqa: S310
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def notification(self, wish: Wish, kind: str) -> dict[str, Any]:
        """Return the default payload: every value is a string."""
        media = wish.media
        word = "Movie" if media.kind == "movie" else "Series"
        seasons = ", ".join(map(str, wish.seasons))
        return {
            "notification_type": kind,
            "event": f"{word} Request Automatically Approved",
            "subject": self.title_of(media),
            "message": "",
            "image": "https://image.tmdb.org/t/p/w600_and_h900_bestv2/null",
            "media": {
                "media_type": media.kind,
                "tmdbId": str(media.tmdb),
                "tvdbId": str(media.tvdb or ""),
                "status": "PENDING",
                "status4k": "UNKNOWN",
            },
            "request": {
                "request_id": str(wish.id),
                "requestedBy_email": USER["email"],
                "requestedBy_username": USER["displayName"],
                "requestedBy_avatar": "",
                "requestedBy_settings_discordId": "",
                "requestedBy_settings_telegramChatId": "",
            },
            "issue": None,
            "comment": None,
            "extra": [{"name": "Requested Seasons", "value": seasons}] if media.kind == "tv" else [],
        }


def stamp(moment: datetime) -> str:
    """Return a moment as JavaScript writes it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
