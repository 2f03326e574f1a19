"""What a name can count, and the pieces that its forms share: lists and ranges of episodes and seasons.

Every form works on a text whose technical words are covered (`noise.masked`), so that no resolution, codec or checksum is
taken for a number.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import cache

# Longer runs of episodes in one file or pack are a misreading.
LONGEST_RANGE = 400
LONGEST_LOOSE_RANGE = 60
SEASONS_MAX = 60

SEASON = (
    r"(?:seasons?|saisons?|temporadas?|temp|staffeln?|stagion[ei]|series|seizoen(?:en)?|sezon[iy]?|s(?:ä|ae?)song(?:er)?"
    r"|kausi|sæson|sesong|сезон[ыа]?|évad)"
)
EPISODE = (
    r"(?:episodes?|episodios?|épisodes?|eps?|cap(?:itulo|ítulo)?s?|folgen?|aflevering(?:en)?|avsnitt|odc(?:inek)?|"
    r"сери[яйи]|эпизод|bölüm)"
)


@dataclass(frozen=True, slots=True)
class Numbering:
    """What a name counts. start, end: where in the text. glued: the number as it was written when it may be two episodes.

    is_special: a name that says of itself that it is outside the count. has_complete: it says that it holds everything.
    """

    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    air_date: date | None = None
    is_special: bool = False
    glued: int | None = None
    form: str = ""
    start: int = 0
    end: int = 0


_MORE = re.compile(
    r"""
    (?P<op>[ .]*(?P<sign>[-~+&,/]|(?:to|bis)(?=[ .\d])|(?:and|a|et|y|e|и|по)(?=[ .]))?[ .]*)
    (?:\[?\(?s(?P<season>\d{1,3})[ .x]*|(?P<cross>\d{1,2})x)?
    (?P<mark>e(?:p(?:isode)?)?[ .]?|x)?
    (?P<number>\d{1,4})(?!\d|[pi]\b|[ .]?(?:st|nd|rd|th)\b)(?!\.\d)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RANGE_SIGNS = ("-", "~", "to", "bis", "a", "по")


def episodes_from(first: str, text: str, end: int) -> tuple[tuple[int, ...], int]:
    """Return the episodes of a list or range that begins with `first` and goes on at `end`, and where it ends."""
    found = [int(first)]
    width = len(first)
    while True:
        more = _MORE.match(text, end)
        if more is None or not _belongs(more, found[-1], width):
            return tuple(dict.fromkeys(found)), end
        number, sign = int(more["number"]), (more["sign"] or "").lower()
        if sign in _RANGE_SIGNS and found[-1] < number <= found[-1] + LONGEST_RANGE:
            found.extend(range(found[-1] + 1, number + 1))
        else:
            found.append(number)
        end = more.end()


def _belongs(more: re.Match[str], last: int, width: int) -> bool:
    number, mark, sign = int(more["number"]), more["mark"], more["sign"]
    if mark or more["season"] or more["cross"]:
        return number > last
    if not sign or number <= last or number - last > LONGEST_LOOSE_RANGE:
        return False
    tight = " " not in more["op"]
    following = more.string[more.end() : more.end() + 1]
    return tight and len(more["number"]) in (width, width + 1) and not following.isalpha()


@cache
def _season_again(word: str) -> re.Pattern[str]:
    return re.compile(
        r"\s*[.]?(?P<sign>[-~&+,/]|(?:to|and|a|et|bis|y|e|и|по|through|thru)(?=[ .])|(?=[ .]s\d)|(?=\.\d\.))[. ]*"
        rf"(?:{word}[. ]*)?(?P<number>\d{{1,2}})(?![\dpe]|[. ]?e\d|\s*[-~]?\s*(?:of|x)\s*\d)",
        re.IGNORECASE,
    )


def seasons_from(first: int, text: str, end: int, word: str) -> tuple[tuple[int, ...], int]:
    """Return the seasons of a list or range that begins with `first`, and where it ends."""
    found = [first]
    again = _season_again(word)
    while (more := again.match(text, end)) is not None:
        number, sign = int(more["number"]), more["sign"].lower()
        if not found[-1] < number <= SEASONS_MAX:
            break
        is_range = sign in ("-", "~", "to", "a", "bis", "through", "thru", "по")
        found.extend(range(found[-1] + 1, number + 1) if is_range else (number,))
        end = more.end()
    return tuple(found), end


def rest_says_special(text: str, end: int) -> bool:
    """Return True when what follows a season says that it is no pack of it."""
    return (
        re.match(r"[ .\-]*(?:special|specials|extras?|ova|oad|bonus)(?![a-z])", text[end:], re.IGNORECASE)
        is not None
    )


def with_episodes(match: re.Match[str], text: str, season: str, episode: str) -> Numbering:
    """Return a season with the list or range of episodes that begins at `match`; `0102` is read as two."""
    episodes, end = episodes_from(episode, text, match.end())
    glued = None
    if len(episodes) == 1 and len(episode) == len("0102"):
        halves = int(episode[:2]), int(episode[2:])
        if halves[1] == halves[0] + 1:
            episodes, glued = halves, int(episode)
    return Numbering((int(season),), episodes, None, episodes == (0,), glued, "", match.start(), end)
