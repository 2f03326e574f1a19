"""Forms that write a season and then its episode: `Cap.102`, `Series 2 3of6`, `S2 - 05`, `2nd Season - 05`."""

import re
from collections.abc import Iterable

from program.services.matching.counting import LONGEST_RANGE, Numbering, with_episodes
from program.services.matching.number_words import ORDINALS, either, number_of
from program.services.matching.vocabulary import OF, SEASON

_SPANISH = re.compile(
    r"\bcap\.?[ ]?(?P<s>\d{1,2})\.?(?P<e>\d{2})(?:[_ -](?P<t>\d{1,2})(?P<u>\d{2}))?(?!\d)",
    re.IGNORECASE,
)
# A season and then a count: `Series 2 3of6`, `S1 (1-10 of 10)`; British series have parts.
_SEASON_OF = re.compile(
    rf"(?<![a-z0-9])(?:s|{SEASON}[. ]?)(?P<s>\d{{1,2}})[\s.,:(\[-]+(?P<e>\d{{1,3}})(?:\s?[-~]\s?(?P<to>\d{{1,3}}))?"
    rf"[. ]?{OF}[. ]?\d{{1,3}}(?!\d)",
    re.IGNORECASE,
)
_SIGN_DOT = re.compile(
    r"(?:(?<![^\s\[(])#|\[(?=\d\.\d\d\])|(?<![^\W_])(?:episode|folge) )(?P<s>\d{1,2})\.(?P<e>\d\d)(?!\d)",
    re.IGNORECASE,
)
_SPECIALS_DASH = re.compile(
    r"(?<=[\w)\]])[ .]+(?:-[ .]+)?specials?[ .]+-[ .]+(?P<e>\d{1,2})(?=[ .]+-|$)", re.IGNORECASE
)
_SERIES_PART = re.compile(
    r"(?<![a-z0-9])series[. ](?P<s>\d{1,2})[\s.,-]+(?:part|pt)[. ](?P<e>\d{1,2})(?!\d)", re.IGNORECASE
)
_SEASON_DASH = re.compile(
    rf"(?<![a-z0-9])(?:s|{SEASON}[. ]?)(?P<s>\d{{1,2}})\)?[ .]+-[ .]+(?P<e>\d{{1,4}})(?!\d|\s?(?:of|[.]\d|ep(?:isode)?s(?![a-z])))",
    re.IGNORECASE,
)
_ORDINAL_DASH = re.compile(
    rf"(?<![^\W_])(?P<s>\d{{1,2}}(?:st|nd|rd|th)|{either(ORDINALS)})[ .]season\)?[ .]+(?:-[ .]+)?#?(?P<e>\d{{1,4}})(?![\d.]\d)",
    re.IGNORECASE,
)
# `S01.02.Title`, `S2 05`: nothing but a dot or a space before an episode of two digits.
_SEASON_DOT = re.compile(
    r"(?<![a-z0-9])s(?P<s>\d{1,2})(?:[. ](?P<e>\d{2})|\.(?P<f>\d)(?= ))(?![\d.]\d|[a-z0-9]|-\d|[. ]\d{2}(?!\d))",
    re.IGNORECASE,
)


def within(match: re.Match[str], *, is_twice: bool = False) -> str:
    """Return the episode as it is counted within its season: `Temporada 3 Cap 302` says the season twice."""
    season, episode = match["s"], match["e"]
    begins_with_season = len(episode) == len(season) + len("02") and episode.startswith(season)
    return (
        episode[len(season) :] if begins_with_season and (is_twice or "cap" in match[0].lower()) else episode
    )


def spanish(text: str) -> Numbering | None:
    """Read `Cap.102`, and `Cap.102_104`."""
    match = _SPANISH.search(text)
    if match is None:
        return None
    episodes: Iterable[int] = (int(match["e"]),)
    if match["u"] and match["t"] == match["s"]:
        episodes = range(int(match["e"]), int(match["u"]) + 1)
    return Numbering((int(match["s"]),), tuple(episodes), start=match.start(), end=match.end())


def season_and_count(text: str) -> Numbering | None:
    """Read a season with a count behind it: `Series 2 3of6`, `S1 (1-10 of 10)`, `S01.02`, `Specials - 03`."""
    match = _SEASON_OF.search(text)
    if match is not None:
        first, last = int(match["e"]), int(match["to"] or match["e"])
        if first <= last <= first + LONGEST_RANGE:
            episodes = tuple(range(first, last + 1))
            return Numbering((int(match["s"]),), episodes, start=match.start(), end=match.end())
    special = _SPECIALS_DASH.search(text) if not text.startswith("[") else None
    if special is not None:
        return with_episodes(special, text, "0", special["e"])
    match = _SERIES_PART.search(text) or _SEASON_DOT.search(text) or _SIGN_DOT.search(text)
    return with_episodes(match, text, match["s"], match["e"] or match["f"]) if match else None


# Only anime groups write an episode so close to its season.
_SEASON_TIGHT = re.compile(r"^\[[^\]]+\].*?(?<![a-z0-9])s(?P<s>\d)-(?P<e>\d\d)(?=\s*[\[(])", re.IGNORECASE)


_SEASONS = re.compile(r"(?:seasons|saisons|temporadas|staffeln|stagioni|сезоны)", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:$|[\[()\N{REPLACEMENT CHARACTER}]|complet|box|dvd|\+)", re.IGNORECASE)


def _are_seasons(match: re.Match[str]) -> bool:
    """Return True for `Seasons 1 - 10`, and for `Season 1 - 5` of no group."""
    if int(match["e"]) <= int(match["s"]) or match.string.startswith("["):
        return False
    is_short = len(match["e"]) == 1 and len(match[0]) > len("S01 - 5")
    return _SEASONS.match(match[0]) is not None or (
        is_short and _ENDS.match(match.string, match.end()) is not None
    )


def anime_season(text: str) -> Numbering | None:
    """Read a season with a dash before its episode: `S2 - 05`, `2nd Season - 05`; `Season 1 - 5` of no group are five seasons."""
    match = _SEASON_DASH.search(text)
    if match is not None and _are_seasons(match):
        return None
    if match is None and "season" in text.lower() and (match := _ORDINAL_DASH.search(text)) is not None:
        season = number_of(match["s"].rstrip("stndrh"))
        return with_episodes(match, text, str(season or number_of(match["s"])), match["e"])
    if match is None and (match := _SEASON_TIGHT.search(text)) is not None:
        return Numbering((int(match["s"]),), (int(match["e"]),), start=match.start("s") - 1, end=match.end())
    if match is None:
        return None
    # Only a group counts to hundreds within a season.
    episode = match["e"] if text.startswith("[") else within(match, is_twice=True)
    return with_episodes(match, text, match["s"], episode)
