"""What a name may be the title of: several readings, since a year or a number may belong to the title or not."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from program.services.matching.noise import WEAK_WORDS

# The second year of `2009-2013` says when a show ended.
YEAR = re.compile(r"(?<![^\W_])(?<!(?:19|20)\d\d-)(?<!(?:19|20)\d\d - )(?:19|20)\d\d(?![^\W_])")
BRACKETS = re.compile(r"[\[({]([^\])}]*)[\])}]?")
# What may stand behind a title as a whole.
_PHRASE = re.compile(
    r"[\s._\-(\[]+(?:(?:the[\s._])?complete(?:[\s._](?:tv[\s._])?(?:series|collection|seasons?|show))?|int[eé]grale?|all[\s._]episodes|batch|mini-?series"
    r"|(?:season|saison|temporada|stagione|staffel)[\s._]\d{1,2})[\s._\-)\]\[(]*$",
    re.IGNORECASE,
)
# A season that the name tells again in figures.
_CHINESE_SEASON = re.compile(r"第\s*[\d一二三四五六七八九十]{1,3}\s*[季期]")
WORD = re.compile(r"[^\W_]+")
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


class TitleReading(NamedTuple):
    """One way to read a name: the title, and the year and country (ISO alpha-2, lower case) that are then left over.

    is_year_behind: the year stands behind what the name counts, so that it may be that of a season.
    """

    text: str
    year: int | None = None
    country: str | None = None
    is_year_behind: bool = False


def readings(region: str, *, ends_at_count: bool) -> Iterator[TitleReading]:
    """Yield the ways to read the front of a name, most likely first."""
    region = _CHINESE_SEASON.sub(" ", region)
    years = [match for match in YEAR.finditer(region) if WORD.search(region[: match.start()])]
    for match in by_likelihood(years, region):
        yield from _variants(region[: match.start()], int(match[0]), keep_first=True)
        after = region[match.end() : match.end() + trimmed_end(region[match.end() :])]
        if WORD.search(after):
            yield TitleReading(_clean(f"{region[: match.start()]} {after}"), int(match[0]))
    yield from _variants(region, None, keep_first=ends_at_count)


def by_likelihood(years: list[re.Match[str]], region: str) -> list[re.Match[str]]:
    """Return year numbers with the one first that says when the title came out."""

    def rank(match: re.Match[str]) -> tuple[bool, bool, int]:
        in_brackets = region[match.start() - 1 : match.start()] in ("(", "[")
        is_last_thing = not WORD.search(region[match.end() :])
        return (not in_brackets, not is_last_thing, match.start())

    return sorted(years, key=rank)


def _variants(region: str, year: int | None, *, keep_first: bool) -> Iterator[TitleReading]:
    """Yield a piece of text as a title: whole, without the words that may follow a title, without a country, per bracket."""
    phrase = _PHRASE.search(region)
    if phrase and WORD.search(region[: phrase.start()]):
        yield from _variants(region[: phrase.start()], year, keep_first=keep_first)
    whole, trimmed = _clean(region), _clean(region[: trimmed_end(region)])
    plain, inside = _clean(BRACKETS.sub(" ", region)), [_clean(part) for part in BRACKETS.findall(region)]
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


def trimmed_end(region: str, first: int = 1) -> int:
    """Return where the words that often follow a title begin; the `first` words always stay."""
    phrase = _PHRASE.search(region)
    end = phrase.start() if phrase and WORD.search(region[: phrase.start()]) else len(region)
    words = list(WORD.finditer(region, 0, end))
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


def with_year(reading: TitleReading, years: tuple[int, ...]) -> TitleReading:
    """Return the reading with the year that stands elsewhere in the name, when there is just one and it is not in the title."""
    if reading.year is not None or len(years) != 1 or str(years[0]) in reading.text:
        return reading
    return reading._replace(year=years[0], is_year_behind=True)
