"""Forms that count over the whole show, as anime groups do: `- 05`, `[05]`, `05 [1080p]`, `01 ~ 12`."""

import re

from program.services.matching.counting import LONGEST_RANGE, Numbering

_COVERED = "\N{REPLACEMENT CHARACTER}"
_RANGE = r"(?:(?:\s?[-~]\s?|\s+(?:to|thru|through)\s+|(?P<and>\s?[+&]\s?|,\s?))(?P<f>\d{2,4})(?:v\d)?)?"
_AFTER_DASH = re.compile(
    rf"(?<=[^\s\[({{])(?<!\s-)\s*[ .]-{{1,2}}[ .]\s*[#(]?(?P<e>\d{{1,4}})(?P<half>\.5)?(?:v\d)?{_RANGE}"
    rf"(?:/\d{{2,3}})?(?=\s*(?:end|fin)?\s*(?:[\[(\-,)]|\.(?!\d)|\s|$|{_COVERED}))",
    re.IGNORECASE,
)
# A batch: `01 - 12`.
_WIDE_RANGE = re.compile(r"(?<=[^\W\d_!?.])[ .]+(?P<e>0?01)(?P<half>\.5)? - (?P<f>\d{2,3})(?=[ ]*[\[(])")
# A range over the whole show that no group's brackets surround: three digits with a zero.
_BATCH = re.compile(
    r"(?<=[^\W\d_!?.])[ .]+(?P<e>0\d\d)(?P<half>(?!))?\s?[-~]\s?(?P<f>\d{3,4})(?=[ .]*(?:[\[(]|$|complete|batch))",
    re.IGNORECASE,
)
# Tight, so that only a number with a zero is one.
_TIGHT = re.compile(
    r"(?<=[^\W_!?.])(?:(?:[ .]*-[ .]*|[ .]+)(?=0)|[ .]-)(?P<e>\d{2,3})(?P<half>\.5)?(?:v\d)?(?P<f>(?!))?-?(?=[ .]*[\[(])"
)
_FROM_ONE = re.compile(
    r"(?<=[^\W\d_!?.])[ .]+[\[(]?(?:tv )?(?P<e>1)(?P<half>(?!))?\s?[-~]\s?(?P<f>\d{2,3})"
    r"(?:[ ](?:complete|end))?[\])]?(?=[ .]*[\[(])",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"[\[(](?:ep?\.?\s?|#|batch\s|tv\s)?(?P<e>\d{2,4})(?P<half>\.5)?(?:v\d)?(?:\(\d{1,4}\))?(?:\s?[-~+&]\s?(?P<f>\d{2,4}))?"
    r"(?:\s?(?:end|fin|final|v\d|complete|合集|全集|[全完]|[+&]\s?(?:sps?|specials?|ovas?|oads?|extras?)\d*))*[\])]",
    re.IGNORECASE,
)
_BEFORE_BRACKET = re.compile(
    rf"(?:(?<=[^\W\d_!?.]|[!?.~])|(?<=\d)(?=[ .]+0\d))[ .]+(?P<e>\d{{2,4}})(?P<half>\.5)?(?:v\d)?{_RANGE}"
    rf"(?=(?:[ .]+(?:complete|batch|end|fin|final))?[ .]*(?:[\[({{+]|$|{_COVERED}))",
    re.IGNORECASE,
)
# A range in brackets whoever made the name, when it begins with a zero.
_RANGE_IN_BRACKETS = re.compile(r"[\[(](?P<e>0\d{1,2})(?P<half>(?!))?\s?[-~]\s?(?P<f>\d{2,4})[\])]")
# `[Group][Title] 07 [1080p]`.
_TITLE_IN_BRACKETS = re.compile(
    r"(?<=\])(?<=\w\]|[!?.]\])[ .-]+(?P<e>\d{2,4})(?P<half>\.5)?(?:v\d)?(?P<f>(?!))?(?=[ ]*[\[(])"
)
_TWO_BRACKETS = re.compile(r"^\s*\[[^\]]+\]\s*\[[^\]]+\][ .-]+\d")
# `01-24 Complete`, `(Complete 01-24)`.
_COMPLETE_RANGE = re.compile(
    r"(?<=[^\W\d_!?.])[ .(\[]+(?P<word>(?:complete|batch)[ .]+)?(?P<e>0\d{1,2}|1)(?P<half>(?!))?\s?[-~]\s?(?P<f>\d{2,4})[)\]]?"
    r"(?(word)(?!\w)|(?=[ .]*(?:complete|batch)))",
    re.IGNORECASE,
)
# The sign says that it counts, whoever made the name.
_SIGN = re.compile(
    rf"(?<![^\s\[(])#(?P<e>\d{{1,4}})(?P<half>\.5)?(?:v\d)?(?:-#(?P<g>\d{{1,4}}))?{_RANGE}(?!\w)"
)
_NUMERO = re.compile(
    r"(?<=[^\W_!?.])[ .]+no[. ]{1,2}(?P<e>\d{2,3})(?P<half>\.5)?(?P<f>(?!))?(?=[ .]*[\[(])", re.IGNORECASE
)
_NUMERO_DOT = re.compile(
    r"(?<=[^\W_!?.])[ ]+no\.[ ]?(?P<e>0\d{1,2})(?P<half>\.5)?(?P<f>(?!))?(?=[ .]*[\[(]|$)", re.IGNORECASE
)
# One of the two parts that a group makes of an episode.
_HALVED = re.compile(r"(?<=\w) - (?P<e>\d{2,3})(?P<half>(?!))?[ab](?P<f>(?!))?(?=\s*[\[(])")
_LEADING_GROUP = re.compile(r"^\s*[\[{][^\]}]+[\]}]")
_OUTSIDE = re.compile(
    r"(?<=[^\W_!?.])[ .]+(?:-[ .]+)?(?:ova|oad|ona|specials?|sp|nc(?:op|ed)|op|ed|pv|menu|cm)"
    r"(?:[ .]*(?:-[ .]+)?\d{1,3}[a-z]?(?:[-~]\d{1,3})?)?"
    rf"(?:v\d)?(?=[ .]*(?:[\[(]|$|-[ .]|{_COVERED}))",
    re.IGNORECASE,
)
# Titles end in 100 as well.
_MANY = 100
_YEARS = range(1900, 2100)


def outside(text: str) -> Numbering | None:
    """Read what an anime group puts outside the count: an OVA, a special, an opening without credits."""
    match = _OUTSIDE.search(text) if _LEADING_GROUP.match(text) else None
    if match is None:
        return None
    return Numbering(is_special=True, start=match.start(), end=match.end())


_PATTERNS = (
    (_WIDE_RANGE, True),
    (_BATCH, False),
    (_AFTER_DASH, False),
    (_IN_BRACKETS, True),
    (_NUMERO, True),
    (_HALVED, True),
    (_FROM_ONE, False),
    (_RANGE_IN_BRACKETS, False),
    (_NUMERO_DOT, False),
    (_COMPLETE_RANGE, False),
    (_TITLE_IN_BRACKETS, True),
    (_BEFORE_BRACKET, True),
    (_TIGHT, True),
    (_SIGN, False),
)


def absolute(text: str) -> Numbering | None:
    """Read a number that counts over the whole show, or a range of them; a half one is a special."""
    grouped = _LEADING_GROUP.match(text) is not None
    for pattern, needs_group in _PATTERNS:
        if needs_group and not grouped:
            continue
        if pattern is _TITLE_IN_BRACKETS and not _TWO_BRACKETS.match(text):
            continue
        for match in pattern.finditer(text):
            found = _absolute_of(match, grouped=grouped)
            if found is not None:
                return found
    return None


def _absolute_of(match: re.Match[str], *, grouped: bool) -> Numbering | None:
    first, last = int(match["e"]), int(match["f"] or match.groupdict().get("g") or match["e"])
    if first in _YEARS and not (grouped and match.re is _AFTER_DASH):
        return None
    if match.re is _WIDE_RANGE and len(match["e"]) != len(match["f"]):
        return None
    end = match.end()
    if (
        match["f"]
        and " - " in match[0][match.end("e") - match.start() :]
        and not _is_range(match, first, last)
    ):
        # `- 11 - 100 Days`: the second number begins a title.
        last, end = first, match.end("e")
    while match["f"] and (more := _FURTHER.match(match.string, end)) and int(more["n"]) == last + 1:
        last, end = last + 1, more.end()
    if last < first or last - first > LONGEST_RANGE:
        return None
    if match["half"]:
        return Numbering((), (), None, True, None, "", match.start(), match.end())
    is_pair = "and" in match.re.groupindex and match["and"] is not None
    episodes = (
        (first, int(match["f"]), *range(int(match["f"]) + 1, last + 1))
        if is_pair
        else tuple(range(first, last + 1))
    )
    return Numbering((), episodes, None, first == 0, None, "", match.start(), end)


def _is_range(match: re.Match[str], first: int, last: int) -> bool:
    """Return True for two numbers with a dash and spaces between, and no word behind."""
    return first < last <= first + LONGEST_RANGE and not _WORD_BEHIND.match(match.string, match.end())


_WORD_BEHIND = re.compile(r"\s+[^\W\d_]")
_FURTHER = re.compile(r"\s?[-,&+]\s?(?P<n>\d{2,4})(?![\d.])")
_BESIDE = re.compile(
    r"(?!\s-\s\d\d$)(?:v\d)?\]?[\s.]*(?:[-/]\s*)?[\[(]?#?(?P<e>\d{2,4})(?:-(?P<f>\d{2,4}))?[\])]?(?=\s*(?:[\[(]|$|-\s)|\.(?:-|$)"
    r"|(?<=[. ]0\d\d)[ .][^\W\d_]|(?<=\(0\d\d\))[ ])"
)
_BESIDE_BEFORE = re.compile(
    r"(?<!season)(?<!saison)(?<!staffel)[\s.]+(?P<dash>-[\s.]+)?(?P<e>\d{2,4})(?:-(?P<f>\d{2,4}))?[\s.]*-?[\s.]*[\[(]?$",
    re.IGNORECASE,
)


def beside(text: str, found: Numbering) -> tuple[tuple[int, ...], int, int]:
    """Return the numbers over the whole show beside those within a season (`S02E03 (28)`, `28 - S02E03`), and where both lie."""
    behind = _BESIDE.match(text, found.end)
    if behind is not None and (numbers := _as_many(behind, found)):
        return numbers, found.start, behind.end()
    before = _BESIDE_BEFORE.search(text[: found.start])
    if (
        before is not None
        and (numbers := _as_many(before, found))
        and re.search(r"[^\W\d_]", text[: before.start()])
    ):
        return numbers, before.start(), found.end
    return (), found.start, found.end


def _as_many(match: re.Match[str], found: Numbering) -> tuple[int, ...]:
    first, last = int(match["e"]), int(match["f"] or match["e"])
    is_written_so = match["e"].startswith("0") or "-" in match[0] or "(" in match[0] or "[" in match[0]
    if match.re is _BESIDE_BEFORE:
        # Without a dash before it, a number before the season is the title's.
        is_written_so = match["e"].startswith("0") or match["dash"] is not None or match["f"] is not None
    if _LEADING_GROUP.match(match.string) and first > _MANY and len(match["e"]) >= len("214"):
        # A group that counts to hundreds counts over the whole show.
        is_written_so = True
    if last - first + 1 != len(found.episodes) or first in _YEARS or not is_written_so:
        return ()
    return tuple(range(first, last + 1))
