"""Reads what a person pastes to name a title: the address of its page at TMDB, TVDB or IMDb, or an id."""

import re
from dataclasses import dataclass
from typing import Literal

from program.media.item import Ids

Kind = Literal["movie", "tv"]
MOST_AT_ONCE = 100
LONGEST = 20_000
DIGITS = r"[1-9][0-9]{0,9}"
# Patterns with the kind they tell, None where they do not, and the service whose id they hold.
PATTERNS: tuple[tuple[re.Pattern[str], Kind | None, str], ...] = (
    (re.compile(rf"themoviedb\.org/movie/({DIGITS})\b"), "movie", "tmdb"),
    (re.compile(rf"themoviedb\.org/tv/({DIGITS})\b"), "tv", "tmdb"),
    # Without "dereferrer" there stands a name, and a name may be a number.
    (re.compile(rf"thetvdb\.com/dereferrer/series/({DIGITS})(?![\w-])"), "tv", "tvdb"),
    (re.compile(rf"thetvdb\.com/.*[?&](?:series)?id=({DIGITS})\b"), "tv", "tvdb"),
    (re.compile(r"\b(tt[0-9]{5,10})\b"), None, "imdb"),
    (re.compile(rf"^tmdb[:-]({DIGITS})$"), None, "tmdb"),
    (re.compile(rf"^tvdb[:-]({DIGITS})$"), "tv", "tvdb"),
)
BARE = re.compile(rf"^{DIGITS}$")
SEASON = re.compile(r"^([0-9]{1,4})(?:-([0-9]{1,4}))?$")
LAST_SEASON = 9999
SEASONS = "Write seasons as numbers, e.g. 1, 3-5."


@dataclass(frozen=True, slots=True)
class Named:
    """A title that was named. kind: None when only a person can tell; text: as it was written."""

    text: str
    kind: Kind | None
    ids: Ids


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text names. unread: words that name nothing."""

    named: tuple[Named, ...]
    unread: tuple[str, ...]


def read(text: str, kind: Kind | None) -> Reading:
    """Return what a text names; kind: what the person said it is, where the text does not tell."""
    named: dict[tuple[Kind | None, Ids], Named] = {}
    unread: list[str] = []
    for word in text[:LONGEST].replace(",", " ").split()[:MOST_AT_ONCE]:
        found = _named(word, kind)
        if found is None:
            unread.append(word)
        else:
            named.setdefault((found.kind, found.ids), found)
    return Reading(tuple(named.values()), tuple(unread))


def _named(word: str, kind: Kind | None) -> Named | None:
    for pattern, told, service in PATTERNS:
        match = pattern.search(word)
        if match:
            return Named(word, told or kind, Ids(**{service: match[1]}))
    if BARE.match(word):
        # The services that know them best: films by TMDB, series by TVDB.
        ids = {"movie": Ids(tmdb=word), "tv": Ids(tvdb=word), None: Ids(tmdb=word)}[kind]
        return Named(word, kind, ids)
    return None


def seasons(text: str) -> tuple[int, ...] | None:
    """Return the seasons that a text lists, None for all; raise ValueError when it is no list of seasons."""
    if not text.strip():
        return None
    found: set[int] = set()
    for part in text.replace(",", " ").split():
        match = SEASON.match(part)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else -1
        if not 0 <= first <= last <= LAST_SEASON or last - first > MOST_AT_ONCE:
            raise ValueError(SEASONS)
        found |= set(range(first, last + 1))
    return tuple(sorted(found))
