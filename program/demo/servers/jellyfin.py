"""Jellyfin: reports of changed paths, a walk some time later, items without any filter by id or path."""

import hashlib
import re
import threading
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote_plus

from flask import Flask, Response, request

from program.demo.catalog import Show
from program.demo.servers.replies import empty_reply, json_reply, routed, whole
from program.demo.servers.shelf import Found, Shelf, is_below, matched
from program.demo.servers.world import World

SERVER_ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
KINDS = {"movies": "movies", "shows": "tvshows"}
_TOKEN = re.compile(r'(?i)\btoken="?([^",]+)"?')


def create_app(world: World, shelf: Shelf) -> Flask:
    """Return the Jellyfin stand-in."""
    service = _Jellyfin(world, shelf)
    app = Flask("jellyfin")
    app.before_request(service.check_key)
    app.register_error_handler(404, lambda _: empty_reply(404))
    app.register_error_handler(405, lambda _: empty_reply(405))
    return routed(
        app,
        ("GET", "/System/Info/Public", service.public_info),
        ("GET", "/System/Ping", service.ping),
        ("GET", "/System/Info", service.info),
        ("GET", "/Users", service.users),
        ("GET", "/Library/VirtualFolders", service.folders),
        ("GET", "/Library/PhysicalPaths", service.paths),
        ("POST", "/Library/Media/Updated", service.updated),
        ("POST", "/Library/Refresh", service.refresh),
        ("GET", "/Items", service.items),
        ("GET", "/Items/Counts", service.counts),
        ("GET", "/Shows/<series_id>/Seasons", service.seasons),
        ("GET", "/Shows/<series_id>/Episodes", service.episodes),
        ("GET", "/Sessions", service.sessions),
        ("GET", "/ScheduledTasks", service.tasks),
    )


class _Jellyfin:
    def __init__(self, world: World, shelf: Shelf) -> None:
        self._world = world
        self._shelf = shelf
        self._lock = threading.Lock()
        self._reports: set[str] = set()
        self._round = 0

    def check_key(self) -> Response | None:
        if request.path in ("/System/Info/Public", "/System/Ping"):
            return None
        return None if self._world.keys.jellyfin in self._given_keys() else empty_reply(401)

    def public_info(self) -> Response:
        about = {"LocalAddress": request.host_url.rstrip("/"), "ServerName": "demo", "Version": "10.11.3"}
        return json_reply(
            {**about, "ProductName": "Jellyfin Server", "Id": SERVER_ID, "StartupWizardCompleted": True}
        )

    def ping(self) -> Response:
        return json_reply("Jellyfin Server")

    def info(self) -> Response:
        return json_reply(
            {"ServerName": "demo", "Version": "10.11.3", "Id": SERVER_ID, "HasPendingRestart": False}
        )

    def users(self) -> Response:
        return json_reply([{"Name": "demo", "Id": _code("user"), "Policy": {"IsAdministrator": True}}])

    def folders(self) -> Response:
        busy = self._shelf.is_busy()
        return json_reply(
            [
                {
                    "Name": "Films" if kind == "movies" else "Series",
                    "Locations": [root],
                    "CollectionType": KINDS[kind],
                    "ItemId": _code(root),
                    "RefreshStatus": "Active" if busy else "Idle",
                    "RefreshProgress": None,
                    "LibraryOptions": {
                        "Enabled": True,
                        "EnableRealtimeMonitor": False,
                        "PathInfos": [{"Path": root}],
                    },
                }
                for kind, root in self._shelf.roots().items()
            ]
        )

    def paths(self) -> Response:
        return json_reply(list(self._shelf.roots().values()))

    def updated(self) -> Response:
        body = request.get_json(silent=True)
        updates = body.get("Updates") if isinstance(body, dict) else None
        if not isinstance(updates, list) or not all(
            isinstance(one, dict) and one.get("Path") for one in updates
        ):
            return empty_reply(400)
        self._report({one["Path"] for one in updates})
        return empty_reply()

    def refresh(self) -> Response:
        for root in self._shelf.roots().values():
            self._shelf.later(lambda folder=root: self._scan(folder))  # type: ignore[misc]
        return empty_reply()

    def items(self) -> Response:
        """Answer a search: what it does not know it ignores, and then everything comes back."""
        rows = self._rows() if _flag("recursive") else []
        kinds = set(filter(None, (_arg("includeItemTypes") or "").split(",")))
        years = set(filter(None, (_arg("years") or "").split(",")))
        ids = set(filter(None, (_arg("ids") or "").split(",")))
        term = (_arg("searchTerm") or "").casefold()
        parent = _arg("parentId")
        rows = [
            row
            for row in rows
            if (not kinds or row["Type"] in kinds)
            and (not years or str(row.get("ProductionYear")) in years)
            and (not ids or row["Id"] in ids)
            and term in row["Name"].casefold()
            and (parent is None or parent in (row.get("ParentId"), row.get("SeriesId"), row.get("SeasonId")))
        ]
        return _listing(rows)

    def counts(self) -> Response:
        rows = self._rows()
        names = {"MovieCount": "Movie", "SeriesCount": "Series", "EpisodeCount": "Episode"}
        return json_reply({name: sum(row["Type"] == kind for row in rows) for name, kind in names.items()})

    def seasons(self, series_id: str) -> Response:
        rows = [row for row in self._rows() if row["Type"] == "Season" and row["SeriesId"] == series_id]
        return _listing(rows) if self._has(series_id) else empty_reply(404)

    def episodes(self, series_id: str) -> Response:
        if not self._has(series_id):
            return empty_reply(404)
        season = _arg("season")
        rows = [row for row in self._rows() if row["Type"] == "Episode" and row["SeriesId"] == series_id]
        return _listing([row for row in rows if season is None or str(row["ParentIndexNumber"]) == season])

    def sessions(self) -> Response:
        return json_reply([])

    def tasks(self) -> Response:
        state = "Running" if self._shelf.is_busy() else "Idle"
        return json_reply(
            [{"Name": "Scan Media Library", "State": state, "Id": _code("task"), "Key": "RefreshLibrary"}]
        )

    def _given_keys(self) -> list[str]:
        """Return the keys that came in ways this server reads."""
        given = [request.args.get("ApiKey")]
        header = request.headers.get("Authorization", "")
        if header.startswith("MediaBrowser ") and (found := _TOKEN.search(header)):
            given.append(unquote_plus(found[1]))
        if self._world.options.jellyfin_legacy_auth:
            given += [
                request.args.get("api_key"),
                request.headers.get("X-Emby-Token"),
                request.headers.get("X-MediaBrowser-Token"),
            ]
        return [key for key in given if key]

    def _report(self, paths: set[str]) -> None:
        """Keep paths of a library and start the delay anew; others are dropped without a word."""
        kept = {path for path in paths if any(is_below(path, root) for root in self._shelf.roots().values())}
        if not kept:
            return
        with self._lock:
            self._reports |= kept
            self._round += 1
            mine = self._round
        self._shelf.later(lambda: self._walk_after_delay(mine))

    def _walk_after_delay(self, mine: int) -> None:
        threading.Event().wait(self._world.options.jellyfin_delay)
        with self._lock:
            if mine != self._round:
                return
            paths, self._reports = self._reports, set()
        for folder in {self._nearest_known(path) for path in paths}:
            self._scan(folder)

    def _nearest_known(self, path: str) -> str:
        """Return the folder that a report leads to: a known season or show, else the whole library."""
        known = {str(PurePosixPath(one.path).parent) for one in self._shelf.files() if not one.is_film}
        known |= {one.folder for one in self._shelf.files() if not one.is_film}
        for parent in (path, *map(str, PurePosixPath(path).parents)):
            if parent in known:
                return parent
        return next(root for root in self._shelf.roots().values() if is_below(path, root))

    def _scan(self, folder: str) -> None:
        self._shelf.scan(folder)

    def _has(self, series_id: str) -> bool:
        return any(row["Id"] == series_id for row in self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        for found in self._shelf.files():
            if found.is_film:
                rows[found.path] = self._film(found)
            else:
                rows.setdefault(found.folder, self._series(found))
                rows.setdefault(f"{found.folder}/{found.season}", _season(found))
                rows[found.path] = _episode(found)
        return list(rows.values())

    def _film(self, found: Found) -> dict[str, Any]:
        film = matched(self._world, found)
        ids = {key.capitalize(): value for key, value in found.ids.items()}
        if film:
            ids |= {"Tmdb": str(film.tmdb), "Imdb": film.imdb}
        title, year = (film.title, film.year) if film else (found.title, found.year)
        root = self._shelf.roots()["movies"]
        return {
            **_row("Movie", title, found.path),
            "ProductionYear": year,
            "ProviderIds": ids,
            "ParentId": _code(root),
            **_file(found),
        }

    def _series(self, found: Found) -> dict[str, Any]:
        known = matched(self._world, found)
        show = known if isinstance(known, Show) else None
        ids = {key.capitalize(): value for key, value in found.ids.items()}
        if show:
            ids |= {"Tvdb": str(show.tvdb), "Tmdb": str(show.tmdb), "Imdb": show.imdb}
        title, year = (show.title, show.year) if show else (found.title, found.year)
        root = self._shelf.roots()["shows"]
        facts = {"ProductionYear": year, "ProviderIds": ids, "Path": found.folder, "ParentId": _code(root)}
        return {**_row("Series", title, found.folder), **facts}


def _season(found: Found) -> dict[str, Any]:
    path = f"{found.folder}/{found.season}"
    facts: dict[str, Any] = {
        "SeriesId": _code(found.folder),
        "IndexNumber": found.season,
        "SeriesName": found.title,
        "ProviderIds": {},
    }
    return {
        **_row("Season", f"Season {found.season}", path),
        **facts,
        "Path": str(PurePosixPath(found.path).parent),
    }


def _episode(found: Found) -> dict[str, Any]:
    row = {
        **_row("Episode", f"Episode {found.episodes[0]}", found.path),
        "SeriesName": found.title,
        "SeriesId": _code(found.folder),
        "SeasonId": _code(f"{found.folder}/{found.season}"),
        "ParentIndexNumber": found.season,
        "IndexNumber": found.episodes[0],
        "ProviderIds": {},
        **_file(found),
    }
    if len(found.episodes) > 1:
        row["IndexNumberEnd"] = found.episodes[-1]
    return row


def _row(kind: str, name: str, word: str) -> dict[str, Any]:
    return {
        "Name": name,
        "ServerId": SERVER_ID,
        "Id": _code(word),
        "Type": kind,
        "LocationType": "FileSystem",
    }


def _file(found: Found) -> dict[str, Any]:
    container = PurePosixPath(found.path).suffix.lstrip(".")
    source = {
        "Protocol": "File",
        "Id": _code(found.path),
        "Path": found.path,
        "Type": "Default",
        "Size": found.size,
    }
    return {
        "MediaType": "Video",
        "Container": container,
        "Path": found.path,
        "MediaSources": [{**source, "Container": container, "MediaStreams": []}],
    }


def _listing(rows: list[dict[str, Any]]) -> Response:
    """Return a page; Path, ProviderIds and MediaSources come only when asked for."""
    start = whole(_arg("startIndex"), 0)
    limit = whole(_arg("limit"), len(rows))
    fields = {name.strip().lower() for name in (_arg("fields") or "").split(",")}
    hidden = {"Path", "ProviderIds", "MediaSources"} - {
        name for name in ("Path", "ProviderIds", "MediaSources") if name.lower() in fields
    }
    part = [
        {name: value for name, value in row.items() if name not in hidden}
        for row in rows[start : start + limit]
    ]
    return json_reply({"Items": part, "TotalRecordCount": len(rows), "StartIndex": start})


def _arg(name: str) -> str | None:
    """Return a query value; its name may be in any case."""
    return next((value for key, value in request.args.items() if key.lower() == name.lower()), None)


def _flag(name: str) -> bool:
    return (_arg(name) or "").lower() == "true"


def _code(word: str) -> str:
    return hashlib.md5(word.encode(), usedforsecurity=False).hexdigest()
