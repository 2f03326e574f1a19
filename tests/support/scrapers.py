"""Scrapers that behave and that do not, and the server they ask: real requests over HTTP, each path with its own manners.

with IndexServer() as server:
    settings = server.settings("honest", "silent", "broken")       # scrapers, enabled and led to the server
    Pipeline(..., settings, plugin_classes=SCRAPERS)
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, Field, HttpUrl, TypeAdapter

from program.http import Limits
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.services.plugin import Scraper
from program.settings.provider import ProviderSettings

# Words for titles that nobody can have heard of: 25 x 20 of them.
FIRST = [
    "Amber",
    "Brass",
    "Cedar",
    "Dune",
    "Ember",
    "Fallow",
    "Glass",
    "Harbor",
    "Indigo",
    "Juniper",
    "Kelp",
    "Linen",
    "Marble",
    "Nettle",
    "Ochre",
    "Pewter",
    "Quartz",
    "Russet",
    "Saffron",
    "Teal",
    "Umber",
    "Velvet",
    "Willow",
    "Yarrow",
    "Zinc",
]
SECOND = [
    "Lantern",
    "Meadow",
    "Orchard",
    "Paddock",
    "Quarry",
    "Rooftop",
    "Staircase",
    "Terrace",
    "Upland",
    "Viaduct",
    "Windmill",
    "Bakery",
    "Cellar",
    "Doorway",
    "Estuary",
    "Foundry",
    "Garden",
    "Hillside",
    "Island",
    "Jetty",
]

# What each kind of garbage is on the wire: status, type, body.
GARBAGE: Mapping[str, tuple[int, str, bytes]] = {
    "html": (200, "text/html", b"<!DOCTYPE html><html><body>Just a moment...</body></html>"),
    "cut": (200, "application/json", b'[{"hash": "aa", "titl'),
    "shapeless": (200, "application/json", b'{"error": {"rows": null}}'),
    "fields": (200, "application/json", b'[{"hash": 7, "name": null}]'),
    "empty": (200, "application/json", b""),
}


class IndexSettings(ProviderSettings):
    """Settings of a made-up index."""

    url: HttpUrl = Field(default=HttpUrl("http://localhost:9"), description="Address of the index")


class Row(BaseModel):
    """One release as the index lists it."""

    hash: str
    title: str


ROWS = TypeAdapter(list[Row])


class Honest(Scraper[IndexSettings]):
    """Asks its server and believes it."""

    key = "honest"
    title = "Honest Index"
    Settings = IndexSettings
    limits = Limits(requests=5000)

    def check(self) -> None:
        """Work."""

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Return what the server lists."""
        rows = self.http.read(f"/{self.key}", ROWS, params={"title": wanted.title, "year": wanted.year})
        return [FoundRelease(infohash=row.hash, raw_title=row.title, source=self.key) for row in rows]


class Silent(Honest):
    """Its server never answers."""

    key = "silent"
    title = "Silent Index"


class Broken(Honest):
    """Has a bug."""

    key = "broken"
    title = "Broken Index"

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Fail on a name that is not there."""
        facts: dict[str, str] = {}
        return [FoundRelease(infohash=facts[wanted.title], raw_title="", source=self.key)]


class Babbling(Honest):
    """Its server answers with the garbage that was chosen."""

    key = "babbling"
    title = "Babbling Index"


class Careless(Honest):
    """Hands on what it has read without looking at it."""

    key = "careless"
    title = "Careless Index"

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        """Return rows that are no releases."""
        return cast("list[FoundRelease]", [{"infohash": "a" * 40}, None, FoundRelease(None, None, 7)])  # type: ignore[arg-type]


SCRAPERS = (Honest, Silent, Broken, Babbling, Careless)


def hashes_of(title: str, year: int | None) -> dict[str, str]:
    """Return what the honest server lists for a film: hash to name."""
    dotted = title.replace(" ", ".")
    found = [
        f"{dotted}.{year}.1080p.WEB-DL.AAC2.0.H.264-OPEN",
        f"{dotted}.{year}.720p.WEB-DL.AAC2.0.H.264-OPEN",
    ]
    return {hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest(): name for name in found}


class IndexServer:
    """The server of all these scrapers. garbage: what `/babbling` answers; limited: whether everybody is told to slow down."""

    def __init__(self) -> None:
        self.garbage = "html"
        self.limited = False
        self.asked: Counter[str] = Counter()
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def settings(self, *keys: str) -> dict[str, Any]:
        """Return settings by path that enable these scrapers, and only them."""
        found: dict[str, Any] = {"scraping.torrentio.enabled": False}
        for key in keys:
            found |= {f"scraping.{key}.enabled": True, f"scraping.{key}.url": self.url}
        return found

    @property
    def url(self) -> str:
        """Return the address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, query: Mapping[str, list[str]]) -> tuple[int, str, bytes]:
        """Return status, type and body; blocks where the server is one that never answers."""
        self.asked[path] += 1
        if self.limited:
            return 429, "text/plain", b"slow down"
        if path == "/silent":
            self._released.wait()
        if path == "/babbling":
            return GARBAGE[self.garbage]
        title, year = query.get("title", [""])[0], int(query.get("year", ["0"])[0])
        rows = [{"hash": infohash, "title": name} for infohash, name in hashes_of(title, year).items()]
        return 200, "application/json", json.dumps(rows).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                split = urlsplit(self.path)
                status, kind, body = server.answer(split.path, parse_qs(split.query))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler
