"""The front of a name: where its title ends, what it counts, and what speaks of the copy."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from program.services.matching.count_forms import episode_only
from program.services.matching.counting import Numbering
from program.services.matching.noise import MASK, WEAK_WORDS, masked
from program.services.matching.numbering import WEAK, read_numbering
from program.services.matching.prefix import read_prefix
from program.services.matching.titles import (
    WORD,
    YEAR,
    TitleReading,
    bare_end,
    by_likelihood,
    readings,
    trimmed_end,
    with_year,
)

_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d[-. ]\d\d?[-. ]\d\d?(?!\d)")
_DATED = re.compile(r"[-. /]\d\d?[-. /]\d\d?(?!\d)")
_YEAR_TO = re.compile(r"^-(?:19|20)\d\d(?!\d)")
# Before many episodes no part of the title.
_BATCH = re.compile(r"(?<=[^\W_])[ .\-(\[]+batch[ .\-(\[]*$", re.IGNORECASE)
_SIDES = re.compile(
    r"\s+(?:/{1,2}|\||\\)\s+|\s*\|\s*|\s*[\s(\[](?:aka|a\.k\.a\.?)\s+|\.(?:aka|a\.k\.a)\.",
    re.IGNORECASE,
)
# Nobody means a name that can be read in more ways.
_MOST_READINGS = 16


@dataclass(frozen=True, slots=True)
class Head:
    """The front of a name. readings: most likely first. numbering: what it counts.

    between: the words between the year or the numbers and the first technical word, an episode's title for example. behind: all
    that speaks of the copy: the technical words on, and before them what may stand behind any title.
    """

    readings: tuple[TitleReading, ...]
    numbering: Numbering | None
    years: tuple[int, ...]
    group: str | None
    has_site: bool
    between: str
    behind: str


def read_head(text: str, *, of_film: bool = False, in_folder: bool = False) -> Head:
    """Return what the front of a name says. text: flat, without extension; of_film: read as the name of a film.

    in_folder: a folder tells the title, so that a bracket before the numbers is a group's.
    """
    covered, _ = masked(text)
    numbering = read_numbering(covered, text, of_film=of_film)
    prefix = read_prefix(text, covered, numbering)
    start = prefix.start
    first = _region_end(covered, start, numbering)
    found: list[TitleReading] = []
    if prefix.title is not None and not in_folder:
        found += readings(prefix.title, ends_at_count=True)
    for begin, side in _sides(text, start):
        hidden = covered[begin : begin + len(side)]
        at = read_numbering(hidden, side, of_film=of_film) if begin > start else _shifted(numbering, begin)
        end = _region_end(hidden, 0, at)
        if at is not None and len(at.episodes) > 1 and (batch := _BATCH.search(side, 0, end)):
            end = batch.start()
        found += readings(
            side[:end],
            ends_at_count=_ends_at_count(numbering, begin + end),
            is_counted=numbering is not None,
        )
        if at is not None and at.form in WEAK and WORD.search(side[: max(at.start, 0)]):
            # The number may be the title's own.
            found += readings(side[: max(at.end, 0)], ends_at_count=True)
    years = _years(covered, numbering)
    if not any(reading.text for reading in found) and numbering is not None:
        found = list(_behind_count(text, covered, numbering))
    whole = [with_year(reading, years) for reading in dict.fromkeys(found) if reading.text]
    between, technical = _after_title(text, covered, start, first, numbering)
    front = text[start + trimmed_end(text[start:first]) : first]
    if numbering is not None and numbering.start >= first:
        behind = f"{front} {between[trimmed_end(between, first=0) :]} {technical}"
    else:
        # The end of the front is the end of what stands between the year and the technical part.
        behind = technical if WORD.search(between) else front + technical
    return Head(
        tuple(dict.fromkeys(whole))[:_MOST_READINGS],
        numbering,
        years,
        (prefix.title if in_folder else None) or prefix.group,
        prefix.has_site,
        between.strip(" .-_"),
        behind,
    )


def _years(covered: str, numbering: Numbering | None) -> tuple[int, ...]:
    """Return the year numbers that may say when the title came out: no date's, none of an episode's title."""
    if numbering is None:
        return tuple(int(match[0]) for match in YEAR.finditer(covered))
    found = []
    for match in YEAR.finditer(covered):
        if _DATED.match(covered, match.end()):
            continue
        if match.start() >= numbering.end:
            between, behind = covered[numbering.end : match.start()], covered[match.end() :]
            # The years of `2010-2015` are told together.
            behind = _YEAR_TO.sub("", behind)
            is_bracketed = covered[match.start() - 1] in "([" and behind[:1] in (")", "]", ",", "-")
            word = WORD.search(behind.split(MASK, 1)[0])
            is_alone = (
                not WORD.search(between)
                and " - " not in between
                and (word is None or word[0].casefold() in WEAK_WORDS)
            )
            if not is_bracketed and not is_alone:
                continue
        in_round = covered[match.start() - 1 : match.end() + 1] == f"({match[0]})"
        if in_round or not numbering.start <= match.start() < numbering.end:
            found.append(int(match[0]))
    return tuple(found)


def _behind_count(text: str, covered: str, numbering: Numbering) -> Iterator[TitleReading]:
    """Yield what may be the title of a name that begins with its numbers: `S01E02 - Title.mkv`."""
    noise = covered.find(MASK, numbering.end)
    region = text[numbering.end : noise if noise >= 0 else len(text)]
    counted = episode_only(region) if numbering.air_date and numbering.episodes else None
    region = region[: counted.start] if counted else region
    if not WORD.search(YEAR.sub("", region)):
        return
    first, dash, _ = region.strip(" .-_").partition(" - ")
    if dash:
        yield from readings(first, ends_at_count=True)
    yield from readings(region, ends_at_count=False)


def _after_title(
    text: str, covered: str, start: int, first: int, numbering: Numbering | None
) -> tuple[str, str]:
    """Return the words between the year or the numbers and the next technical word, and the text from there on."""
    if numbering is not None and numbering.start >= first:
        noise = covered.find(MASK, numbering.end)
        noise = noise if noise >= 0 else len(text)
        technical = text[first : numbering.start] + " " + text[noise:]
        return text[numbering.end : noise], technical
    years = [match for match in YEAR.finditer(text, start, first) if WORD.search(text[start : match.start()])]
    if not years:
        return "", text[first:]
    year = by_likelihood(years, text[:first])[0]
    title = text[start : year.start()]
    return f"{title[bare_end(title, is_counted=False) :]} {text[year.end() : first]}", text[first:]


def _region_end(covered: str, start: int, numbering: Numbering | None) -> int:
    noise = covered.find(MASK, start + 1)
    ends = [noise] if noise > 0 else []
    if numbering is not None and numbering.start >= start:
        ends.append(numbering.start)
        # A day on air before the numbers ends the title as well.
        day = _DAY.search(covered, start + 1, numbering.start)
        ends += [day.start()] if day else []
    return min(ends, default=len(covered))


def _sides(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield the parts of `local title / original title` with where they begin."""
    begin = start
    for match in _SIDES.finditer(text, start):
        yield begin, text[begin : match.start()]
        begin = match.end()
    yield begin, text[begin:]


def _shifted(numbering: Numbering | None, by: int) -> Numbering | None:
    return None if numbering is None else replace(numbering, start=numbering.start - by)


def _ends_at_count(numbering: Numbering | None, end: int) -> bool:
    return numbering is not None and numbering.start == end
