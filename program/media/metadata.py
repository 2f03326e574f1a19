"""What a metadata service says about a film or a show, before it becomes rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from program.media.item import Ids, ReleaseKind, ShowStatus, Title


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeMetadata:
    """One episode. service_id: its id at the service (it stays when numbers move). aired_at: aware UTC or None."""

    service_id: str
    number: int
    title: str
    absolute_number: int | None = None
    aired_at: datetime | None = None
    runtime: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonMetadata:
    """One season; 0 holds the specials."""

    number: int
    title: str
    episodes: tuple[EpisodeMetadata, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """A film (seasons is empty, releases is filled) or a show.

    Countries ISO 3166-1 alpha-2 lower, languages ISO 639-1, runtime minutes, rating 0 to 10, poster a URL, datetimes aware UTC.
    next_air_at: the next episode's air time as far as the service knows.
    """

    ids: Ids
    title: str
    original_title: str | None = None
    aliases: tuple[Title, ...] = ()
    year: int | None = None
    releases: Mapping[ReleaseKind, datetime] = field(default_factory=lambda: MappingProxyType({}))
    first_aired_at: datetime | None = None
    network: str | None = None
    country: str | None = None
    language: str | None = None
    genres: tuple[str, ...] = ()
    runtime: int | None = None
    rating: float | None = None
    content_rating: str | None = None
    poster: str | None = None
    is_anime: bool = False
    show_status: ShowStatus | None = None
    next_air_at: datetime | None = None
    seasons: tuple[SeasonMetadata, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTitle:
    """A title that a metadata service has under some words. overview: a few sentences or empty; poster: a URL."""

    is_movie: bool
    ids: Ids
    title: str
    year: int | None = None
    overview: str = ""
    poster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRequest:
    """One wish of a person or a list.

    source: key of the content service, or `api`. external_id: its own id of the request (for tombstones and for answering back).
    seasons: None = all seasons, also future ones, without specials; a tuple = exactly these. is_movie: film or show.
    """

    source: str
    is_movie: bool
    ids: Ids
    external_id: str | None = None
    requested_by: str | None = None
    seasons: tuple[int, ...] | None = None
