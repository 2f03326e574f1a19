"""Forms that name seasons only: S01, S01-S05, Season 2, 2. Staffel, Second Season."""

import re

from program.services.matching.counting import SEASONS_MAX, Numbering, rest_says_special, seasons_from
from program.services.matching.number_words import CHINESE, COUNTED, ORDINALS, ROMAN, either, number_of
from program.services.matching.vocabulary import AND, FROM, SEASON, TO, mentions_season

_PACK_S = re.compile(
    r"(?:(?<![a-z0-9])se?|(?<=[^\W\d_] )s\.|(?<=[^\W\d_] )s\((?=\d\d-\d\d\)))(?P<s>\d{1,4})"
    r"(?![c-oq-ruw-z0-9]|v(?!\d)|t(?!os?\d)|[ab][a-z0-9]|p(?!\d)|s(?!\d)|[ .]?e\d)",
    re.IGNORECASE,
)
_PACK_WORD = re.compile(
    rf"(?<![^\W\d_]){SEASON}"
    r"(?:-|[. :#]*(?:complet[aeo][. ]+|no[. ]{1,2}|number[. ]|\u0441 )?|\((?=\d\d?\))"
    r"|(?<=s)[ ][\[(](?=\d\d?\s?[-~])|(?<=season)[ ]\((?=\d\s?[-~]\s?\d\)))"
    rf"(?P<s>\d{{1,4}})(?!\d|[. ]?(?:x|of)\d)",
    re.IGNORECASE,
)
_TH = r"(?:st|nd|rd|th|ª|º|°|[drtnv]?a(?=[. ])|(?:[eè]m)?e|[eè]re|er|[.^]|-?й)?"
# The plural behind a number tells how many seasons there are.
_MANY = re.compile(r"\d[ .](?:seasons|saisons|temporadas|stagioni|staffeln|сезонов|сезона)$", re.IGNORECASE)
_PACK_AFTER = re.compile(
    rf"(?:(?<=[ (]){FROM}[ ])?(?<!\d)(?P<s>\d{{1,2}}){_TH}(?:\s*(?:[-~]|(?<=[\sªº°]){TO}\s)\s*(?P<t>\d{{1,2}}){_TH})?"
    rf"\s*{SEASON}(?![^\W\d_])",
    re.IGNORECASE,
)
# `T1, T2 y T3`.
_PACK_T_LIST = re.compile(r"(?<![A-Za-z0-9])T\d{1,2}(?:\s*(?:[,&+]|[yea](?=\s))\s*T\d{1,2})+(?![A-Za-z0-9])")
# `Season One, Two and Three`.
_COUNTED_LIST = re.compile(
    rf"(?<![^\W_])seasons?[. ](?P<list>(?:{either(COUNTED)})(?:\s*(?:[,&+]|{AND}(?=\s))\s*(?:season )?(?:{either(COUNTED)}))+)"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_NUMBER_BEFORE = re.compile(rf"\d{_TH}\s*$", re.IGNORECASE)
_YEARS = range(1900, 2100)
# `1ª, 2ª y 3ª Temporada`.
_PACK_LIST = re.compile(
    rf"(?<![^\W_])(?P<list>\d{{1,2}}{_TH}(?:\s*(?:[,&+]|{AND}(?=\s))\s*\d{{1,2}}{_TH})+)\s*{SEASON}(?![^\W\d_])",
    re.IGNORECASE,
)
# A lone T is a letter, so it must close the title or begin a range.
_PACK_T = re.compile(
    r"(?<![A-Za-z0-9])T(?P<s>\d{1,2})(?:-T?(?P<t>\d{1,2})(?![\dA-Za-z])|(?=\s*(?:[\[()\]]|$|[Cc]omplet|COMPLET| 0\d-\d\d)))"
)
_NAMED = (
    re.compile(
        rf"(?<![^\W_])(?P<s>{either(ORDINALS)})(?:[. ](?:{AND}|&)[. ](?P<t>{either(ORDINALS)}))?[. ]{SEASON}(?![^\W\d_])",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![^\W_])(?:seasons?|series)[. ](?P<s>{either(COUNTED)})"
        rf"(?:[. ](?:to|and|through|&)[. ](?P<t>{either(COUNTED)}))?(?![^\W_])",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![^\W_])(?:season|series|saison|staffel|temporada|stagione|sezon|сезон)s?[. ](?P<s>{either(ROMAN)})"
        rf"(?:(?:-|[. ]{TO}[. ])(?P<t>{either(ROMAN)}))?(?![^\W_])",
        re.IGNORECASE,
    ),
)
# `All Three Seasons`.
_COUNTED_SEASONS = re.compile(
    rf"(?<![^\W_])(?:first[. ])?(?P<t>{either(COUNTED)})[. ](?:complete[. ])?seasons(?![^\W_])", re.IGNORECASE
)
_PACK_CHINESE = re.compile(
    rf"第\s*(?P<s>{CHINESE})(?:[季期]?\s*[-~至到]\s*第?(?P<t>{CHINESE}))?\s*(?:季|(?<!0\d)(?<!\d\d\d)期)"
    r"|(?<![\d第])(?P<k>\d{1,2})(?:-(?P<u>\d{1,2})季|[기期](?=[\s\[]|$))"
    rf"|全(?P<n>{CHINESE})季"
)
# Tight, since a lone S is a letter.
_PACK_APART = re.compile(r"(?<![A-Za-z0-9.])S (?P<s>0\d)(?![\d-])")
# What stands before the season and is no part of the title.
_BEFORE = re.compile(
    r"(?<=[^\W_])[\s.,:(\[-]+(?:(?:the|full|entire|whole|all|(?:die[ .])?komplette|toute|l.int[eé]grale(?:[ .]de)?(?:[ .]la)?"
    r"|final[ .]season|полный|box[ .]?set|from|todas(?:[ .](?:as|las))?"
    r"|все(?:[ .]серии)?|(?:complete[ .]series|serie[ .]completa)|tutte[ .]le|alle"
    r"|toutes[ .]les|全[\d一二三四五六七八九十]+季)[\s.(\[]+)+$",
    re.IGNORECASE,
)


# `S03D01`: a disc of a season.
_PACK_DISC = re.compile(
    r"(?<![a-z0-9])s(?P<s>\d{1,2})[. ]?d(?:is[ck][. ]?)?\d{1,2}(?![a-z0-9])", re.IGNORECASE
)


def season_pack(text: str) -> Numbering | None:
    """Read the seasons of a pack."""
    has_word = mentions_season(text)
    match = _PACK_S.search(text) or (_word(text) if has_word else None)
    if match is not None:
        return _from_number(text, match, has_word=has_word)
    listed = (_PACK_LIST.search(text) if has_word else None) or _PACK_T_LIST.search(text)
    if listed is not None:
        seasons = tuple(int(number) for number in re.findall(r"\d+", listed[0]))
        return _pack(text, seasons, listed.start(), listed.end())
    match = (_PACK_AFTER.search(text) if has_word else None) or _PACK_T.search(text)
    if match is not None:
        first, last = int(match["s"]), int(match["t"] or match["s"])
        if not match["t"] and _MANY.search(match[0]):
            first = 1
        return _pack(
            text, tuple(range(first, min(last, SEASONS_MAX) + 1)) or (first,), match.start(), match.end()
        )
    return (_spelt(text) if has_word else None) or _disc(text) or _chinese(text)


def _from_number(text: str, match: re.Match[str], *, has_word: bool) -> Numbering:
    """Return the seasons that begin with a number; a word beside an `S2` of the title, or for the same seasons, counts first."""
    seasons, end = seasons_from(int(match["s"]), text, match.end(), rf"(?:se?|{SEASON})")
    words = _PACK_WORD.search(text) if has_word and match.re is _PACK_S else None
    if words is not None:
        named, last = seasons_from(int(words["s"]), text, words.end(), SEASON)
        if words.start() > end and seasons != named and match["s"][0] != "0" and len(seasons) == 1:
            # `Sector S2 Season 1`.
            return _pack(text, named, words.start(), last)
        if words.start() < match.start() and seasons == named:
            return _pack(text, seasons, words.start(), end)
    return _pack(text, seasons, match.start(), end)


def _spelt(text: str) -> Numbering | None:
    """Read seasons in words or Roman numerals."""
    named = _COUNTED_LIST.search(text)
    if named is not None:
        words = re.findall(either(COUNTED), named["list"], re.IGNORECASE)
        return _pack(text, tuple(number_of(word) for word in words), named.start(), named.end())
    counted = _COUNTED_SEASONS.search(text)
    if counted is not None:
        return _pack(text, tuple(range(1, number_of(counted["t"]) + 1)), counted.start(), counted.end())
    for pattern in _NAMED:
        match = pattern.search(text)
        if match is not None:
            first = number_of(match["s"])
            last = number_of(match.groupdict().get("t") or match["s"])
            return _pack(text, tuple(range(first, last + 1)) or (first,), match.start(), match.end())
    return None


def _disc(text: str) -> Numbering | None:
    """Read `S03D01`, and `S 03`."""
    match = _PACK_DISC.search(text) or _PACK_APART.search(text)
    return _pack(text, (int(match["s"]),), match.start(), match.end()) if match else None


def _word(text: str) -> re.Match[str] | None:
    """Return the season behind its word; of `3 Temporada 2018` the number before it is one, the year none."""
    match = _PACK_WORD.search(text)
    has_year = match is not None and int(match["s"]) in _YEARS
    return None if match is None or (has_year and _NUMBER_BEFORE.search(text, 0, match.start())) else match


def _chinese(text: str) -> Numbering | None:
    match = _PACK_CHINESE.search(text)
    if match is None:
        return None
    first = number_of(match["s"] or match["k"] or "1")
    last = number_of(match["t"] or match["u"] or match["s"] or match["k"] or match["n"])
    seasons = tuple(range(first, min(last, SEASONS_MAX) + 1)) or (first,)
    return _pack(text, seasons, match.start(), match.end())


def _pack(text: str, seasons: tuple[int, ...], start: int, end: int) -> Numbering:
    special = rest_says_special(text, end)
    before = _BEFORE.search(text, 0, start)
    start = before.start() if before else start
    return Numbering(seasons, (), None, special, None, "", start, end)
