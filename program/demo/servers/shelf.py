"""What a media server knows: the video files it found itself by walking the mount, nothing else."""

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from program.demo.catalog import Film, Show
from program.demo.servers.world import World

VIDEO_SUFFIXES = frozenset(
    [".mkv", ".mp4", ".m4v", ".avi", ".ts", ".m2ts", ".mov", ".wmv", ".mpg", ".mpeg", ".webm"]
)
_EPISODES = re.compile(r"[sS](\d{1,3})[eE](\d{1,4})((?:-?[eE]\d{1,4})*)")
_NAMED = re.compile(r"^(?P<title>.+?)\s*(?:\((?P<year>\d{4})\))?\s*(?:[\[{].*)?$")
_SAMPLE = re.compile(r"(^|[ ._-])sample([ ._-]|$)", re.IGNORECASE)

PLEX_TAG = re.compile(r"\{(tmdb|tvdb|imdb)-([A-Za-z0-9]+)\}")
JELLYFIN_TAG = re.compile(r"\[(tmdb|tvdb|imdb)id[=-]([A-Za-z0-9]+)\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One file that a scan found.

    folder: the film's or show's own folder. ids: as its name gives them (`{"tmdb": "101"}`). episodes: empty for films.
    """

    path: str
    folder: str
    title: str
    year: int | None
    ids: dict[str, str]
    size: int
    modified: float
    added: int
    season: int | None = None
    episodes: tuple[int, ...] = ()

    @property
    def is_film(self) -> bool:
        """Return whether it is a film's file."""
        return not self.episodes


@dataclass(slots=True)
class Shelf:
    """The files of one media server; threads share it. tag: how this server reads ids in names."""

    world: World
    name: str
    tag: re.Pattern[str]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _found: dict[str, Found] = field(default_factory=dict)
    _busy: int = 0

    def files(self) -> list[Found]:
        """Return what was found, in the order of adding."""
        with self._lock:
            return sorted(self._found.values(), key=lambda one: (one.added, one.path))

    def clear(self) -> None:
        """Forget every file."""
        with self._lock:
            self._found.clear()

    def is_busy(self) -> bool:
        """Return whether a scan is running."""
        with self._lock:
            return self._busy > 0

    def roots(self) -> dict[str, str]:
        """Return the two library folders by kind, `movies` and `shows`."""
        return {kind: f"{self.world.mount_root.rstrip('/')}/{kind}" for kind in ("movies", "shows")}

    def later(self, work: Callable[[], None]) -> None:
        """Run a scan in a thread of its own."""
        with self._lock:
            self._busy += 1

        def run() -> None:
            try:
                work()
            finally:
                with self._lock:
                    self._busy -= 1

        threading.Thread(target=run, name=f"{self.name}-scan", daemon=True).start()

    def scan(self, folder: str) -> int | None:
        """Walk a folder, add what is new, forget what is gone; return how many were added, None when it did not answer."""
        seen = self._walk_in_time(folder)
        if seen is None:
            return None
        below = folder.rstrip("/") + "/"
        with self._lock:
            for path in [path for path in self._found if path.startswith(below) and path not in seen]:
                del self._found[path]
            new = [path for path in seen if path not in self._found]
            self._found.update({path: one for path, one in seen.items() if one is not None})
            return len(new)

    def public(self) -> list[dict[str, Any]]:
        """Return what was found as JSON values."""
        return [
            {
                "path": one.path,
                "title": one.title,
                "year": one.year,
                "ids": one.ids,
                "size": one.size,
                "season": one.season,
                "episodes": list(one.episodes),
            }
            for one in self.files()
        ]

    def _walk_in_time(self, folder: str) -> dict[str, Found] | None:
        """Walk in a thread, since a file system that hangs would hold this one for ever."""
        seen: dict[str, Found] = {}
        done = threading.Event()

        def walk() -> None:
            self._walk(folder, seen)
            done.set()

        threading.Thread(target=walk, name=f"{self.name}-walk", daemon=True).start()
        return seen if done.wait(self.world.options.walk_seconds) else None

    def _walk(self, folder: str, seen: dict[str, Found]) -> None:
        for top, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = f"{top.rstrip('/')}/{name}"
                if PurePosixPath(name).suffix.lower() in VIDEO_SUFFIXES and not _SAMPLE.search(name):
                    try:
                        status = os.stat(path)  # noqa: PTH116 (it is a path of the mount, as text)
                    except OSError:
                        continue
                    one = self._understand(path, status.st_size, status.st_mtime)
                    if one is not None and status.st_size:
                        seen[path] = one

    def _understand(self, path: str, size: int, modified: float) -> Found | None:
        """Return what the names say about a file, None when it is in no library or fits nowhere."""
        kind = next((kind for kind, root in self.roots().items() if path.startswith(root + "/")), None)
        if kind is None:
            return None
        root = self.roots()[kind]
        parts = path.removeprefix(root + "/").split("/")
        token = _EPISODES.search(parts[-1])
        if kind == "shows" and token is None:
            return None
        season, episodes = _numbers(token) if token and kind == "shows" else (None, ())
        known = self._found.get(path)
        named = _NAMED.match(parts[0])
        return Found(
            path=path,
            folder=f"{root}/{parts[0]}" if len(parts) > 1 else path,
            title=named["title"] if named else parts[0],
            year=int(named["year"]) if named and named["year"] else None,
            ids={key.lower(): value for key, value in self.tag.findall("/".join(parts))},
            size=size,
            modified=modified,
            added=known.added if known else int(self.world.clock.now().timestamp()),
            season=season,
            episodes=episodes,
        )


def matched(world: World, found: Found) -> Film | Show | None:
    """Return the title that a metadata agent would find: by the ids in the name, else by title and year."""
    catalog = world.catalog
    ids = found.ids
    if found.is_film:
        by_id = catalog.films.get(int(ids["tmdb"])) if ids.get("tmdb", "").isdigit() else None
        by_id = by_id or (catalog.film_by_imdb(ids["imdb"]) if "imdb" in ids else None)
        named = (one for one in catalog.films.values() if (one.title, one.year) == (found.title, found.year))
        return by_id or next(named, None)
    show = catalog.shows.get(int(ids["tvdb"])) if ids.get("tvdb", "").isdigit() else None
    show = show or (catalog.show_by(tmdb=int(ids["tmdb"])) if ids.get("tmdb", "").isdigit() else None)
    show = show or (catalog.show_by(imdb=ids["imdb"]) if "imdb" in ids else None)
    return show or next(
        (one for one in catalog.shows.values() if (one.title, one.year) == (found.title, found.year)), None
    )


def is_below(path: str, root: str) -> bool:
    """Return whether a path is inside a folder, by components."""
    return PurePosixPath(root) in PurePosixPath(path).parents


def _numbers(token: re.Match[str]) -> tuple[int, tuple[int, ...]]:
    """Return the season and the episodes of `s01e02`, `s01e01-e03` or `s01e01e03`."""
    season, first = int(token[1]), int(token[2])
    more = [(dash == "-", int(number)) for dash, number in re.findall(r"(-?)[eE](\d+)", token[3])]
    episodes = [first]
    for is_range, number in more:
        episodes += range(episodes[-1] + 1, number + 1) if is_range else [number]
    return season, tuple(episodes)
