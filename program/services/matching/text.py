"""Titles made comparable: one spelling for what people write in many ways, and how close two titles are."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Indel

from program.services.matching.number_words import COUNTED

# Letters that Unicode does not take apart.
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ł": "l",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{GRAVE ACCENT}": "'",
        "\N{ACUTE ACCENT}": "'",
        "\N{MIDDLE DOT}": " ",
    }
)
# German and Nordic spelling without the dots, as release names often have it.
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})

NUMBER_WORDS = {word: str(number) for word, number in COUNTED.items()}
_ROMAN = {
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
    "xi": "11",
    "xii": "12",
}
# These are words and letters as well; they count as numbers at the end of a title, or after "part" and the like.
_ROMAN_LAST = {"i": "1", "v": "5", "x": "10", "xiii": "13", "xiv": "14", "xv": "15"}
ROMAN_WORDS = frozenset((*_ROMAN, *_ROMAN_LAST))
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
PART_WORDS = frozenset({"part", "pt", "chapter", "volume", "vol", "episode", "teil", "partie", "parte"})
SAME_WORDS = {
    "dr": "doctor",
    "mr": "mister",
    "mrs": "missis",
    "vs": "versus",
    "st": "saint",
    "jr": "junior",
    "sr": "senior",
    "n": "and",
    "und": "and",
    "et": "and",
    "y": "and",
    # Written as the digit as often as not.
    "o": "0",
}
# Words that come and go between spellings of the same title.
LIGHT = frozenset({"the", "a", "an", "and", "le", "la", "les", "der", "die", "das", "el", "los", "il", "of"})

# Two words of a title are the same word misspelt from here on.
_SAME_WORD = 0.8
_SHORT_WORD = 6
_MEN = re.compile(r"men$")
# An acronym of three letters and more: `S.T.A.R.` is `STAR`.
_FEWEST_LETTERS = 3
_LETTERS_APART = re.compile(r"(?<!\S)(?:[^\W\d] ){2,}[^\W\d](?!\S)")


def simplified(text: str) -> str:
    """Return a title in small letters without accents and signs, words apart by one space."""
    return _simplified(text, umlauts=False)


def _simplified(text: str, *, umlauts: bool) -> str:
    lower = unicodedata.normalize("NFKC", text).casefold()
    if umlauts:
        lower = lower.translate(_UMLAUTS)
    taken_apart = unicodedata.normalize("NFKD", lower.translate(_LETTERS))
    plain = "".join(c for c in taken_apart if not unicodedata.combining(c))
    plain = plain.replace("'", "").replace("&", " and ").replace("+", " plus ")
    spaced = re.sub(r"[\W_]+", " ", plain).strip()
    letters = sum(len(word) == 1 for word in spaced.split())
    if letters < _FEWEST_LETTERS:
        return spaced
    return _LETTERS_APART.sub(lambda match: match[0].replace(" ", ""), spaced)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A title ready to be compared. words: in one spelling; numbers: those among them, in order; joined: without spaces.

    weighty: the words without articles and the like; all of them when nothing would be left.
    """

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    weighty: tuple[str, ...]
    joined: str


@lru_cache(maxsize=4096)
def spellings(text: str) -> tuple[Spelling, ...]:
    """Return a title in each spelling that release names have for it; empty when it has no letter or digit."""
    found = {}
    for umlauts in (False, True):
        words = _numbers_as_digits(_simplified(text, umlauts=umlauts).split())
        if words:
            numbers = tuple(word for word in words if word[0].isdigit())
            weighty = tuple(word for word in words if word not in LIGHT) or tuple(words)
            found["".join(words)] = Spelling(tuple(words), numbers, weighty, "".join(words))
    return tuple(found.values())


def _numbers_as_digits(words: list[str]) -> list[str]:
    found: list[str] = []
    for place, word in enumerate(words):
        after_part = bool(found) and found[-1] in PART_WORDS
        last = place == len(words) - 1 and place > 0
        digits = NUMBER_WORDS.get(word) or (_ROMAN.get(word) if place else None)
        if digits is None and (after_part or last):
            digits = _ROMAN_LAST.get(word)
        ordinal = _ORDINAL.match(word)
        if ordinal:
            digits = ordinal[1]
        if digits is None and word.isdigit():
            digits = word.lstrip("0") or "0"
        if digits and after_part:
            found.pop()
        found.append(digits or SAME_WORDS.get(word, word))
    return found


def closeness(one: Spelling, other: Spelling) -> float:
    """Return 1 for the same title, at most 0.75 for another one, and what lies between for a misspelt one."""
    if one.joined == other.joined:
        return 1.0
    mine, theirs = one.weighty, other.weighty
    if "".join(mine) == "".join(theirs):
        return 0.99
    # A word or a number more makes another title, however alike they look.
    is_other = one.numbers != other.numbers or len(mine) != len(theirs)
    if is_other or not all(_is_same_word(a, b) for a, b in zip(mine, theirs, strict=True)):
        return min(0.75 * _ratio(one, other), 0.75)
    return _ratio(one, other)


def _ratio(one: Spelling, other: Spelling) -> float:
    return float(Indel.normalized_similarity(" ".join(one.words), " ".join(other.words)))


def _is_same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORT_WORD or one.isdigit() or other.isdigit():
        return False
    if one.rstrip("s") == other.rstrip("s") or _MEN.sub("man", one) == _MEN.sub("man", other):
        # One of many and many of one kind are two titles.
        return False
    return float(Indel.normalized_similarity(one, other)) >= _SAME_WORD
