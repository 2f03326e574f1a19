"""Naming templates: text with fields in braces, such as `{title} ({year}) {ids}`; pure.

A field that is not known prints nothing, and what stood around it alone (empty brackets, a dash with nothing behind it) goes too.
A number may be padded: `{season:02}`. A brace that is to be shown is written twice: `{edition-Extended}` comes of
`{{edition-{edition}}}`.
"""

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter

TITLE_FIELDS = frozenset({"title", "original_title", "year", "tmdb_id", "tvdb_id", "imdb_id", "ids"})
# Of one file, so that a folder for all files of a title cannot have them in its name.
FILE_FIELDS = frozenset({"version", "edition", "original_name"})
EPISODE_FIELDS = frozenset({"season", "episode", "episodes", "episode_title", "absolute"})
NUMBERS = frozenset({"year", "season", "episode", "absolute"})
IDS = frozenset({"ids", "tmdb_id", "tvdb_id", "imdb_id"})
# What stands in a template beside its fields may be this long, so that the title still has room.
LONGEST_TEXT = 80

_PADDED = re.compile(r"0?\d")
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]|\{\s*\}|\{edition-\}")
_DASHES = re.compile(r"(?:\s+-)+(?=\s+-\s)|(?:\s+-)+\s*$|^\s*(?:-\s+)+")


@dataclass(frozen=True, slots=True)
class Templates:
    """How folders and files are called. In the name of a file, `folder` is the name of its film's or show's folder."""

    movie_folder: str = "{title} ({year}) {ids}"
    movie_file: str = "{folder} - {version} {{edition-{edition}}}"
    show_folder: str = "{title} ({year}) {ids}"
    season_folder: str = "Season {season:02}"
    episode_file: str = "{title} ({year}) - {episodes} - {version}"


DEFAULTS = Templates()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a template may and must have. needs: of each set at least one field."""

    fields: frozenset[str]
    needs: tuple[tuple[frozenset[str], str], ...]


_TITLE = (frozenset({"title", *IDS}), "{title} or an id, or two titles would share a name")
KINDS: Mapping[str, Kind] = {
    "movie_folder": Kind(TITLE_FIELDS, (_TITLE,)),
    "movie_file": Kind(
        TITLE_FIELDS | FILE_FIELDS | {"folder"}, ((_TITLE[0] | {"folder"}, "{folder}, {title} or an id"),)
    ),
    "show_folder": Kind(TITLE_FIELDS, (_TITLE,)),
    "season_folder": Kind(
        TITLE_FIELDS | {"season"},
        ((frozenset({"season"}), "{season}, or all seasons would share a folder"),),
    ),
    "episode_file": Kind(
        TITLE_FIELDS | FILE_FIELDS | EPISODE_FIELDS | {"folder"},
        (
            (
                frozenset({"episode", "episodes"}),
                "{episodes} or {episode}, or all episodes would share a name",
            ),
        ),
    ),
}


def check(kind: str, template: str) -> str:
    """Return the template when names can be made of it. Raises ValueError that says what is wrong."""
    rules = KINDS[kind]
    try:
        parts = _parts(template)
    except ValueError as error:
        raise ValueError(f"is no template: {error}") from None
    for part in parts:
        if part.field is not None:
            _check_field(part.field, part.padding, rules.fields)
    if "/" in template or "\\" in template:
        raise ValueError("must be one name, without / or \\")
    used = {part.field for part in parts}
    for any_of, needed in rules.needs:
        if not used & any_of:
            raise ValueError(f"needs {needed}")
    if len("".join(part.text for part in parts).encode()) > LONGEST_TEXT:
        raise ValueError(f"has more than {LONGEST_TEXT} bytes beside its fields; names end at 255")
    return template


def fill(template: str, values: Mapping[str, str | int]) -> str:
    """Return the template with its fields replaced; what is not in `values` prints nothing."""
    made = "".join(f"{part.text}{_value(part, values)}" for part in _parts(template))
    while (less := _EMPTY.sub("", made)) != made:
        made = less
    return re.sub(r"\s+", " ", _DASHES.sub("", made)).strip()


@dataclass(frozen=True, slots=True)
class _Part:
    """Text, then a field (None at the end). padding: how a number is padded."""

    text: str
    field: str | None
    padding: str


@lru_cache(maxsize=64)
def _parts(template: str) -> tuple[_Part, ...]:
    """Return the parts of a template. Raises ValueError for braces that do not match."""
    return tuple(_read(template))


def _read(template: str) -> Iterator[_Part]:
    for text, field, padding, conversion in Formatter().parse(template):
        if conversion:
            raise ValueError(f"{{{field}!{conversion}}} is not known here")
        yield _Part(text, field, padding or "")


def _check_field(field: str, padding: str, known: Collection[str]) -> None:
    if field not in known:
        near = difflib.get_close_matches(field, known, n=1)
        hint = f" (did you mean {{{near[0]}}}?)" if near else f"; there are {', '.join(sorted(known))}"
        raise ValueError(f"unknown field {{{field}}}{hint}")
    if padding and (field not in NUMBERS or not _PADDED.fullmatch(padding)):
        raise ValueError(f"{{{field}:{padding}}}: only numbers are padded, with :02 and the like")


def _value(part: _Part, values: Mapping[str, str | int]) -> str:
    value = values.get(part.field or "", "")
    return format(value, part.padding) if isinstance(value, int) else str(value)
