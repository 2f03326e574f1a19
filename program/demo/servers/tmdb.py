"""TMDB v3: films, series, seasons, find and search."""

from typing import Any

from flask import Flask, Response, request

from program.demo.servers.replies import json_reply, routed
from program.demo.servers.tmdb_records import (
    MOVIE_PARTS,
    TV_PARTS,
    movie_part,
    movie_record,
    movie_row,
    season_record,
    tv_part,
    tv_record,
    tv_row,
)
from program.demo.servers.world import World

MAX_APPENDED = 20
_LISTS = ("movie_results", "person_results", "tv_results", "tv_episode_results", "tv_season_results")


def create_app(world: World) -> Flask:
    """Return the TMDB stand-in."""
    tmdb = _Tmdb(world)
    app = Flask("tmdb")
    app.before_request(tmdb.check_key)
    app.register_error_handler(404, lambda _: _not_found())
    return routed(
        app,
        ("GET", "/3/configuration", tmdb.configuration),
        ("GET", "/3/find/<external_id>", tmdb.find),
        ("GET", "/3/movie/<int:number>", tmdb.movie),
        ("GET", "/3/movie/<int:number>/<part>", tmdb.part_of_movie),
        ("GET", "/3/tv/<int:number>", tmdb.tv),
        ("GET", "/3/tv/<int:number>/season/<int:season>", tmdb.season),
        ("GET", "/3/tv/<int:number>/<part>", tmdb.part_of_tv),
        ("GET", "/3/search/<kind>", tmdb.search),
    )


class _Tmdb:
    def __init__(self, world: World) -> None:
        self._world = world

    def check_key(self) -> Response | None:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        keys = self._world.keys
        if bearer == keys.tmdb_token or request.args.get("api_key") == keys.tmdb:
            return None
        return _failure(7, "Invalid API key: You must be granted a valid key.", 401)

    def configuration(self) -> Response:
        base = "https://image.tmdb.org/t/p/"
        sizes = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]
        return json_reply(
            {"images": {"secure_base_url": base, "base_url": base, "poster_sizes": sizes}, "change_keys": []}
        )

    def find(self, external_id: str) -> Response:
        source = request.args.get("external_source")
        if source is None:
            return _failure(47, "Invalid parameters: external_source is required.", 400)
        return json_reply(_found(self._world, external_id, source))

    def movie(self, number: int) -> Response:
        film = self._world.catalog.films.get(number)
        if film is None:
            return _not_found()
        parts = _appended()
        if len(parts) > MAX_APPENDED:
            return _too_many_parts()
        return json_reply(
            {**movie_record(film), **{part: movie_part(film, part) for part in parts if part in MOVIE_PARTS}}
        )

    def part_of_movie(self, number: int, part: str) -> Response:
        film = self._world.catalog.films.get(number)
        if film is None or part not in MOVIE_PARTS:
            return _not_found()
        return json_reply({"id": number, **movie_part(film, part)})

    def tv(self, number: int) -> Response:
        show = self._world.catalog.show_by(tmdb=number)
        if show is None:
            return _not_found()
        parts = _appended()
        if len(parts) > MAX_APPENDED:
            return _too_many_parts()
        seasons = {f"season/{one}": season_record(show, one) for one in show.season_numbers}
        extra = {part: tv_part(show, part) for part in parts if part in TV_PARTS}
        extra |= {part: seasons[part] for part in parts if part in seasons}
        return json_reply({**tv_record(show, self._world.clock.now().date()), **extra})

    def season(self, number: int, season: int) -> Response:
        show = self._world.catalog.show_by(tmdb=number)
        if show is None or not show.season(season):
            return _not_found()
        return json_reply(season_record(show, season))

    def part_of_tv(self, number: int, part: str) -> Response:
        show = self._world.catalog.show_by(tmdb=number)
        if show is None or part not in TV_PARTS:
            return _not_found()
        return json_reply({"id": number, **tv_part(show, part)})

    def search(self, kind: str) -> Response:
        query = request.args.get("query", "").casefold()
        catalog = self._world.catalog
        films = [movie_row(film) for film in catalog.films.values() if query in film.title.casefold()]
        shows = [tv_row(show) for show in catalog.shows.values() if query in show.title.casefold()]
        rows = {"movie": films, "tv": shows, "multi": films + shows}.get(kind)
        if rows is None:
            return _not_found()
        rows = rows if query else []
        return json_reply({"page": 1, "results": rows, "total_pages": 1, "total_results": len(rows)})


def _not_found() -> Response:
    return _failure(34, "The resource you requested could not be found.", 404)


def _too_many_parts() -> Response:
    return _failure(27, "Too many append to response objects: The maximum number of remote calls is 20.", 400)


def _appended() -> list[str]:
    return [part for part in request.args.get("append_to_response", "").split(",") if part]


def _failure(code: int, message: str, status: int) -> Response:
    return json_reply({"success": False, "status_code": code, "status_message": message}, status)


def _found(world: World, external_id: str, source: str) -> dict[str, Any]:
    answer: dict[str, Any] = {name: [] for name in _LISTS}
    if source == "imdb_id":
        if film := world.catalog.film_by_imdb(external_id):
            answer["movie_results"].append({**movie_row(film), "media_type": "movie"})
        if show := world.catalog.show_by(imdb=external_id):
            answer["tv_results"].append({**tv_row(show), "media_type": "tv"})
    elif (
        source == "tvdb_id" and external_id.isdigit() and (known := world.catalog.shows.get(int(external_id)))
    ):
        answer["tv_results"].append({**tv_row(known), "media_type": "tv"})
    return answer
