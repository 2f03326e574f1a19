"""Jellyfin (10.8 to 12): told of one folder and asked for the title."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from pydantic import BaseModel, Field, HttpUrl, SecretStr, TypeAdapter

from program.errors import NotFound
from program.events import LibraryScanRequested
from program.http import Limits
from program.media.item import MediaType
from program.services.plugin import Updater
from program.services.updaters import is_below, mapped, normal
from program.settings.provider import ProviderSettings

PAGE = 200
# More pages than titles of three years fill; the last line against a server that never ends.
MAX_PAGES = 50
VIRTUAL = "Virtual"
# Of more folders than this, the server is told to look at everything.
MANY_FOLDERS = 500


class JellyfinSettings(ProviderSettings):
    """Settings of Jellyfin."""

    url: HttpUrl = Field(HttpUrl("http://localhost:8096"), description="Address of the server")
    api_key: SecretStr = Field(SecretStr(""), description="API key (Dashboard, API Keys)")
    path_map: dict[str, str] = Field(
        default_factory=dict, description="Our mount path: the path under which the server sees it"
    )


class Item(BaseModel):
    """A film, series or episode. location: `Virtual` for an episode that is missing."""

    id: str = Field(alias="Id")
    path: str | None = Field(None, alias="Path")
    ids: dict[str, str | None] = Field(default_factory=dict, alias="ProviderIds")
    location: str | None = Field(None, alias="LocationType")
    season: int | None = Field(None, alias="ParentIndexNumber")
    number: int | None = Field(None, alias="IndexNumber")
    last_number: int | None = Field(None, alias="IndexNumberEnd")


class Items(BaseModel):
    """A page of items."""

    rows: list[Item] = Field(alias="Items")
    total: int = Field(0, alias="TotalRecordCount")


class Folder(BaseModel):
    """A library."""

    locations: list[str] = Field(default_factory=list, alias="Locations")


FOLDERS = TypeAdapter(list[Folder])


class Jellyfin(Updater[JellyfinSettings]):
    """Reports a changed folder; looks for the file's path, then for the ids, among the titles of that year.

    The server has no search by path or id and answers an unknown parameter with everything, so the comparing is done here.
    """

    key = "jellyfin"
    title = "Jellyfin"
    Settings = JellyfinSettings
    limits = Limits(requests=300, seconds=60)

    @classmethod
    def headers(cls, settings: JellyfinSettings) -> Mapping[str, str]:
        """Return the key in the one header that every version reads; behind a proxy with a password it cannot be used."""
        if settings.url.username:
            return {}
        return {
            "Authorization": f'MediaBrowser Token="{quote(settings.api_key.get_secret_value(), safe="")}"'
        }

    def check(self) -> None:
        """Return when the key is good."""
        self.http.read("/System/Info", TypeAdapter(dict[str, object]), params=self._params(), fresh=True)

    def refresh(self, folder: str) -> None:
        """Report the folder as changed; the answer proves nothing."""
        self.refresh_all((folder,))

    def refresh_all(self, folders: Sequence[str]) -> None:
        """Report folders as changed in one call, since each begins its wait anew; of very many it is told to look everywhere."""
        if len(folders) > MANY_FOLDERS:
            self.http.post("/Library/Refresh", params=self._params())
            return
        updates = [
            {"Path": mapped(folder, self.settings.path_map), "UpdateType": "Created"} for folder in folders
        ]
        self.http.post("/Library/Media/Updated", params=self._params(), json={"Updates": updates})

    def has(self, wanted: LibraryScanRequested) -> bool:
        """Return whether the server lists the film, or the series with that episode."""
        titles = self._titles(wanted)
        if wanted.media_type is MediaType.MOVIE:
            return bool(titles)
        return any(self._has_episode(series.id, wanted) for series in titles)

    def sees(self, path: str) -> bool:
        """Return whether a library looks into a path of our mount."""
        folders = self.http.read("/Library/VirtualFolders", FOLDERS, params=self._params(), fresh=True)
        seen = mapped(path, self.settings.path_map)
        return any(is_below(seen, location) for folder in folders for location in folder.locations)

    def _titles(self, wanted: LibraryScanRequested) -> list[Item]:
        """Return the films or series that are the wanted one, by path or by id."""
        is_movie = wanted.media_type is MediaType.MOVIE
        file = normal(mapped(wanted.file, self.settings.path_map))
        asked = {"Imdb": wanted.ids.imdb, "Tmdb": wanted.ids.tmdb, "Tvdb": wanted.ids.tvdb}

        def is_wanted(item: Item) -> bool:
            path = normal(item.path or "")
            is_there = path == file if is_movie else file.startswith(f"{path}/") and path != "/"
            return is_there or any(value and item.ids.get(name) == value for name, value in asked.items())

        # Services differ by a year now and then.
        years = [wanted.year - 1, wanted.year, wanted.year + 1] if wanted.year else []
        found: list[Item] = []
        for page in range(MAX_PAGES):
            answer = self.http.read(
                "/Items",
                Items,
                params=self._params(
                    recursive="true",
                    includeItemTypes="Movie" if is_movie else "Series",
                    years=",".join(map(str, years)) or None,
                    searchTerm=None if years else wanted.title,
                    fields="Path,ProviderIds",
                    enableImages="false",
                    startIndex=page * PAGE,
                    limit=PAGE,
                ),
                fresh=True,
            )
            found += [item for item in answer.rows if item.location != VIRTUAL and is_wanted(item)]
            if found or not answer.rows or (page + 1) * PAGE >= answer.total:
                break
        return found

    def _has_episode(self, series: str, wanted: LibraryScanRequested) -> bool:
        params = self._params(season=wanted.season, fields="Path")
        try:
            episodes = self.http.read(f"/Shows/{series}/Episodes", Items, params=params, fresh=True).rows
        except NotFound:
            # The series was rebuilt between two questions.
            return False
        return any(
            one.season == wanted.season and _holds(one, wanted.episode)
            for one in episodes
            if one.location != VIRTUAL
        )

    def _params(self, **params: str | int | None) -> dict[str, str | int | None]:
        key = self.settings.api_key.get_secret_value() if self.settings.url.username else None
        return {**params, "ApiKey": key}


def _holds(episode: Item, number: int | None) -> bool:
    """Return whether an item is that episode, or a file of several that reaches over it."""
    if number is None or episode.number is None:
        return False
    return episode.number <= number <= (episode.last_number or episode.number)
