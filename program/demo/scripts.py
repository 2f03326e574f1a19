"""Debrid services whose one torrent and whose refusals a case makes up, for what the stand-ins cannot be told to do.

A script answers in its service's protocol. `refusals`: by call (`unrestrict`, `addMagnet`, …) the (status, body) that it is
answered with as long as it stands there; `leads_to`: by link, what unlocking it answers beside its address.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from program.demo.servers.wire import HANG_UP, Answer, Request, WireServer

Body = Mapping[str, Any]
CDN = "https://cdn.test"


@dataclass(slots=True, kw_only=True)
class Script:
    """What every script knows. files: (path, size); tree: files as the service nests them, where it does.

    states: what the torrent is said to be at the looks that follow one another. drops: the call whose connection breaks, once.
    """

    files: Sequence[tuple[str, int]]
    links: Sequence[str]
    tree: Sequence[Body] = ()
    name: str = "Case"
    refusals: dict[str, tuple[int, Body]] = field(default_factory=dict)
    leads_to: dict[str, Body] = field(default_factory=dict)
    states: Sequence[str] = ()
    drops: str | None = None
    calls: list[str] = field(default_factory=list)
    account: dict[str, str] = field(default_factory=dict)
    selected: set[str] = field(default_factory=set)
    looks: int = 0

    def start(self) -> WireServer:
        """Start a server that answers so; to be stopped by the caller."""
        server = WireServer(self)
        server.start("script")
        return server

    def answer(self, request: Request) -> Answer:
        """Answer as the case says."""
        call = self.call_of(request)
        self.calls.append(call)
        if self.drops == call:
            self.drops = None
            return HANG_UP
        if call in self.refusals:
            return _json(self.refusals[call][1], self.refusals[call][0])
        return self.usual(call, request)

    def sent(self, request: Request, answer: Answer) -> None:
        """Need not be told."""

    def call_of(self, request: Request) -> str:
        """Return what the service's documentation calls the request."""
        raise NotImplementedError

    def usual(self, call: str, request: Request) -> Answer:
        """Return what the service answers when nothing is wrong."""
        raise NotImplementedError

    def added(self, infohash: str) -> str:
        """Return the id of a torrent just added."""
        torrent_id = str(len(self.account) + 1)
        self.account[torrent_id] = infohash
        return torrent_id

    def size_of(self, name: str) -> int:
        """Return the size of the file of that name, 0 when there is none."""
        return next((size for path, size in self.files if path.rpartition("/")[2] == name), 0)

    def unlocked(self, link: str) -> dict[str, Any]:
        """Return what a link leads to: what the case says, else the file at its place."""
        told = dict(self.leads_to.get(link, {}))
        place = self.links.index(link) if link in self.links else 0
        name = str(told.get("filename") or self.files[min(place, len(self.files) - 1)][0].rpartition("/")[2])
        return {"filename": name, "filesize": self.size_of(name), **told}


class RealDebridScript(Script):
    """Real-Debrid."""

    def call_of(self, request: Request) -> str:
        """Return the last word of the path that is no id."""
        words = [word for word in request.path.split("/") if word and not word.isdigit()]
        if words[-2:-1] == ["unrestrict"]:
            return "unrestrict"
        return words[-1]

    def usual(self, call: str, request: Request) -> Answer:
        """Answer for one torrent that is held."""
        form, word = dict(parse_qsl(request.body.decode())), request.path.rpartition("/")[2]
        match call:
            case "torrents" if self.account and request.query.get("page") == "1":
                return _json([self._row(torrent_id) for torrent_id in reversed(self.account)])
            case "addMagnet":
                return _json({"id": self.added(form["magnet"].rpartition(":")[2][:40]), "uri": ""}, 201)
            case "info":
                return _json(self._info(word))
            case "unrestrict":
                found = self.unlocked(form["link"])
                return _json({"id": "x", "download": f"{CDN}/{form['link']}", **found})
            case "selectFiles":
                self.selected = set(form["files"].split(","))
            case "delete":
                self.account.pop(word, None)
        return Answer(status=204)

    def _row(self, torrent_id: str) -> dict[str, Any]:
        state = "downloaded" if self.selected else "waiting_files_selection"
        return {"id": torrent_id, "hash": self.account[torrent_id], "filename": self.name, "status": state}

    def _info(self, torrent_id: str) -> dict[str, Any]:
        if torrent_id not in self.account:
            return {"id": torrent_id, "hash": "", "status": "error"}
        row = self._row(torrent_id)
        if not self.selected and self.looks < len(self.states):
            row["status"] = self.states[self.looks]
            self.looks += 1
        files = [
            {"id": number, "path": f"/{path}", "bytes": size, "selected": int(str(number) in self.selected)}
            for number, (path, size) in enumerate(self.files, 1)
        ]
        return {**row, "files": files, "links": [*self.links] if self.selected else []}


class AllDebridScript(Script):
    """AllDebrid."""

    def call_of(self, request: Request) -> str:
        """Return the last word of the path; `unrestrict` for what is called unlock there."""
        word = request.path.rpartition("/")[2]
        return {"unlock": "unrestrict", "upload": "addMagnet"}.get(word, word)

    def usual(self, call: str, request: Request) -> Answer:
        """Answer for one torrent that is held."""
        form = dict(parse_qsl(request.body.decode()))
        match call:
            case "status":
                rows = [
                    {
                        "id": torrent_id,
                        "hash": infohash,
                        "filename": self.name,
                        "status": "Ready",
                        "statusCode": 4,
                    }
                    for torrent_id, infohash in self.account.items()
                ]
                return _success({"magnets": rows})
            case "addMagnet":
                infohash = form["magnets[]"].rpartition(":")[2][:40]
                sent = {"id": self.added(infohash), "hash": infohash, "name": self.name, "ready": True}
                return _success({"magnets": [sent]})
            case "files":
                return _success({"magnets": [{"id": form["id[]"], "files": [*(self.tree or self._tree())]}]})
            case "delete":
                self.account.pop(form["id"], None)
                return _success({"message": "deleted"})
            case "unrestrict":
                found = self.unlocked(form["link"])
                return _success({"link": f"{CDN}/{form['link']}", **found})
        return _json({"status": "error", "error": {"code": "404", "message": "no such endpoint"}}, 404)

    def _tree(self) -> list[dict[str, Any]]:
        root: list[dict[str, Any]] = []
        for (path, size), link in zip(self.files, self.links, strict=False):
            *folders, name = path.split("/")
            leaf: dict[str, Any] = {"n": name, "s": size, "l": link}
            for folder in reversed(folders):
                leaf = {"n": folder, "e": [leaf]}
            root.append(leaf)
        return root


SCRIPTS: Mapping[str, type[Script]] = {"realdebrid": RealDebridScript, "alldebrid": AllDebridScript}


def _success(data: Body) -> Answer:
    return _json({"status": "success", "data": data})


def _json(payload: object, status: int = 200) -> Answer:
    headers = (("Content-Type", "application/json"),)
    return Answer(status=status, headers=headers, body=json.dumps(payload).encode())
