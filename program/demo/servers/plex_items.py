"""The items that Plex makes of the files on its shelf: films, shows, seasons, episodes."""

import hashlib
import threading
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from program.demo.catalog import Show
from program.demo.servers.shelf import Found, Shelf, matched
from program.demo.servers.world import World

TYPE_NUMBERS = {"movie": 1, "show": 2, "season": 3, "episode": 4}


@dataclass(slots=True, kw_only=True)
class Item:
    """One row of the library."""

    key: str
    kind: str
    section: int
    title: str
    year: int | None
    guid: str
    added: int
    guids: list[str] = field(default_factory=list)
    files: list[Found] = field(default_factory=list)
    parent: str | None = None
    grandparent: str | None = None
    grandparent_title: str = ""
    season: int | None = None
    number: int | None = None


class PlexItems:
    """Derives the items from the shelf; an item keeps its ratingKey."""

    def __init__(self, world: World, shelf: Shelf) -> None:
        self._world = world
        self._shelf = shelf
        self._lock = threading.Lock()
        self._keys: dict[str, str] = {}

    def all(self) -> list[Item]:
        """Return every item, in the order of adding."""
        items: dict[str, Item] = {}
        for found in self._shelf.files():
            if found.is_film:
                self._add_film(items, found)
            else:
                for number in found.episodes:
                    self._add_episode(items, found, number)
        return list(items.values())

    def get(self, key: str) -> Item | None:
        """Return an item by its ratingKey."""
        return next((item for item in self.all() if item.key == key), None)

    def row(self, item: Item, *, with_guids: bool, check_files: bool = False) -> dict[str, Any]:
        """Return an item as Plex prints it."""
        row: dict[str, Any] = {
            "ratingKey": item.key,
            "key": f"/library/metadata/{item.key}",
            "guid": item.guid,
            "type": item.kind,
            "title": item.title,
            "librarySectionID": item.section,
            "addedAt": item.added,
            "updatedAt": item.added,
        }
        if item.year is not None:
            row["year"] = item.year
        if item.kind == "season":
            row |= {"index": item.season, "parentRatingKey": item.parent}
        if item.kind == "episode":
            row |= {"index": item.number, "parentIndex": item.season, "parentRatingKey": item.parent}
            row |= {"grandparentRatingKey": item.grandparent, "grandparentTitle": item.grandparent_title}
        if with_guids and item.guids:
            row["Guid"] = [{"id": guid} for guid in item.guids]
        if item.files:
            row["Media"] = [self._media(found, check_files=check_files) for found in item.files]
        return row

    def _add_film(self, items: dict[str, Item], found: Found) -> None:
        film = matched(self._world, found)
        word = f"film-{film.imdb}" if film else f"film-{found.folder}"
        item = items.get(word)
        if item is None:
            guid = _plex_guid("movie", word) if film else f"local://{self._key(word)}"
            guids = [f"imdb://{film.imdb}", f"tmdb://{film.tmdb}"] if film else []
            title, year = (film.title, film.year) if film else (found.title, found.year)
            item = items[word] = Item(
                key=self._key(word),
                kind="movie",
                section=1,
                title=title,
                year=year,
                guid=guid,
                added=found.added,
                guids=guids,
            )
        item.files.append(found)

    def _add_episode(self, items: dict[str, Item], found: Found, number: int) -> None:
        known = matched(self._world, found)
        show = known if isinstance(known, Show) else None
        word = f"show-{show.tvdb}" if show else f"show-{found.folder}"
        series = items.setdefault(word, self._series(word, show, found))
        season = self._season(items, series, word, found)
        inner = f"{word}-{found.season}-{number}"
        details = (
            next((one for one in show.season(found.season or 0) if one.number == number), None)
            if show
            else None
        )
        episode = items.setdefault(
            inner,
            Item(
                key=self._key(inner),
                kind="episode",
                section=2,
                title=details.title if details else f"Episode {number}",
                year=series.year,
                guid=_plex_guid("episode", inner),
                added=found.added,
                guids=[f"tvdb://{details.id}"] if details else [],
                parent=season.key,
                grandparent=series.key,
                grandparent_title=series.title,
                season=found.season,
                number=number,
            ),
        )
        episode.files.append(found)

    def _series(self, word: str, show: Show | None, found: Found) -> Item:
        title, year = (show.title, show.year) if show else (found.title, found.year)
        return Item(
            key=self._key(word),
            kind="show",
            section=2,
            title=title,
            year=year,
            guid=_plex_guid("show", word) if show else f"local://{self._key(word)}",
            added=found.added,
            guids=[f"imdb://{show.imdb}", f"tmdb://{show.tmdb}", f"tvdb://{show.tvdb}"] if show else [],
        )

    def _season(self, items: dict[str, Item], series: Item, word: str, found: Found) -> Item:
        name = f"{word}-{found.season}"
        fresh = Item(
            key=self._key(name),
            kind="season",
            section=2,
            title=f"Season {found.season}" if found.season else "Specials",
            year=None,
            guid=_plex_guid("season", name),
            added=found.added,
            parent=series.key,
            season=found.season,
        )
        return items.setdefault(name, fresh)

    def _media(self, found: Found, *, check_files: bool) -> dict[str, Any]:
        number = int(self._key(found.path))
        container = PurePosixPath(found.path).suffix.lstrip(".")
        part: dict[str, Any] = {
            "id": number,
            "key": f"/library/parts/{number}/{int(found.modified)}/file.{container}",
            "file": found.path,
            "size": found.size,
            "container": container,
        }
        if check_files:
            there = Path(found.path).exists()
            part |= {"accessible": there, "exists": there}
        return {"id": number, "container": container, "videoResolution": "1080", "Part": [part]}

    def _key(self, word: str) -> str:
        with self._lock:
            return self._keys.setdefault(word, str(501 + len(self._keys)))


def _plex_guid(kind: str, word: str) -> str:
    return f"plex://{kind}/{hashlib.sha1(word.encode(), usedforsecurity=False).hexdigest()[:24]}"
