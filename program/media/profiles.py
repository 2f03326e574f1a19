"""Library profiles: which titles appear in a further library folder, such as one for children; pure.

A profile's rules look at the film or, for its episodes, at the show. Every kind of rule that is set must hold; within a list one
match is enough, and an entry that begins with `!` keeps out what it matches.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from program.media.item import MediaType

EXCLUDED = "!"
# The library's own folders. One object for all: a library has as many files as it likes.
MAIN_ROOT = ("",)
_KEY = re.compile(r"[a-z0-9_]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleFacts:
    """What rules look at. year: of the film or the show's beginning; rating: 0 to 10; lists, requested_by: who asked for it.

    chosen: the keys of the profiles that a person put it into, None: the rules decide. ranking: the same for the ranking profile.
    """

    type: MediaType
    year: int | None = None
    genres: tuple[str, ...] = ()
    is_anime: bool = False
    language: str | None = None
    country: str | None = None
    network: str | None = None
    rating: float | None = None
    content_rating: str | None = None
    lists: tuple[str, ...] = ()
    requested_by: tuple[str, ...] = ()
    chosen: tuple[str, ...] | None = None
    ranking: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a title must be like; whatever is empty or None lets every title pass."""

    types: tuple[MediaType, ...] = ()
    genres: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    content_ratings: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    requested_by: tuple[str, ...] = ()
    min_year: int | None = None
    max_year: int | None = None
    min_rating: float | None = None
    max_rating: float | None = None
    is_anime: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One further library folder. key: its name in the settings; root: its path in the library, e.g. `/kids`.

    is_exclusive: what it holds appears only in profiles, no longer in /movies and /shows.
    """

    key: str
    root: str
    rules: Rules = Rules()
    is_exclusive: bool = False


def is_key(text: str) -> bool:
    """Return whether a text can be the key of a profile."""
    return _KEY.fullmatch(text) is not None


def matching(profiles: Iterable[Profile], facts: TitleFacts) -> tuple[str, ...]:
    """Return the keys of the profiles that a title belongs to."""
    if facts.chosen is not None:
        return tuple(profile.key for profile in profiles if profile.key in facts.chosen)
    return tuple(profile.key for profile in profiles if matches(profile.rules, facts))


def matches(rules: Rules, facts: TitleFacts) -> bool:
    """Return whether a title passes all of the rules; a fact that is not known fits no range and no entry."""
    return (
        (not rules.types or facts.type in rules.types)
        and (rules.is_anime is None or rules.is_anime is facts.is_anime)
        and _in_range(facts.year, rules.min_year, rules.max_year)
        and _in_range(facts.rating, rules.min_rating, rules.max_rating)
        and all(_passes(entries, values) for entries, values in _lists(rules, facts))
    )


def roots_of(keys: Iterable[str], profiles: Mapping[str, Profile]) -> tuple[str, ...]:
    """Return where a title with these profiles appears, the main place first; `""` is the library's own /movies and /shows."""
    own = [profiles[key] for key in keys if key in profiles]
    if not own:
        return MAIN_ROOT
    main = () if any(profile.is_exclusive for profile in own) else MAIN_ROOT
    return (*main, *(profile.root for profile in own))


def _lists(rules: Rules, facts: TitleFacts) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield each list of a rule with what it is compared with."""
    yield rules.genres, facts.genres
    yield rules.languages, _known(facts.language)
    yield rules.countries, _known(facts.country)
    yield rules.networks, _known(facts.network)
    yield rules.content_ratings, _known(facts.content_rating)
    yield rules.lists, facts.lists
    yield rules.requested_by, facts.requested_by


def _known(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def _in_range(value: float | None, least: float | None, most: float | None) -> bool:
    if least is None and most is None:
        return True
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def _passes(entries: tuple[str, ...], values: tuple[str, ...]) -> bool:
    """Return whether one of the values is wanted, if any entry says so, and none is kept out. Letter case does not matter."""
    have = {value.casefold() for value in values}
    out = {entry[1:].casefold() for entry in entries if entry.startswith(EXCLUDED)}
    wanted = {entry.casefold() for entry in entries if not entry.startswith(EXCLUDED)}
    return not have & out and (not wanted or bool(have & wanted))
