"""What a name can count, and the pieces that its forms share: lists and ranges of episodes and seasons.

Every form works on a text whose technical words are covered (`noise.masked`), so that no resolution, codec or checksum is
taken for a number.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import cache

from program.services.matching.noise import WEAK_WORDS
from program.services.matching.vocabulary import AND, AND_WORDS, TO, TO_WORDS

# Longer runs of episodes in one file or pack are a misreading.
LONGEST_RANGE = 400
LONGEST_LOOSE_RANGE = 60
SEASONS_MAX = 60
# A file of so many episodes may have a title behind them.
_MOST_TITLED = 3


@dataclass(frozen=True, slots=True)
class Numbering:
    """What a name counts. start, end: where in the text. glued: the number as it was written when it can be read otherwise.

    is_special: a name that says of itself that it is outside the count. absolute: numbers over the whole show beside those within
    a season.
    """

    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    air_date: date | None = None
    is_special: bool = False
    glued: int | None = None
    form: str = ""
    start: int = 0
    end: int = 0
    absolute: tuple[int, ...] = ()


_MORE = re.compile(
    rf"""
    (?P<op>[ .]*(?:[\])]\s*[\[(])?(?P<sign>-to-|-bis-|->|[-~+&,;/]|(?:to|bis|through)(?=\d)|(?:{TO}|{AND})(?=[ .]))?[ .]*)
    (?:\[?\(?s(?P<season>\d{{1,4}})[ .x]*|x?(?P<cross>\d{{1,4}})x|(?P<bare>\d{{1,2}})(?=e\d\d))?
    (?P<mark>e(?:p(?:isode)?)?[ .]?|x)?
    (?P<number>\d{{1,4}})(?!\d|[pi]\b|[ .]?(?:st|nd|rd|th)\b)(?!\.\d(?!\d)|\.\d\d\.(?:19|20)\d\d)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RANGE_SIGNS = TO_WORDS | {"-", "~", "..", ">"}
_LIST_SIGNS = (",", ";", "/")
_AND_SIGNS = AND_WORDS | {"&", "+"}


def episodes_from(first: str, text: str, end: int) -> tuple[tuple[int, ...], int]:
    """Return the episodes of a list or range that begins with `first` and goes on at `end`, and where it ends."""
    found = [int(first)]
    width = len(first)
    while True:
        more = _MORE.match(text, end)
        if more is None or not _belongs(more, found[-1], width):
            return tuple(dict.fromkeys(found)), end
        number, sign = int(more["number"]), _sign(more)
        if more["cross"] and not more["op"] and int(more["cross"]) == found[-1] + 1:
            # `1x02x03x04`: no season, the next one of a list.
            found.append(int(more["cross"]))
        is_range = sign in _RANGE_SIGNS or "..." in more["op"]
        if is_range and found[-1] < number <= found[-1] + LONGEST_RANGE:
            found.extend(range(found[-1] + 1, number + 1))
        else:
            found.append(number)
        end = more.end()


def _sign(more: re.Match[str]) -> str:
    return (more["sign"] or "").lower().strip("-") or more["sign"] or ""


def _belongs(more: re.Match[str], last: int, width: int) -> bool:
    number, mark, sign = int(more["number"]), more["mark"], _sign(more)
    if mark or more["season"] or more["cross"]:
        # `E03.Episode.10`: the word begins a title unless something joins the two.
        if more["cross"] and not sign and len(more["number"]) == 1:
            # `E01.5x5` is a title.
            return False
        is_word = len((mark or "").strip(" .")) > 1 and not sign and more["op"] != ""
        # `E17x265` has a codec.
        return number > last and not is_word and (mark != "x" or number - last <= LONGEST_LOOSE_RANGE)
    following = more.string[more.end() : more.end() + 1]
    if number <= last or number - last > LONGEST_LOOSE_RANGE or following.isalpha():
        return False
    is_as_wide = len(more["number"]) in (width, width + 1)
    if not sign:
        return len(more["number"]) == width > 1 and number == last + 1 and _is_written_on(more)
    if sign in _LIST_SIGNS:
        # `E01/12` is the first of twelve.
        is_list = number == last + 1 or (sign == "," and " " not in more["op"])
        return is_list and is_as_wide and (" " not in more["op"] or not _goes_on(more))
    return _is_joined(more, last, sign, is_as_wide=is_as_wide)


def _is_joined(more: re.Match[str], last: int, sign: str, *, is_as_wide: bool) -> bool:
    """Return True when a sign or a small word joins the number to the one before it."""
    number = int(more["number"])
    if " " not in more["op"]:
        # `E05-10.Years.Later`: many episodes in one have no title.
        is_next = len(more["number"]) == 1 and number == last + 1 and not _goes_on(more)
        return is_next or (is_as_wide and (number - last <= _MOST_TITLED or not _goes_on(more)))
    is_last = not re.match(r"[ .]*[^\W\d_]", more.string[more.end() :])
    if sign == "-" and not more.string[more.end() :].strip(" .])"):
        # `E03 - 04`, and nothing behind it.
        is_over_show = len(more["number"]) == len("028") and more["number"].startswith("0") and last < number
        return is_as_wide and len(more["number"]) > 1 and not is_over_show
    if sign in _AND_SIGNS:
        return number == last + 1 and is_as_wide
    return sign in _RANGE_SIGNS and sign not in ("-", "~") and is_last


def _is_written_on(more: re.Match[str]) -> bool:
    """Return True for the next number of `E02.03.04` and `E02 03`; not for a date behind a number."""
    behind = more.string[more.end() :]
    if more["op"] == ".":
        another = re.match(r"\.(\d\d)(?!\d)", behind)
        return another is None or int(another[1]) == int(more["number"]) + 1
    return (
        more["op"] == " " and re.match(r"[\s.]*(?:$|-\s|[\[(\N{REPLACEMENT CHARACTER}])", behind) is not None
    )


def _goes_on(more: re.Match[str]) -> bool:
    """Return True when a word that is no technical one follows."""
    word = re.match(rf"[ .]+(?!{AND}[ .]\d)([^\W\d_]+)", more.string[more.end() :], re.IGNORECASE)
    return word is not None and word[1].casefold() not in WEAK_WORDS | {"of", "von", "de", "di", "из"}


@cache
def _season_again(word: str) -> re.Pattern[str]:
    return re.compile(
        r"[ªº]?(?:[\])][ ]?[\[(](?=s\d))?(?:[ .]*(?:complete|\((?:19|20)\d\d\)))?"
        rf"\s*[.]?(?P<sign>[-~&+,;/]|\.\.|(?:{TO}|{AND})(?=[ .])|to(?=(?:{word})?\d)|(?=[ .]?{word}[ .]?\d)|(?=[. ]\d))[. ]*"
        rf"(?:{word}[. ]*)?(?P<number>\d{{1,2}})(?![\dpe]|[. ]?e\d|[. ](?:episodes|eps)|\s*[-~]?\s*(?:of|x)\s*\d)",
        re.IGNORECASE,
    )


def seasons_from(first: int, text: str, end: int, word: str) -> tuple[tuple[int, ...], int]:
    """Return the seasons of a list or range that begins with `first`, and where it ends."""
    found = [first]
    again = _season_again(word)
    while (more := again.match(text, end)) is not None:
        number, sign = int(more["number"]), more["sign"].lower()
        is_bare = not sign and not re.match(r"[. ]?s", text[end:], re.IGNORECASE)
        if not found[-1] < number <= SEASONS_MAX or (is_bare and number != found[-1] + 1):
            break
        is_range = sign in _RANGE_SIGNS
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
