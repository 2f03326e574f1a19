"""AllDebrid, v4 and v4.1: magnets, their trees of files and links, unlocking, with its errors in answers of 200 and its limits."""

import re
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, request

from program.demo.catalog import ReleaseFile
from program.demo.servers.magnets import DELETED, READY, STATES, Magnet, Magnets
from program.demo.servers.replies import json_reply, routed
from program.demo.servers.world import World

VERSIONS = ("/v4", "/v4.1")
_HASH = re.compile(r"(?:xt=urn:btih:|^)([0-9a-fA-F]{40})(?![0-9a-fA-F])")
MAX_ACTIVE, MAX_MAGNETS = 30, 1000
MESSAGES = {
    "404": "Endpoint doesn't exist",
    "AUTH_MISSING_APIKEY": "The auth apikey was not sent",
    "AUTH_BAD_APIKEY": "The auth apikey is invalid",
    "MAGNET_INVALID_ID": "This magnet ID does not exists or is invalid",
    "MAGNET_INVALID_URI": "Magnet is not valid",
    "MAGNET_NO_URI": "No magnet sent",
    "MAGNET_TOO_MANY_ACTIVE": "Already have maximum allowed active magnets (30)",
    "MAGNET_TOO_MANY": "Too many magnets (max 1000)",
    "LINK_IS_MISSING": "No link was sent",
    "LINK_HOST_NOT_SUPPORTED": "This host or link is not supported",
    "LINK_DOWN": "This link is not available on the file hoster website",
    "GENERIC": "An error occured",
}


def create_app(world: World, magnets: Magnets, cdn_root: str) -> Flask:
    """Return the AllDebrid stand-in; unlocked links point at `cdn_root`."""
    service = _AllDebrid(world, magnets, cdn_root)
    app = Flask("alldebrid")
    app.before_request(service.admit)
    app.register_error_handler(404, lambda _: _error("404", 404))
    app.register_error_handler(405, lambda _: _error("404", 404))
    calls = {
        "ping": service.ping,
        "user": service.user,
        "magnet/upload": service.upload,
        "magnet/files": service.files,
        "magnet/delete": service.delete,
        "link/unlock": service.unlock,
        "link/infos": service.infos,
    }
    places = [(f"{version}/{path}", view) for version in VERSIONS for path, view in calls.items()]
    places.append(("/v4.1/magnet/status", service.status))
    return routed(app, *((method, path, view) for path, view in places for method in ("GET", "POST")))


class _AllDebrid:
    def __init__(self, world: World, magnets: Magnets, cdn_root: str) -> None:
        self._world = world
        self._magnets = magnets
        self._cdn_root = cdn_root

    def admit(self) -> Response | None:
        if request.path.endswith("/ping"):
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ") or request.values.get(
            "apikey"
        )
        if not given:
            return _error("AUTH_MISSING_APIKEY", 401)
        if given != self._world.keys.alldebrid:
            return _error("AUTH_BAD_APIKEY", 401)
        return None if self._magnets.admit() else _error("GENERIC", 429)

    def ping(self) -> Response:
        return _success({"ping": "pong"})

    def user(self) -> Response:
        told = {"username": "demo", "email": "demo@example.com", "isPremium": True, "isSubscribed": False}
        more = {"isTrial": False, "premiumUntil": 4_070_908_800, "lang": "en", "preferedDomain": "com"}
        return _success({"user": {**told, **more, "fidelityPoints": 100, "limitedHostersQuotas": {}}})

    def upload(self) -> Response:
        sent = request.values.getlist("magnets[]")
        if not sent:
            return _error("MAGNET_NO_URI")
        return _success({"magnets": [self._upload(one) for one in sent]})

    def _upload(self, magnet: str) -> dict[str, Any]:
        found = _HASH.search(magnet)
        if found is None:
            return {"magnet": magnet, "error": _trouble("MAGNET_INVALID_URI")}
        if self._magnets.active() >= MAX_ACTIVE:
            return {"magnet": magnet, "error": _trouble("MAGNET_TOO_MANY_ACTIVE")}
        if len(self._magnets.all()) >= MAX_MAGNETS:
            return {"magnet": magnet, "error": _trouble("MAGNET_TOO_MANY")}
        made = self._magnets.add(found.group(1).lower())
        told = {"magnet": magnet, "hash": made.infohash, "name": made.name, "size": self._size(made)}
        return {**told, "ready": self._magnets.state(made) == READY, "id": made.id}

    def status(self) -> Response:
        wanted = request.values.get("id")
        if wanted is None:
            return _success({"magnets": [self._row(one) for one in self._magnets.all()]})
        magnet = self._magnets.find(wanted)
        if magnet is None:
            return _error("MAGNET_INVALID_ID")
        files = self._tree(magnet) if self._magnets.state(magnet) == READY else []
        # One that is asked for by its id comes as an object, not as a list of one.
        return _success({"magnets": {**self._row(magnet), "files": files}})

    def files(self) -> Response:
        return _success({"magnets": [self._files(one) for one in request.values.getlist("id[]")]})

    def _files(self, magnet_id: str) -> dict[str, Any]:
        magnet = self._magnets.find(magnet_id)
        if magnet is None:
            return {"id": magnet_id, "error": _trouble("MAGNET_INVALID_ID")}
        return {"id": magnet_id, "files": self._tree(magnet) if self._magnets.state(magnet) == READY else []}

    def delete(self) -> Response:
        magnet = self._magnets.find(request.values.get("id"))
        if magnet is None:
            return _error("MAGNET_INVALID_ID")
        self._magnets.remove(magnet)
        return _success({"message": "Magnet was successfully deleted"})

    def infos(self) -> Response:
        return _success({"infos": [self._info(link) for link in request.values.getlist("link[]")]})

    def _info(self, link: str) -> dict[str, Any]:
        found = self._magnets.behind(link)
        if found is None:
            return {"link": link, "error": _trouble("LINK_DOWN")}
        told = {"link": link, "filename": found[1].name, "size": self._magnets.size_of(found[1])}
        return {**told, "host": "alldebrid", "hostDomain": "alldebrid.com"}

    def unlock(self) -> Response:
        link = request.values.get("link")
        if not link:
            return _error("LINK_IS_MISSING")
        if "/f/" not in link:
            return _error("LINK_HOST_NOT_SUPPORTED")
        found = self._magnets.unlock(link)
        if found is None:
            return _error("LINK_DOWN")
        file, made = found
        address = f"{self._cdn_root}/d/{made.id}/{quote(made.name, safe='')}"
        told = {"link": address, "host": "magnet", "hostDomain": "alldebrid.com", "filename": made.name}
        size = self._magnets.size_of(file)
        return _success({**told, "filesize": size, "id": made.id, "paws": False, "streams": [], "path": ""})

    def _row(self, magnet: Magnet) -> dict[str, Any]:
        state, added = self._magnets.state(magnet), int(magnet.added.timestamp())
        size = self._size(magnet)
        row = {"id": magnet.id, "filename": magnet.name, "size": size, "hash": magnet.infohash, "type": "m"}
        row |= {"status": STATES[state], "statusCode": state, "uploadDate": added}
        if state in (READY, DELETED):
            return {**row, "completionDate": added}
        return {**row, "completionDate": 0, "downloaded": 0, "seeders": 3, "downloadSpeed": 1000}

    def _size(self, magnet: Magnet) -> int:
        return sum(self._magnets.size_of(file) for file in (magnet.release.files if magnet.release else ()))

    def _tree(self, magnet: Magnet) -> list[dict[str, Any]]:
        """Return the files as folders within folders, beneath the torrent's own folder when it has one."""
        files = magnet.release.files if magnet.release else ()
        root: list[dict[str, Any]] = []
        for file in files:
            folder = root
            own = [magnet.name] if len(files) > 1 else []
            *folders, name = (*own, *file.path.split("/"))
            for part in folders:
                folder = _folder(folder, part)
            folder.append(self._leaf(magnet, file, name))
        return root

    def _leaf(self, magnet: Magnet, file: ReleaseFile, name: str) -> dict[str, Any]:
        return {"n": name, "s": self._magnets.size_of(file), "l": self._magnets.link_of(magnet, file)}


def _folder(within: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return what is in a folder, made when there is none of that name."""
    found = next((one for one in within if one["n"] == name and "e" in one), None)
    if found is None:
        found = {"n": name, "e": []}
        within.append(found)
    inside: list[dict[str, Any]] = found["e"]
    return inside


def _success(data: dict[str, Any]) -> Response:
    return json_reply({"status": "success", "data": data})


def _trouble(code: str) -> dict[str, str]:
    return {"code": code, "message": MESSAGES.get(code, code)}


def _error(code: str, status: int = 200) -> Response:
    return json_reply({"status": "error", "error": _trouble(code)}, status)
