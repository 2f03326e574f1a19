"""The names of what is wanted, and how close a release's title comes to one of them."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from program.media.wanted import Wanted
from program.services.matching.number_words import ROMAN
from program.services.matching.text import Spelling, closeness, spellings
from program.services.matching.titles import TitleReading

# `Title (2014)` and `Title (US)`, as metadata services tell namesakes apart.
_NAMESAKE_MARK = re.compile(r"\s*\((?:(?:19|20)\d\d|[A-Z]{2,3})\)\s*$")


_FIRST_PART = re.compile(r"[\s:,\-]+(?:part|pt|chapter|vol|volume)\.?\s(?:one|1|i)$", re.IGNORECASE)
_NEARLY = 0.95
_LAST_NUMBER = re.compile(
    r"(?<!part)(?<!pt)(?<!vol)(?<!volume)(?<!chapter)\s([2-9]|ii|iii|iv|vi{0,2})$", re.IGNORECASE
)


class TitleMatch(NamedTuple):
    """The reading of a release's name that fits best, how well (0 to 1), and the known name it fits."""

    reading: TitleReading
    similarity: float
    name: str


class Names:
    """Every name of a wanted title, ready to be compared.

    A name that also belongs to another known title counts for nothing, unless it is the title itself.
    """

    def __init__(self, wanted: Wanted) -> None:
        texts = [wanted.title, wanted.original_title or "", *(title.text for title in wanted.titles)]
        texts += [_NAMESAKE_MARK.sub("", text) for text in texts]
        others = {spelling.joined for text in wanted.other_titles for spelling in spellings(text)}
        own = {spelling.joined for spelling in spellings(wanted.title)}
        self._known: dict[str, tuple[Spelling, str]] = {}
        # Only names with as many words and the same numbers can be a misspelt one.
        self._alike: dict[tuple[object, ...], list[tuple[Spelling, str]]] = {}
        for text in dict.fromkeys(texts):
            for spelling in spellings(text):
                if spelling.joined not in self._known and (
                    spelling.joined in own or spelling.joined not in others
                ):
                    self._known[spelling.joined] = (spelling, text)
                    self._alike.setdefault(_kind(spelling), []).append((spelling, text))
        self._first = spellings(wanted.title)[:1]
        self._compared: dict[TitleReading, TitleMatch] = {}

    def closest(self, reading: TitleReading) -> TitleMatch:
        """Return how close one reading comes."""
        found = self._compared.get(reading)
        if found is None:
            # The releases of a search are mostly of few titles.
            found = self._compared[reading] = self._compare(reading)
        return found

    def _compare(self, reading: TitleReading) -> TitleMatch:
        best, name = 0.0, ""
        for mine in spellings(reading.text):
            exact = self._known.get(mine.joined)
            if exact is not None:
                return TitleMatch(reading, 1.0, exact[1])
            for spelling, text in self._alike.get(_kind(mine), ()):
                if (close := closeness(mine, spelling)) > best:
                    best, name = close, text
            for spelling in self._first:
                best = max(best, closeness(mine, spelling))
        return (self._first_part(reading) if best < _NEARLY else None) or TitleMatch(reading, best, name)

    def _first_part(self, reading: TitleReading) -> TitleMatch | None:
        """Return the match of a first part, which is often called by its number only after there is a second."""
        shorter = _FIRST_PART.sub("", reading.text)
        if shorter == reading.text or not shorter:
            return None
        for mine in spellings(shorter):
            exact = self._known.get(mine.joined)
            if exact is not None and not any(digit.isdigit() for digit in exact[0].numbers):
                return TitleMatch(reading, _NEARLY, exact[1])
        return None

    def season_in(self, readings: Iterable[TitleReading]) -> tuple[TitleMatch, int] | None:
        """Return the season that is told as the title's number, as anime does it: `Title II`, `Title 3`."""
        for reading in readings:
            number = _LAST_NUMBER.search(reading.text)
            for mine in spellings(reading.text[: number.start()]) if number else ():
                exact = self._known.get(mine.joined)
                if exact is not None and number is not None:
                    said = number[1].lower()
                    season = int(said) if said.isdigit() else ROMAN[said]
                    return TitleMatch(reading, _NEARLY, exact[1]), season
        return None

    def says(self, word: str) -> bool:
        """Return True when a known name has this word."""
        wanted = spellings(word)
        return (
            any(set(wanted[0].words) <= set(known.words) for known, _ in self._known.values())
            if wanted
            else False
        )


def _kind(spelling: Spelling) -> tuple[object, ...]:
    return spelling.numbers, len(spelling.weighty)
