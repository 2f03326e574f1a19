"""What stands before a title: the site that spread it, the group that made it, the year in an ordered folder."""

import re
from dataclasses import dataclass

from program.services.matching.counting import Numbering
from program.services.matching.noise import MASK, masked
from program.services.matching.titles import BRACKETS, WORD

_GROUP = re.compile(r"^\s*(?:\[([^\]]*)\]|\{([^}]*)\})[ .\-]*")
_ROUND = re.compile(r"^\s*\(([^)]*)\)[ .\-]*")
# A year or the month of a new show, in brackets before the title.
_DATED_BRACKET = re.compile(r"^\s*\[?(?:(?:19|20)\d\d|[^\[\]]{0,8}新番[^\[\]]{0,4})\]?(?=\s*\[)")
# An anime group in round brackets, which only the form of its number tells from a title.
_ROUND_FIRST = re.compile(r"^\s*\(([A-Za-z][\w-]*)\)[ .\-]+(?=\w)")
_ROUND_GROUP = re.compile(r"^\s*\(([A-Za-z][\w-]*)\)[ .\-]*(?=\w)")
_DOMAIN = r"(?:com|org|net|info|cc|xyz|lol|ws|to)"
_SITE = re.compile(
    rf"""^[\s\[({{=*~-]*(?:
      www[. ](?:[\w-]+[. ]){{1,2}}?(?:{_DOMAIN}|tv|io|me|eu|biz|ru|pl|se|nl|uk)(?![a-z])[\s\])}}=*~.@:|-]*
    | (?:www[. ][\w-]+[. ]\w{{2,12}}(?:\.-\.)?|[\w-]+(?:\.[\w-]+)?\.{_DOMAIN})
      [\s\])}}=*~]*(?:[-:|@]\s*|(?<=\.-\.)|(?<=[\])}}=])\s*)
    | sample-(?=[^\W\d_])
    | @\w{{3,}}[ ]-[ ]
    | [\w-]+\.{_DOMAIN}[ ](?=[^\W\d_]+[. ]+[^\W\d_])
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# `720p.Title`: technical words before the title.
_NOISE_FIRST = re.compile(rf"(?:{MASK}+[ .\-]+)+")
_YEAR = re.compile(
    r"^\s*(?:[\[(](?:19|20)\d\d[\])][ .\-]*|(?:19|20)\d\d - )(?=[^\W\d_]|\d+[ .][^\W\d_])(?!.*[ .(\[](?:19|20)\d\d(?!\w))",
)
# Not the bracket that belongs to a word or holds a number of the title: `(Un)Said`, `(40) Ways`.
_OPENING = re.compile(r"(?:[\s\[{.\-]|\((?!\w+\)\w|\d{1,3}\)[ .]\w))*")
# A bracket before one of these forms, and nothing between, holds the title.
_BEHIND_TITLE = frozenset({"standard", "words", "cross", "season"})


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands before the title, which begins at `start`. title: set where the first bracket is the title itself."""

    start: int
    group: str | None = None
    has_site: bool = False
    title: str | None = None


def read_prefix(text: str, covered: str, numbering: Numbering | None) -> Prefix:
    """Return what stands before the title. covered: the text with its technical words covered."""
    found = _prefix(text, covered, numbering)
    start, group = found.start, found.group
    if numbering is None:
        return found
    if numbering.start < start < numbering.end:
        start = numbering.end
    named = _ROUND_GROUP.match(text) if numbering.form == "absolute" else None
    if named is None and start <= 1:
        named = _ROUND_FIRST.match(text[: numbering.start])
    if named is not None and group is None:
        return Prefix(named.end(), named[1], found.has_site)
    is_before = start <= numbering.start and numbering.form in _BEHIND_TITLE
    if group and is_before and not WORD.search(covered[start : numbering.start].replace(MASK, "")):
        return Prefix(start, None, found.has_site, title=group)
    return Prefix(start, group, found.has_site)


def _has_word(covered: str, start: int, numbering: Numbering) -> bool:
    """Return True when a word stands between a place and the numbers."""
    return WORD.search(covered, start, max(start, numbering.start)) is not None


def _prefix(text: str, covered: str, numbering: Numbering | None) -> Prefix:
    site = _SITE.match(text)
    start = site.end() if site else 0
    group = None
    noise = _NOISE_FIRST.match(covered)
    if noise and WORD.search(covered, noise.end(), numbering.start if numbering else len(covered)):
        start = noise.end()
    technical = _ROUND.match(text[start:])
    if technical and not WORD.search(masked(technical[1])[0].replace(MASK, "")):
        start += technical.end()
    year = _YEAR.match(text[start:])
    start += year.end() if year else 0
    while (match := _GROUP.match(text[start:])) is not None:
        if numbering is not None and start < numbering.start < start + match.end() and numbering.seasons:
            # The whole name is in brackets, and something of the post behind them.
            break
        if (match[1] or "").isdigit() and group is None and MASK not in covered[start : start + match.end()]:
            # A number in brackets at the very front is the title's.
            break
        left = covered[start + match.end() :].replace(MASK, "")
        if not WORD.search(left):
            break
        if (
            group is not None
            and numbering is not None
            and not _has_word(covered, start + match.end(), numbering)
        ):
            # `[Group][Title] 07`: the second one holds the title.
            break
        group = group or (match[1] or match[2] or "").strip() or None
        start += match.end()
        dated = _DATED_BRACKET.match(text[start:])
        start += dated.end() if dated else 0
        left = left[dated.end() :] if dated else left
        if not WORD.search(BRACKETS.sub("", left)):
            # Everything is in brackets: the second pair holds the title.
            break
    opening = _OPENING.match(text, start)
    return Prefix(opening.end() if opening else start, group, site is not None)
