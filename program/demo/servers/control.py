"""The control server: what tests ask of the stand-ins and tell them. Its own requests are not counted.

    GET  /requests?provider=&since=   {"requests": [{n, provider, method, path, range, time, status, fault, …}]}
    GET  /counts                      {"tmdb": 3, …}
    GET  /faults                      {"faults": [{id, kind, …, matched, fired}]}
    POST /faults                      one fault, see `faults.Fault`: {provider, path, kind, …} -> {"id"}
    DELETE /faults[/ID]               {"removed": n}
    POST /kill                        {"at": n, "when": "before" | "after" | "lost", "pid" or "pid_file"}; 1: the next
                                      with "provider", "method" or "path" (a regular expression) only such requests count
    GET  /kill, DELETE /kill          {"planned", "fired", "seen", "request"}
    GET  /catalog                     {"films", "shows", "releases": [{name, infohash, imdb, right, availability, published, note}]}
    POST /catalog                     one change, see `changes.py`; also {"op": "request", …}, below
    GET  /origins                     {"files": [{infohash, release, path, kind, season, episode, imdb, right, size, sha256, …}]}
    POST /expire                      {} all CDN links of every provider now, or {"after_bytes": n} in the middle of the next read
    GET  /account                     {"torrents": [{id, hash, status, selected, filename, added}]}: Real-Debrid's
    POST /account/remove              {"id": …}: Real-Debrid has lost a torrent
    GET  /magnets?provider=           {"magnets": [{id, hash, status, filename}]}: AllDebrid's, or TorBox's
    GET  /library                     {"plex": [{path, ids, season, episodes, size, …}], "jellyfin": […]}
    GET  /wishes                      {"requests": [{id, type, tmdb, seasons, status, media_status}]}
    GET  /options, POST /options      the knobs of `world.Options`, and "latency": {"cdn": 0.04}
    POST /mount                       {"path": …}: where the media servers look
    POST /reset                       everything as at the start: catalog, account, links, library, requests, faults, log

A request app's request: {"op": "request", "media_type": "movie" | "tv", "tmdb": …, "seasons"?: [1], "tvdb"?: … | null,
"status"?: "approved" | "pending", "webhook"?: {"url", "authorization"?}}. A wrong call answers 400 with {"detail"}.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask, Response, request

from program.demo.servers import desk as desk_values
from program.demo.servers.account import Account, root_of
from program.demo.servers.cdn import Cdn
from program.demo.servers.changes import apply_change
from program.demo.servers.desk import Desk
from program.demo.servers.faults import FaultPlan
from program.demo.servers.journal import MOMENTS, KillPlan
from program.demo.servers.magnets import STATES, Magnets
from program.demo.servers.replies import json_reply, routed, whole
from program.demo.servers.shelf import Shelf
from program.demo.servers.world import World


class Control:
    """What the control server can reach."""

    def __init__(
        self,
        world: World,
        faults: FaultPlan,
        account: Account,
        magnets: Mapping[str, Magnets],
        cdn: Cdn,
        desk: Desk,
        shelves: tuple[Shelf, ...],
    ) -> None:
        self._world = world
        self._faults = faults
        self._account = account
        self._magnets = magnets
        self._cdn = cdn
        self._desk = desk
        self._shelves = shelves

    def app(self) -> Flask:
        """Return the application."""
        app = Flask("control")
        for mistake in (ValueError, KeyError, TypeError, StopIteration):
            app.register_error_handler(
                mistake, lambda error: json_reply({"detail": f"{type(error).__name__}: {error}"}, 400)
            )
        app.register_error_handler(404, lambda _: json_reply({"detail": "not found"}, 404))
        return routed(
            app,
            ("GET", "/requests", self.requests),
            ("GET", "/counts", lambda: json_reply(self._world.journal.counts())),
            ("GET", "/faults", lambda: json_reply({"faults": self._faults.listing()})),
            ("POST", "/faults", lambda: json_reply({"id": self._faults.add(_body())}, 201)),
            ("DELETE", "/faults", lambda: json_reply({"removed": self._faults.remove()})),
            (
                "DELETE",
                "/faults/<int:fault_id>",
                lambda fault_id: json_reply({"removed": self._faults.remove(fault_id)}),
            ),
            ("GET", "/kill", lambda: json_reply(self._world.journal.plan_state())),
            ("POST", "/kill", self.plan_kill),
            ("DELETE", "/kill", self.forget_kill),
            ("GET", "/catalog", self.catalog),
            ("POST", "/catalog", self.change),
            ("GET", "/origins", self.origins),
            ("POST", "/expire", self.expire),
            ("GET", "/account", self.account),
            ("POST", "/account/remove", self.lose),
            ("GET", "/magnets", self.magnets),
            ("GET", "/library", lambda: json_reply({shelf.name: shelf.public() for shelf in self._shelves})),
            ("GET", "/wishes", self.wishes),
            ("GET", "/options", self.options),
            ("POST", "/options", self.set_options),
            ("POST", "/mount", self.mount),
            ("POST", "/reset", self.reset),
        )

    def requests(self) -> Response:
        """Return the log."""
        since = whole(request.args.get("since"), 0)
        return json_reply({"requests": self._world.journal.entries(request.args.get("provider"), since)})

    def plan_kill(self) -> Response:
        """Plan a kill."""
        body = _body()
        at, when, pid, pid_file = body.get("at"), body.get("when"), body.get("pid"), body.get("pid_file")
        if not isinstance(at, int) or at < 1 or when not in MOMENTS or not (isinstance(pid, int) or pid_file):
            raise ValueError(f"a plan needs at (from 1), when ({', '.join(MOMENTS)}) and pid or pid_file")
        alike = {name: body[name] for name in ("provider", "method", "path") if name in body}
        self._world.journal.plan(KillPlan(at, when, pid, Path(pid_file) if pid_file else None, **alike))
        return json_reply(self._world.journal.plan_state(), 201)

    def forget_kill(self) -> Response:
        """Take the plan back."""
        self._world.journal.plan(None)
        return json_reply(self._world.journal.plan_state())

    def catalog(self) -> Response:
        """Return what exists."""
        with self._world.lock:
            catalog = self._world.catalog
            films = [
                {"title": one.title, "year": one.year, "tmdb": one.tmdb, "imdb": one.imdb}
                for one in catalog.films.values()
            ]
            shows = [
                {
                    "title": show.title,
                    "year": show.year,
                    "tvdb": show.tvdb,
                    "tmdb": show.tmdb,
                    "imdb": show.imdb,
                    "episodes": [
                        {
                            "season": one.season,
                            "number": one.number,
                            "aired": one.aired.isoformat() if one.aired else None,
                        }
                        for one in show.episodes
                    ],
                }
                for show in catalog.shows.values()
            ]
            names = ("name", "infohash", "imdb", "right", "availability", "published", "seeders", "note")
            releases = [{name: getattr(one, name) for name in names} for one in catalog.releases.values()]
        return json_reply({"films": films, "shows": shows, "releases": releases})

    def change(self) -> Response:
        """Change what exists, or let somebody ask for a title."""
        body = _body()
        return (
            self._wish(body) if body.get("op") == "request" else json_reply(apply_change(self._world, body))
        )

    def origins(self) -> Response:
        """Return every file with its true size and hash."""
        with self._world.lock:
            pairs = [
                (release, file) for release in self._world.catalog.releases.values() for file in release.files
            ]
        rows = []
        for release, file in pairs:
            clip = self._world.clips.clip(file.clip)
            facts = {
                "release": release.name,
                "infohash": release.infohash,
                "imdb": release.imdb,
                "right": release.right,
            }
            place = {"path": file.path, "kind": file.kind, "season": file.season, "episode": file.episode}
            rows.append({**facts, **place, "size": clip.size, "sha256": clip.sha256, "seconds": clip.seconds})
        return json_reply({"files": rows})

    def expire(self) -> Response:
        """Let links expire."""
        after = (request.get_json(silent=True) or {}).get("after_bytes")
        if after is None:
            both = (self._account.addresses, *(one.addresses for one in self._magnets.values()))
            return json_reply({"expired": sum(addresses.expire_all() for addresses in both)})
        self._cdn.expire_in_next_read(int(after))
        return json_reply({"after_bytes": int(after)})

    def account(self) -> Response:
        """Return the torrents of the account, newest first."""
        rows = [
            {
                "id": one.id,
                "hash": one.infohash,
                "status": self._account.status(one),
                "filename": root_of(one),
                "selected": [file.path for file in one.chosen()],
                "added": one.added.isoformat(),
            }
            for one in self._account.torrents()
        ]
        return json_reply({"torrents": rows})

    def lose(self) -> Response:
        """Take a torrent off the account without its user."""
        torrent = self._account.find(str(_body()["id"]))
        if torrent is not None:
            self._account.remove(torrent)
        return json_reply({"removed": torrent is not None})

    def magnets(self) -> Response:
        """Return the entries of another account, newest first."""
        magnets = self._magnets[request.args.get("provider", "alldebrid")]
        rows = [
            {
                "id": one.id,
                "hash": one.infohash,
                "status": STATES[magnets.state(one)],
                "filename": one.name,
            }
            for one in magnets.all()
        ]
        return json_reply({"magnets": rows})

    def wishes(self) -> Response:
        """Return the requests of the request app, newest first."""
        rows = [
            {
                "id": one.id,
                "type": one.media.kind,
                "tmdb": one.media.tmdb,
                "seasons": list(one.seasons),
                "status": one.status,
                "media_status": one.media.status,
            }
            for one in self._desk.wishes()
        ]
        return json_reply({"requests": rows})

    def options(self) -> Response:
        """Return the knobs."""
        return json_reply({**self._world.options.public(), "latency": dict(self._world.latency)})

    def set_options(self) -> Response:
        """Turn knobs."""
        body = _body()
        latency = body.pop("latency", {})
        self._world.options.change(body)
        self._world.latency.update({str(name): float(seconds) for name, seconds in latency.items()})
        return self.options()

    def mount(self) -> Response:
        """Tell the media servers where to look."""
        self._world.mount_root = str(_body()["path"])
        return json_reply({"path": self._world.mount_root})

    def reset(self) -> Response:
        """Bring everything back to the start."""
        self._faults.remove()
        self._account.clear()
        for magnets in self._magnets.values():
            magnets.clear()
        self._desk.clear()
        for shelf in self._shelves:
            shelf.clear()
        self._world.reset()
        self._world.journal.clear()
        return json_reply({"reset": True})

    def _wish(self, body: dict[str, Any]) -> Response:
        kind, tmdb = body["media_type"], body["tmdb"]
        with self._world.lock:
            show = self._world.catalog.show_by(tmdb=tmdb) if kind == "tv" else None
        regular = tuple(number for number in show.season_numbers if number) if show else ()
        wish = self._desk.add(
            kind,
            tmdb,
            seasons=tuple(body.get("seasons", regular)) if kind == "tv" else (),
            tvdb=body.get("tvdb", show.tvdb if show else None),
            status=desk_values.PENDING if body.get("status") == "pending" else desk_values.APPROVED,
        )
        hook = body.get("webhook")
        answered = self._desk.notify(wish, hook["url"], hook.get("authorization")) if hook else None
        return json_reply({"id": wish.id, "webhook_status": answered}, 201)


def _body() -> dict[str, Any]:
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    return body
