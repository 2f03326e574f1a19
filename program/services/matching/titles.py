"""What a name may be the title of: several readings, since a year or a number may belong to the title or not."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from program.services.matching.noise import WEAK_WORDS
from program.services.matching.title_text import clean

# The second year of `2009-2013` says when a show ended; nothing came out in 2049, nor in `2000 AD`.
YEAR = re.compile(
    r"(?<![^\W_])(?<!(?:19|20)\d\d-)(?<!(?:19|20)\d\d - )(?:19\d\d|20[0-3]\d)(?![^\W_]|[ .](?:AD|BC)\b)"
)
BRACKETS = re.compile(r"[\[({]([^\])}]*)[\])}]?")
# What may stand behind a title as a whole.
_PHRASE = re.compile(
    r"""[\s._\-(\[]+(?:
      (?:the[\s._])?complete(?:[\s._](?:tv[\s._])?(?:series|collection|seasons?|show))?|int[eé]grale?|all[\s._]episodes
    | mini[\s._-]?series|tv[\s._-](?:mini[\s._-]?)?series|remastered
    | (?:the[\s._])?
      (?:extended|special|collector'?s|ultimate|anniversary|deluxe|theatrical|director'?s|final(?=.cut)|unrated|uncut|international|criterion)
      [\s._](?:edition|cut|version|collection)
    )[\s._\-)\]\[(]*$""",
    re.IGNORECASE | re.VERBOSE,
)
# Before the numbers a season that they tell again; a film may be called so.
_SEASON_AGAIN = re.compile(
    r"[\s._\-(\[]+(?:season|saison|temporada|stagione|staffel)[\s._]\d{1,2}[\s._\-)\]\[(]*$", re.IGNORECASE
)
# With such a word before it a number is no year: `Class of 1984`.
_YEAR_OF_TITLE = re.compile(r"(?<=\w)[\s.](?:of|to|from|since|until|anno)[\s.]$", re.IGNORECASE)
_LANGUAGES = frozenset(("french", "truefrench", "vostfr", "german", "italian", "spanish", "multi"))
_ARTICLE = re.compile(r"\W*(?:the|an?)\W*", re.IGNORECASE)
# German groups put it before the year; the title of an English name may end so.
_GERMAN = re.compile(r"(?<=[^\W_])[\s._]+German[\s._(\[]*$")
_ENGLISH = re.compile(r"\W*(?:the|an?|my|one|two)[\s._]", re.IGNORECASE)
# With it a title is not the one without it.
_OTHER_FILM = re.compile(r"(?<![^\W_])xxx(?![^\W_])", re.IGNORECASE)
# Shorter words in capitals may be a title's.
_LOUD = 4
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


def readings(region: str, *, ends_at_count: bool, is_counted: bool = True) -> Iterator[TitleReading]:
    """Yield the ways to read the front of a name, most likely first. is_counted: the name has numbers; a film's has none."""
    region = _CHINESE_SEASON.sub(" ", region)
    years = [match for match in YEAR.finditer(region) if WORD.search(region[: match.start()])]
    own = [match for match in years if _YEAR_OF_TITLE.search(region, 0, match.start())]
    for match in by_likelihood([match for match in years if match not in own], region):
        yield from _with_year_at(match, region, is_counted=is_counted)
    yield from _variants(region, None, keep_first=ends_at_count, is_counted=is_counted)
    for match in own:
        yield from _with_year_at(match, region, is_counted=is_counted)


def _with_year_at(match: re.Match[str], region: str, *, is_counted: bool) -> Iterator[TitleReading]:
    yield from _variants(region[: match.start()], int(match[0]), keep_first=True, is_counted=is_counted)
    after = region[match.end() : match.end() + trimmed_end(region[match.end() :])]
    if WORD.search(after):
        yield TitleReading(clean(f"{region[: match.start()]} {after}"), int(match[0]))


def by_likelihood(years: list[re.Match[str]], region: str) -> list[re.Match[str]]:
    """Return year numbers with the one first that says when the title came out."""

    def rank(match: re.Match[str]) -> tuple[bool, bool, int]:
        in_brackets = region[match.start() - 1 : match.start()] in ("(", "[")
        is_last_thing = not WORD.search(region[match.end() :])
        return (not in_brackets, not is_last_thing, match.start())

    return sorted(years, key=rank)


def _variants(region: str, year: int | None, *, keep_first: bool, is_counted: bool) -> Iterator[TitleReading]:
    """Yield a piece of text as a title: whole, without the words that may follow a title, without a country, per bracket."""
    end = bare_end(region, is_counted=is_counted)
    if end < len(region):
        yield from _variants(region[:end], year, keep_first=keep_first, is_counted=is_counted)
    whole = clean(region)
    texts = [whole]
    trimmed = trimmed_end(region, is_counted=is_counted)
    if trimmed < len(region) and not _OTHER_FILM.search(region, trimmed):
        texts.insert(1 if keep_first else 0, clean(region[:trimmed]))
    again = None if is_counted else _SEASON_AGAIN.search(region)
    if again:
        # A series that is taken for a film is to be seen as one.
        texts.append(clean(region[: again.start()]))
    if inside := BRACKETS.findall(region):
        texts.append(clean(BRACKETS.sub(" ", region)))
        texts += [part for part in map(clean, inside) if len(part) > 1 and not part.isdigit()]
    for text in (*texts, *_by_script(whole)):
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


def bare_end(region: str, *, is_counted: bool) -> int:
    """Return where something stands behind the title that surely is no part of it; the length when there is nothing."""
    found = _PHRASE.search(region) or (_SEASON_AGAIN.search(region) if is_counted else _GERMAN.search(region))
    if found and found.re is _GERMAN and _ENGLISH.match(region):
        return len(region)
    if found and WORD.search(region, 0, found.start()) and not _ARTICLE.fullmatch(region, 0, found.start()):
        return found.start()
    words = list(WORD.finditer(region))
    start = words[-1].start() if words[1:] else 0
    if not start or not _is_loud(words[-1][0]):
        return len(region)
    # Where everything is in capitals, only a language is told apart, and not in `THE FRENCH`.
    is_apart = any(letter.islower() for letter in region[:start]) or (
        words[-1][0].casefold() in _LANGUAGES and words[-2][0].casefold() != "the"
    )
    return start if is_apart else len(region)


def _is_loud(word: str) -> bool:
    """Return True for `FRENCH` and `MULTi`, which no title has in such letters unless it has all of them so."""
    capitals = sum(letter.isupper() for letter in word)
    return len(word) >= _LOUD and 2 * capitals > len(word) and word.casefold() in WEAK_WORDS


def trimmed_end(region: str, first: int = 1, *, is_counted: bool = True) -> int:
    """Return where the words that often follow a title begin; the `first` words always stay."""
    phrase = _PHRASE.search(region) or (_SEASON_AGAIN.search(region) if is_counted else None)
    end = phrase.start() if phrase and WORD.search(region[: phrase.start()]) else len(region)
    words = list(WORD.finditer(region, 0, end))
    while len(words) > first and words[-1][0].casefold() in WEAK_WORDS:
        end = words.pop().start()
    return end


_YEAR_ALONE = re.compile(r"^[\s.(\[-]*(?:19|20)\d\d[\s.)\]-]*")
_GROUP = re.compile(r"(?<=\S)-[A-Za-z0-9]+$")


def episode_title(between: str, behind: str, raw: str) -> str:
    """Return the title of an episode. between: what stands between its numbers and the technical part; behind: that part."""
    text = _YEAR_ALONE.sub("", between)
    if " " not in raw and not WORD.search(behind):
        # Nothing technical: `Show.S01E02.Title-GROUP`, `Show.S01E02-GROUP`.
        text = "" if f"-{text}" in raw and text.isupper() else _GROUP.sub("", text)
    return clean(text[: trimmed_end(text, first=0)])


def with_year(reading: TitleReading, years: tuple[int, ...]) -> TitleReading:
    """Return the reading with the year that stands elsewhere in the name, when there is just one and it is not in the title."""
    if reading.year is not None or len(years) != 1 or str(years[0]) in reading.text:
        return reading
    return reading._replace(year=years[0], is_year_behind=True)
