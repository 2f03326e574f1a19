"""The settings of library profiles: further folders of the library that hold what their rules let pass."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from program.media.item import MediaType
from program.media.naming import safe_name
from program.media.profiles import EXCLUDED, Profile, Rules, is_key
from program.settings.provider import Section

# What the library itself holds.
STANDARD = ("/movies", "/shows")


def _not_empty(entry: str) -> str:
    """Return the entry of a list. Raises ValueError for one that names nothing."""
    if not entry.removeprefix(EXCLUDED).strip():
        raise ValueError('must name something; "!" before it keeps it out')
    return entry


Entry = Annotated[str, AfterValidator(_not_empty)]
Entries = tuple[Entry, ...]


class ProfileRules(Section):
    """What a title must be like. Within a list one match is enough; an entry that begins with ! keeps out what it matches."""

    types: tuple[MediaType, ...] = Field(default=(), description="movie, show; empty: both")
    genres: Entries = Field(default=(), description='Genres, e.g. ["Animation", "!Horror"]')
    languages: Entries = Field(default=(), description="Original languages, ISO 639-1, e.g. de")
    countries: Entries = Field(default=(), description="Countries, ISO 3166-1, e.g. fr")
    networks: Entries = Field(default=(), description="Networks of a show")
    content_ratings: Entries = Field(default=(), description="Age ratings, e.g. PG or TV-Y7")
    lists: Entries = Field(default=(), description="Keys of the content services that asked for it, and api")
    requested_by: Entries = Field(default=(), description="People who asked for it")
    min_year: int | None = Field(default=None, ge=1870, le=2200, description="First year")
    max_year: int | None = Field(default=None, ge=1870, le=2200, description="Last year")
    min_rating: float | None = Field(
        default=None, ge=0, le=10, description="Lowest rating; unrated is left out"
    )
    max_rating: float | None = Field(
        default=None, ge=0, le=10, description="Highest rating; unrated is left out"
    )
    is_anime: bool | None = Field(default=None, description="true: only anime, false: no anime")

    @field_validator("types")
    @classmethod
    def _titles(cls, types: tuple[MediaType, ...]) -> tuple[MediaType, ...]:
        if not all(kind.is_root for kind in types):
            raise ValueError("must be movie or show; a show's episodes come with it")
        return types

    @model_validator(mode="after")
    def _ranges(self) -> "ProfileRules":
        for name in ("year", "rating"):
            least, most = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{name} must not be above max_{name}")
        return self

    def rules(self) -> Rules:
        """Return them as the matcher takes them."""
        return Rules(**{name: getattr(self, name) for name in type(self).model_fields})


class ProfileSettings(Section):
    """One further folder of the library, with movies and shows in it."""

    path: str = Field(description="Its folder in the library, e.g. /kids")
    enabled: bool = Field(default=True, description="Whether the folder is there")
    exclusive: bool = Field(
        default=False, description="What it holds is no longer in /movies and /shows as well"
    )
    rules: ProfileRules = Field(default_factory=ProfileRules, description="What it holds")

    @field_validator("path")
    @classmethod
    def _is_path(cls, path: str) -> str:
        parts = path.split("/")[1:]
        if not path.startswith("/") or not parts or not all(parts):
            raise ValueError("must begin with / and name a folder, e.g. /kids")
        odd = next((part for part in parts if safe_name(part) != part), None)
        if odd is not None:
            raise ValueError(f"cannot be a folder's name everywhere; take {safe_name(odd)}")
        if any(_is_within(path, standard) for standard in STANDARD):
            raise ValueError("must not be in /movies or /shows, which hold the whole library")
        return path


def check_profiles(profiles: Mapping[str, ProfileSettings]) -> Mapping[str, ProfileSettings]:
    """Return profiles that can be used side by side. Raises ValueError that names the one that cannot."""
    places: dict[str, str] = {}
    for key, profile in profiles.items():
        if not is_key(key):
            raise ValueError(f"{key}: must be small letters, digits and _ only, 40 at most")
        for path, other in places.items():
            if _is_within(profile.path, path) or _is_within(path, profile.path):
                raise ValueError(
                    f"{key}: its path {profile.path} and that of {other}, {path}, lie in one another"
                )
        places[profile.path] = key
    return profiles


def enabled_profiles(profiles: Mapping[str, ProfileSettings]) -> dict[str, Profile]:
    """Return the profiles in use by their keys, in the order of the settings."""
    return {
        key: Profile(key=key, root=one.path, rules=one.rules.rules(), is_exclusive=one.exclusive)
        for key, one in profiles.items()
        if one.enabled
    }


def _is_within(path: str, folder: str) -> bool:
    return f"{path}/".casefold().startswith(f"{folder}/".casefold())
