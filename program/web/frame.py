"""What stands around every page: places, health, what needs a person; and what templates may call."""

import hashlib
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path

from flask import Flask, url_for

from program.api.status import RUNNING
from program.db import overview
from program.media.names import with_titles
from program.plugins import PluginState
from program.web import pages, times, undo, words
from program.web.pages import Web

STATIC = Path(__file__).parent / "static"
# The mount is looked at no more often than this, however many pages are opened.
HEALTH_KEPT = timedelta(seconds=10)
VERSION_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the rail. key: what is typed after `g`."""

    name: str
    word: str
    icon: str
    key: str


PLACES = (
    Place("library", "Library", "library", "l"),
    Place("discover", "Discover", "discover", "d"),
    Place("calendar", "Calendar", "calendar", "c"),
    Place("activity", "Activity", "activity", "a"),
    Place("settings", "Settings", "settings", "s"),
)


@dataclass(frozen=True, slots=True)
class Health:
    """The dot at the top. tone: green, amber or red; said: why, in a sentence."""

    tone: str
    said: str


class HealthWatch:
    """Says how the program is, without asking the mount for every page."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._mounted = True
        self._looked_at: datetime | None = None

    def now(self) -> Health:
        """Return the worst that is known."""
        api = self._web.api
        if api.state != RUNNING:
            return Health("amber", f"The program is in state {api.state}")
        if not api.db.healthy():
            return Health("red", "The database does not answer")
        if not self._is_mounted(self._web.now):
            return Health("red", "The library folder cannot be read")
        statuses = api.registry.statuses()
        broken = [one.title for one in statuses if one.state is PluginState.INVALID]
        away = [one.title for one in statuses if one.state in (PluginState.UNREACHABLE, PluginState.TRIPPED)]
        if broken:
            return Health("red", f"Not usable: {', '.join(broken)}")
        if away:
            return Health("amber", f"Not reachable now: {', '.join(away)}")
        return Health("green", "Everything works")

    def _is_mounted(self, now: datetime) -> bool:
        with self._lock:
            if self._looked_at is not None and now - self._looked_at < HEALTH_KEPT:
                return self._mounted
            self._looked_at = now
        mounted = self._web.api.vfs_healthy()
        with self._lock:
            self._mounted = mounted
        return mounted


def install(app: Flask, web: Web) -> None:
    """Give templates what they call."""
    watch = HealthWatch(web)
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True

    @app.context_processor
    def around() -> dict[str, object]:
        return {
            "is_signed_in": pages.is_signed_in(),
            "health": watch.now,
            "here": pages.here(),
            "needs_you": lambda: _needs_you(web),
            "places": PLACES,
            "theme": pages.theme(),
            "undo": undo.offered,
        }

    app.jinja_env.globals.update(
        asset=_asset,
        csrf_token=pages.token,
        said=lambda at: times.moment(at, web.now, pages.zone()),
        exact=lambda at: times.exact(at, pages.zone()),
        machine=times.machine,
        times=times,
        words=words,
    )
    titles = web.api.registry.titles
    app.jinja_env.filters.update(
        bytes=times.size,
        titled=lambda key: titles.get(key, key),
        named=lambda text: times.with_moments(with_titles(text, titles), web.now, pages.zone()),
    )


def _needs_you(web: Web) -> int:
    """Return how many titles wait for a person."""
    with web.api.db.read() as tx:
        counts = overview.title_counts(tx)
    return sum(number for (_, state), number in counts.items() if state in words.NEEDS_YOU)


@lru_cache
def _digest(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:VERSION_DIGITS]


def _asset(name: str) -> str:
    """Return the address of a file of ours; it changes with the file, so that it may be kept for ever."""
    return url_for("web.static", filename=name, v=_digest(name))
