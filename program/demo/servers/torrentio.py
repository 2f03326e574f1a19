"""Torrentio: streams by IMDb id, with the options in the path and the details in the title text."""

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from flask import Flask, Response

from program.demo.catalog import Release, ReleaseFile
from program.demo.servers.replies import json_reply, routed
from program.demo.servers.world import World

CACHE = {"cacheMaxAge": 3600, "staleRevalidate": 14400, "staleError": 604800}
LONG_CACHE = "max-age=3600, stale-while-revalidate=14400, stale-if-error=604800, public"
MANY, ENOUGH, FEW = 50, 5, 5
# A file that is nearly the whole torrent is not named on a line of its own.
NEARLY_ALL = 0.95
_QUALITIES = (
    ("4k", re.compile(r"2160p|\b4k\b", re.IGNORECASE)),
    ("1080p", re.compile(r"1080p", re.IGNORECASE)),
    ("720p", re.compile(r"720p", re.IGNORECASE)),
    ("480p", re.compile(r"480p", re.IGNORECASE)),
    ("CAM", re.compile(r"\b(hd)?cam(rip)?\b", re.IGNORECASE)),
    ("TeleSync", re.compile(r"\b(hdts|telesync)\b", re.IGNORECASE)),
)
_FILTER_WORDS = {"CAM": "cam", "TeleSync": "cam"}


@dataclass(frozen=True, slots=True)
class _Hit:
    """A release with the file that a stream is about."""

    release: Release
    file: ReleaseFile | None
    quality: str | None


def create_app(world: World) -> Flask:
    """Return the Torrentio stand-in."""
    torrentio = _Torrentio(world)
    app = Flask("torrentio")
    app.after_request(_open_to_all)
    app.register_error_handler(404, lambda _: json_reply({"err": "not found"}, 404))
    return routed(
        app,
        ("GET", "/manifest.json", torrentio.manifest),
        ("GET", "/<options>/manifest.json", torrentio.manifest),
        ("GET", "/stream/<kind>/<stream_id>.json", torrentio.streams),
        ("GET", "/<options>/stream/<kind>/<stream_id>.json", torrentio.streams),
    )


class _Torrentio:
    def __init__(self, world: World) -> None:
        self._world = world

    def manifest(self, options: str = "") -> Response:  # noqa: ARG002 (any configuration has the same manifest here)
        types = ["movie", "series", "anime"]
        about = {
            "id": "com.stremio.torrentio.addon",
            "version": "0.0.15",
            "name": "Torrentio",
            "description": "Stand-in",
        }
        resources = [{"name": "stream", "types": types, "idPrefixes": ["tt", "kitsu"]}]
        hints = {"configurable": True, "configurationRequired": False}
        return json_reply(
            {**about, "types": types, "resources": resources, "catalogs": [], "behaviorHints": hints}
        )

    def streams(self, kind: str, stream_id: str, options: str = "") -> Response:
        wanted = _options(unquote(options))
        with self._world.lock:
            hits = _arranged(_hits(self._world, kind, unquote(stream_id)), wanted)
            found = [_stream(self._world, hit) for hit in hits]
        return json_reply(
            {"streams": found, **CACHE}, Cache_Control=LONG_CACHE if found else "max-age=60, public"
        )


def _open_to_all(response: Response) -> Response:
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _options(text: str) -> dict[str, str]:
    pairs = (pair.split("=") for pair in text.split("|"))
    return {pair[0].lower(): pair[1] for pair in pairs if len(pair) == 2}  # noqa: PLR2004 (exactly one `=`)


def _hits(world: World, kind: str, stream_id: str) -> list[_Hit]:
    imdb, *numbers = stream_id.split(":")
    if kind == "movie" and not numbers and world.catalog.film_by_imdb(imdb):
        return [_Hit(one, _film_file(one), _quality(one.name)) for one in world.catalog.listed(imdb)]
    if kind == "series" and len(numbers) == 2 and all(map(str.isdigit, numbers)):  # noqa: PLR2004 (season and episode)
        season, episode = map(int, numbers)
        return [
            _Hit(one, file, _quality(one.name))
            for one in world.catalog.listed(imdb)
            for file in one.files
            if (file.season, file.episode) == (season, episode)
        ]
    return []


def _film_file(release: Release) -> ReleaseFile | None:
    return next((file for file in release.files if file.kind == "feature"), None)


def _quality(name: str) -> str | None:
    return next((label for label, pattern in _QUALITIES if pattern.search(name)), None)


def _arranged(hits: list[_Hit], options: dict[str, str]) -> list[_Hit]:
    """Return them as asked for: trimmed by seeders (there is never a debrid key here), filtered, sorted, limited."""
    dropped = set(filter(None, options.get("qualityfilter", "").split(",")))
    hits = [hit for hit in _trimmed(hits) if _filter_word(hit.quality) not in dropped]
    labels = [label for label, _ in _QUALITIES]

    def place(hit: _Hit) -> int:
        return labels.index(hit.quality) if hit.quality in labels else len(labels)

    sort = options.get("sort", "quality")
    if sort == "seeders":
        hits.sort(key=lambda hit: -hit.release.seeders)
    elif sort == "size":
        hits.sort(key=lambda hit: -hit.release.gigabytes)
    elif sort == "qualitysize":
        hits.sort(key=lambda hit: (place(hit), -hit.release.gigabytes))
    else:
        hits.sort(key=lambda hit: (place(hit), -hit.release.seeders))
    return _limited(hits, options.get("limit", ""), per_quality=sort in ("quality", "qualitysize"))


def _limited(hits: list[_Hit], text: str, *, per_quality: bool) -> list[_Hit]:
    if not text.isdigit():
        return hits
    taken: dict[str | None, int] = defaultdict(int)
    kept = []
    for hit in hits:
        group = hit.quality if per_quality else None
        taken[group] += 1
        if taken[group] <= int(text):
            kept.append(hit)
    return kept


def _filter_word(quality: str | None) -> str:
    if quality is None:
        return "unknown"
    return _FILTER_WORDS.get(quality, quality)


def _trimmed(hits: list[_Hit]) -> list[_Hit]:
    healthy = [hit for hit in hits if hit.release.seeders >= ENOUGH]
    if len(healthy) >= MANY:
        return healthy
    alive = [hit for hit in hits if hit.release.seeders >= 1]
    return alive[:MANY] if len(alive) >= FEW else hits[:FEW]


def _stream(world: World, hit: _Hit) -> dict[str, Any]:
    release, file = hit.release, hit.file
    total = sum(world.clips.size(one.clip) for one in release.files)
    share = world.clips.size(file.clip) / total if file and total else 1.0
    lines = [release.name]
    if file and share < NEARLY_ALL and release.name not in file.path:
        lines.append(file.path)
    lines.append(f"👤 {release.seeders} 💾 {_size(release.gigabytes * share)} ⚙️ {release.indexer}")
    if release.languages:
        lines.append(release.languages)
    stream: dict[str, Any] = {
        "name": "Torrentio" + (f"\n{hit.quality}" if hit.quality else ""),
        "title": "\n".join(lines),
        "infoHash": release.infohash,
    }
    hints = {
        "bingeGroup": f"torrentio|{release.infohash}"
        if share < NEARLY_ALL
        else f"torrentio|{hit.quality}|x264"
    }
    if file:
        stream["fileIdx"] = release.files.index(file)
        hints["filename"] = file.name
    stream["sources"] = ["tracker:udp://tracker.example:80/announce", f"dht:{release.infohash}"]
    stream["behaviorHints"] = hints
    return stream


def _size(gigabytes: float) -> str:
    """Return a size as Torrentio writes it: at most two decimals, no zeros at the end."""
    number, unit = (gigabytes, "GB") if gigabytes >= 1 else (gigabytes * 1024, "MB")
    return f"{number:.2f}".rstrip("0").rstrip(".") + f" {unit}"
