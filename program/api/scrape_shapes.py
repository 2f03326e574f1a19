"""What the calls by hand take; names follow the existing web client."""

import json
from typing import Annotated, Literal, Self
from urllib.parse import parse_qs, urlsplit

from pydantic import (
    Field,
    RootModel,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from program.api.payloads import ImdbId, ItemId, ServiceId
from program.api.routes import Payload
from program.manual.sessions import Place
from program.manual.titles import Asked
from program.media.item import Ids
from program.services.flows.context import NO_OVERRIDES, Overrides
from program.services.matching.judge import normal_hash
from program.settings.ranking import RankingOptions, overridden

MEGABYTE = 1_000_000
LONGEST_MAGNET = 8000
LONGEST_NAME = 1000
MOST_NAMES = 2000
MOST_FILES = 5000
MOST_SEASONS = 500
RankingOverrides = dict[str, list[Annotated[str, Field(max_length=200)]]]
_OVERRIDES = TypeAdapter(RankingOverrides)
Megabytes = Annotated[int, Field(ge=0, le=10_000_000)]


class TitlePayload(Payload):
    """Which title: by our id, or a film by TMDB or IMDb id, a show by TVDB, TMDB or IMDb id.

    min_filesize_override, max_filesize_override: MB of a release or file.
    """

    media_type: Literal["movie", "tv"] | None = None
    item_id: ItemId | None = None
    tmdb_id: ServiceId | None = None
    tvdb_id: ServiceId | None = None
    imdb_id: ImdbId | None = None
    min_filesize_override: Megabytes | None = None
    max_filesize_override: Megabytes | None = None

    @model_validator(mode="after")
    def _names_a_title(self) -> Self:
        if self.item_id is None and not (self.tmdb_id or self.tvdb_id or self.imdb_id):
            raise ValueError("name a title by item_id, tmdb_id, tvdb_id or imdb_id")
        if self.media_type == "movie" and self.tvdb_id:
            raise ValueError("films are known by tmdb_id or imdb_id, not by tvdb_id")
        return self

    @property
    def ids(self) -> Ids:
        """Return the ids at metadata services."""
        return Ids(imdb=self.imdb_id, tmdb=self.tmdb_id, tvdb=self.tvdb_id)

    @property
    def is_movie(self) -> bool:
        """Return whether a film is meant; a TVDB id stands for a show when nothing else is said."""
        return self.media_type == "movie" if self.media_type else self.tvdb_id is None

    def asked(self) -> Asked:
        """Return how the title is named."""
        return Asked(is_movie=self.is_movie, item_id=self.item_id, ids=self.ids)

    def overrides(self, given: RankingOverrides | None, ranking: RankingOptions) -> Overrides:
        """Return what is to be other than in the settings; raise ValueError with what is wrong."""
        least, most = self.min_filesize_override, self.max_filesize_override
        if not given and least is None and most is None:
            return NO_OVERRIDES
        return Overrides(
            overridden(ranking, given) if given else None,
            least * MEGABYTE if least is not None else None,
            most * MEGABYTE if most is not None else None,
        )


class ScrapeQuery(TitlePayload):
    """A title, and how it is to be searched. stream: answer as server-sent events; refused: with what the rules refuse."""

    custom_title: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    custom_imdb_id: ImdbId | None = None
    ranking_overrides: RankingOverrides | None = Field(
        default=None, description="JSON: by group of properties, those that are taken"
    )
    stream: bool = False
    refused: bool = False

    @field_validator("ranking_overrides", mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return _OVERRIDES.validate_python(json.loads(value)) if value else None
        except (ValueError, RecursionError, ValidationError):
            raise ValueError("must be a JSON object of lists") from None

    def asked(self) -> Asked:
        """Return how the title is named, under another name where one is given."""
        return Asked(
            is_movie=self.is_movie,
            item_id=self.item_id,
            ids=self.ids,
            title=self.custom_title,
            imdb=self.custom_imdb_id,
        )


class StartQuery(TitlePayload):
    """A title, and a magnet link or the hash of a torrent for it."""

    magnet: str = Field(min_length=1, max_length=LONGEST_MAGNET)

    @field_validator("magnet")
    @classmethod
    def _has_hash(cls, text: str) -> str:
        if magnet_parts(text) is None:
            raise ValueError("must be a magnet link with a btih hash, or such a hash")
        return text


def magnet_parts(text: str) -> tuple[str, str] | None:
    """Return hash and name of a magnet link or of a bare hash, None for anything else; nothing else in it is used."""
    bare = normal_hash(text)
    if bare is not None:
        return bare, ""
    try:
        parts = urlsplit(text)
        given = parse_qs(parts.query)
    except ValueError:
        return None
    if parts.scheme != "magnet":
        return None
    hashes = (topic.rpartition("urn:btih:")[2] for topic in given.get("xt", ()) if "urn:btih:" in topic)
    found = next(filter(None, map(normal_hash, hashes)), None)
    return (found, given.get("dn", [""])[0][:LONGEST_NAME]) if found else None


class AutoScrapeRequest(TitlePayload):
    """A title, or seasons of a show, to be searched now."""

    ranking_overrides: RankingOverrides | None = None
    season_numbers: (
        Annotated[list[Annotated[int, Field(ge=0, le=9999)]], Field(max_length=MOST_SEASONS)] | None
    ) = None


class NamesPayload(
    RootModel[Annotated[list[Annotated[str, Field(max_length=LONGEST_NAME)]], Field(max_length=MOST_NAMES)]]
):
    """File names."""


class ChosenFile(Payload):
    """A file that is wanted. season, episode or episodes: where it belongs, when its name does not say so."""

    file_id: int | None = None
    filename: str = Field(default="", max_length=LONGEST_NAME)
    filesize: int = 0
    download_url: str | None = None
    season: int | None = Field(default=None, ge=0, le=9999)
    episode: int | None = Field(default=None, ge=0, le=99999)
    episodes: Annotated[list[Annotated[int, Field(ge=0, le=99999)]], Field(max_length=200)] | None = None

    def place(self) -> Place | None:
        """Return what was said of it."""
        numbers = tuple(self.episodes or (() if self.episode is None else (self.episode,)))
        return Place(self.season, numbers) if self.season is not None and numbers else None


class SessionPayload(Payload):
    """What to do with a session. files: by their number; file_data: by season and episode, for the sake of older clients."""

    action: Literal["select_files", "update_attributes", "abort", "complete"]
    files: Annotated[dict[str, ChosenFile], Field(max_length=MOST_FILES)] | None = None
    file_data: ChosenFile | dict[str, dict[str, ChosenFile]] | None = None

    def chosen(self) -> dict[int, Place | None]:
        """Return the numbers of the files with what was said of each; raise ValueError for what is no number."""
        found: dict[int, Place | None] = {}
        for key, file in (self.files or {}).items():
            found[file.file_id if file.file_id is not None else _number(key)] = file.place()
        if isinstance(self.file_data, dict):
            for season, episodes in self.file_data.items():
                for episode, file in episodes.items():
                    if file.file_id is not None:
                        found[file.file_id] = Place(_number(season), (_number(episode),))
        elif self.file_data is not None and self.file_data.file_id is not None:
            found[self.file_data.file_id] = self.file_data.place()
        return found


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < len(str(LONGEST_MAGNET * MOST_FILES))):
        raise ValueError(f"{text[:40]!r} is no number")
    return int(text)
