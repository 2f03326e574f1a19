"""Changes of what exists, as tests ask for them: each is one JSON object with `op`.

    {"op": "publish" | "withdraw", "release": NAME_OR_HASH}         a search finds it, or no longer does
    {"op": "publish" | "withdraw", "title": "tt1727587"}            all releases listed under a title
    {"op": "availability", "release" | "title": …, "value": "cached" | "uncached" | "infringing"}
    {"op": "lack", "provider": …, "release": …, "value"?: false}    this provider alone does not hold it (or does again)
    {"op": "drop_file", "release": …, "path": …}                    or "season" and "episode" in place of the path
    {"op": "announce", "release": …, "path"?: …, "extra": n}        its files (or one) are said to be n bytes longer than they are
    {"op": "film_dates", "tmdb": …, "premiere"?: DATE | null, "digital"?: DATE | null}
    {"op": "air_date", "tvdb": …, "season": …, "episode": …, "aired": DATE | null}
    {"op": "show_status", "tvdb": …, "status": "Continuing" | "Ended" | "Upcoming"}
    {"op": "add_episode", "tvdb": …, "season": …, "number": …, "title": …, "aired": DATE | null}
    {"op": "add_release", "imdb": …, "row": {a release as in catalog.json}}
    {"op": "add_film", "row": {a film as in catalog.json, with its releases}}

A row may hold `"shared_clip": true`: then all its files are one and the same clip, which costs nothing to make.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from program.demo.catalog import AVAILABILITIES, Catalog, Episode, Release, film_from, release_from
from program.demo.servers.world import World

Facts = Mapping[str, Any]


def apply_change(world: World, facts: Facts) -> dict[str, Any]:
    """Carry a change out and return what became of it. Raises ValueError, KeyError or TypeError when it makes no sense."""
    change = _CHANGES.get(facts.get("op", ""))
    if change is None:
        raise ValueError(f"op must be one of {', '.join(_CHANGES)}")
    with world.lock:
        return change(world, facts)


def _publish(world: World, facts: Facts) -> dict[str, Any]:
    return _replaced(world.catalog, facts, published=True)


def _withdraw(world: World, facts: Facts) -> dict[str, Any]:
    return _replaced(world.catalog, facts, published=False)


def _availability(world: World, facts: Facts) -> dict[str, Any]:
    if facts["value"] not in AVAILABILITIES:
        raise ValueError(f"value must be one of {', '.join(AVAILABILITIES)}")
    return _replaced(world.catalog, facts, availability=facts["value"])


def _lack(world: World, facts: Facts) -> dict[str, Any]:
    release = _release(world.catalog, facts["release"])
    lacking = world.lacking.setdefault(str(facts["provider"]), set())
    if facts.get("value", True):
        lacking.add(release.infohash)
    else:
        lacking.discard(release.infohash)
    return {"infohash": release.infohash}


def _drop_file(world: World, facts: Facts) -> dict[str, Any]:
    release = _release(world.catalog, facts["release"])
    path = facts.get("path")
    if path is None:
        wanted = (facts["season"], facts["episode"])
        path = next(file.path for file in release.files if (file.season, file.episode) == wanted)
    left = world.catalog.drop_file(release, path)
    return {"infohash": left.infohash, "files": [file.path for file in left.files]}


def _announce(world: World, facts: Facts) -> dict[str, Any]:
    release = _release(world.catalog, facts["release"])
    extra = int(facts["extra"])
    files = tuple(
        replace(file, announced_extra=extra) if facts.get("path") in (None, file.path) else file
        for file in release.files
    )
    world.catalog.put(replace(release, files=files))
    return {"infohash": release.infohash}


def _film_dates(world: World, facts: Facts) -> dict[str, Any]:
    film = world.catalog.films[facts["tmdb"]]
    premiere = _date(facts["premiere"]) if "premiere" in facts else film.premiere
    digital = _date(facts["digital"]) if "digital" in facts else film.digital
    world.catalog.films[film.tmdb] = replace(film, premiere=premiere, digital=digital)
    return {"tmdb": film.tmdb}


def _air_date(world: World, facts: Facts) -> dict[str, Any]:
    show = world.catalog.shows[facts["tvdb"]]
    wanted = (facts["season"], facts["episode"])
    if wanted not in {(one.season, one.number) for one in show.episodes}:
        raise KeyError(f"no episode {wanted}")
    episodes = tuple(
        replace(one, aired=_date(facts["aired"])) if (one.season, one.number) == wanted else one
        for one in show.episodes
    )
    world.catalog.shows[show.tvdb] = replace(show, episodes=episodes)
    return {"tvdb": show.tvdb}


def _show_status(world: World, facts: Facts) -> dict[str, Any]:
    if facts["status"] not in ("Continuing", "Ended", "Upcoming"):
        raise ValueError("status must be Continuing, Ended or Upcoming")
    show = world.catalog.shows[facts["tvdb"]]
    world.catalog.shows[show.tvdb] = replace(show, status=facts["status"])
    return {"tvdb": show.tvdb}


def _add_episode(world: World, facts: Facts) -> dict[str, Any]:
    show = world.catalog.shows[facts["tvdb"]]
    season, number = facts["season"], facts["number"]
    last = max((one.absolute for one in show.episodes), default=0)
    new = Episode(
        id=show.tvdb * 1000 + season * 100 + number,
        season=season,
        number=number,
        absolute=last + 1 if season else 0,
        title=facts.get("title", f"Episode {number}"),
        aired=_date(facts.get("aired")),
        runtime=show.runtime,
    )
    others = tuple(one for one in show.episodes if (one.season, one.number) != (season, number))
    ordered = sorted((*others, new), key=lambda one: (one.season, one.number))
    world.catalog.shows[show.tvdb] = replace(show, episodes=tuple(ordered))
    return {"id": new.id}


def _add_release(world: World, facts: Facts) -> dict[str, Any]:
    film = world.catalog.film_by_imdb(facts["imdb"])
    show = world.catalog.show_by(imdb=facts["imdb"])
    base = f"film-{film.tmdb}" if film else f"show-{show.tvdb}" if show else "film-0"
    release = release_from(facts["row"], facts["imdb"], base)
    world.clips.prepare_specs(file.clip for file in release.files)
    world.catalog.put(release)
    return {"infohash": release.infohash}


def _add_film(world: World, facts: Facts) -> dict[str, Any]:
    film = film_from(facts["row"])
    world.catalog.films[film.tmdb] = film
    releases = [release_from(row, film.imdb, f"film-{film.tmdb}") for row in facts["row"].get("releases", ())]
    world.clips.prepare_specs({file.clip for release in releases for file in release.files})
    for release in releases:
        world.catalog.put(release)
    return {"tmdb": film.tmdb, "infohashes": [release.infohash for release in releases]}


def _replaced(catalog: Catalog, facts: Facts, **changes: Any) -> dict[str, Any]:
    if "title" in facts:
        chosen = [one for one in catalog.releases.values() if one.imdb == facts["title"]]
    else:
        chosen = [_release(catalog, facts["release"])]
    for release in chosen:
        catalog.put(replace(release, **changes))
    return {"changed": [release.infohash for release in chosen]}


def _release(catalog: Catalog, name_or_hash: str) -> Release:
    release = catalog.find_release(name_or_hash)
    if release is None:
        raise KeyError(f"no release {name_or_hash}")
    return release


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


_CHANGES: Mapping[str, Callable[[World, Facts], dict[str, Any]]] = {
    "publish": _publish,
    "withdraw": _withdraw,
    "availability": _availability,
    "lack": _lack,
    "drop_file": _drop_file,
    "announce": _announce,
    "film_dates": _film_dates,
    "air_date": _air_date,
    "show_status": _show_status,
    "add_episode": _add_episode,
    "add_release": _add_release,
    "add_film": _add_film,
}
