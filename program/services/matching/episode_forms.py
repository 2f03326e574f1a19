"""Forms that name episodes: S01E02 and its like, words in many languages, 1x02, 3 of 6."""

import re
from collections.abc import Iterable

from program.services.matching.counting import EPISODE, SEASON, Numbering, episodes_from, with_episodes

_STANDARD = re.compile(
    r"(?<![a-z0-9])s(?P<s>\d{1,4})[\]\[)( ._x-]*(?:e(?:p(?:isode)?)?|folge|серия)[\[(. _-]*(?P<e>\d{1,4})(?!\d|[pi](?![a-z]))",
    re.IGNORECASE,
)
_CROSS_S = re.compile(r"(?<![a-z0-9])s(?P<s>\d{1,2})[. ]?x[. ]?(?P<e>\d{2,3})(?!\d)", re.IGNORECASE)
_WORDS = re.compile(
    rf"(?<![^\W\d_]){SEASON}[. :#-]*(?P<s>\d{{1,4}})[\], .:;()-]*(?:{EPISODE})[. :#-]*(?P<e>\d{{1,4}})(?!\d)",
    re.IGNORECASE,
)
_WORDS_AFTER = re.compile(
    rf"(?<!\d)(?P<s>\d{{1,2}})(?:st|nd|rd|th|[.ªº°]|-?й)?\s*{SEASON}[. ,:-]*"
    rf"(?:(?P<e>\d{{1,4}})\s*(?:{EPISODE})|(?:{EPISODE})[. :]*(?P<f>\d{{1,4}}))",
    re.IGNORECASE,
)
_CROSS = re.compile(r"(?<![\da-z])(?P<s>\d{1,2})\s?x\s?(?P<e>\d{2,3})(?!\d)", re.IGNORECASE)
_SPANISH = re.compile(
    r"\bcap(?:itulo|ítulo)?\.?[ ]?(?P<s>\d{1,2})(?P<e>\d{2})(?:[_ -](?P<t>\d{1,2})(?P<u>\d{2}))?(?!\d)",
    re.IGNORECASE,
)
_OF = re.compile(
    r"(?<![^\W_])(?:(?:part|pt|ep|e|episode)[. ]?)?\(?(?P<e>\d{1,3})[. ]?(?:of|von|de|из)[. ]?(?P<n>\d{1,3})(?!\d)",
    re.IGNORECASE,
)
_SEASON_DASH = re.compile(
    rf"(?<![a-z0-9])(?:s|{SEASON}[. ]?)(?P<s>\d{{1,2}})\s+-\s+(?P<e>\d{{1,4}})(?!\d|\s?(?:of|[.]\d))",
    re.IGNORECASE,
)
_ORDINAL_DASH = re.compile(
    r"(?<!\d)(?P<s>\d{1,2})(?:st|nd|rd|th)\sseason\s+(?:-\s+)?(?P<e>\d{1,4})(?![\d.])", re.IGNORECASE
)


def standard(text: str) -> Numbering | None:
    """Read `S01E02` and everything like it."""
    match = _STANDARD.search(text) or _CROSS_S.search(text)
    return with_episodes(match, text, match["s"], match["e"]) if match else None


def words(text: str) -> Numbering | None:
    """Read `Season 1 Episode 2` in many languages."""
    match = _WORDS.search(text)
    if match is not None:
        return with_episodes(match, text, match["s"], match["e"])
    match = _WORDS_AFTER.search(text)
    return with_episodes(match, text, match["s"], match["e"] or match["f"]) if match else None


def cross(text: str) -> Numbering | None:
    """Read `1x02`; of several the one that differs from the first, since a title may hold the like."""
    # The last one counts: a title may hold the like of it.
    matches = list(_CROSS.finditer(text))
    if not matches:
        return None
    match = matches[0]
    for later in matches[1:]:
        if int(later["s"]) != int(match["s"]):
            match = later
    return with_episodes(match, text, match["s"], match["e"])


def spanish(text: str) -> Numbering | None:
    """Read `Cap.102`, and `Cap.102_104`."""
    match = _SPANISH.search(text)
    if match is None:
        return None
    episodes: Iterable[int] = (int(match["e"]),)
    if match["u"] and match["t"] == match["s"]:
        episodes = range(int(match["e"]), int(match["u"]) + 1)
    return Numbering((int(match["s"]),), tuple(episodes), start=match.start(), end=match.end())


def anime_season(text: str) -> Numbering | None:
    """Read a season with a dash before its episode: `S2 - 05`, `2nd Season - 05`."""
    match = _SEASON_DASH.search(text) or _ORDINAL_DASH.search(text)
    return with_episodes(match, text, match["s"], match["e"]) if match else None


_EPISODE_ONLY = re.compile(
    rf"(?<![^\W_])(?:e|{EPISODE})[. #:-]*(?P<e>\d{{1,4}})(?!\d|\.\d(?!\d)|[a-z]{{2}})", re.IGNORECASE
)


def episode_only(text: str) -> Numbering | None:
    """Read `E05`, `Episode 5`, `Folge 5`."""
    match = _EPISODE_ONLY.search(text)
    if match is None:
        return None
    episodes, end = episodes_from(match["e"], text, match.end())
    return Numbering((), episodes, None, episodes == (0,), None, "", match.start(), end)


def counted(text: str) -> Numbering | None:
    """Read `3 of 6`."""
    match = _OF.search(text)
    if match is None or not 0 < int(match["e"]) <= int(match["n"]):
        return None
    return Numbering((), (int(match["e"]),), start=match.start(), end=match.end())


_PART = re.compile(
    r"(?<![^\W_])(?:part|pt|teil|partie|parte)[. ](?P<e>\d{1,2}|i{1,3}|iv|vi{0,3})(?![^\W_])", re.IGNORECASE
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii")


def part(text: str) -> Numbering | None:
    """Read `Part 2` of a series without seasons."""
    match = _PART.search(text)
    if match is None:
        return None
    said = match["e"].lower()
    number = int(said) if said.isdigit() else _ROMAN.index(said) + 1
    return Numbering((), (number,), start=match.start(), end=match.end())
