"""Forms that count without naming a season, and the counts that stand behind one: Episode 5, 3 of 6, Part 2, 第5話."""

import re
from dataclasses import replace

from program.services.matching.counting import LONGEST_RANGE, Numbering, episodes_from
from program.services.matching.number_words import CHINESE, COUNTED, ROMAN, either, number_of
from program.services.matching.vocabulary import EPISODE, FROM, OF, TO

_OF = re.compile(
    r"(?<![^\W_])(?:(?:part|pt|ep|e|episode|teil|folge|partie|parte|chapter)[. ]?)?"
    rf"\(?(?P<e>\d{{1,3}})[. ]?{OF}[. ]?(?P<n>\d{{1,3}})(?!\d)",
    re.IGNORECASE,
)
_OF_SLASH = re.compile(r"[(\[](?P<e>\d{1,2})/(?P<n>\d{1,2})[)\]]")
_EPISODE_ONLY = re.compile(
    rf"(?<![^\W_])(?:e(?:(?=\d)|[. #:-]{{1,2}}(?=\d)(?!(?:19|20)\d\d(?!\d)))|{EPISODE}[. #:-]*)"
    r"(?P<e>\d{1,4})(?!\d|\.\d(?!\d)|[a-z]{2})",
    re.IGNORECASE,
)
_EPISODES = re.compile(
    rf"(?<![^\W_])(?:{EPISODE})[. :(-]*(?:{FROM}[. ])?(?P<e>\d{{1,4}})\s?(?:[-~]|{TO}(?=[\s\d]))\s?(?P<f>\d{{1,4}})(?!\d)",
    re.IGNORECASE,
)
# `Dai 11-wa`, as Japanese counts.
_WA = re.compile(r"(?<![^\W_])(?:dai[ -]?)?(?P<e>\d{1,4})[ -]?wa(?![^\W_])", re.IGNORECASE)
# `8 серия`, `8. Bölüm`, `1-8 серии`: the word stands behind.
_BEFORE_WORD = re.compile(
    rf"(?<![^\W_])(?<!\d\.)(?P<e>\d{{1,4}})"
    rf"(?:\s?(?:[-~]|{TO}(?=\s))\s?(?P<f>\d{{1,4}})(?:[.ªº°]|-?[яй])?\s?{EPISODE}(?![^\W_])"
    r"|(?:-?[яй])?\s?(?:серия|серія|выпуск|эпизод)(?![^\W_])|\.?\s?b[öo]l[üu]m(?![^\W_])"
    r"|[ºª°]\s?(?:epis[oó]dio|cap[ií]tulo)(?![^\W_])|\.\s?(?:r[eé]sz|d[ií]l|jakso|folge|odcinek|avsnitt|afsnit|epizoda)(?![^\W_]))",
    re.IGNORECASE,
)
_EPISODE_SPELT = re.compile(
    rf"(?<![^\W_])(?:episode|folge)[. ](?P<e>{either(COUNTED | ROMAN)})(?![^\W_])", re.IGNORECASE
)
_EAST_ASIAN = re.compile(
    rf"第\s*(?P<e>{CHINESE})[话話集回]?(?:\s*[-~至到・]\s*第?(?P<f>{CHINESE}))?\s*[话話集回]"
    r"|第(?P<i>0\d{1,2}|[2-9]\d|\d{3,4})期|(?<![\d全])(?P<c>0\d|\d{2,3}(?=-\d))(?:-(?P<d>\d{2,3}))?集"
    r"|(?<![\d全])제?(?P<k>\d{1,4})[화회话話]?(?:\s*[-~]\s*(?P<t>\d{1,4}))?\s*[화회话話](?!\w)"
)


def episode_only(text: str) -> Numbering | None:
    """Read `E05`, `Episode 5`, `Folge 5`, `Episodes 1-100`, `5. Bölüm`, and the fifth of East Asian names."""
    match = _BEFORE_WORD.search(text) or _EPISODES.search(text)
    if match is not None and match["f"] is None:
        return Numbering((), (int(match["e"]),), start=match.start(), end=match.end())
    if match is not None and int(match["e"]) < int(match["f"]) <= int(match["e"]) + LONGEST_RANGE:
        return Numbering((), _range(match["e"], match["f"]), start=match.start(), end=match.end())
    match = _EPISODE_ONLY.search(text)
    if match is None:
        return _east_asian(text) or _spelt(text) or _wa(text)
    episodes, end = episodes_from(match["e"], text, match.end())
    return Numbering((), episodes, None, episodes == (0,), None, "", match.start(), end)


def _range(first: str, last: str | None) -> tuple[int, ...]:
    """Return the numbers from `first` to `last`; `first` alone when that is no range."""
    begin, end = number_of(first), number_of(last or first)
    return tuple(range(begin, end + 1)) if begin < end <= begin + LONGEST_RANGE else (begin,)


def _spelt(text: str) -> Numbering | None:
    match = _EPISODE_SPELT.search(text)
    return Numbering((), (number_of(match["e"]),), start=match.start(), end=match.end()) if match else None


def _wa(text: str) -> Numbering | None:
    match = _WA.search(text)
    return Numbering((), (int(match["e"]),), start=match.start(), end=match.end()) if match else None


def _asian_range(match: re.Match[str]) -> tuple[int, ...]:
    first = match["e"] or match["k"] or match["i"] or match["c"]
    return _range(first, match["f"] or match["t"] or match["d"])


def _east_asian(text: str) -> Numbering | None:
    match = _EAST_ASIAN.search(text)
    if match is None:
        return None
    return Numbering((), _asian_range(match), start=match.start(), end=match.end())


_BEGIN = re.compile(rf"(?<![^\W_])(?:{EPISODE}[. :]*)?(?P<e>\d{{1,3}})\s?[-&+]\s?$", re.IGNORECASE)


def counted(text: str) -> Numbering | None:
    """Read `3 of 6`, `(3/6)` and `(1-3 of 6)`."""
    match = _OF.search(text) or _OF_SLASH.search(text)
    if match is None or not 0 < int(match["e"]) <= int(match["n"]):
        return None
    begin = _BEGIN.search(text[: match.start("e")])
    episodes = _range(begin["e"], match["e"]) if begin else (int(match["e"]),)
    start = begin.start() if begin else match.start()
    return Numbering((), episodes, start=start, end=match.end())


_PART = re.compile(
    r"(?<![^\W_])(?:parts?|pts?|teil|partie|parte|chapter|chapitre|kapitel)"
    rf"(?:[. ]?(?P<n>\d{{1,2}})|[. ](?P<e>{either(ROMAN)}|{either(COUNTED)}))"
    r"(?:\s?(?:-|[. ](?:to|and|&)[. ]|[. ](?=part|pt))\s?(?:(?:part|pt)[. ]?)?"
    rf"(?P<f>\d{{1,2}}|{either(COUNTED)}|{either(ROMAN)}))?(?![^\W_])",
    re.IGNORECASE,
)


def part(text: str) -> Numbering | None:
    """Read `Part 2` of a series without seasons."""
    match = _PART.search(text)
    if match is None:
        return None
    return Numbering((), _range(match["n"] or match["e"], match["f"]), start=match.start(), end=match.end())


_BEHIND_SEASON = re.compile(
    rf"[\s.,:;/|()\[\]-]*(?:(?:complet[aeo]|full)[\s.]+[\[(]?)?(?:{EPISODE}|e(?=\d))[. :#-]*(?:{FROM}[. ])?(?P<e>\d{{1,4}})(?!\d)",
    re.IGNORECASE,
)
_COUNT_BEHIND_SEASON = re.compile(
    r"[\s.,:/|()\[\]-]*(?P<e>\d{1,3})(?:\s?[-~]\s?(?P<f>\d{1,3}))?\s?"
    rf"{OF}\s?\d{{1,3}}(?!\d)",
    re.IGNORECASE,
)
_BRACKETS_BEHIND_SEASON = re.compile(
    rf"[\s.-]*[\])]?[\s.]*[\[(](?P<e>\d{{2,3}}|\d(?=\s?-))(?:v\d)?(?:\s?(?:[-~]|{TO})\s?(?P<f>\d{{1,3}}))?"
    r"(?:/\d{2,3})?(?:[ ]?(?:end|fin|完|全))?[\])]",
    re.IGNORECASE,
)
_HASH_BEHIND_SEASON = re.compile(r"[ ,-]+#(?P<e>\d{1,3})(?P<f>(?!))?(?!\w)")
_RANGE_BEHIND_SEASON = re.compile(
    r"(?:[ .]+(?:complete|full))?[ .]+(?P<e>0\d{1,2}|1)\s?[-~]\s?(?P<f>\d{1,3})(?![\w-])", re.IGNORECASE
)
# `Season 1 06 Title`.
_ZERO_BEHIND_SEASON = re.compile(r"[ .]+(?P<e>0\d)(?P<f>(?!))?(?=[ ]+[^\W\d_])")
# `第三季 02`, `[Group] Show Season 2 02`: nothing but a space.
_BARE_BEHIND_SEASON = re.compile(
    r"[ .]+(?P<e>\d{2,3})(?:v\d)?(?P<f>(?!))?(?=[ .]*(?:[\[(]|$|\N{REPLACEMENT CHARACTER}))"
)
# `第3季05集`.
_EPISODES_BEHIND_CHINESE = re.compile(
    r"(?<=[季期])[ .]*(?P<e>\d{1,3})(?:[-~](?P<f>\d{1,3}))?(?:集|(?<=[季期]\d\d)(?=$|[\s\[.]))"
)
_YEAR_BEHIND = re.compile(r"[\s.]*\((?:19|20)\d\d(?:-(?:19|20)\d\d)?\)")
_DASH_BEHIND_SEASON = re.compile(
    r"(?:[. ](?:part|cour)[. ]\d)?[. ]+-[. ]+(?P<e>\d{2,4})(?:v\d)?(?P<f>(?!))?(?=\s*(?:[\[(]|$))",
    re.IGNORECASE,
)


def _is_grouped(text: str, found: Numbering) -> bool:
    """Return True for names that write an episode right behind its season: those of groups, and Chinese ones."""
    return text.startswith("[") or text[found.end - 1 : found.end] in ("季", "期")


# `- 04 [S3]`.
_DASH_BEFORE_SEASON = re.compile(r"\s+-\s+(?P<e>\d{2,4})(?:v\d)?(?:\s*[\[(]|\s+-\s+)$")


def within_season(found: Numbering, text: str) -> Numbering:
    """Return a season with the episodes that stand right behind it, in whatever way they are told."""
    end = found.end
    if (year := _YEAR_BEHIND.match(text, end)) is not None:
        end = year.end()
    words = _BEHIND_SEASON.match(text, end)
    if words is not None:
        listed = _EPISODES.search(text, found.end)
        episodes, end = episodes_from(words["e"], text, words.end())
        if listed is not None and listed.start("e") == words.start("e"):
            episodes, end = _range(listed["e"], listed["f"]), listed.end()
        return replace(found, episodes=episodes, end=end)
    for pattern in (
        _COUNT_BEHIND_SEASON,
        _BRACKETS_BEHIND_SEASON,
        _RANGE_BEHIND_SEASON,
        _DASH_BEHIND_SEASON,
        _BARE_BEHIND_SEASON,
        _HASH_BEHIND_SEASON,
        _ZERO_BEHIND_SEASON,
        _EPISODES_BEHIND_CHINESE,
    ):
        match = pattern.match(text, end)
        if match is not None and (pattern is not _BARE_BEHIND_SEASON or _is_grouped(text, found)):
            return replace(found, episodes=_range(match["e"], match["f"]), end=match.end())
    before = _DASH_BEFORE_SEASON.search(text, 0, found.start)
    if before is not None:
        return replace(found, episodes=(int(before["e"]),), start=before.start())
    asian = _EAST_ASIAN.search(text, found.end)
    if asian is not None:
        return replace(found, episodes=_asian_range(asian), end=asian.end())
    return found
