"""Forms with nothing but a number: `show.101.hdtv`, `Show 05 [720p]`, `05 - Show.mkv`. They are asked last."""

import re

from program.services.matching.counting import LONGEST_RANGE, Numbering

_COVERED = "\N{REPLACEMENT CHARACTER}"
# Season and episode in one number; with the words of television behind it, since titles have numbers too.
_GLUED = re.compile(
    r"(?<=[\w)])(?:[ .\[(]+|[ .]-[ .]|(?<!\d)-)(?P<s>0[1-9]|\d{1,2})(?P<e>\d\d)(?:(?P<sep>[-. ]?)(?P=s)(?P<f>\d\d)|-(?P<f2>\d\d))?"
    r"(?!-\d|[\d\w.]\d|\w|[ .]?(?:19|20)\d\d(?!\d))(?P<close>[\])])?"
)
_TELEVISION = re.compile(
    r"(?<![a-z])(?:hdtv|pdtv|dsr|dvd-?rip|web(?:-?(?:dl|rip))?|xvid|divx|tvrip)(?![a-z])",
    re.IGNORECASE,
)
_LINES = re.compile(r"(?<![a-z])(?:720p|1080p|480p)(?![a-z])", re.IGNORECASE)
_RECORDED = re.compile(r"(?<![a-z])(?:hdtv|pdtv|dsr|dvd-?rip|xvid|divx|tvrip)(?![a-z])", re.IGNORECASE)
_ANIME = re.compile(r"(?<![a-z])vost(?:fr|eng|a)?(?![a-z])", re.IGNORECASE)
_BEFORE_NOISE = re.compile(
    r"(?:(?<=[^\W\d_!?])|(?<=\d)(?=[ .]+0\d))(?:[ .]+|-(?=0))(?P<e>(?!19|20)\d{4}|\d{2,3})(?:v\d|\s?[-~]\s?(?P<f>\d{2,3}))?"
    rf"(?=[ .\-]*[\[(]?{_COVERED}|[ .]+[\[(]?(?:vost|(?:vf|raw|legendado|(?:eng[. ])?(?:sub|dub)(?:bed|s)?)(?![a-z])))",
    re.IGNORECASE,
)
# `Show [13] [720p]`, `Show [13]`.
_BRACKETED = re.compile(
    rf"(?<=[\w!?)])[ .]*(?:[\[(](?P<e>\d{{2,3}})[\])](?=[ .]*[\[(]?{_COVERED})|\[(?P<g>\d{{2,3}})\]$)"
)
# Names in Chinese, Japanese or Korean letters need no zero.
_LAST_ASIAN = re.compile(r"(?<=[\u3040-\u9fff\uac00-\ud7a3])[ ]?\(?(?P<e>\d{2,3})\)?$")
_LEADING = re.compile(r"^[\s\[(]*(?P<e>0\d{1,2})[\])]?\s*(?:[-.]\s)\s*(?=[^\W\d_])")
# `Show 107`, `Show-107.mp4`, `Show 07.mkv`: three digits at the very end, or two with a zero.
_LAST = re.compile(r"(?<=[^\W\d_!?])[ .-]+(?P<e>\d{3}|0\d)$")
# Season and episode apart by a dot, as recordings had it.
_DOTTED = re.compile(r"(?<=[^\W_])\.(?P<s>\d{1,2})\.(?P<e>\d\d)(?=\.)")
# `Show 314 - Title`, `314 - Title`.
_BEFORE_TITLE = re.compile(r"(?:^|(?<=[^\W\d_!?])[ .])(?P<s>[1-9])\.?(?P<e>\d\d)\s+-\s+(?=[^\W\d_])")
# `show-411-the-weir`, `Show 4.11 The Weir`: between two titles, and nothing else is said.
_AMONG_WORDS = re.compile(
    r"(?<=[^\W\d_])(?P<sep>[ .-])(?P<s>[1-9])(?P<e>[0-3]\d)(?P=sep)(?!sub|dub|eng|vost|vf|raw|legend)(?=[^\W\d_])",
    re.IGNORECASE,
)
_DOT_AMONG_WORDS = re.compile(r"(?<=[^\W\d_]) (?:- )?(?P<s>\d{1,2})\.(?P<e>[0-3]\d)(?: -)? (?=[^\W\d_])")
_NUMBERS = re.compile(r"\d+")
# Between the title and that of the episode; an anime group's number, or one with a zero before it.
_BETWEEN = re.compile(r"(?<=[^\W\d_!?])[ .]+(?P<e>0\d{1,2})(?:v\d)?(?:[ .]+|[ ]-[ ])(?=\[?[^\W\d_])")
_BETWEEN_GROUPED = re.compile(r"(?<=[^\W\d_!?])[ .]+(?P<e>\d{2,3})(?:v\d)?(?:[ .]+|[ ]-[ ])(?=[^\W\d_]{3})")
_GROUPED = re.compile(r"^\s*\[[^\W\d_][^\]]*\]")


def glued(text: str, raw: str) -> Numbering | None:
    """Read `101` as the first season's first episode. text: with its technical words covered; raw: with them."""
    if _GROUPED.match(text):
        return None
    for match in _GLUED.finditer(text):
        season, episode = int(match["s"]), int(match["e"])
        is_year = match["s"] in ("19", "20")
        if not season or not episode or is_year:
            continue
        is_bracketed = match["close"] is not None
        if not is_bracketed and (not _is_television(raw, match.end()) or _ANIME.search(raw)):
            continue
        is_long = len(match["s"]) > 1 and not match["s"].startswith("0")
        if (
            (match["f"] or match["f2"] or is_long)
            and not is_bracketed
            and not _RECORDED.search(raw, match.end())
        ):
            continue
        if _is_last(text, match) or is_bracketed:
            number = int(match["s"] + match["e"])
            last = int(match["f"] or match["f2"] or episode)
            if match["sep"] == "" and last != episode + 1:
                continue
            episodes = tuple(range(episode, last + 1)) or (episode,)
            return Numbering((season,), episodes, glued=number, start=match.start(), end=match.end())
    return _apart(text, raw)


def _apart(text: str, raw: str) -> Numbering | None:
    """Read `2.09` of a recording, and `314` between the title and the episode's."""
    match = _DOTTED.search(text)
    if match is None or not _RECORDED.search(raw, match.end()):
        match = _BEFORE_TITLE.search(text) or _among_words(text)
    if match is None or not int(match["e"]):
        return None
    number = int(match["s"] + match["e"])
    return Numbering(
        (int(match["s"]),), (int(match["e"]),), glued=number, start=match.start(), end=match.end()
    )


def _among_words(text: str) -> re.Match[str] | None:
    """Return the season and episode of a name that says nothing but titles and them."""
    if _COVERED in text:
        return None
    match = _AMONG_WORDS.search(text) or _DOT_AMONG_WORDS.search(text)
    others = _NUMBERS.findall(text[: match.start("s")] + text[match.end("e") :]) if match else ()
    return None if others else match


def says_television(raw: str, start: int) -> bool:
    """Return True when a word of recordings stands behind `start`."""
    return _RECORDED.search(raw, start) is not None


def _is_television(raw: str, start: int) -> bool:
    """Return True when the rest speaks of television; the lines of the picture alone do so only in a name with dots."""
    return _TELEVISION.search(raw, start) is not None or (
        " " not in raw and _LINES.search(raw, start) is not None
    )


def _is_last(text: str, match: re.Match[str]) -> bool:
    """Return True when no other number of that kind stands behind it."""
    return _GLUED.search(text, match.end()) is None


def alone(text: str) -> Numbering | None:
    """Read a number right before the technical words, at the very front with a zero, or between two titles."""
    patterns = (
        _BEFORE_NOISE,
        _BRACKETED,
        _LAST,
        _LAST_ASIAN,
        _LEADING,
        _BETWEEN,
        *((_BETWEEN_GROUPED,) if _GROUPED.match(text) else ()),
    )
    for pattern in patterns:
        match = pattern.search(text)
        number = match.group("e") or match.groupdict().get("g") if match is not None else None
        if match is not None and number and int(number):
            first, last = int(number), int(match.groupdict().get("f") or number)
            if first <= last <= first + LONGEST_RANGE:
                episodes = tuple(range(first, last + 1))
                return Numbering((), episodes, start=match.start(), end=match.end())
    return None
