"""TheTVDB v4: login, series, episodes by order, seasons, search by a remote id."""

from typing import Any

from flask import Flask, Response, request

from program.demo.catalog import Show
from program.demo.servers.replies import json_reply, routed, whole
from program.demo.servers.tvdb_records import (
    LANGUAGES,
    SEASON_TYPES,
    base_record,
    episode_record,
    extended_record,
    in_order,
    search_row,
    season_records,
)
from program.demo.servers.world import World


def create_app(world: World) -> Flask:
    """Return the TVDB stand-in."""
    tvdb = _Tvdb(world)
    app = Flask("tvdb")
    app.before_request(tvdb.check_token)
    app.register_error_handler(404, lambda _: _not_found())
    return routed(
        app,
        ("POST", "/v4/login", tvdb.login),
        ("GET", "/v4/series/<int:number>", tvdb.series),
        ("GET", "/v4/series/<int:number>/nextAired", tvdb.next_aired),
        ("GET", "/v4/series/<int:number>/extended", tvdb.extended),
        ("GET", "/v4/series/<int:number>/translations/<language>", tvdb.translation),
        ("GET", "/v4/series/<int:number>/episodes/<order>", tvdb.episodes),
        ("GET", "/v4/series/<int:number>/episodes/<order>/<language>", tvdb.episodes_in),
        ("GET", "/v4/seasons/<int:number>/extended", tvdb.season),
        ("GET", "/v4/episodes/<int:number>/extended", tvdb.episode),
        ("GET", "/v4/search/remoteid/<remote_id>", tvdb.by_remote_id),
        ("GET", "/v4/search", tvdb.search),
    )


class _Tvdb:
    def __init__(self, world: World) -> None:
        self._world = world

    def check_token(self) -> Response | None:
        if request.path == "/v4/login":
            return None
        if request.headers.get("Authorization") == f"Bearer {self._world.keys.tvdb_token}":
            return None
        return _failure("Unauthorized", 401)

    def login(self) -> Response:
        body = request.get_json(silent=True)
        if not isinstance(body, dict) or body.get("apikey") != self._world.keys.tvdb:
            return _failure("InvalidAPIKey: apikey invalid", 401)
        return _success({"token": self._world.keys.tvdb_token})

    def series(self, number: int) -> Response:
        show = self._world.catalog.shows.get(number)
        return _success(self._base(show)) if show else _not_found()

    def next_aired(self, number: int) -> Response:
        return self.series(number)

    def extended(self, number: int) -> Response:
        show = self._world.catalog.shows.get(number)
        if show is None:
            return _not_found()
        today = self._world.clock.now().date()
        return _success(
            extended_record(show, today, request.args.get("meta"), short=request.args.get("short") == "true")
        )

    def translation(self, number: int, language: str) -> Response:
        show = self._world.catalog.shows.get(number)
        if show is None or language != LANGUAGES.get(show.language):
            return _not_found()
        named = {"name": show.title, "overview": show.overview, "language": language}
        return _success({**named, "aliases": [title for _, title in show.aliases], "isPrimary": True})

    def episodes(self, number: int, order: str) -> Response:
        return _episode_page(self._world, number, order, None)

    def episodes_in(self, number: int, order: str, language: str) -> Response:
        return _episode_page(self._world, number, order, language)

    def season(self, number: int) -> Response:
        for show in self._world.catalog.shows.values():
            for record in season_records(show):
                if record["id"] == number and record["type"]["type"] == "official":
                    rows = [episode_record(show, one) for one in show.season(record["number"])]
                    return _success({**record, "episodes": rows, "artwork": [], "trailers": []})
        return _not_found()

    def episode(self, number: int) -> Response:
        for show in self._world.catalog.shows.values():
            for one in show.episodes:
                if one.id == number:
                    return _success(episode_record(show, one))
        return _not_found()

    def by_remote_id(self, remote_id: str) -> Response:
        show = self._world.catalog.show_by(imdb=remote_id)
        return _success([{"series": self._base(show)}] if show else None)

    def search(self) -> Response:
        query = request.args.get("query")
        if not query:
            return _failure("InvalidValueType: query is required", 400)
        found = [
            show for show in self._world.catalog.shows.values() if query.casefold() in show.title.casefold()
        ]
        return _success([search_row(show) for show in found], links=_links("search", 0, len(found), 5000))

    def _base(self, show: Show) -> dict[str, Any]:
        return base_record(show, self._world.clock.now().date())


def _success(data: object, **extra: object) -> Response:
    return json_reply({"status": "success", "data": data, **extra})


def _failure(message: str, status: int) -> Response:
    return json_reply({"status": "failure", "message": message, "data": None}, status)


def _not_found() -> Response:
    return _failure("NotFoundException: record not found", 404)


def _episode_page(world: World, tvdb: int, order: str, language: str | None) -> Response:
    show = world.catalog.shows.get(tvdb)
    order = "official" if order == "default" else order
    if show is None or order not in (*SEASON_TYPES, "dvd", "alternate", "regional"):
        return _not_found()
    number, wanted_season = request.args.get("episodeNumber"), request.args.get("season")
    if number is not None and wanted_season is None:
        return _failure("InvalidParameterCombination: episodeNumber needs season", 400)
    rows = in_order(show, order)
    if language is None:
        rows = [
            row
            for row in rows
            if (wanted_season is None or row["seasonNumber"] == whole(wanted_season, -1))
            and (number is None or row["number"] == whole(number, -1))
        ]
    size, page = world.options.tvdb_page_size, max(0, whole(request.args.get("page"), 0))
    links = _links(
        f"series/{tvdb}/episodes/{order}" + (f"/{language}" if language else ""), page, len(rows), size
    )
    rows = rows[page * size : (page + 1) * size]
    base = base_record(show, world.clock.now().date())
    if language is None:
        return _success({"series": base, "episodes": rows}, links=links)
    plain = [{**row, "nameTranslations": None, "overviewTranslations": None, "seasons": None} for row in rows]
    return _success({**base, "episodes": plain}, links=links)


def _links(path: str, page: int, total: int, size: int) -> dict[str, Any]:
    def address(number: int) -> str:
        return f"https://api4.thetvdb.com/v4/{path}?page={number}"

    more = (page + 1) * size < total
    return {
        "prev": address(page - 1) if page else None,
        "self": address(page),
        "next": address(page + 1) if more else None,
        "total_items": total,
        "page_size": size,
    }
