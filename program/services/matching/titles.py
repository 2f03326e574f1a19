"""What a name may be the title of: several readings, since a year or a number may belong to the title or not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from program.services.matching.counting import Numbering
from program.services.matching.noise import MASK, WEAK_WORDS, masked
from program.services.matching.numbering import WEAK, read_numbering

_YEAR = re.compile(r"(?<![^\W_])(?:19|20)\d\d(?![^\W_])")
_DATED = re.compile(r"[-. /]\d\d?[-. /]\d\d?(?!\d)")
_GROUP = re.compile(r"^\s*(?:\[([^\]]*)\]|\{([^}]*)\})[ .\-]*")
_ROUND = re.compile(r"^\s*\(([^)]*)\)[ .\-]*")
_SITE = re.compile(
    r"^[\s\[({]*(?:www[. ][\w-]+[. ]\w{2,12}|[\w-]+\.(?:com|org|net|info|cc|xyz|lol|ws|to))[\s\])}]*(?:[-:|]\s*|(?<=[\])}])\s*)",
    re.IGNORECASE,
)
_SIDES = re.compile(r"\s+[/|]\s+|\s*\|\s*|\s+(?:aka|a\.k\.a\.?)\s+|\.(?:aka|a\.k\.a)\.", re.IGNORECASE)
_BRACKETS = re.compile(r"[\[({]([^\])}]*)[\])}]?")
# Nobody means a name that can be read in more ways.
_MOST_READINGS = 16
# What may stand behind a title as a whole.
_PHRASE = re.compile(
    r"[\s._\-(\[]+(?:(?:the[\s._])?complete(?:[\s._](?:tv[\s._])?(?:series|collection|seasons?|show))?|int[eé]grale?"
    r"|(?:season|saison|temporada|stagione|staffel)[\s._]\d{1,2})[\s._\-)\]\[(]*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
# A run of words in Latin letters, and one in any other.
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f0-9 ,:'!?.&-]{3,}")
_NOT_LATIN = re.compile(r"[\u0370-\u1fff\u3040-\ud7ff][^A-Za-z\u00c0-\u024f]+")
# How names write a country behind a title, in ISO 3166-1 alpha-2.
COUNTRIES = {
    "us": "us",
    "usa": "us",
    "uk": "gb",
    "gb": "gb",
    "au": "au",
    "aus": "au",
    "nz": "nz",
    "ca": "ca",
    "can": "ca",
    "ie": "ie",
}
_LAST_WORD = re.compile(r"[\s(\[]+([A-Z]{2,3})[\s)\]]*$")


@dataclass(frozen=True, slots=True)
class TitleReading:
    """One way to read a name: the title, and the year and country (ISO alpha-2, lower case) that are then left over.

    is_year_behind: the year stands behind what the name counts, so that it may be that of a season.
    """

    text: str
    year: int | None = None
    country: str | None = None
    is_year_behind: bool = False


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


def read_head(text: str, *, of_film: bool = False) -> Head:
    """Return what the front of a name says. text: flat, without extension; of_film: read as the name of a film."""
    start, group, has_site = _prefix(text)
    covered, _ = masked(text)
    numbering = read_numbering(covered, text, of_film=of_film)
    if numbering is not None and numbering.start < start < numbering.end:
        start = numbering.end
    first = _region_end(text, start, numbering)
    readings: list[TitleReading] = []
    for begin, side in _sides(text, start):
        own = read_numbering(masked(side)[0], side, of_film=of_film)
        at = own if begin > start else _shifted(numbering, begin)
        end = _region_end(side, 0, at)
        readings += _readings(side[:end], ends_at_count=_ends_at_count(numbering, begin + end))
        if at is not None and at.form in WEAK and _WORD.search(side[: max(at.start, 0)]):
            # The number may be the title's own.
            readings += _readings(side[: max(at.end, 0)], ends_at_count=True)
    years = _years(covered, numbering)
    if not any(reading.text for reading in readings) and numbering is not None:
        readings = list(_behind_count(text, covered, numbering))
    whole = [_with_year(reading, years) for reading in dict.fromkeys(readings) if reading.text]
    between, technical = _after_title(text, covered, start, first, numbering)
    front = text[start + _trimmed_end(text[start:first]) : first]
    # Without numbers these words are the end of the front itself.
    follows = numbering is not None and numbering.start >= first
    behind = (
        f"{front} {between[_trimmed_end(between, first=0) :]} {technical}" if follows else front + technical
    )
    return Head(
        tuple(dict.fromkeys(whole))[:_MOST_READINGS],
        numbering,
        years,
        group,
        has_site,
        between.strip(" .-_"),
        behind,
    )


def _years(covered: str, numbering: Numbering | None) -> tuple[int, ...]:
    """Return the year numbers that may say when the title came out: no date's, none of an episode's title."""
    if numbering is None:
        return tuple(int(match[0]) for match in _YEAR.finditer(covered))
    found = []
    for match in _YEAR.finditer(covered):
        if _DATED.match(covered, match.end()):
            continue
        if match.start() >= numbering.end:
            between, behind = covered[numbering.end : match.start()], covered[match.end() :]
            is_bracketed = covered[match.start() - 1] in "([" and behind[:1] in (")", "]")
            word = _WORD.search(behind.split(MASK, 1)[0])
            is_alone = not _WORD.search(between) and (word is None or word[0].casefold() in WEAK_WORDS)
            if not is_bracketed and not is_alone:
                continue
        if not numbering.start <= match.start() < numbering.end:
            found.append(int(match[0]))
    return tuple(found)


def _behind_count(text: str, covered: str, numbering: Numbering) -> Iterator[TitleReading]:
    """Yield what may be the title of a name that begins with its numbers: `S01E02 - Title.mkv`."""
    noise = covered.find(MASK, numbering.end)
    region = text[numbering.end : noise if noise >= 0 else len(text)]
    first, dash, _ = region.strip(" .-_").partition(" - ")
    if dash:
        yield from _readings(first, ends_at_count=True)
    yield from _readings(region, ends_at_count=False)


def _after_title(
    text: str, covered: str, start: int, first: int, numbering: Numbering | None
) -> tuple[str, str]:
    """Return the words between the year or the numbers and the next technical word, and the text from there on."""
    if numbering is not None and numbering.start >= first:
        noise = covered.find(MASK, numbering.end)
        noise = noise if noise >= 0 else len(text)
        technical = text[first : numbering.start] + " " + text[noise:]
        return text[numbering.end : noise], technical
    years = [
        match for match in _YEAR.finditer(text, start, first) if _WORD.search(text[start : match.start()])
    ]
    after = _by_likelihood(years, text[:first])[0].end() if years else first
    return text[after:first], text[first:]


def _prefix(text: str) -> tuple[int, str | None, bool]:
    """Return where the title begins, the group in brackets before it, and whether a site stands there."""
    site = _SITE.match(text)
    start = site.end() if site else 0
    group = None
    technical = _ROUND.match(text[start:])
    if technical and not _WORD.search(masked(technical[1])[0].replace(MASK, "")):
        start += technical.end()
    while (match := _GROUP.match(text[start:])) is not None:
        rest = text[start + match.end() :]
        covered = masked(rest)[0].replace(MASK, "")
        if not _WORD.search(covered):
            break
        group = group or (match[1] or match[2] or "").strip() or None
        start += match.end()
        if not _WORD.search(_BRACKETS.sub("", covered)):
            # Everything is in brackets: the second pair holds the title.
            break
    opening = re.match(r"[\s\[({.\-]*", text[start:])
    return start + (opening.end() if opening else 0), group, site is not None


def _region_end(text: str, start: int, numbering: Numbering | None) -> int:
    covered, _ = masked(text[start:])
    noise = covered.find(MASK)
    ends = [start + noise] if noise > 0 else []
    if numbering is not None and numbering.start >= start:
        ends.append(numbering.start)
    return min(ends, default=len(text))


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


def _readings(region: str, *, ends_at_count: bool) -> Iterator[TitleReading]:
    """Yield the ways to read the front of a name, most likely first."""
    years = [match for match in _YEAR.finditer(region) if _WORD.search(region[: match.start()])]
    for match in _by_likelihood(years, region):
        yield from _variants(region[: match.start()], int(match[0]), keep_first=True)
        after = region[match.end() : match.end() + _trimmed_end(region[match.end() :])]
        if _WORD.search(after):
            yield TitleReading(_clean(f"{region[: match.start()]} {after}"), int(match[0]))
    yield from _variants(region, None, keep_first=ends_at_count)


def _by_likelihood(years: list[re.Match[str]], region: str) -> list[re.Match[str]]:
    """Return year numbers with the one first that says when the title came out."""

    def rank(match: re.Match[str]) -> tuple[bool, bool, int]:
        in_brackets = region[match.start() - 1 : match.start()] in ("(", "[")
        is_last_thing = not _WORD.search(region[match.end() :])
        return (not in_brackets, not is_last_thing, match.start())

    return sorted(years, key=rank)


def _variants(region: str, year: int | None, *, keep_first: bool) -> Iterator[TitleReading]:
    """Yield a piece of text as a title: whole, without the words that may follow a title, without a country, per bracket."""
    phrase = _PHRASE.search(region)
    if phrase and _WORD.search(region[: phrase.start()]):
        yield from _variants(region[: phrase.start()], year, keep_first=keep_first)
    whole, trimmed = _clean(region), _clean(region[: _trimmed_end(region)])
    plain, inside = _clean(_BRACKETS.sub(" ", region)), [_clean(part) for part in _BRACKETS.findall(region)]
    ordered = (whole, trimmed) if keep_first else (trimmed, whole)
    in_brackets = (part for part in inside if len(part) > 1 and not part.isdigit())
    for text in (*ordered, plain, *in_brackets, *_by_script(whole)):
        country = _LAST_WORD.search(text)
        if country and country[1].lower() in COUNTRIES:
            yield TitleReading(text, year, COUNTRIES[country[1].lower()])
            yield TitleReading(text[: country.start()].strip(), year, COUNTRIES[country[1].lower()])
        else:
            yield TitleReading(text, year)


def _by_script(text: str) -> Iterator[str]:
    """Yield the parts of a title in two scripts, as in `local title Original Title`."""
    if text.isascii():
        return
    latin, other = _LATIN.search(text), _NOT_LATIN.search(text)
    if latin and other:
        yield latin[0].strip()
        yield other[0].strip()


def _trimmed_end(region: str, first: int = 1) -> int:
    """Return where the words that often follow a title begin; the `first` words always stay."""
    phrase = _PHRASE.search(region)
    end = phrase.start() if phrase and _WORD.search(region[: phrase.start()]) else len(region)
    words = list(_WORD.finditer(region, 0, end))
    while len(words) > first and words[-1][0].casefold() in WEAK_WORDS:
        end = words.pop().start()
    return end


def _clean(text: str) -> str:
    spaced = re.sub(
        r"(?<=\w)\.(?=\w\.)|[.\s]+", lambda m: m[0] if m[0] == "." and _is_acronym(m) else " ", text
    )
    spaced = re.sub(r"\[[^\]]*\]|[\[\]{}]", " ", spaced)
    spaced = re.sub(r"\s+", " ", spaced).strip(" -:,/|+*#;")
    if spaced.count("~") == 1:
        spaced = spaced.strip("~ ")
    if spaced.count("(") != spaced.count(")"):
        spaced = spaced.strip("() ")
    return spaced.strip(" -:,")


def _is_acronym(match: re.Match[str]) -> bool:
    around = match.string[max(match.start() - 2, 0) : match.end() + 2]
    return re.fullmatch(r"(?:^|[.\s])?\w\.\w\.", around) is not None


def _with_year(reading: TitleReading, years: tuple[int, ...]) -> TitleReading:
    """Return the reading with the year that stands elsewhere in the name, when there is just one and it is not in the title."""
    if reading.year is not None or len(years) != 1 or str(years[0]) in reading.text:
        return reading
    return replace(reading, year=years[0], is_year_behind=True)
