"""Overseerr 1.x: requests, their state, the titles' state. It refuses query parameters that it does not know."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, Response, request

from program.demo.servers import desk
from program.demo.servers.desk import USER, Desk, Media, Wish, stamp
from program.demo.servers.replies import empty_reply, json_reply, routed, whole
from program.demo.servers.world import World

API = "/api/v1"
_LIST_PARAMETERS = {"take", "skip", "filter", "sort", "requestedBy"}
_SORTS = ("added", "modified")
_OPEN_STATES = (desk.PENDING, desk.APPROVED)
_FILTERS: Mapping[str, Callable[[Wish], bool]] = {
    "all": lambda wish: True,  # noqa: ARG005 (it takes every request)
    "pending": lambda wish: wish.status == desk.PENDING,
    "approved": lambda wish: wish.status == desk.APPROVED,
    "processing": lambda wish: wish.status == desk.APPROVED and wish.media.status < desk.MEDIA_AVAILABLE,
    "available": lambda wish: wish.status == desk.APPROVED and wish.media.status == desk.MEDIA_AVAILABLE,
    "unavailable": lambda wish: wish.status in _OPEN_STATES and wish.media.status < desk.MEDIA_AVAILABLE,
    "failed": lambda wish: wish.status == desk.FAILED,
}


def create_app(world: World, requests: Desk) -> Flask:
    """Return the Overseerr stand-in."""
    service = _Overseerr(world, requests)
    app = Flask("overseerr")
    app.before_request(service.check_key)
    app.register_error_handler(404, lambda _: json_reply({"message": "not found"}, 404))
    app.register_error_handler(405, lambda _: json_reply({"message": "method not allowed"}, 405))
    return routed(
        app,
        ("GET", f"{API}/status", service.status),
        ("GET", f"{API}/auth/me", service.me),
        ("GET", f"{API}/request", service.listing),
        ("POST", f"{API}/request", service.create),
        ("GET", f"{API}/request/count", service.counts),
        ("GET", f"{API}/request/<int:wish_id>", service.one),
        ("DELETE", f"{API}/request/<int:wish_id>", service.delete),
        ("POST", f"{API}/request/<int:wish_id>/<verb>", service.decide),
        ("POST", f"{API}/media/<int:media_id>/<word>", service.set_media),
        ("GET", f"{API}/movie/<int:tmdb>", service.movie),
        ("GET", f"{API}/tv/<int:tmdb>", service.tv),
        ("GET", f"{API}/user/<int:user_id>/watchlist", service.watchlist),
    )


class _Overseerr:
    def __init__(self, world: World, requests: Desk) -> None:
        self._world = world
        self._desk = requests

    def check_key(self) -> Response | None:
        if request.path == f"{API}/status" or request.headers.get("X-Api-Key") == self._world.keys.overseerr:
            return None
        return json_reply({"status": 403, "error": "You do not have permission to access this endpoint"}, 403)

    def status(self) -> Response:
        flags = {"updateAvailable": False, "commitsBehind": 0, "restartRequired": False}
        return json_reply({"version": "1.34.0", "commitTag": "demo", **flags})

    def me(self) -> Response:
        return json_reply(USER)

    def listing(self) -> Response:
        refused = _refused_parameters()
        if refused is not None:
            return refused
        keep = _FILTERS[request.args.get("filter", "all")]
        wishes = [wish for wish in self._desk.wishes() if keep(wish)]
        take, skip = max(1, whole(request.args.get("take"), 10)), whole(request.args.get("skip"), 0)
        pages = -(-len(wishes) // take)
        info = {"pages": pages, "pageSize": take, "results": len(wishes), "page": skip // take + 1}
        return json_reply({"pageInfo": info, "results": [_wish(wish) for wish in wishes[skip : skip + take]]})

    def create(self) -> Response:
        body = request.get_json(silent=True)
        kind = body.get("mediaType") if isinstance(body, dict) else None
        if (
            not isinstance(body, dict)
            or kind not in ("movie", "tv")
            or not isinstance(body.get("mediaId"), int)
        ):
            return json_reply(
                {"message": "request body is wrong", "errors": [{"path": ".body", "message": "is wrong"}]},
                400,
            )
        show = self._world.catalog.show_by(tmdb=body["mediaId"]) if kind == "tv" else None
        seasons = self._seasons(body.get("seasons"), body["mediaId"]) if kind == "tv" else ()
        try:
            wish = self._desk.add(
                kind,
                body["mediaId"],
                seasons=seasons,
                tvdb=body.get("tvdbId") or (show.tvdb if show else None),
            )
        except ValueError as error:
            if kind == "tv":
                return json_reply({"message": "No seasons available to request"}, 202)
            return json_reply({"message": str(error)}, 409)
        return json_reply(_wish(wish), 201)

    def counts(self) -> Response:
        wishes = self._desk.wishes()
        kinds = {kind: sum(one.media.kind == kind for one in wishes) for kind in ("movie", "tv")}
        states = {
            name: sum(map(_FILTERS[name], wishes))
            for name in ("pending", "approved", "processing", "available")
        }
        declined = sum(one.status == desk.DECLINED for one in wishes)
        return json_reply({"total": len(wishes), **kinds, **states, "declined": declined})

    def one(self, wish_id: int) -> Response:
        wish = self._desk.wish(wish_id)
        if wish is None:
            return _no_request()
        row = _wish(wish)
        seasons = [
            {"id": number, "seasonNumber": number, "status": wish.media.status} for number in wish.seasons
        ]
        return json_reply({**row, "media": {**row["media"], "seasons": seasons}})

    def delete(self, wish_id: int) -> Response:
        wish = self._desk.wish(wish_id)
        if wish is None:
            return _no_request()
        self._desk.remove(wish)
        return empty_reply()

    def decide(self, wish_id: int, verb: str) -> Response:
        wish = self._desk.wish(wish_id)
        status = {
            "approve": desk.APPROVED,
            "decline": desk.DECLINED,
            "pending": desk.PENDING,
            "retry": desk.APPROVED,
        }.get(verb)
        if wish is None or status is None:
            return _no_request()
        self._desk.decide(wish, status)
        return json_reply(_wish(wish))

    def set_media(self, media_id: int, word: str) -> Response:
        media = self._desk.media(media_id)
        status = desk.MEDIA_WORDS.get(word)
        if media is None or status is None:
            return json_reply({"message": "Media does not exist."}, 404)
        if word == "partial" and media.kind == "movie":
            return json_reply({"message": "Only series can be set to be partially available"}, 400)
        media.status = status
        return json_reply(_media(media))

    def movie(self, tmdb: int) -> Response:
        film = self._world.catalog.films.get(tmdb)
        if film is None:
            return json_reply({"message": "Unable to retrieve movie."}, 404)
        return json_reply(
            {"id": tmdb, "title": film.title, "imdbId": film.imdb, "releaseDate": str(film.premiere or "")}
        )

    def tv(self, tmdb: int) -> Response:
        show = self._world.catalog.show_by(tmdb=tmdb)
        if show is None:
            return json_reply({"message": "Unable to retrieve series."}, 404)
        seasons = [
            {"seasonNumber": number, "episodeCount": len(show.season(number))}
            for number in show.season_numbers
        ]
        ids = {"externalIds": {"imdbId": show.imdb, "tvdbId": show.tvdb}}
        return json_reply({"id": tmdb, "name": show.title, "seasons": seasons, **ids})

    def watchlist(self, user_id: int) -> Response:  # noqa: ARG002 (nobody has one)
        return json_reply({"page": 1, "totalPages": 1, "totalResults": 0, "results": []})

    def _seasons(self, wanted: object, tmdb: int) -> tuple[int, ...]:
        if isinstance(wanted, list):
            return tuple(one for one in wanted if isinstance(one, int))
        show = self._world.catalog.show_by(tmdb=tmdb)
        return tuple(number for number in show.season_numbers if number) if show else ()


def _refused_parameters() -> Response | None:
    """Return the 400 for a query that the app's OpenAPI file does not allow, None when it does."""
    for name in request.args:
        if name not in _LIST_PARAMETERS:
            return _bad_query(name, f"Unknown query parameter '{name}'")
    if request.args.get("filter", "all") not in _FILTERS:
        return _bad_query(
            "filter",
            f"request.query.filter should be equal to one of the allowed values: {', '.join(_FILTERS)}",
        )
    if request.args.get("sort", "added") not in _SORTS:
        return _bad_query(
            "sort", f"request.query.sort should be equal to one of the allowed values: {', '.join(_SORTS)}"
        )
    for name in ("take", "skip"):
        if not request.args.get(name, "0").isdigit():
            return _bad_query(name, f"request.query.{name} should be number")
    return None


def _bad_query(name: str, message: str) -> Response:
    return json_reply({"message": message, "errors": [{"path": f".query.{name}", "message": message}]}, 400)


def _no_request() -> Response:
    return json_reply({"message": "Request not found."}, 404)


def _wish(wish: Wish) -> dict[str, Any]:
    created = stamp(wish.created)
    return {
        "id": wish.id,
        "status": wish.status,
        "type": wish.media.kind,
        "is4k": wish.is_4k,
        "createdAt": created,
        "updatedAt": created,
        "isAutoRequest": False,
        "serverId": None,
        "profileId": None,
        "rootFolder": None,
        "languageProfileId": None,
        "tags": None,
        "seasonCount": len(wish.seasons),
        "media": _media(wish.media),
        "seasons": [
            {
                "id": wish.id * 100 + number,
                "seasonNumber": number,
                "status": wish.status,
                "createdAt": created,
                "updatedAt": created,
            }
            for number in wish.seasons
        ],
        "requestedBy": USER,
        "modifiedBy": None,
    }


def _media(media: Media) -> dict[str, Any]:
    created = stamp(media.created)
    unset = (
        "imdbId",
        "lastSeasonChange",
        "mediaAddedAt",
        "serviceId",
        "externalServiceId",
        "externalServiceSlug",
        "ratingKey",
    )
    return {
        "id": media.id,
        "mediaType": media.kind,
        "tmdbId": media.tmdb,
        "tvdbId": media.tvdb,
        "status": media.status,
        "status4k": 1,
        "createdAt": created,
        "updatedAt": created,
        "downloadStatus": [],
        **dict.fromkeys(unset),
    }
