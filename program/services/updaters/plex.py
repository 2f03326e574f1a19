"""Plex Media Server: scans one folder of a library and is asked for the title."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel, Field, HttpUrl, SecretStr

from program.errors import Misconfigured
from program.events import LibraryScanRequested
from program.http import AnyId, Limits, Response
from program.media.item import Ids, MediaType
from program.services.plugin import Updater
from program.services.updaters import depth, is_below, mapped, normal
from program.settings.provider import ProviderSettings

# What was scanned just now is on the first page of the newest.
PAGE = 50
MOVIE, SHOW, EPISODE = 1, 2, 4
_UNAUTHORIZED = 401
# Of more folders in one library than this, the whole library is scanned.
MANY_FOLDERS = 20

# How long the list of libraries is believed: a person changes it now and then, a scan asks for it each time.
SECTIONS_SECONDS = 60


class PlexSettings(ProviderSettings):
    """Settings of Plex."""

    url: HttpUrl = Field(HttpUrl("http://localhost:32400"), description="Address of the server")
    token: SecretStr = Field(SecretStr(""), description="The owner's X-Plex-Token")
    path_map: dict[str, str] = Field(
        default_factory=dict, description="Our mount path: the path under which the server sees it"
    )


class Location(BaseModel):
    """A folder of a library."""

    path: str


class Section(BaseModel):
    """A library."""

    key: AnyId
    title: str = ""
    locations: list[Location] = Field(default_factory=list, alias="Location")


class Guid(BaseModel):
    """An id such as `tmdb://101`."""

    id: str


class Part(BaseModel):
    """A file."""

    file: str = ""


class Media(BaseModel):
    """A version of an item."""

    parts: list[Part] = Field(default_factory=list, alias="Part")


class Row(BaseModel):
    """An item. index, parent_index: episode and season; deleted_at: it lies in the trash."""

    key: AnyId = Field(alias="ratingKey")
    guid: str = ""
    guids: list[Guid] = Field(default_factory=list, alias="Guid")
    media: list[Media] = Field(default_factory=list, alias="Media")
    index: int | None = None
    parent_index: int | None = Field(None, alias="parentIndex")
    deleted_at: int | None = Field(None, alias="deletedAt")

    @property
    def files(self) -> set[str]:
        """Return the paths of its files, for comparing."""
        return {normal(part.file) for media in self.media for part in media.parts}


class Container(BaseModel):
    """What every answer is wrapped in; an empty list is left out."""

    sections: list[Section] = Field(default_factory=list, alias="Directory")
    rows: list[Row] = Field(default_factory=list, alias="Metadata")


class Answer(BaseModel):
    """An answer of the server."""

    container: Container = Field(alias="MediaContainer")


class Plex(Updater[PlexSettings]):
    """Scans the title's folder in the library that holds it; looks for the file among the newest, then for the ids."""

    key = "plex"
    title = "Plex"
    Settings = PlexSettings
    limits = Limits(requests=300, seconds=60)

    @classmethod
    def headers(cls, settings: PlexSettings) -> Mapping[str, str]:
        """Return the token and who we are; without `Accept` the answer would be XML."""
        return {
            "X-Plex-Token": settings.token.get_secret_value(),
            "X-Plex-Client-Identifier": str(uuid5(NAMESPACE_URL, f"rivulet {settings.url}")),
            "X-Plex-Product": "Rivulet",
            "Accept": "application/json",
        }

    @classmethod
    def classify(cls, response: Response) -> Exception | None:
        """Return a wrong token for 401: its body is a web page."""
        return (
            Misconfigured(cls.key, "token", "is refused by the server")
            if response.status == _UNAUTHORIZED
            else None
        )

    def check(self) -> None:
        """Return when the token is good."""
        self._ask("/library/sections")

    def refresh(self, folder: str) -> None:
        """Have the folder scanned; raise `Misconfigured` when no library holds it. The answer proves nothing."""
        path = mapped(folder, self.settings.path_map)
        self.http.get(f"/library/sections/{self._section(path)}/refresh", params={"path": path}, fresh=True)

    def refresh_all(self, folders: Sequence[str]) -> None:
        """Have folders scanned, or the whole library where many of them are in one."""
        sections = self._sections()
        by_section: dict[str, list[str]] = {}
        for folder in folders:
            path = mapped(folder, self.settings.path_map)
            section = _holding(sections, path)
            if section is not None:
                by_section.setdefault(section, []).append(path)
        for section, paths in by_section.items():
            address = f"/library/sections/{section}/refresh"
            if len(paths) > MANY_FOLDERS:
                self.http.get(address, fresh=True)
                continue
            for path in paths:
                self.http.get(address, params={"path": path}, fresh=True)

    def has(self, wanted: LibraryScanRequested) -> bool:
        """Return whether the library that holds the folder lists the file, or the title by its ids."""
        file = normal(mapped(wanted.file, self.settings.path_map))
        section = self._section(mapped(wanted.folder, self.settings.path_map))
        is_movie = wanted.media_type is MediaType.MOVIE
        newest = self._rows(section, MOVIE if is_movie else EPISODE, sort="addedAt:desc")
        if any(file in row.files for row in newest):
            return True
        titles = self._rows(section, MOVIE if is_movie else SHOW, title=wanted.title)
        named = [row for row in titles if _names(row, wanted.ids)]
        return bool(named) if is_movie else any(self._has_episode(row, wanted) for row in named)

    def sees(self, path: str) -> bool:
        """Return whether a library looks into a path of our mount."""
        answer = self.http.read("/library/sections", Answer, fresh=True)
        seen = mapped(path, self.settings.path_map)
        return any(
            is_below(seen, location.path)
            for section in answer.container.sections
            for location in section.locations
        )

    def _has_episode(self, show: Row, wanted: LibraryScanRequested) -> bool:
        episodes = self._ask(f"/library/metadata/{show.key}/allLeaves").rows
        return any(
            (row.parent_index, row.index) == (wanted.season, wanted.episode)
            for row in episodes
            if row.deleted_at is None
        )

    def _rows(self, section: str, kind: int, **filters: str) -> Iterable[Row]:
        params: dict[str, str | int | None] = {
            "type": kind,
            "includeGuids": 1,
            "X-Plex-Container-Start": 0,
            "X-Plex-Container-Size": PAGE,
            **filters,
        }
        rows = self._ask(f"/library/sections/{section}/all", params).rows
        return [row for row in rows if row.deleted_at is None]

    def _section(self, path: str) -> str:
        """Return the key of the library that holds `path`; raise `Misconfigured` when there is none."""
        section = _holding(self._sections(), path)
        if section is None:
            raise Misconfigured(
                self.key, "path_map", f"no library of the server holds {PurePosixPath(path).parent}"
            )
        return section

    def _sections(self) -> Sequence[Section]:
        return self.http.read("/library/sections", Answer, cache_seconds=SECTIONS_SECONDS).container.sections

    def _ask(self, path: str, params: Mapping[str, str | int | None] | None = None) -> Container:
        return self.http.read(path, Answer, params=params or {}, fresh=True).container


def _names(row: Row, ids: Ids) -> bool:
    """Return whether an item bears one of the ids, in the new form or in that of the old agents."""
    new = {
        f"{name}://{value}"
        for name, value in (("imdb", ids.imdb), ("tmdb", ids.tmdb), ("tvdb", ids.tvdb))
        if value
    }
    old = {
        f"com.plexapp.agents.{name}://{value}"
        for name, value in (("imdb", ids.imdb), ("themoviedb", ids.tmdb), ("thetvdb", ids.tvdb))
        if value
    }
    return any(guid.id in new for guid in row.guids) or row.guid.split("?", maxsplit=1)[0] in old


def _holding(sections: Iterable[Section], path: str) -> str | None:
    """Return the key of the library whose location is the longest prefix of `path`, None when there is none."""
    holding = [
        (depth(location.path), section.key)
        for section in sections
        for location in section.locations
        if is_below(path, location.path)
    ]
    return max(holding, key=lambda found: found[0])[1] if holding else None
