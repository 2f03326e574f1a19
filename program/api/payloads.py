"""What clients send."""

import re
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, RootModel, model_validator

from program.api.routes import Payload
from program.db.views import Sort
from program.edits import KEEP, RULES, Edit, Said
from program.media.item import MediaType, States

# The largest number a database takes.
LARGEST_ID = 2**63 - 1
MOST_DIGITS = 19
MOST_IDS = 10_000
MOST_LISTED, MOST_NAMES, LONGEST_NAME = 500, 50, 200
SERVICE_ID, IMDB_ID = r"[1-9][0-9]{0,9}", r"tt[0-9]{5,10}"
# Days that a calendar may name.
FIRST_DAY, LAST_DAY = date(1880, 1, 1), date(2200, 1, 1)


def _number(value: object) -> object:
    """Return digits as the number they stand for; anything else as it is, to be refused by its type."""
    return number_in(value) if isinstance(value, str) and number_in(value) is not None else value


def number_in(text: str) -> int | None:
    """Return the number that a text of digits stands for, None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def _digits(value: object) -> object:
    """Return a number as its digits."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else value


def _service_id(text: str) -> str:
    if not re.fullmatch(SERVICE_ID, text):
        raise ValueError("must be a number of 1 or more, or its digits in quotes")
    return text


def _imdb_id(text: str) -> str:
    if not re.fullmatch(IMDB_ID, text):
        raise ValueError("must be tt and digits")
    return text


# An id of ours: a number or its digits in quotes.
ItemId = Annotated[int, BeforeValidator(_number), Field(ge=1, le=LARGEST_ID)]
# An id at TMDB or TVDB: digits, in quotes or not.
ServiceId = Annotated[
    str,
    BeforeValidator(_digits),
    AfterValidator(_service_id),
    Field(json_schema_extra={"pattern": f"^{SERVICE_ID}$"}),
]
ImdbId = Annotated[str, AfterValidator(_imdb_id), Field(json_schema_extra={"pattern": f"^{IMDB_ID}$"})]

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]

StateFilter = Literal[
    "All",
    "Unknown",
    "Unreleased",
    "Ongoing",
    "Requested",
    "Indexed",
    "Scraped",
    "Downloaded",
    "Symlinked",
    "Completed",
    "PartiallyCompleted",
    "Failed",
    "Paused",
]
TypeFilter = Literal["movie", "show", "season", "episode", "anime"]


class IdsBody(Payload):
    """The items that something is to be done with."""

    ids: Annotated[list[ItemId], Field(min_length=1, max_length=MOST_IDS)]

    @property
    def distinct(self) -> list[int]:
        """Return the ids without repetitions, in their order."""
        return list(dict.fromkeys(self.ids))


class AddBody(Payload):
    """Titles that are wanted: films by TMDB or IMDb id, shows by TVDB, TMDB or IMDb id. seasons: only these; otherwise all."""

    media_type: Literal["movie", "tv"]
    tmdb_ids: Annotated[list[ServiceId], Field(max_length=MOST_IDS)] | None = None
    tvdb_ids: Annotated[list[ServiceId], Field(max_length=MOST_IDS)] | None = None
    imdb_ids: Annotated[list[ImdbId], Field(max_length=MOST_IDS)] | None = None
    seasons: Annotated[list[Annotated[int, Field(ge=0, le=9999)]], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not (self.tmdb_ids or self.tvdb_ids or self.imdb_ids):
            raise ValueError("name at least one id in tmdb_ids, tvdb_ids or imdb_ids")
        if self.media_type == "movie" and self.tvdb_ids:
            raise ValueError("films are known by tmdb_ids or imdb_ids, not by tvdb_ids")
        if self.media_type == "movie" and self.seasons is not None:
            raise ValueError("a film has no seasons")
        return self


def _one_line(text: str) -> str:
    text = " ".join(text.split(" ")).strip()
    if not text or not text.isprintable():
        raise ValueError("must be a name on one line")
    return text


class EditBody(Payload):
    """What a person chooses for a title; what is not named stays.

    wanted_seasons: exactly these of a show; files of the others stay, nothing more is searched for them. own_titles: all names to
    search by beside those of the metadata services. ranking_profile: of `ranking.profiles`, "" for the usual ranking;
    library_profiles: of `vfs.profiles`, exactly these; null: what the settings say.
    """

    wanted_seasons: Annotated[list[Annotated[int, Field(ge=0, le=9999)]], Field(max_length=MOST_LISTED)] = (
        Field(default=[])
    )
    wants_future: bool = False
    own_titles: Annotated[list[Annotated[Name, AfterValidator(_one_line)]], Field(max_length=MOST_NAMES)] = (
        Field(default=[])
    )
    ranking_profile: Annotated[str, Field(max_length=LONGEST_NAME)] | None = None
    library_profiles: Annotated[list[Name], Field(max_length=MOST_NAMES)] | None = None

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"name at least one of {', '.join(type(self).model_fields)}")
        return self

    def edit(self) -> Edit:
        """Return it as the actions take it."""
        given = self.model_fields_set
        by_rules = RULES if self.library_profiles is None else tuple(self.library_profiles)
        return Edit(
            seasons=frozenset(self.wanted_seasons) if "wanted_seasons" in given else KEEP,
            future=self.wants_future if "wants_future" in given else KEEP,
            titles=tuple(self.own_titles) if "own_titles" in given else KEEP,
            ranking=_or_rules(self.ranking_profile) if "ranking_profile" in given else KEEP,
            profiles=by_rules if "library_profiles" in given else KEEP,
        )


def _or_rules(name: str | None) -> str | Said:
    return RULES if name is None else name


class SettingsBody(RootModel[dict[str, JsonValue]]):
    """The settings, or the sections of them that are to change."""


class ListQuery(Payload):
    """Which items, in which order. `states` and `state` are the same; of several `sort` the first counts.

    ids: only these. requested_by, source: what one of these persons, or lists and services, asked for.
    extended: taken for the sake of older clients; a row always has all its fields.
    """

    state: tuple[StateFilter, ...] = ()
    states: tuple[StateFilter, ...] = ()
    type: tuple[TypeFilter, ...] = ()
    ids: Annotated[tuple[ItemId, ...], Field(max_length=MOST_LISTED)] = ()
    requested_by: Annotated[tuple[Name, ...], Field(max_length=MOST_NAMES)] = ()
    source: Annotated[tuple[Name, ...], Field(max_length=MOST_NAMES)] = ()
    search: str = Field(default="", max_length=200)
    sort: tuple[Sort, ...] = ()
    page: int = Field(default=1, ge=1, le=1_000_000)
    limit: int = Field(default=24, ge=1, le=500)
    extended: bool = False

    def wanted_states(self) -> frozenset[States]:
        """Return the states asked for; empty for all."""
        named = {*self.state, *self.states}
        return frozenset() if "All" in named else frozenset(States(name) for name in named)

    def wanted_types(self) -> frozenset[MediaType]:
        """Return the types asked for; anime alone means films and shows."""
        named = frozenset(MediaType(name) for name in self.type if name != "anime")
        return named or (frozenset({MediaType.MOVIE, MediaType.SHOW}) if self.is_anime else frozenset())

    @property
    def is_anime(self) -> bool:
        """True when only anime is asked for."""
        return "anime" in self.type


class ItemQuery(Payload):
    """How the id in the path is meant: our own (`item`), a film's at TMDB (`movie`), a show's at TVDB (`tv`); `tt…` is IMDb's."""

    media_type: Literal["movie", "tv", "item"] = "item"
    extended: bool = False


class TimelineQuery(Payload):
    """How many of the last steps; descendants: those of seasons and episodes as well."""

    limit: int = Field(default=200, ge=1, le=1000)
    descendants: bool = False


class CalendarQuery(Payload):
    """First and last day; by default three months back and a year ahead."""

    start: Annotated[date, Field(ge=FIRST_DAY, le=LAST_DAY)] | None = None
    end: Annotated[date, Field(ge=FIRST_DAY, le=LAST_DAY)] | None = None


class LogsQuery(Payload):
    """How many lines."""

    limit: int = Field(default=1000, ge=1, le=10_000)
