"""TorBox, v1: torrents, what is held, addresses of files; an envelope around every answer."""

import re
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, request

from program.demo.servers.magnets import READY, Magnet, Magnets
from program.demo.servers.replies import json_reply, routed, whole
from program.demo.servers.world import World

API = "/v1/api"
_HASH = re.compile(r"xt=urn:btih:([0-9a-fA-F]{40})(?![0-9a-fA-F])")
MAX_ACTIVE = 10


def create_app(world: World, magnets: Magnets, cdn_root: str) -> Flask:
    """Return the TorBox stand-in; addresses of files point at `cdn_root`."""
    service = _TorBox(world, magnets, cdn_root)
    app = Flask("torbox")
    app.before_request(service.admit)
    app.register_error_handler(404, lambda _: _refusal("ENDPOINT_NOT_FOUND", "Endpoint not found.", 404))
    return routed(
        app,
        ("GET", f"{API}/user/me", service.user),
        ("GET", f"{API}/torrents/mylist", service.my_list),
        ("GET", f"{API}/torrents/checkcached", service.check_cached),
        ("POST", f"{API}/torrents/createtorrent", service.create),
        ("POST", f"{API}/torrents/controltorrent", service.control),
        ("GET", f"{API}/torrents/requestdl", service.request_download),
    )


class _TorBox:
    def __init__(self, world: World, magnets: Magnets, cdn_root: str) -> None:
        self._world = world
        self._magnets = magnets
        self._cdn_root = cdn_root

    def admit(self) -> Response | None:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if request.path.endswith("/requestdl"):
            given = request.args.get("token", "")
        if given != self._world.keys.torbox:
            return _refusal("BAD_TOKEN", "Your token is invalid.", 403)
        return None

    def user(self) -> Response:
        return _success(
            {
                "id": 1,
                "email": "demo@example.com",
                "plan": 2,
                "is_subscribed": True,
                "premium_expires_at": None,
            }
        )

    def my_list(self) -> Response:
        wanted = request.args.get("id")
        if wanted is not None:
            magnet = self._magnets.find(wanted)
            return (
                _success(self._row(magnet))
                if magnet
                else _refusal("ITEM_NOT_FOUND", "Torrent not found.", 404)
            )
        rows, start = self._magnets.all(), whole(request.args.get("offset"), 0)
        part = rows[start : start + whole(request.args.get("limit"), 1000)]
        return _success([self._row(one) for one in part] or None)

    def check_cached(self) -> Response:
        hashes = [one for part in request.args.getlist("hash") for one in part.split(",")]
        held = {infohash: self._held(infohash) for infohash in hashes if self._magnets.holds(infohash)}
        return _success(held or None)

    def _held(self, infohash: str) -> dict[str, Any]:
        release = self._magnets.holds(infohash)
        files = release.files if release else ()
        name = release.name if release else ""
        told = [{"name": f"{name}/{file.path}", "size": self._magnets.size_of(file)} for file in files]
        return {"name": name, "size": sum(one["size"] for one in told), "hash": infohash, "files": told}

    def create(self) -> Response:
        found = _HASH.search(request.form.get("magnet", ""))
        if found is None:
            return _refusal("BOZO_TORRENT", "The magnet is not valid.", 400)
        infohash = found.group(1).lower()
        if request.form.get("add_only_if_cached") == "true" and self._magnets.holds(infohash) is None:
            return _refusal(None, "Torrent is not cached.", 200)
        if self._magnets.active() >= MAX_ACTIVE:
            data = {"active_limit": MAX_ACTIVE, "current_active_downloads": self._magnets.active()}
            return json_reply(
                {"success": False, "error": None, "detail": "Active limit reached.", "data": data}
            )
        made = self._magnets.add(infohash)
        told = {"torrent_id": made.id, "auth_id": "demo", "hash": infohash}
        return _success(told, "Found Cached Torrent. Using Cached Torrent.")

    def control(self) -> Response:
        body = request.get_json(silent=True) or {}
        if body.get("operation") != "delete":
            return _refusal("INVALID_OPTION", "Unknown operation.", 400)
        magnet = self._magnets.find(str(body.get("torrent_id")))
        if magnet is None:
            return _refusal("ITEM_NOT_FOUND", "Torrent not found.", 404)
        self._magnets.remove(magnet)
        return _success(None)

    def request_download(self) -> Response:
        magnet = self._magnets.find(request.args.get("torrent_id"))
        files = magnet.release.files if magnet and magnet.release else ()
        place = whole(request.args.get("file_id"), -1)
        if magnet is None or not 0 <= place < len(files) or self._magnets.state(magnet) != READY:
            return _refusal("ITEM_NOT_FOUND", "File not found.", 404)
        file = files[place]
        made = self._magnets.addresses.make(f"torbox-{magnet.id}-{place}", file.name, file.clip)
        return _success(f"{self._cdn_root}/d/{made.id}/{quote(made.name, safe='')}")

    def _row(self, magnet: Magnet) -> dict[str, Any]:
        is_ready = self._magnets.state(magnet) == READY
        files = magnet.release.files if magnet.release else ()
        row = {
            "id": magnet.id,
            "hash": magnet.infohash,
            "name": magnet.release.name if magnet.release else "",
        }
        row |= {
            "download_state": "cached" if is_ready else "metaDL",
            "progress": int(is_ready),
            "active": not is_ready,
        }
        row |= {"download_finished": is_ready, "download_present": is_ready}
        row |= {"created_at": magnet.added.strftime("%Y-%m-%dT%H:%M:%SZ"), "expires_at": None}
        # Files are numbered from zero, and their names begin with the torrent's own folder.
        told = [
            {
                "id": number,
                "name": f"{row['name']}/{file.path}",
                "short_name": file.name,
                "size": self._magnets.size_of(file),
                "zipped": False,
            }
            for number, file in enumerate(files)
        ]
        return {**row, "files": told if is_ready else None}


def _success(data: object, detail: str = "") -> Response:
    return json_reply({"success": True, "error": None, "detail": detail, "data": data})


def _refusal(code: str | None, detail: str, status: int) -> Response:
    return json_reply({"success": False, "error": code, "detail": detail, "data": None}, status)
