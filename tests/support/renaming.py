"""Cases with their titles, groups and title numbers renamed: the same question about other names."""

import json
import random
import re
import string
from collections.abc import Iterator
from typing import Any

from program.services.matching.noise import MASK, WEAK_WORDS, masked
from program.services.matching.text import LIGHT, NUMBER_WORDS, PART_WORDS, ROMAN_WORDS, SAME_WORDS
from program.services.matching.titles import COUNTRIES

_OTHER_WORDS = """
aka sample samples trailer trailers extras extra special specials movie screener xxx sex night nights making behind scenes honest
soundtrack dl volume years year complete series season
"""
# Structural parts of a case; their values are no names.
_STRUCTURE = frozenset({"type", "country", "language", "original_language", "settings", "air_dates"})
# Words that mean something in any name; a title that has one is a question about exactly that word.
MEANINGFUL = (
    WEAK_WORDS
    | LIGHT
    | PART_WORDS
    | set(NUMBER_WORDS)
    | ROMAN_WORDS
    | set(SAME_WORDS)
    | set(COUNTRIES)
    | set(SAME_WORDS.values())
    | set(_OTHER_WORDS.split())
)
_WORD = re.compile(r"[^\W\d_]+|(?<![^\W\d_])\d+(?![^\W\d_])")
_GROUP = re.compile(
    r"(?<=-)([A-Za-z]{2}[A-Za-z0-9]{1,8})(?=(?:\.(?:mkv|mp4|avi))?$)|(?<=^\[)([A-Za-z][A-Za-z -]{3,})(?=\])"
)
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrtvwxz"


class Renaming:
    """One way to rename; the same word always becomes the same other word."""

    def __init__(self, case: dict[str, Any], seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 - seeded, so that a run can be repeated
        vowels = rng.sample(_VOWELS, len(_VOWELS))
        consonants = rng.sample(_CONSONANTS, len(_CONSONANTS))
        lower = dict(zip(_VOWELS + _CONSONANTS, (*vowels, *consonants), strict=True))
        self._letters = str.maketrans({**lower, **{k.upper(): v.upper() for k, v in lower.items()}})
        words = {word.casefold() for text in _titles(case) for word in _WORD.findall(text)}
        self._words = {word for word in words if self._may_change(word)}
        self._numbers = {word for word in words if _is_plain_number(word)}
        self._patterns = json.dumps(case["input"].get("settings", {})).casefold()
        self._groups = "".join(rng.choices(string.ascii_uppercase, k=5))

    def _may_change(self, word: str) -> bool:
        plain = word.isascii() and word.isalpha() and len(word) > 2
        other = word.translate(self._letters)
        return (
            plain
            and word not in MEANINGFUL
            and other not in MEANINGFUL
            and MASK not in masked(f"a.{other}")[0]
        )

    def case(self, case: dict[str, Any]) -> dict[str, Any]:
        """Return the case about the other names."""
        renamed: dict[str, Any] = json.loads(json.dumps(case))
        for part in ("input", "expected"):
            renamed[part] = self._value(renamed[part])
        return renamed

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(one) for one in value]
        if isinstance(value, dict):
            return {
                self._key(key): one if key in _STRUCTURE else self._value(one) for key, one in value.items()
            }
        return value

    def _key(self, key: str) -> str:
        """Return a key; release names are keys too where something is expected of each."""
        is_name = any(sign in key for sign in " ._") and any(letter.isdigit() for letter in key)
        return self.text(key) if is_name else key

    def text(self, text: str) -> str:
        """Return a name with its title's words, its title's numbers and its group renamed."""
        named = _WORD.sub(lambda match: self._word(match[0]), text)
        return "/".join(_GROUP.sub(self._group, part) for part in named.split("/"))

    def _word(self, word: str) -> str:
        if word in self._numbers:
            return str(int(word) + 111)
        return word.translate(self._letters) if self._is_known(word.casefold()) else word

    def _is_known(self, word: str) -> bool:
        return word in self._words or any(
            word.startswith(known) and (word[len(known) :] == "s" or word[len(known) :] in self._words)
            for known in self._words
        )

    def _group(self, match: re.Match[str]) -> str:
        said = match[1] or match[2]
        if match[1] and MASK not in masked(match.string)[0]:
            # The end of a title.
            return said
        means_something = MASK in masked(f"a.{said}")[0] or said.casefold() in MEANINGFUL
        return said if means_something or said.casefold()[:3] in self._patterns else self._groups


def _titles(case: dict[str, Any]) -> Iterator[str]:
    given = case["input"]
    wanted = given.get("wanted") or given.get("show") or {}
    yield wanted["title"]
    yield wanted.get("original_title") or ""
    yield from wanted.get("aliases", ())
    yield from (other["title"] for other in given.get("other_titles_known", ()))


def _is_plain_number(word: str) -> bool:
    return (
        word.isdigit() and 20 < int(word) < 1900 and not word.startswith("0") and int(word) not in (720, 1080)
    )
