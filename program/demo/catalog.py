"""What the demo's outside world offers: openly licensed titles, and the releases that a search would find for them.

The data is in `catalog.json`. The ids are the real ones unless a `note` there says otherwise. Every release has an info
hash of its own (the SHA-1 of its name) and a list of files; a `note` says why a release is there to tempt.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

CATALOG_FILE = Path(__file__).with_name("catalog.json")

# What the debrid service says of a release.
CACHED = "cached"
UNCACHED = "uncached"
INFRINGING = "infringing"
AVAILABILITIES = (CACHED, UNCACHED, INFRINGING)

# Kinds of files that are video; the others are `text` and `blob`.
VIDEO_KINDS = frozenset({"feature", "episode", "extra", "sample"})


@dataclass(frozen=True, slots=True)
class ClipSpec:
    """Names the bytes of a file: a base clip, and the mark that makes this file differ from others of the same base.

    An empty mark means the base itself. seconds: how long the base plays (0 when it is not video).
    """

    base: str
    suffix: str
    mark: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """One file of a torrent.

    path: inside the torrent, without its root folder. announced_extra: how many bytes more than it has are announced.
    """

    path: str
    kind: str
    clip: ClipSpec
    season: int | None = None
    episode: int | None = None
    announced_extra: int = 0

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def is_video(self) -> bool:
        """Return whether a player could play it."""
        return self.kind in VIDEO_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One torrent as a search finds it.

    imdb: the title it is listed under, rightly or not. right: it is what the person wants. gigabytes: the size a search
    shows, like that of the real film; the files themselves are small clips.
    """

    name: str
    imdb: str
    files: tuple[ReleaseFile, ...]
    seeders: int = 10
    gigabytes: float = 1.0
    indexer: str = "1337x"
    right: bool = False
    availability: str = CACHED
    published: bool = True
    languages: str = ""
    note: str = ""

    @property
    def infohash(self) -> str:
        """Return 40 hex digits, always the same for the same name."""
        return hashlib.sha1(self.name.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A film as metadata services describe it."""

    title: str
    year: int
    tmdb: int
    imdb: str
    premiere: date | None
    digital: date | None
    language: str = "en"
    country: str = "US"
    runtime: int = 10
    overview: str = ""
    genres: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One episode; `absolute` counts over all seasons, 0 for specials. aired None: not announced."""

    id: int
    season: int
    number: int
    absolute: int
    title: str
    aired: date | None
    runtime: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A series with all its seasons, specials included."""

    title: str
    year: int
    tvdb: int
    tmdb: int
    imdb: str
    episodes: tuple[Episode, ...]
    network: str = ""
    status: str = "Continuing"
    airs_time: str = "20:00"
    language: str = "en"
    country: str = "US"
    runtime: int = 30
    overview: str = ""
    genres: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def season_numbers(self) -> tuple[int, ...]:
        """Return the numbers of its seasons in order, 0 for specials."""
        return tuple(sorted({episode.season for episode in self.episodes}))

    def season(self, number: int) -> tuple[Episode, ...]:
        """Return the episodes of one season, empty when there is none."""
        return tuple(episode for episode in self.episodes if episode.season == number)


@dataclass(slots=True)
class Catalog:
    """Everything there is. Tests change it while the servers run; the owner's lock guards it."""

    films: dict[int, Film] = field(default_factory=dict)
    shows: dict[int, Show] = field(default_factory=dict)
    releases: dict[str, Release] = field(default_factory=dict)
    _hashes: dict[str, dict[str, None]] = field(default_factory=dict)

    def film_by_imdb(self, imdb: str) -> Film | None:
        """Return the film with this IMDb id, None when unknown."""
        return next((film for film in self.films.values() if film.imdb == imdb), None)

    def show_by(self, *, imdb: str | None = None, tmdb: int | None = None) -> Show | None:
        """Return the show with this IMDb or TMDB id, None when unknown."""
        for show in self.shows.values():
            if (imdb is not None and show.imdb == imdb) or (tmdb is not None and show.tmdb == tmdb):
                return show
        return None

    def listed(self, imdb: str) -> list[Release]:
        """Return the published releases that a search for this title finds."""
        found = (self.releases[infohash] for infohash in self._hashes.get(imdb, ()))
        return [release for release in found if release.published]

    def find_release(self, name_or_hash: str) -> Release | None:
        """Return a release by its name or info hash, published or not."""
        known = self.releases.get(name_or_hash.lower())
        return known or next((one for one in self.releases.values() if one.name == name_or_hash), None)

    def put(self, release: Release) -> None:
        """Add a release, or put it in the place of the one of the same hash."""
        self.releases[release.infohash] = release
        self._hashes.setdefault(release.imdb, {})[release.infohash] = None

    def drop_file(self, release: Release, path: str) -> Release:
        """Take a file out of a torrent and return what is left. Raises KeyError when it has no such file."""
        left = tuple(file for file in release.files if file.path != path)
        if len(left) == len(release.files):
            raise KeyError(path)
        changed = replace(release, files=left)
        self.put(changed)
        return changed


def load_catalog(now: datetime, source: Path = CATALOG_FILE) -> Catalog:
    """Return the catalog; dates given as `aired_in_days` are counted from `now`."""
    data = json.loads(source.read_text(encoding="utf-8"))
    catalog = Catalog()
    for row in data["films"]:
        film = film_from(row)
        catalog.films[film.tmdb] = film
        _add_releases(catalog, film.imdb, f"film-{film.tmdb}", row.get("releases", []))
    for row in data["shows"]:
        show = _show_from(row, now)
        catalog.shows[show.tvdb] = show
        _add_releases(catalog, show.imdb, f"show-{show.tvdb}", row.get("releases", []))
    return catalog


def film_from(row: Mapping[str, Any]) -> Film:
    """Return a film from a row of the data file. Raises KeyError or ValueError when the row is wrong."""
    return Film(
        title=row["title"],
        year=row["year"],
        tmdb=row["tmdb"],
        imdb=row["imdb"],
        premiere=_date_or_none(row.get("premiere")),
        digital=_date_or_none(row.get("digital")),
        **_shared_facts(row),
    )


def release_from(row: Mapping[str, Any], imdb: str, base: str) -> Release:
    """Return a release from a row of the data file. base: the clip its films or episodes are made from."""
    season, episode = row.get("episode") or (None, None)
    single = [f"{row['name']}.mkv", "episode" if base.startswith("show-") else "feature", season, episode]
    rows = row.get("files") or [single]
    files = tuple(_file_from(row["name"], base, one, shared=row.get("shared_clip", False)) for one in rows)
    optional = ("seeders", "indexer", "right", "availability", "published", "languages", "note")
    return Release(
        name=row["name"],
        imdb=imdb,
        files=files,
        gigabytes=row.get("gb", 1.0),
        **{key: row[key] for key in optional if key in row},
    )


def _add_releases(catalog: Catalog, imdb: str, base: str, rows: Iterable[Mapping[str, Any]]) -> None:
    for row in rows:
        catalog.put(release_from(row, imdb, base))


def _file_from(release: str, base: str, row: list[Any], *, shared: bool) -> ReleaseFile:
    path, kind, season, episode = (*row, None, None)[:4]
    suffix = PurePosixPath(path).suffix
    mark = "" if shared else hashlib.sha1(f"{release}/{path}".encode(), usedforsecurity=False).hexdigest()
    name, seconds = _base_clip("film-0" if shared else base, kind, season, episode)
    return ReleaseFile(path, kind, ClipSpec(name, suffix, mark, seconds), season, episode)


def _base_clip(base: str, kind: str, season: int | None, episode: int | None) -> tuple[str, float]:
    """Return which base clip a file is made from and how long that plays."""
    if kind == "episode" and season is not None and episode is not None:
        # A few lengths, so that files of one pack differ in size.
        return f"{base}-s{season}e{episode}", 3.0 + (season * 3 + episode) % 5 * 0.4
    if kind in ("feature", "episode"):
        return base, 3.0 + sum(map(int, filter(str.isdigit, base))) % 6 * 0.4
    return kind, {"sample": 0.4, "extra": 1.2}.get(kind, 0.0)


def _show_from(row: Mapping[str, Any], now: datetime) -> Show:
    episodes: list[Episode] = []
    absolute = 0
    for season in row["seasons"]:
        for one in season["episodes"]:
            absolute += 1 if season["number"] else 0
            episodes.append(
                Episode(
                    # An id as TVDB has them: unique, and unrelated to the number.
                    id=row["tvdb"] * 1000 + season["number"] * 100 + one["number"],
                    season=season["number"],
                    number=one["number"],
                    absolute=absolute if season["number"] else 0,
                    title=one["title"],
                    aired=_air_date(one, now),
                    runtime=one.get("runtime", row["runtime"]),
                )
            )
    return Show(
        title=row["title"],
        year=row["year"],
        tvdb=row["tvdb"],
        tmdb=row["tmdb"],
        imdb=row["imdb"],
        episodes=tuple(episodes),
        network=row.get("network", ""),
        status=row.get("status", "Continuing"),
        airs_time=row.get("airs_time", "20:00"),
        **_shared_facts(row),
    )


def _shared_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: row[key] for key in ("language", "country", "runtime", "overview") if key in row}
    genres = tuple(row.get("genres", ()))
    aliases = tuple((country, title) for country, title in row.get("aliases", ()))
    return {**plain, "genres": genres, "aliases": aliases}


def _air_date(row: Mapping[str, Any], now: datetime) -> date | None:
    if "aired_in_days" in row:
        return (now.astimezone(UTC) + timedelta(days=row["aired_in_days"])).date()
    return _date_or_none(row.get("aired"))


def _date_or_none(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
