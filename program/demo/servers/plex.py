"""Plex Media Server: sections, scans of one folder, items with their ids; XML, or JSON when asked for."""

import threading
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Flask, Response, request

from program.demo.servers.faults import HTML
from program.demo.servers.plex_items import TYPE_NUMBERS, Item, PlexItems
from program.demo.servers.replies import json_reply, routed, whole
from program.demo.servers.shelf import Shelf, is_below
from program.demo.servers.world import World

MACHINE = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"
VERSION = "1.41.0.8992-demo"
SECTIONS = {
    1: ("movies", "movie", "Films", "tv.plex.agents.movie", "Plex Movie"),
    2: ("shows", "show", "Series", "tv.plex.agents.series", "Plex TV Series"),
}


def create_app(world: World, shelf: Shelf) -> Flask:
    """Return the Plex stand-in."""
    service = _Plex(world, shelf)
    app = Flask("plex")
    app.before_request(service.check_token)
    app.register_error_handler(404, lambda _: _page(404, "Not Found"))
    app.register_error_handler(405, lambda _: _page(405, "Method Not Allowed"))
    section = "/library/sections/<int:number>"
    return routed(
        app,
        ("GET", "/identity", service.identity),
        ("GET", "/", service.capabilities),
        ("GET", "/library/sections", service.sections),
        ("POST", "/library/sections/refresh", service.refresh_all),
        ("GET", "/library/sections/all/refresh", service.refresh_all),
        ("GET", f"{section}/refresh", service.refresh),
        ("POST", f"{section}/refresh", service.refresh),
        ("DELETE", f"{section}/refresh", service.nothing),
        ("PUT", f"{section}/emptyTrash", service.nothing),
        ("PUT", f"{section}/analyze", service.nothing),
        ("GET", f"{section}/all", service.all_items),
        ("GET", "/library/metadata/<key>", service.metadata),
        ("GET", "/library/metadata/<key>/children", service.children),
        ("GET", "/library/metadata/<key>/allLeaves", service.leaves),
        ("GET", "/activities", service.activities),
        ("GET", "/status/sessions", service.sessions),
        ("GET", "/hubs/search", service.search),
    )


class _Plex:
    def __init__(self, world: World, shelf: Shelf) -> None:
        self._world = world
        self._shelf = shelf
        self._items = PlexItems(world, shelf)
        self._lock = threading.Lock()
        self._heard_of: set[str] = set()

    def check_token(self) -> Response | None:
        if request.path == "/identity":
            return None
        given = request.headers.get("X-Plex-Token") or request.args.get("X-Plex-Token")
        return None if given == self._world.keys.plex else _page(401, "Unauthorized")

    def identity(self) -> Response:
        return _container({"claimed": True, "machineIdentifier": MACHINE, "version": VERSION})

    def capabilities(self) -> Response:
        about = {
            "friendlyName": "demo",
            "machineIdentifier": MACHINE,
            "version": VERSION,
            "platform": "Linux",
        }
        return _container({**about, "myPlexUsername": "demo@example.com", "myPlexSubscription": False})

    def sections(self) -> Response:
        busy = self._shelf.is_busy()
        rows = [
            {
                "allowSync": True,
                "key": str(number),
                "type": kind,
                "title": title,
                "agent": agent,
                "scanner": scanner,
                "language": "en-US",
                "uuid": f"demo-{number}",
                "updatedAt": 1893456000,
                "createdAt": 1893450000,
                "scannedAt": 1893456100,
                "refreshing": busy,
                "hidden": 0,
                "Location": [{"id": number, "path": self._shelf.roots()[folder]}],
            }
            for number, (folder, kind, title, agent, scanner) in SECTIONS.items()
        ]
        return _container({"allowSync": False, "title1": "Plex Library", "Directory": rows})

    def refresh_all(self) -> Response:
        for root in self._shelf.roots().values():
            self._scan_later(root)
        return self.nothing()

    def refresh(self, number: int) -> Response:
        if number not in SECTIONS:
            return _page(404, "Not Found")
        root = self._shelf.roots()[SECTIONS[number][0]]
        path = request.args.get("path")
        if path is None:
            self._scan_later(root)
        elif is_below(path, root) and not self._is_to_be_missed(path):
            # A path elsewhere, or the section's root itself, changes nothing: the answer is 200 all the same.
            self._scan_later(path)
        return self.nothing()

    def nothing(self, **_: object) -> Response:
        return Response(status=200, content_type="text/plain")

    def all_items(self, number: int) -> Response:
        if number not in SECTIONS:
            return _page(404, "Not Found")
        kind = whole(request.args.get("type"), 1 if number == 1 else 2)
        rows = [one for one in self._items.all() if TYPE_NUMBERS[one.kind] == kind and one.section == number]
        title, year, guid = request.args.get("title"), request.args.get("year"), request.args.get("guid")
        rows = [
            one
            for one in rows
            if (title is None or title.casefold() in one.title.casefold())
            and (year is None or str(one.year) == year)
            and (guid is None or one.guid == guid)
        ]
        if request.args.get("sort", "").startswith("addedAt"):
            rows.sort(key=lambda one: one.added, reverse=request.args["sort"].endswith(":desc"))
        return self._listing(
            rows, {"librarySectionID": number}, with_guids=request.args.get("includeGuids") == "1"
        )

    def metadata(self, key: str) -> Response:
        item = self._items.get(key)
        if item is None:
            return _page(404, "Not Found")
        return _container(
            {
                "Metadata": [
                    self._items.row(item, with_guids=True, check_files=request.args.get("checkFiles") == "1")
                ]
            }
        )

    def children(self, key: str) -> Response:
        return self._listing(
            [one for one in self._items.all() if one.parent == key], {"key": key}, with_guids=True
        )

    def leaves(self, key: str) -> Response:
        rows = [
            one for one in self._items.all() if one.kind == "episode" and key in (one.grandparent, one.parent)
        ]
        return self._listing(rows, {"key": key}, with_guids=True)

    def activities(self) -> Response:
        job = {
            "uuid": "demo-scan",
            "type": "library.update.section",
            "title": "Scanning",
            "subtitle": "",
            "progress": 50,
            "cancellable": True,
        }
        return _container({"Activity": [job] if self._shelf.is_busy() else []})

    def sessions(self) -> Response:
        return _container({})

    def search(self) -> Response:
        query = request.args.get("query", "").casefold()
        rows = [one for one in self._items.all() if query and query in one.title.casefold()]
        hub = {
            "type": "movie",
            "hubIdentifier": "movie",
            "Metadata": [self._items.row(one, with_guids=False) for one in rows],
        }
        return _container({"Hub": [hub] if rows else []})

    def _listing(self, rows: list[Item], facts: dict[str, Any], *, with_guids: bool) -> Response:
        start = whole(_x_plex("X-Plex-Container-Start"), 0)
        size = whole(_x_plex("X-Plex-Container-Size"), len(rows))
        part = [self._items.row(one, with_guids=with_guids) for one in rows[start : start + size]]
        return _container({**facts, "offset": start, "totalSize": len(rows), "Metadata": part})

    def _is_to_be_missed(self, path: str) -> bool:
        """Return whether this is the first scan of a folder that Plex never heard of, and it is to find nothing."""
        with self._lock:
            new = path not in self._heard_of
            self._heard_of.add(path)
        return new and self._world.options.plex_ignore_first_scan

    def _scan_later(self, folder: str) -> None:
        def scan() -> None:
            threading.Event().wait(self._world.options.plex_scan_seconds)
            self._shelf.scan(folder)

        self._shelf.later(scan)


def _x_plex(name: str) -> str | None:
    return request.headers.get(name) or request.args.get(name)


def _page(status: int, text: str) -> Response:
    body = f"<html><head><title>{text}</title></head><body><h1>{status} {text}</h1></body></html>"
    return Response(body, status=status, content_type=HTML[0][1])


def _container(facts: dict[str, Any]) -> Response:
    """Return a MediaContainer; empty lists are left out, as Plex does."""
    kept = {name: value for name, value in facts.items() if value != []}
    size = next((len(value) for value in kept.values() if isinstance(value, list)), 0)
    kept = {"size": size, **kept}
    if "application/json" in request.headers.get("Accept", ""):
        return json_reply({"MediaContainer": kept})
    root = _element(Element("MediaContainer"), kept)
    return Response(
        b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root), content_type="text/xml;charset=utf-8"
    )


def _element(element: Element, facts: dict[str, Any]) -> Element:
    for name, value in facts.items():
        if isinstance(value, list):
            for one in value:
                _element(SubElement(element, _tag(name, one)), one)
        elif value is not None:
            element.set(name, str(int(value)) if isinstance(value, bool) else str(value))
    return element


def _tag(name: str, row: dict[str, Any]) -> str:
    """Return the name in XML: items are Video or Directory there."""
    if name != "Metadata":
        return name
    return "Video" if row.get("type") in ("movie", "episode") else "Directory"
