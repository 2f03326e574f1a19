"""Forms that count over the whole show, as anime groups do: `- 05`, `[05]`, `05 [1080p]`, `01 ~ 12`."""

import re

from program.services.matching.counting import LONGEST_RANGE, Numbering

_AFTER_DASH = re.compile(
    r"(?<=[\w!?.)~'\]\N{REPLACEMENT CHARACTER}])\s*[ .]-[ .]\s*#?(?P<e>\d{1,4})(?P<half>\.5)?(?:v\d)?"
    r"(?:\s?[-~]\s?(?P<f>\d{2,4})(?:v\d)?)?(?=\s*(?:end|fin)?\s*(?:[\[(\-.,]|\s|$|\N{REPLACEMENT CHARACTER}))",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"[\[(](?:ep?\.?\s?)?(?P<e>\d{2,4})(?P<half>\.5)?(?:v\d)?(?:\s?[-~]\s?(?P<f>\d{2,4}))?(?:\s?(?:end|fin|v\d))?[\])]",
    re.IGNORECASE,
)
_BEFORE_BRACKET = re.compile(
    r"(?<=[^\W\d_!?.]|[!?.~])[ .]+(?P<e>\d{2,4})(?P<half>\.5)?(?:v\d)?(?:\s?[-~]\s?(?P<f>\d{2,4})(?:v\d)?)?"
    r"(?=[ .]*(?:[\[(]|$|\N{REPLACEMENT CHARACTER}))",
    re.IGNORECASE,
)
_LEADING_GROUP = re.compile(r"^\s*\[[^\]]+\]")
_YEARS = range(1900, 2100)


def absolute(text: str) -> Numbering | None:
    """Read a number that counts over the whole show, or a range of them; a half one is a special."""
    grouped = _LEADING_GROUP.match(text) is not None
    for pattern, needs_group in ((_AFTER_DASH, False), (_IN_BRACKETS, True), (_BEFORE_BRACKET, True)):
        if needs_group and not grouped:
            continue
        for match in pattern.finditer(text):
            found = _absolute_of(match, grouped=grouped)
            if found is not None:
                return found
    return None


def _absolute_of(match: re.Match[str], *, grouped: bool) -> Numbering | None:
    first, last = int(match["e"]), int(match["f"] or match["e"])
    if first in _YEARS and not grouped:
        return None
    if first in _YEARS and match.re is not _AFTER_DASH:
        return None
    if last < first or last - first > LONGEST_RANGE:
        return None
    if match["half"]:
        return Numbering((), (), None, True, None, "", match.start(), match.end())
    episodes = tuple(range(first, last + 1))
    return Numbering((), episodes, None, first == 0, None, "", match.start(), match.end())
