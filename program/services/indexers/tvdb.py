"""TheTVDB: shows with their seasons, episodes and air times (API v4)."""

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from loguru import logger
from pydantic import BaseModel, Field, HttpUrl, SecretStr

from program.clock import Clock
from program.errors import BadAnswer, Misconfigured, NotFound
from program.http import AnyId, DataSource, Limits, Response
from program.media.item import Ids, ShowStatus, Title
from program.media.metadata import EpisodeMetadata, FoundTitle, Metadata, SeasonMetadata
from program.services.indexers import AirTimes, age_rating, air_times, country_code, language_code
from program.services.plugin import Indexer
from program.settings.provider import ProviderSettings

# A token lives a month.
TOKEN_LIFETIME = timedelta(days=25)
# A show that is looked at twice within minutes is not asked for twice.
CACHE_SECONDS = 600
MOST_FOUND = 20
# More pages than any show has; the last line against a service that never ends.
MAX_PAGES = 40
ARTWORKS = "https://artworks.thetvdb.com"
STATUSES = {1: ShowStatus.CONTINUING, 2: ShowStatus.ENDED, 3: ShowStatus.UPCOMING}
IMDB, TMDB_TV = 2, 12
_UNAUTHORIZED, _BAD_REQUEST = 401, 400
_YEAR = re.compile(r"\s*\((?:19|20)\d\d\)$")
_COUNTRY = re.compile(r"\s*\([A-Z]{2}\)$")


class TvdbSettings(ProviderSettings):
    """Settings of TheTVDB."""

    url: HttpUrl = Field(HttpUrl("https://api4.thetvdb.com/v4"), description="Address of the API")
    api_key: SecretStr = Field(SecretStr(""), description="Project key")
    pin: SecretStr = Field(SecretStr(""), description="Subscriber PIN, only for keys that ask for one")


class Token(BaseModel):
    """What a login gives."""

    token: str


class Login(BaseModel):
    """Answer of /login."""

    data: Token


class Named(BaseModel):
    """A thing with an id and a name: genre, network, status."""

    id: int | None = None
    name: str | None = None
    country: str | None = None


class Alias(BaseModel):
    """A further name of a show."""

    language: str | None = None
    name: str = ""
    aliases: list[str] | None = None


class RemoteId(BaseModel):
    """An id at another service; `type` says which."""

    id: AnyId
    type: int | None = None


class Kind(BaseModel):
    """An order of episodes."""

    type: str = ""


class Season(BaseModel):
    """A season in one of the orders."""

    number: int
    name: str | None = None
    type: Kind = Field(default_factory=Kind)


class Translations(BaseModel):
    """Names by language."""

    names: list[Alias] | None = Field(None, alias="nameTranslations")


class ContentRating(BaseModel):
    """An age rating in one country."""

    name: str | None = None
    country: str | None = None


class Series(BaseModel):
    """The extended record of a show."""

    id: AnyId
    name: str | None = None
    image: str | None = None
    aliases: list[Alias] | None = None
    first_aired: str | None = Field(None, alias="firstAired")
    next_aired: str | None = Field(None, alias="nextAired")
    status: Named | None = None
    country: str | None = Field(None, alias="originalCountry")
    language: str | None = Field(None, alias="originalLanguage")
    runtime: int | None = Field(None, alias="averageRuntime")
    year: AnyId | None = None
    airs_time: str | None = Field(None, alias="airsTime")
    original_network: Named | None = Field(None, alias="originalNetwork")
    latest_network: Named | None = Field(None, alias="latestNetwork")
    genres: list[Named] | None = None
    content_ratings: list[ContentRating] | None = Field(None, alias="contentRatings")
    remote_ids: list[RemoteId] | None = Field(None, alias="remoteIds")
    seasons: list[Season] | None = None
    season_types: list[Kind] | None = Field(None, alias="seasonTypes")
    translations: Translations | None = None

    def remote(self, kind: int) -> str | None:
        """Return the id at another service."""
        return next((one.id for one in self.remote_ids or () if one.type == kind), None)


class SeriesAnswer(BaseModel):
    """Answer of /series/{id}/extended."""

    data: Series


class Episode(BaseModel):
    """One episode in one order."""

    id: AnyId
    name: str | None = None
    aired: str | None = None
    runtime: int | None = None
    season: int | None = Field(None, alias="seasonNumber")
    number: int | None = None
    absolute: int | None = Field(None, alias="absoluteNumber")


class Episodes(BaseModel):
    """The episodes of a page; the record around them differs by form."""

    episodes: list[Episode] | None = None


class Links(BaseModel):
    """Where a list goes on."""

    next: str | None = None


class EpisodePage(BaseModel):
    """Answer of /series/{id}/episodes/{order}."""

    data: Episodes
    links: Links | None = None


class RemoteRow(BaseModel):
    """A row of /search/remoteid; only shows are of interest."""

    series: Named | None = None


class RemoteAnswer(BaseModel):
    """Answer of /search/remoteid."""

    data: list[RemoteRow] | None = None


class SearchRow(BaseModel):
    """A show in a search by name."""

    id: AnyId = Field(alias="tvdb_id")
    name: str | None = None
    translations: dict[str, str] | None = None
    year: AnyId | None = None
    overview: str | None = None
    overviews: dict[str, str] | None = None
    image: str | None = Field(None, alias="image_url")


class SearchAnswer(BaseModel):
    """Answer of /search."""

    data: list[SearchRow] | None = None


class Tvdb(Indexer[TvdbSettings]):
    """Shows by TVDB, IMDb or TMDB id, in the aired order, with absolute numbers where there are any."""

    key = "tvdb"
    title = "TheTVDB"
    Settings = TvdbSettings
    kinds = frozenset({"show"})
    limits = Limits(requests=20, seconds=1)

    def __init__(self, settings: TvdbSettings, http: DataSource, clock: Clock) -> None:
        super().__init__(settings, http, clock)
        # Guarded by the lock.
        self._lock = threading.Lock()
        self._token = ""
        self._token_until = clock.now()

    def check(self) -> None:
        """Return when the key is good."""
        self._log_in()

    def show(self, ids: Ids) -> Metadata | None:
        """Return a show by its TVDB id, else by its IMDb or TMDB id; None when none of them is known."""
        series = self._series(ids.tvdb) if ids.tvdb else None
        for remote, kind in ((ids.imdb, IMDB), (ids.tmdb, TMDB_TV)):
            if series is None and remote:
                series = self._by_remote(remote, kind)
        return self._metadata(series, ids) if series else None

    def search(self, text: str) -> Iterable[FoundTitle]:
        """Return shows by their name; in English where there is such a name."""
        answer = self._get("/search", query=text, type="series", limit=MOST_FOUND)
        return [_found(row) for row in self.http.parse(answer, SearchAnswer).data or () if row.name]

    def _metadata(self, series: Series, asked: Ids) -> Metadata:
        network = series.latest_network or series.original_network
        home = series.original_network or series.latest_network
        times = air_times((series.country, home.country if home else None), series.airs_time)
        seasons = tuple(self._seasons(series, times))
        now = self.clock.now()
        later = [
            one.aired_at
            for season in seasons
            for one in season.episodes
            if one.aired_at and one.aired_at > now
        ]
        language = language_code(series.language)
        genres = tuple(genre.name for genre in series.genres or () if genre.name)
        name, title = series.name or "", _title(series)
        first = times.instant(series.first_aired)
        return Metadata(
            ids=Ids(
                imdb=series.remote(IMDB) or asked.imdb,
                tmdb=series.remote(TMDB_TV) or asked.tmdb,
                tvdb=series.id,
            ),
            title=title,
            original_title=name if name and name != title else None,
            aliases=tuple(_aliases(series)),
            year=int(series.year)
            if series.year and series.year.isdigit()
            else (first.year if first else None),
            first_aired_at=first,
            network=network.name if network else None,
            country=country_code(series.country),
            language=language,
            genres=genres,
            runtime=series.runtime or None,
            content_rating=age_rating(
                (country_code(one.country), one.name) for one in series.content_ratings or ()
            ),
            poster=_absolute(series.image),
            is_anime="Anime" in genres or ("Animation" in genres and language == "ja"),
            show_status=STATUSES.get(series.status.id or 0, ShowStatus.UNKNOWN)
            if series.status
            else ShowStatus.UNKNOWN,
            next_air_at=min(later, default=times.instant(series.next_aired)),
            seasons=seasons,
        )

    def _seasons(self, series: Series, times: AirTimes) -> Iterator[SeasonMetadata]:
        official = self._episodes(series.id, "official")
        absolute = self._absolute_numbers(series)
        is_english = language_code(series.language) in ("en", None)
        english = (
            {} if is_english else {one.id: one.name for one in self._episodes(series.id, "official/eng")}
        )
        names = {one.number: one.name for one in series.seasons or () if one.type.type == "official"}
        by_season: dict[int, dict[int, EpisodeMetadata]] = {number: {} for number in names}
        for one in official:
            if one.season is None or one.number is None:
                # A ghost: an entry that has no place in this order.
                continue
            episode = EpisodeMetadata(
                service_id=one.id,
                number=one.number,
                title=english.get(one.id) or one.name or f"Episode {one.number}",
                absolute_number=absolute.get(one.id) or one.absolute or None,
                aired_at=times.instant(one.aired),
                runtime=one.runtime or None,
            )
            by_season.setdefault(one.season, {}).setdefault(one.number, episode)
        for number in sorted(by_season):
            title = names.get(number) or ("Specials" if number == 0 else f"Season {number}")
            episodes = by_season[number]
            yield SeasonMetadata(
                number=number, title=title, episodes=tuple(episodes[one] for one in sorted(episodes))
            )

    def _absolute_numbers(self, series: Series) -> Mapping[str, int]:
        """Return the absolute numbers by episode id; the same episode keeps its id in every order."""
        if not any(kind.type == "absolute" for kind in series.season_types or ()):
            return {}
        rows = self._episodes(series.id, "absolute")
        return {one.id: one.number for one in rows if one.number and one.season != 0}

    def _episodes(self, tvdb: str, order: str) -> list[Episode]:
        """Return every episode of an order; none when the show has no such order. Raises BadAnswer when a page is missing."""
        found: dict[str, Episode] = {}
        for number in range(MAX_PAGES):
            try:
                answer = self._get(f"/series/{tvdb}/episodes/{order}", page=number)
            except NotFound:
                if number:
                    raise BadAnswer(
                        f"{self.key}: page {number} of the episodes of show {tvdb} is not there"
                    ) from None
                break
            page = self.http.parse(answer, EpisodePage)
            new = {one.id: one for one in page.data.episodes or () if one.id not in found}
            found |= new
            if not page.links or not page.links.next:
                break
            if not new:
                logger.bind(provider=self.key).warning("{}: the pages of show {} do not end", self.key, tvdb)
                break
        return list(found.values())

    def _series(self, tvdb: str) -> Series | None:
        try:
            answer = self._get(f"/series/{tvdb}/extended", meta="translations", short="true")
        except NotFound:
            return None
        return self.http.parse(answer, SeriesAnswer).data

    def _by_remote(self, remote: str, kind: int) -> Series | None:
        """Return the show that bears a remote id; rows of other kinds and strays are passed over."""
        try:
            answer = self._get(f"/search/remoteid/{remote}")
        except NotFound:
            return None
        rows = self.http.parse(answer, RemoteAnswer).data or []
        shows = list(dict.fromkeys(str(row.series.id) for row in rows if row.series and row.series.id))
        found = [series for tvdb in shows if (series := self._series(tvdb)) is not None]
        return next((series for series in found if series.remote(kind) == remote), None)

    def _get(self, path: str, **params: str | int) -> Response:
        """Return an answer, logging in first when there is no token or it is refused (once)."""
        answer = self._ask(path, params, ok=(_UNAUTHORIZED,))
        if answer.status != _UNAUTHORIZED:
            return answer
        with self._lock:
            self._token = ""
        return self._ask(path, params, ok=())

    def _ask(self, path: str, params: Mapping[str, str | int | None], ok: tuple[int, ...]) -> Response:
        headers = {"Authorization": f"Bearer {self._current_token()}"}
        return self.http.get(path, params=params, headers=headers, cache_seconds=CACHE_SECONDS, ok=ok)

    def _current_token(self) -> str:
        with self._lock:
            token, until = self._token, self._token_until
        return token if token and self.clock.now() < until else self._log_in()

    def _log_in(self) -> str:
        key, pin = self.settings.api_key.get_secret_value(), self.settings.pin.get_secret_value()
        answer = self.http.post("/login", json={"apikey": key} | ({"pin": pin} if pin else {}), ok=(400, 401))
        if answer.status == _BAD_REQUEST:
            raise Misconfigured(self.key, "pin", "is needed for this key, or is wrong")
        if answer.status == _UNAUTHORIZED:
            raise Misconfigured(self.key, "api_key", "is refused by the service")
        token = self.http.parse(answer, Login).data.token
        with self._lock:
            self._token, self._token_until = token, self.clock.now() + TOKEN_LIFETIME
        return token


def _found(row: SearchRow) -> FoundTitle:
    return FoundTitle(
        is_movie=False,
        ids=Ids(tvdb=row.id),
        title=(row.translations or {}).get("eng") or row.name or "",
        year=int(row.year) if row.year and row.year.isdigit() else None,
        overview=(row.overviews or {}).get("eng") or row.overview or "",
        poster=_absolute(row.image),
    )


def _title(series: Series) -> str:
    """Return the English name, else the own one; a year behind it is told apart."""
    name = series.name or ""
    if language_code(series.language) != "en":
        names = (series.translations.names if series.translations else None) or []
        english = [one for one in names if one.language == "eng" and one.name]
        name = english[0].name if english else name
    return _YEAR.sub("", name).strip() or name


def _aliases(series: Series) -> Iterator[Title]:
    """Yield the other names, each once: aliases, translations, and the name without its country."""
    translated = (series.translations.names if series.translations else None) or []
    told: list[tuple[str, str | None]] = [(series.name or "", series.language)]
    told += [(one.name, one.language) for one in (*(series.aliases or ()), *translated)]
    told += [(name, one.language) for one in translated for name in one.aliases or ()]
    told += [(_COUNTRY.sub("", name), language) for name, language in told]
    title = _title(series)
    seen: set[tuple[str, str | None]] = {(title.casefold(), language_code(series.language))}
    for text, language in told:
        alias = Title(_YEAR.sub("", text).strip(), None, language_code(language))
        mark = (alias.text.casefold(), alias.language)
        if alias.text and mark not in seen:
            seen.add(mark)
            yield alias


def _absolute(image: str | None) -> str | None:
    if not image:
        return None
    return image if "://" in image else f"{ARTWORKS}/{image.lstrip('/')}"
