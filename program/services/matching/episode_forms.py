"""Forms that name episodes: S01E02 and its like, words in many languages, 1x02, 3 of 6."""

import re
from dataclasses import replace

from program.services.matching.counting import LONGEST_RANGE, SEASONS_MAX, Numbering, with_episodes
from program.services.matching.number_words import COUNTED, either, number_of
from program.services.matching.season_forms import within
from program.services.matching.vocabulary import AND, EPISODE, FROM, SEASON, TO, mentions_season

_STANDARD = re.compile(
    r"(?<![a-z0-9])(?:s(?:s?n[. ]?)?[.:-]?|s[ ](?=\d{1,2}[ ]e[ ]?\d)|st\.?[ ]?(?=\d{1,2}[ .]+ep)|se(?:as)?[. ]{0,2})"
    r"(?P<s>\d{1,4})[\]\[)( ._,x:/\u00b7-]*"
    r"(?:[eé](?:p(?:is(?:ode)?)?)?|folge|серия|f(?=\d\d(?!\d))|b(?=\d\d?(?!\d)))[\[(. _:-]*(?P<e>\d{1,4})(?!\d|[pi](?![a-z]))",
    re.IGNORECASE,
)
# Spanish and Portuguese names count in temporadas; tight, since a lone T is a letter.
_TEMPORADA = re.compile(
    r"(?<![a-z0-9])t(?P<s>\d{1,2})(?:(?:[ .x]|[ ]-[ ])?e(?:p\.?)?[ ]?|[ ]?x[ ]?(?=\d\d)|[. ]?c(?=\d)"
    r"|[ .]+cap(?:itulos?|ítulos?)?[. ]+)(?P<e>\d{1,3})(?!\d)",
    re.IGNORECASE,
)
_CROSS_S = re.compile(r"(?<![a-z0-9])s(?P<s>\d{1,4})[. ]?x[. ]?(?P<e>\d{2,3})(?!\d)", re.IGNORECASE)
# `ABs01e02`: right behind the letters of a title, so both numbers must be whole.
_GLUED = re.compile(r"(?<=[a-z])s(?P<s>\d{2})e(?P<e>\d{2,3})(?![a-z\d])", re.IGNORECASE)
# Brazilian: `3T 5E`.
_TURNED_T = re.compile(r"(?<![A-Za-z0-9])(?P<s>\d{1,2})T[ .]?(?P<e>\d{1,3})E(?![A-Za-z0-9])")
# `E06 S01`, turned.
_TURNED = re.compile(r"(?<![a-z0-9])e(?P<e>\d{2,3})[ ]?s(?P<s>\d{1,2})(?![\da-z])", re.IGNORECASE)
# `01e02`, without the letter before the season.
_BARE_E = re.compile(r"(?<![a-z0-9])(?P<s>\d{1,2})e(?P<e>\d{2,3})(?![a-z\d])", re.IGNORECASE)
_ACROSS = re.compile(
    r"(?<![a-z0-9])s(?P<s>\d{1,2})e\d{1,3}\s*(?:-|~|to)\s*s(?P<t>\d{1,2})e\d{1,3}(?!\d)", re.IGNORECASE
)
_ACROSS_CROSS = re.compile(
    r"(?<![\da-z])(?P<s>\d{1,2})x\d{2,3}\s*(?:-|~|to)\s*(?P<t>\d{1,2})x\d{2,3}(?!\d)", re.IGNORECASE
)
_WORDS = re.compile(
    rf"(?<![^\W\d_]){SEASON}[. :#-]*(?P<s>\d{{1,4}})[\], .:;()/\u00b7-]*(?:{EPISODE}|e(?=\d)|(?:del|osa)(?=[ ]\d))"
    r"[. :#-]*(?P<e>\d{1,4})(?!\d)",
    re.IGNORECASE,
)
_WIDE_RANGE = re.compile(r"\s+-\s+(?P<to>\d{1,3})(?=\s*(?:$|[\[(]|\N{REPLACEMENT CHARACTER}))")
_WORDS_AFTER = re.compile(
    rf"(?<!\d)(?P<s>\d{{1,2}})(?:st|nd|rd|th|(?:[eè]m)?e|[eè]re|[.ªº°^a]|-?й)?[. ]*{SEASON}[. ,:/()\[\]-]*(?:{FROM}[ ])?"
    rf"(?:(?P<e>\d{{1,4}})(?:\s*(?:[-~]|{TO})\s*(?P<to>\d{{1,4}})"
    rf"|(?P<more>(?:\s*(?:[,&+]|{AND}(?=\s))\s*\d{{1,4}})+))?(?:[.ªº°^]|-?я)?[. ]*{EPISODE}"
    rf"|{EPISODE}[. :]*(?P<f>\d{{1,4}}))",
    re.IGNORECASE,
)
_WORDS_TURNED = re.compile(
    rf"(?<!\d)(?P<e>\d{{1,4}})(?:st|nd|rd|th|[.ªº°^])?\s*(?:{EPISODE})[. ,:(-]*"
    rf"(?P<s>\d{{1,2}})(?:st|nd|rd|th|[.ªº°^a]|-?й)?\s*{SEASON}(?![^\W\d_])",
    re.IGNORECASE,
)
_EPISODE_BEFORE_SEASON = re.compile(
    rf"(?<![^\W\d_])(?:{EPISODE})[. :#-]*(?P<e>\d{{1,3}})[. ,(-]+(?:of[. ])?{SEASON}[. ]?(?P<s>\d{{1,2}})(?!\d)",
    re.IGNORECASE,
)
_WORDS_SPELT = re.compile(
    rf"(?<![^\W\d_])season[. ](?P<s>{either(COUNTED)})[., -]+episode[. ](?P<e>{either(COUNTED)})(?![^\W\d_])",
    re.IGNORECASE,
)
_CROSS = re.compile(
    r"(?<![\da-z])(?P<s>\d{1,2}|(?:19|20)\d\d)\s?[x\u00d7]\s?(?P<e>\d{2,3})(?!\d)", re.IGNORECASE
)
_SEASON_BEFORE = re.compile(rf"(?<![^\W_])(?:{SEASON}|{EPISODE})[. ]*$", re.IGNORECASE)
# One digit is more often a size or a formation; it must end the name or stand before a dash.
_CROSS_SHORT = re.compile(
    r"(?<![\da-z])(?P<s>\d{1,2})x(?P<e>\d)(?=\s*$|\s+-\s|(?<=[\[(]\dx\d)[\])]|-(?P=s)x\d|-\d(?!\d)|[. ]\N{REPLACEMENT CHARACTER})",
    re.IGNORECASE,
)
_DASH_NUMBER = re.compile(r"\s+-\s+\d{2,4}(?!\d)")
# A name without a space: `title1x02`.
_CROSS_GLUED = re.compile(r"(?<=[a-z]{3})(?P<s>\d{1,2})x(?P<e>\d\d)(?![\da-z])", re.IGNORECASE)


def standard(text: str) -> Numbering | None:
    """Read `S01E02` and everything like it; from one season into another it is a pack of seasons."""
    across = _ACROSS.search(text) or _ACROSS_CROSS.search(text)
    if across and int(across["s"]) < int(across["t"]) <= SEASONS_MAX:
        seasons = tuple(range(int(across["s"]), int(across["t"]) + 1))
        return Numbering(seasons, start=across.start(), end=across.end())
    forms = (_STANDARD, _CROSS_S, _TEMPORADA, _GLUED, _BARE_E, _TURNED_T, _TURNED)
    match = next((hit for form in forms if (hit := form.search(text))), None)
    if match is None:
        return None
    found = _from_folge(_from_cross(with_episodes(match, text, match["s"], match["e"]), text), text)
    another = _STANDARD.search(text, found.end)
    if len(found.episodes) > 1 and another and int(another["s"]) == found.seasons[0] + 1:
        # `S01E01-E10 S02E01-E08`: whole seasons.
        return Numbering((*found.seasons, int(another["s"])), start=found.start, end=another.end())
    return found


def _from_cross(found: Numbering, text: str) -> Numbering:
    """Return the same from where it first stands, for names that say it twice: `2x11 … S02E11`."""
    twin = _CROSS.search(text, 0, found.start)
    is_same = twin is not None and (int(twin["s"]),) == found.seasons and int(twin["e"]) in found.episodes
    return replace(found, start=twin.start()) if twin is not None and is_same else found


_FOLGE = re.compile(r"(?<=\w)[\s,]+(?:-[ ])?(?:folge|episode)[ ](?P<e>\d{1,4})(?=[:, ])", re.IGNORECASE)


def _from_folge(found: Numbering, text: str) -> Numbering:
    """Return the same from where the episode stands before it, over the whole show or not: `Folge 35 - … (S03/E05)`."""
    folge = _FOLGE.search(text, 0, found.start)
    if folge is None or text[found.start - 1 : found.start] not in ("(", "["):
        return found
    number = int(folge["e"])
    return replace(found, start=folge.start(), absolute=() if number in found.episodes else (number,))


def words(text: str) -> Numbering | None:
    """Read `Season 1 Episode 2` in many languages and orders."""
    return _worded(text) if mentions_season(text) else None


def _worded(text: str) -> Numbering | None:
    match = _WORDS.search(text)
    if match is not None:
        found = with_episodes(match, text, match["s"], within(match))
        wide = _WIDE_RANGE.match(text, found.end) if len(found.episodes) == 1 else None
        if wide and found.episodes[0] < int(wide["to"]) <= found.episodes[0] + LONGEST_RANGE:
            episodes = tuple(range(found.episodes[0], int(wide["to"]) + 1))
            return Numbering(found.seasons, episodes, start=found.start, end=wide.end())
        return found
    match = _WORDS_AFTER.search(text)
    if match is not None:
        found = with_episodes(match, text, match["s"], match["e"] or match["f"])
        if match["more"]:
            more = [int(number) for number in re.findall(r"\d+", match["more"])]
            return replace(found, episodes=(int(match["e"]), *more), end=match.end())
        return _ranged(match, found) if match["to"] else found
    match = _WORDS_SPELT.search(text)
    if match is not None:
        numbers = [number_of(match[name]) for name in ("s", "e")]
        return Numbering((numbers[0],), (numbers[1],), start=match.start(), end=match.end())
    match = _WORDS_TURNED.search(text) or _EPISODE_BEFORE_SEASON.search(text)
    return (
        Numbering((int(match["s"]),), (int(match["e"]),), start=match.start(), end=match.end())
        if match
        else None
    )


def _ranged(match: re.Match[str], found: Numbering) -> Numbering | None:
    first, last = int(match["e"]), int(match["to"])
    if not first < last <= first + LONGEST_RANGE:
        return None
    return Numbering(found.seasons, tuple(range(first, last + 1)), start=match.start(), end=match.end())


def cross(text: str) -> Numbering | None:
    """Read `1x02`; of several the one that differs from the first, since a title may hold the like."""
    # The last one counts: a title may hold the like of it.
    matches = list(_CROSS.finditer(text))
    if not matches:
        short = _CROSS_SHORT.search(text) or (None if " " in text else _CROSS_GLUED.search(text))
        if short is not None and text.startswith("[") and _DASH_NUMBER.match(text, short.end()):
            # `[Group] 3x3 - 07`: the title's.
            return None
        return with_episodes(short, text, short["s"], short["e"]) if short else None
    match = matches[0]
    word = _SEASON_BEFORE.search(text, 0, match.start())
    if word is not None:
        # `Season 5x14`.
        return replace(with_episodes(match, text, match["s"], match["e"]), start=word.start())
    first = _CROSS_SHORT.search(text, 0, match.end())
    if first is not None and first.end() == match.start() - 1:
        # `1x1-1x10`.
        return with_episodes(first, text, first["s"], first["e"])
    for later in matches[1:]:
        if int(later["s"]) != int(match["s"]):
            match = later
    return with_episodes(match, text, match["s"], match["e"])
