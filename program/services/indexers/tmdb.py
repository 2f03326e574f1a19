"""TMDB: titles, dates and ids of films (API v3)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from pydantic import BaseModel, Field, HttpUrl, SecretStr, TypeAdapter

from program.errors import NotFound
from program.http import Limits
from program.media.item import Ids, ReleaseKind, Title
from program.media.metadata import FoundTitle, Metadata
from program.services.indexers import age_rating
from program.services.plugin import Indexer
from program.settings.provider import ProviderSettings

PARTS = "external_ids,release_dates,alternative_titles,translations,keywords"
# A title that is looked at twice within minutes is not asked for twice; after that a question with its ETag does.
CACHE_SECONDS = 600
POSTER = "https://image.tmdb.org/t/p/w500"
ANIME_KEYWORD, ANIMATION = 210024, 16
ANIME_LANGUAGES = frozenset({"ja", "zh", "ko"})
KINDS = {
    1: ReleaseKind.PREMIERE,
    2: ReleaseKind.LIMITED,
    3: ReleaseKind.THEATRICAL,
    4: ReleaseKind.DIGITAL,
    5: ReleaseKind.PHYSICAL,
    6: ReleaseKind.TV,
}
# Codes of TMDB's own: Cantonese, and films without speech.
_LANGUAGES: Mapping[str, str | None] = {"cn": "zh", "xx": None}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TOKEN_DOTS = 2


class TmdbSettings(ProviderSettings):
    """Settings of TMDB."""

    url: HttpUrl = Field(HttpUrl("https://api.themoviedb.org/3"), description="Address of the API")
    api_key: SecretStr = Field(SecretStr(""), description="API key, or read access token")


class Coded(BaseModel):
    """A genre or keyword."""

    id: int
    name: str = ""


class Country(BaseModel):
    """A country that made a film."""

    code: str = Field("", alias="iso_3166_1")


class ExternalIds(BaseModel):
    """Ids elsewhere."""

    imdb_id: str | None = None


class ReleaseDate(BaseModel):
    """A date in one country; midnight UTC of the local calendar date."""

    type: int
    date: str = Field("", alias="release_date")
    certification: str | None = None


class CountryDates(BaseModel):
    """The dates of one country."""

    code: str = Field("", alias="iso_3166_1")
    dates: list[ReleaseDate] = Field(default_factory=list, alias="release_dates")


class ReleaseDates(BaseModel):
    """All dates."""

    results: list[CountryDates] = Field(default_factory=list)


class OtherTitle(BaseModel):
    """A title in a country."""

    country: str = Field("", alias="iso_3166_1")
    title: str = ""


class OtherTitles(BaseModel):
    """Titles by country."""

    titles: list[OtherTitle] = Field(default_factory=list)


class TranslatedText(BaseModel):
    """A translated title; empty when it is the original one."""

    title: str | None = None


class Translation(BaseModel):
    """A title in a language."""

    country: str = Field("", alias="iso_3166_1")
    language: str = Field("", alias="iso_639_1")
    data: TranslatedText = Field(default_factory=TranslatedText)


class Translations(BaseModel):
    """Titles by language."""

    translations: list[Translation] = Field(default_factory=list)


class Keywords(BaseModel):
    """Keywords of a film."""

    keywords: list[Coded] = Field(default_factory=list)


class Movie(BaseModel):
    """A film with the appended parts."""

    id: int
    title: str = ""
    original_title: str | None = None
    original_language: str | None = None
    origin_country: list[str] = Field(default_factory=list)
    production_countries: list[Country] = Field(default_factory=list)
    imdb_id: str | None = None
    release_date: str | None = None
    rating: float | None = Field(None, alias="vote_average")
    runtime: int | None = None
    poster_path: str | None = None
    genres: list[Coded] = Field(default_factory=list)
    external_ids: ExternalIds = Field(default_factory=ExternalIds)
    release_dates: ReleaseDates = Field(default_factory=ReleaseDates)
    alternative_titles: OtherTitles = Field(default_factory=OtherTitles)
    translations: Translations = Field(default_factory=Translations)
    keywords: Keywords = Field(default_factory=Keywords)

    @property
    def imdb(self) -> str | None:
        """Return the IMDb id, None when there is none."""
        return self.imdb_id or self.external_ids.imdb_id or None


class Result(BaseModel):
    """A row of a search."""

    id: int
    title: str = ""
    release_date: str | None = None
    overview: str | None = None
    poster_path: str | None = None


class SearchPage(BaseModel):
    """A page of a search by name."""

    results: list[Result] = Field(default_factory=list)


class ShowRow(BaseModel):
    """A show as it is found under an id of another service."""

    id: int


class Found(BaseModel):
    """What is known under an id of another service."""

    movies: list[Result] = Field(default_factory=list, alias="movie_results")
    shows: list[ShowRow] = Field(default_factory=list, alias="tv_results")


class Rated(BaseModel):
    """How a show is rated; 0 when nobody has voted."""

    rating: float | None = Field(None, alias="vote_average")


class Tmdb(Indexer[TmdbSettings]):
    """Films by TMDB or IMDb id; ratings of shows."""

    key = "tmdb"
    title = "TMDB"
    Settings = TmdbSettings
    kinds = frozenset({"movie"})
    has_ratings = True
    limits = Limits(requests=35, seconds=1)

    @classmethod
    def headers(cls, settings: TmdbSettings) -> Mapping[str, str]:
        """Return the read access token; a plain key goes into the query."""
        key = settings.api_key.get_secret_value()
        return {"Authorization": f"Bearer {key}"} if key.count(".") == _TOKEN_DOTS else {}

    def check(self) -> None:
        """Return when the key is good."""
        self.http.read("/configuration", TypeAdapter(dict[str, object]), params=self._params(), fresh=True)

    def movie(self, ids: Ids) -> Metadata | None:
        """Return a film by its TMDB id, else by its IMDb id; None when neither is known."""
        film = self._movie(ids.tmdb) if ids.tmdb else None
        if film is None and ids.imdb:
            film = self._by_imdb(ids.imdb)
        return _metadata(film, ids) if film else None

    def rating(self, ids: Ids) -> float | None:
        """Return how a show is rated, by its TMDB id, else by its TVDB or IMDb id."""
        show_id = ids.tmdb or self._show_by(ids.tvdb, "tvdb_id") or self._show_by(ids.imdb, "imdb_id")
        if show_id is None:
            return None
        try:
            show = self.http.read(f"/tv/{show_id}", Rated, params=self._params(), cache_seconds=CACHE_SECONDS)
        except NotFound:
            return None
        return show.rating or None

    def search(self, text: str) -> Iterable[FoundTitle]:
        """Return films by their name."""
        params = self._params(query=text, include_adult="false")
        page = self.http.read("/search/movie", SearchPage, params=params, cache_seconds=CACHE_SECONDS)
        return [_found(row) for row in page.results if row.title]

    def _params(self, **more: str) -> dict[str, str | int | None]:
        key = self.settings.api_key.get_secret_value()
        return {**more, "api_key": None if key.count(".") == _TOKEN_DOTS else key}

    def _movie(self, tmdb: str) -> Movie | None:
        params = self._params(append_to_response=PARTS)
        try:
            return self.http.read(f"/movie/{tmdb}", Movie, params=params, cache_seconds=CACHE_SECONDS)
        except NotFound:
            return None

    def _by_imdb(self, imdb: str) -> Movie | None:
        """Return the film that bears the IMDb id; one id may be listed under several."""
        found = self._find(imdb, "imdb_id")
        films = [film for row in found.movies if (film := self._movie(str(row.id))) is not None]
        same = [film for film in films if film.imdb == imdb]
        unnamed = [film for film in films if film.imdb is None]
        return next(iter(same or unnamed), None)

    def _show_by(self, external_id: str | None, source: str) -> str | None:
        """Return the id of the show that another service knows by an id, None when it is not listed."""
        shows = self._find(external_id, source).shows if external_id else ()
        return str(shows[0].id) if shows else None

    def _find(self, external_id: str, source: str) -> Found:
        params = self._params(external_source=source)
        return self.http.read(f"/find/{external_id}", Found, params=params, cache_seconds=CACHE_SECONDS)


def _found(row: Result) -> FoundTitle:
    date = _date(row.release_date)
    return FoundTitle(
        is_movie=True,
        ids=Ids(tmdb=str(row.id)),
        title=row.title,
        year=date.year if date else None,
        overview=row.overview or "",
        poster=f"{POSTER}{row.poster_path}" if row.poster_path else None,
    )


def _metadata(film: Movie, asked: Ids) -> Metadata:
    language = _language(film.original_language)
    genres = {genre.id for genre in film.genres}
    keywords = {keyword.id for keyword in film.keywords.keywords}
    releases = _releases(film)
    country = next(iter([*film.origin_country, *(country.code for country in film.production_countries)]), "")
    return Metadata(
        ids=Ids(imdb=film.imdb or asked.imdb, tmdb=str(film.id), tvdb=asked.tvdb),
        title=film.title or film.original_title or "",
        original_title=film.original_title or None,
        aliases=tuple(_aliases(film)),
        year=_year(film.release_date, releases.values()),
        releases=releases,
        country=country.lower() or None,
        language=language,
        genres=tuple(genre.name for genre in film.genres if genre.name),
        runtime=film.runtime or None,
        rating=film.rating or None,
        content_rating=age_rating(
            (country.code.lower(), one.certification)
            for country in film.release_dates.results
            for one in country.dates
        ),
        poster=f"{POSTER}{film.poster_path}" if film.poster_path else None,
        is_anime=ANIME_KEYWORD in keywords or (ANIMATION in genres and language in ANIME_LANGUAGES),
    )


def _releases(film: Movie) -> Mapping[ReleaseKind, datetime]:
    """Return the earliest date of each kind in any country."""
    dates: dict[ReleaseKind, datetime] = {}
    told = [
        (KINDS.get(one.type), one.date) for country in film.release_dates.results for one in country.dates
    ]
    for kind, text in (*told, (ReleaseKind.PRIMARY, film.release_date)):
        date = _date(text)
        if kind is not None and date is not None:
            dates[kind] = min(date, dates.get(kind, date))
    return dates


def _date(text: str | None) -> datetime | None:
    """Return the calendar date as midnight UTC; None when it is none."""
    found = _DATE.match(text or "")
    if found is None:
        return None
    try:
        return datetime.fromisoformat(found[0]).replace(tzinfo=UTC)
    except ValueError:
        return None


def _year(primary: str | None, releases: Iterable[datetime]) -> int | None:
    date = _date(primary) or min(releases, default=None)
    return date.year if date else None


def _language(code: str | None) -> str | None:
    return _LANGUAGES.get(code, code) if code else None


def _aliases(film: Movie) -> Iterator[Title]:
    """Yield the titles by country and by language, each once."""
    seen: set[tuple[str, str | None, str | None]] = set()
    told = [Title(one.title, one.country.lower() or None) for one in film.alternative_titles.titles]
    told += [
        Title(one.data.title or "", one.country.lower() or None, _language(one.language))
        for one in film.translations.translations
    ]
    for title in told:
        mark = (title.text.casefold(), title.country, title.language)
        if title.text and mark not in seen:
            seen.add(mark)
            yield title
