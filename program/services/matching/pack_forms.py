"""Forms that name seasons only: S01, S01-S05, Season 2, 2. Staffel, Second Season."""

import re

from program.services.matching.counting import SEASON, SEASONS_MAX, Numbering, rest_says_special, seasons_from

_PACK_S = re.compile(
    r"(?<![a-z0-9])s(?P<s>\d{1,4})(?![a-oq-rt-z0-9]|p(?!\d)|s(?!\d)|[ .]?e\d)", re.IGNORECASE
)
_PACK_WORD = re.compile(rf"(?<![^\W\d_]){SEASON}[. :#]*(?P<s>\d{{1,4}})(?!\d|[. ]?(?:x|of)\d)", re.IGNORECASE)
_PACK_AFTER = re.compile(
    r"(?<!\d)(?P<s>\d{1,2})(?:st|nd|rd|th|ª|º|°|[drtnv]?a(?=[. ])|\.|-?й)?(?:\s*[-~]\s*(?P<t>\d{1,2}))?"
    rf"\s*{SEASON}(?![^\W\d_])",
    re.IGNORECASE,
)
# A lone T is a letter, so it must close the title or begin a range.
_PACK_T = re.compile(r"(?<![A-Za-z0-9])T(?P<s>\d{1,2})(?:-T(?P<t>\d{1,2})(?!\d)|(?=\s*(?:[\[(]|$)))")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PACK_ORDINAL = re.compile(rf"\b(?P<s>{'|'.join(_ORDINALS)})[. ]season\b", re.IGNORECASE)
_SPANISH = ("primera", "segunda", "tercera", "cuarta", "quinta", "sexta")
_PACK_SPANISH = re.compile(rf"\b(?P<s>{'|'.join(_SPANISH)})[. ]temporada\b", re.IGNORECASE)
_NUMBER_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PACK_SPELT = re.compile(rf"\bseason[. ](?P<s>{'|'.join(_NUMBER_NAMES)})\b", re.IGNORECASE)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_PACK_ROMAN = re.compile(r"\bseason[. ](?P<s>i{1,3}|i?v|vi{1,3}|i?x)\b", re.IGNORECASE)
_NAMED = (
    (_PACK_ORDINAL, _ORDINALS),
    (_PACK_SPELT, _NUMBER_NAMES),
    (_PACK_ROMAN, _ROMAN),
    (_PACK_SPANISH, _SPANISH),
)
_CHINESE = "一二三四五六七八九十"
_PACK_CHINESE = re.compile(rf"第\s*(?P<s>\d{{1,2}}|[{_CHINESE}])\s*[季期]")


def season_pack(text: str) -> Numbering | None:
    """Read the seasons of a pack."""
    match = _PACK_S.search(text) or _PACK_WORD.search(text)
    if match is not None:
        seasons, end = seasons_from(int(match["s"]), text, match.end(), rf"(?:s|{SEASON})")
        return _pack(text, seasons, match.start(), end)
    match = _PACK_AFTER.search(text) or _PACK_T.search(text)
    if match is not None:
        first, last = int(match["s"]), int(match["t"] or match["s"])
        return _pack(
            text, tuple(range(first, min(last, SEASONS_MAX) + 1)) or (first,), match.start(), match.end()
        )
    for pattern, names in _NAMED:
        match = pattern.search(text)
        if match is not None:
            return _pack(text, (names.index(match["s"].lower()) + 1,), match.start(), match.end())
    match = _PACK_CHINESE.search(text)
    if match is None:
        return None
    season = int(match["s"]) if match["s"].isdigit() else _CHINESE.index(match["s"]) + 1
    return _pack(text, (season,), match.start(), match.end())


def _pack(text: str, seasons: tuple[int, ...], start: int, end: int) -> Numbering:
    special = rest_says_special(text, end)
    return Numbering(seasons, (), None, special, None, "", start, end)
