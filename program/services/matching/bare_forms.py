"""Forms with nothing but a number: `show.101.hdtv`, `Show 05 [720p]`, `05 - Show.mkv`. They are asked last."""

import re

from program.services.matching.counting import LONGEST_RANGE, Numbering

_COVERED = "\N{REPLACEMENT CHARACTER}"
# Season and episode in one number; with the words of television behind it, since titles have numbers too.
_GLUED = re.compile(
    r"(?<=[^\W_])[ .\-\[(]+(?P<s>\d{1,2})(?P<e>\d\d)(?![\d\w.]\d|\w|[ .]?(?:19|20)\d\d(?!\d))(?P<close>[\])])?"
)
_TELEVISION = re.compile(
    r"(?<![a-z])(?:hdtv|pdtv|dsr|dvd-?rip|web(?:-?(?:dl|rip))?|xvid|divx|tvrip|720p|1080p|480p)(?![a-z])",
    re.IGNORECASE,
)
_ANIME = re.compile(r"(?<![a-z])vost(?:fr|eng|a)?(?![a-z])", re.IGNORECASE)
_BEFORE_NOISE = re.compile(
    rf"(?<=[^\W\d_!?])[ .]+(?P<e>(?!19|20)\d{{4}}|\d{{2,3}})(?:v\d|\s?[-~]\s?(?P<f>\d{{2,3}}))?(?=[ .]*[\[(]?{_COVERED}|[ .]+vost)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^[\s\[(]*(?P<e>0\d{1,2})[\])]?\s*(?:[-.]\s)\s*(?=[^\W\d_])")


def glued(text: str, raw: str) -> Numbering | None:
    """Read `101` as the first season's first episode. text: with its technical words covered; raw: with them."""
    for match in _GLUED.finditer(text):
        season, episode = int(match["s"]), int(match["e"])
        is_year = len(match["s"]) > 1 and match["s"] in ("19", "20")
        if not season or not episode or is_year or match["s"].startswith("0"):
            continue
        is_bracketed = match["close"] is not None
        if not is_bracketed and (not _TELEVISION.search(raw, match.end()) or _ANIME.search(raw)):
            continue
        if _is_last(text, match) or is_bracketed:
            number = int(match["s"] + match["e"])
            return Numbering((season,), (episode,), glued=number, start=match.start(), end=match.end())
    return None


def _is_last(text: str, match: re.Match[str]) -> bool:
    """Return True when no other number of that kind stands behind it."""
    return _GLUED.search(text, match.end()) is None


def alone(text: str) -> Numbering | None:
    """Read a number right before the technical words, or with a zero at the very front."""
    for pattern in (_BEFORE_NOISE, _LEADING):
        match = pattern.search(text)
        if match is not None and int(match["e"]):
            first, last = int(match["e"]), int(match.groupdict().get("f") or match["e"])
            if first <= last <= first + LONGEST_RANGE:
                episodes = tuple(range(first, last + 1))
                return Numbering((), episodes, start=match.start(), end=match.end())
    return None
