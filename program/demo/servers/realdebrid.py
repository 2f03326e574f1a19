"""Real-Debrid, REST 1.0: torrents, their files and links, unrestricting, with its errors and its limit per minute."""

import mimetypes
import re
from typing import Any, TypeVar
from urllib.parse import quote

from flask import Flask, Response, request

from program.demo.catalog import INFRINGING
from program.demo.servers.account import DONE, LINK_BASE, Account, Torrent, root_of
from program.demo.servers.replies import empty_reply, json_reply, routed, whole
from program.demo.servers.world import World

API = "/rest/1.0"
_OPEN = (f"{API}/time", f"{API}/time/iso")
_HASH = re.compile(r"xt=urn:btih:([0-9a-fA-F]{40})(?![0-9a-fA-F])")
R = TypeVar("R")
DEFAULT_LIMIT, MAX_LIMIT = 100, 5000


def create_app(world: World, account: Account, cdn_root: str) -> Flask:
    """Return the Real-Debrid stand-in; unrestricted links point at `cdn_root`."""
    service = _RealDebrid(world, account, cdn_root)
    app = Flask("realdebrid")
    app.before_request(service.admit)
    app.after_request(_tagged)
    app.register_error_handler(404, lambda _: _error("unknown_method", 3, 404))
    app.register_error_handler(405, lambda _: _error("method_not_allowed", 4, 405))
    return routed(
        app,
        ("GET", f"{API}/time", service.time),
        ("GET", f"{API}/time/iso", service.time_iso),
        ("GET", f"{API}/user", service.user),
        ("GET", f"{API}/torrents", service.torrents),
        ("GET", f"{API}/torrents/info/<torrent_id>", service.info),
        ("GET", f"{API}/torrents/activeCount", service.active_count),
        ("GET", f"{API}/torrents/availableHosts", service.hosts),
        ("GET", f"{API}/torrents/instantAvailability/<path:hashes>", service.instant_availability),
        ("POST", f"{API}/torrents/addMagnet", service.add_magnet),
        ("POST", f"{API}/torrents/selectFiles/<torrent_id>", service.select_files),
        ("DELETE", f"{API}/torrents/delete/<torrent_id>", service.delete),
        ("POST", f"{API}/unrestrict/check", service.check),
        ("POST", f"{API}/unrestrict/link", service.unrestrict),
        ("GET", f"{API}/downloads", service.downloads),
        ("DELETE", f"{API}/downloads/delete/<download_id>", service.delete_download),
        ("GET", f"{API}/traffic", service.traffic),
    )


class _RealDebrid:
    def __init__(self, world: World, account: Account, cdn_root: str) -> None:
        self._world = world
        self._account = account
        self._cdn_root = cdn_root

    def admit(self) -> Response | None:
        if request.path in _OPEN:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ") or request.args.get(
            "auth_token"
        )
        if given != self._world.keys.realdebrid:
            return _error("bad_token", 8, 401)
        return None if self._account.admit() else _error("too_many_requests", 34, 429)

    def time(self) -> Response:
        return Response(
            self._world.clock.now().strftime("%Y-%m-%d %H:%M:%S"), content_type="text/html; charset=utf-8"
        )

    def time_iso(self) -> Response:
        return Response(
            self._world.clock.now().isoformat(timespec="seconds"), content_type="text/html; charset=utf-8"
        )

    def user(self) -> Response:
        user = {
            "id": 1,
            "username": "demo",
            "email": "d***@example.com",
            "points": 100,
            "locale": "en",
            "avatar": "",
        }
        return json_reply(
            {**user, "type": "premium", "premium": 8_640_000, "expiration": "2099-02-03T04:05:06.000Z"}
        )

    def torrents(self) -> Response:
        rows = self._account.torrents()
        if request.args.get("filter") == "active":
            rows = self._account.active()
        part = _page(rows)
        return _listing([self._row(one) for one in part], len(rows))

    def info(self, torrent_id: str) -> Response:
        torrent = self._account.find(torrent_id)
        if torrent is None:
            return _unknown()
        row = self._full(torrent)
        self._account.look(torrent)
        return json_reply(row)

    def active_count(self) -> Response:
        active = self._account.active()
        limit = self._world.options.realdebrid_active_limit
        return json_reply({"nb": len(active), "limit": limit, "list": [one.infohash for one in active]})

    def hosts(self) -> Response:
        return json_reply([{"host": "real-debrid.com", "max_file_size": 2000}])

    def instant_availability(self, hashes: str) -> Response:  # noqa: ARG002 (it is switched off for any hash)
        return _error("disabled_endpoint", 37, 403)

    def add_magnet(self) -> Response:
        magnet = request.form.get("magnet")
        if not magnet:
            return _error("parameter_missing", 1, 400)
        found = _HASH.search(magnet)
        if found is None:
            return _error("wrong_parameter", 2, 400)
        infohash = found.group(1).lower()
        release = self._world.catalog.find_release(infohash)
        if release is not None and release.availability == INFRINGING:
            return _error("infringing_file", 35, 451)
        if len(self._account.active()) >= self._world.options.realdebrid_active_limit:
            return _error("too_many_active_downloads", 21, 509)
        torrent = self._account.add(infohash)
        return json_reply(
            {"id": torrent.id, "uri": f"https://api.real-debrid.com{API}/torrents/info/{torrent.id}"}, 201
        )

    def select_files(self, torrent_id: str) -> Response:
        torrent = self._account.find(torrent_id)
        if torrent is None:
            return _unknown()
        wanted = request.form.get("files")
        if not wanted:
            return _error("parameter_missing", 1, 400)
        if torrent.selected_at is not None:
            return empty_reply(202)
        if self._account.status(torrent) != "waiting_files_selection" or torrent.release is None:
            return _error("wrong_parameter", 2, 400)
        numbers = _file_numbers(wanted, len(torrent.release.files))
        if numbers is None:
            return _unknown()
        self._account.select(torrent, numbers)
        return empty_reply()

    def delete(self, torrent_id: str) -> Response:
        torrent = self._account.find(torrent_id)
        if torrent is None:
            return _unknown()
        self._account.remove(torrent)
        return empty_reply()

    def check(self) -> Response:
        found = self._account.unrestrict(request.form.get("link", ""))
        if found is None:
            return _error("file_unavailable", 24, 503)
        host = {"host": "real-debrid.com", "host_icon": "", "host_icon_big": "", "link": found.link}
        return json_reply({**host, "filename": found.name, "filesize": found.announced, "supported": 1})

    def unrestrict(self) -> Response:
        link = request.form.get("link")
        if not link:
            return _error("parameter_missing", 1, 400)
        if not link.startswith(LINK_BASE):
            return _error("hoster_unsupported", 16, 503)
        release = self._world.catalog.find_release(self._account.infohash_of(link) or "")
        if release is not None and release.availability == INFRINGING:
            return _error("infringing_file", 35, 503)
        found = self._account.unrestrict(link)
        if found is None:
            return _error("file_unavailable", 24, 503)
        row = {
            "id": found.made.id,
            "filename": found.name,
            "mimeType": _mime(found.name),
            "filesize": found.announced,
            "link": found.link,
            "host": "real-debrid.com",
            "host_icon": "https://fcdn.real-debrid.com/0830/images/hosters/realdebrid.png",
            "chunks": 32,
            "crc": 1,
            "download": f"{self._cdn_root}/d/{found.made.id}/{_quoted(found.name)}",
            "streamable": 1,
        }
        self._account.keep_download(
            {**row, "generated": _stamp(self._world.clock.now().isoformat(timespec="milliseconds"))}
        )
        return json_reply(row)

    def downloads(self) -> Response:
        rows = self._account.downloads()
        return _listing(_page(rows), len(rows))

    def delete_download(self, download_id: str) -> Response:
        return empty_reply() if self._account.forget_download(download_id) else _unknown()

    def traffic(self) -> Response:
        return json_reply(
            {
                "real-debrid.com": {
                    "left": 0,
                    "bytes": 0,
                    "links": 0,
                    "limit": 0,
                    "type": "gigabytes",
                    "extra": 0,
                    "reset": "daily",
                }
            }
        )

    def _row(self, torrent: Torrent) -> dict[str, Any]:
        """Return an entry as the list shows it."""
        status = self._account.status(torrent)
        chosen = sum(self._account.size_of(file) for file in torrent.chosen())
        row: dict[str, Any] = {
            "id": torrent.id,
            "filename": root_of(torrent),
            "hash": torrent.infohash,
            "bytes": chosen or self._whole_size(torrent),
            "host": "real-debrid.com",
            "split": 2000,
            "progress": self._account.progress(torrent),
            "status": status,
            "added": _stamp(torrent.added.isoformat(timespec="milliseconds")),
            "links": self._account.links(torrent),
        }
        if row["progress"] >= DONE and torrent.selected_at:
            row["ended"] = _stamp(torrent.selected_at.isoformat(timespec="milliseconds"))
        if status == "downloading":
            row |= {"speed": 12_000_000, "seeders": 5}
        if status == "magnet_conversion":
            row["seeders"] = 0
        return row

    def _full(self, torrent: Torrent) -> dict[str, Any]:
        known = torrent.release is not None and self._account.status(torrent) != "magnet_conversion"
        files = torrent.release.files if torrent.release and known else ()
        return self._row(torrent) | {
            "original_filename": root_of(torrent),
            "original_bytes": self._whole_size(torrent),
            "files": [
                {
                    "id": number,
                    "path": f"/{file.path}",
                    "bytes": self._account.size_of(file),
                    "selected": int(number in torrent.selected),
                }
                for number, file in enumerate(files, start=1)
            ],
        }

    def _whole_size(self, torrent: Torrent) -> int:
        files = torrent.release.files if torrent.release else ()
        return sum(self._account.size_of(file) for file in files)


def _error(slug: str, code: int, status: int) -> Response:
    return json_reply({"error": slug, "error_code": code}, status)


def _unknown() -> Response:
    return _error("unknown_ressource", 7, 404)


def _page(rows: list[R]) -> list[R]:
    """Return the part of a list that was asked for; `page` wins over `offset`."""
    limit = min(whole(request.args.get("limit"), DEFAULT_LIMIT), MAX_LIMIT)
    page = whole(request.args.get("page"), 0)
    start = (page - 1) * limit if page > 0 else whole(request.args.get("offset"), 0)
    return rows[start : start + limit]


def _listing(part: list[dict[str, Any]], total: int) -> Response:
    """Return a part of a list, or 204 with nothing when there is nothing."""
    return json_reply(part, X_Total_Count=str(total)) if part else empty_reply()


def _file_numbers(wanted: str, count: int) -> frozenset[int] | None:
    """Return the chosen numbers, None when one of them is no file's."""
    if wanted == "all":
        return frozenset(range(1, count + 1))
    words = wanted.split(",")
    if not all(word.isdigit() and 1 <= int(word) <= count for word in words):
        return None
    return frozenset(map(int, words))


def _tagged(response: Response) -> Response:
    """Add an ETag to what was read, and answer 304 to who has it already."""
    if request.method == "GET" and response.status_code == 200:  # noqa: PLR2004
        response.add_etag()
        response.make_conditional(request)
    return response


def _stamp(text: str) -> str:
    return text.replace("+00:00", "Z")


def _mime(name: str) -> str:
    if name.endswith(".mkv"):
        return "video/x-matroska"
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def _quoted(name: str) -> str:
    return quote(name, safe="")
