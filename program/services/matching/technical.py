"""The technical part of a release name: picture, source, sound, and what kind of copy it is.

`PTT` reads it; where it is known to be wrong, a rule of our own reads the same words again.
"""

import re
import threading
from collections.abc import Mapping
from functools import lru_cache

from PTT import parse_title

from program.services.matching.noise import MASK, WEAK_WORDS, masked

# What stands for the title when PTT reads the rest.
_STUB = "Title 2000"


_P_NUMBER = re.compile(
    r"(?<!\d)(240|288|360|480|540|576|720|1080|1440|2160|4320)\s?[pi](?![a-z])", re.IGNORECASE
)
_DIMENSIONS = re.compile(r"(?<!\d)(\d{3,4})\s?x(?!26[456](?!\d))\s?(\d{3,4})(?!\d)", re.IGNORECASE)
_BARE_NUMBER = re.compile(
    r"(?<!\d)(?<!\d\.)(?:bd|m)?(720|1080|2160)(?![\dpi]|\s?x(?!26[456]))", re.IGNORECASE
)
_FHD = re.compile(r"(?<![a-z0-9])(?:fhd|full-?hd)(?![a-z0-9])", re.IGNORECASE)
_UHD = re.compile(r"(?<![a-z0-9])(?:4k|uhd)(?![a-z0-9])", re.IGNORECASE)
# What a picture of at least that width or height is called.
_SIZES = (
    (3000, 2000, "2160p"),
    (2200, 1300, "1440p"),
    (1700, 900, "1080p"),
    (1100, 650, "720p"),
    (700, 400, "480p"),
)

_UPSCALED = re.compile(
    r"(?<![a-z])(?:ai[. -]?)?(?:upscal(?:ed?|ing)|ups(?:uhd|hd)|ai[. -]?enhanced)(?![a-z])", re.IGNORECASE
)
_CAMERA = re.compile(
    r"(?<![a-z0-9])(?:hq)?(?:hd)?-?(?:cam(?:rip)?|hd-?t[sc](?:rip)?|ts-?rip|tele-?sync|tele-?cine|pre-?dvd(?:rip)?|hc-?hdrip"
    r"|(?:dvd|bd|web)-?scr(?:eener)?|scr(?:eener)?|workprint|pdvd|s-?print"
    r"|(?:hq[. ]?)?clean[. ]aud(?:io)?|mic[. ]?dubbed|ac3-?md|\.md\.)(?![a-z])",
    re.IGNORECASE,
)
# Short words that mean a camera copy only where no better source is named.
_CAMERA_SHORT = re.compile(r"(?<![A-Za-z0-9])(?:TS|TC|CAM|HDTS|HDTC|R5|WP)(?![A-Za-z0-9])")
_ENCODED = re.compile(r"(?<![a-z0-9])x\.?26[45](?![a-z0-9])|(?<![a-z])(?:web|hdtv)", re.IGNORECASE)
_DISC = re.compile(
    r"(?<![a-z0-9])(?:bdmv|bd(?:25|50|66|100)|dvd-?(?:5|9|r)|iso|(?:complete|full)[. ]+(?:uhd[. ])?blu-?ray|video_ts)(?![a-z0-9])",
    re.IGNORECASE,
)
EXTRAS = re.compile(
    r"(?<![a-z])(making[. ]of|behind[. ]the[. ]scenes|featurettes?|deleted[. ]scenes?|bonus(?:[. ](?:disc|material|features?))?"
    r"|trailers?|teaser|samples?|interviews?|bloopers?|gag[. ]reel|soundtrack|ost|nc(?:op|ed)\d*"
    r"|creditless|promos?|recap|extras)(?![a-z])",
    re.IGNORECASE,
)
_HARDCODED = re.compile(r"(?<![a-z0-9])(?:hard-?coded|hard-?subs?)(?![a-z0-9])", re.IGNORECASE)
_ADULT = re.compile(r"(?<![a-z0-9])xxx(?![a-z0-9])", re.IGNORECASE)
_THREE_D = re.compile(
    r"(?<![a-z0-9])(?:(?:bd-?)?3d|h-?sbs|half-?(?:sbs|ou)|h-?ou|full-?sbs|mvc)(?![a-z0-9])", re.IGNORECASE
)
DUBBED = re.compile(
    r"(?<![a-z])(?:pl|cz|sk)?(?:dub(?:bed|bing|lado|laj)?|dabing)(?![a-z])|дубл", re.IGNORECASE
)
DUAL = re.compile(
    r"(?<![a-z])(?:multi|dual|(?<!web[-. ])dl|ml)(?:[. -]?(?:audio|lang\w*))?(?![a-z])(?![. -]?subs?)",
    re.IGNORECASE,
)


_GROUP = re.compile(
    r"-(?:(?P<group>[A-Za-z0-9]{2,20})|\[(?P<inside>[A-Za-z0-9]{2,20})\])(?P<site>(?:\s?(?:\[[^\]]*\]|\([^)]*\)))?)\s*$"
)
# The last bracket, and the last word of one: `(2015) [1080p] [GROUP.MX]`, `(1080p BluRay Group)`.
_BRACKETED_GROUP = re.compile(
    r"\[(?P<group>[A-Za-z][\w.&-]{1,20})\]\s*$|\([^()]*[ .](?P<last>[A-Za-z][\w-]{1,20})\)\s*$"
)
# Editions that PTT does not know, in its words.
_EDITIONS = tuple(
    (name, re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", re.IGNORECASE))
    for name, words in (
        ("Directors Cut", "dc"),
        ("Final Cut", r"final[. ]cut"),
        ("Criterion", "criterion"),
        ("Special Edition", r"special[. ]edition"),
        ("Open Matte", r"open[. ]matte"),
    )
)
_CACHED_PARTS = 2048
# PTT is not known to be safe on several threads, and one at a time leaves the others to the file system.
_parsing = threading.Lock()


def split_group(behind: str) -> tuple[str, str | None]:
    """Return the technical part without the group at its end, and the group; a group says nothing of the copy."""
    match = _GROUP.search(behind)
    if match is None:
        return behind, _bracketed_group(behind)
    if MASK in masked(behind)[0][match.start() :]:
        return behind, None
    return behind[: match.start()] + match["site"], match["group"] or match["inside"]


def _bracketed_group(behind: str) -> str | None:
    match = _BRACKETED_GROUP.search(behind)
    group = (match["group"] or match["last"]) if match else ""
    is_technical = MASK in masked(group)[0] or group.casefold() in WEAK_WORDS or not group
    return None if is_technical else group


def edition(said: Mapping[str, object], behind: str) -> str | None:
    """Return what cut of a film it is."""
    return text(said, "edition") or next((name for name, words in _EDITIONS if words.search(behind)), None)


@lru_cache(maxsize=_CACHED_PARTS)
def read_by_ptt(behind: str) -> Mapping[str, object]:
    """Return what PTT says of the part of a name behind its title, in PTT's words. The same part comes with many a group."""
    if not behind.strip(" .-[]()|"):
        return {}
    with _parsing:
        found: dict[str, object] = parse_title(f"{_STUB} {behind}")
    return found


_PTT_FLAGS = (
    *(
        "trash",
        "adult",
        "dubbed",
        "subbed",
        "extended",
        "converted",
        "hardcoded",
        "ppv",
        "proper",
        "repack",
        "retail",
    ),
    *("remastered", "unrated", "uncensored", "documentary", "commentary", "upscaled", "scene", "size"),
)
_GOOD_SOURCES = ("BluRay", "BluRay REMUX", "REMUX", "WEB-DL", "WEB", "WEBRip", "BDRip", "UHDRip")


def flags(said: Mapping[str, object], behind: str, quality: str | None, *, has_site: bool) -> list[str]:
    """Return what else the name says of the copy: PTT\'s words and `camera`, `upscaled`, `three_d`, `disc`, `site`."""
    found = [name for name in _PTT_FLAGS if said.get(name)]
    if "hardcoded" not in found and _HARDCODED.search(behind):
        found.append("hardcoded")
    if "dubbed" not in found and DUBBED.search(behind):
        found.append("dubbed")
    if "adult" not in found and _ADULT.search(behind):
        found.append("adult")
    short = quality not in _GOOD_SOURCES and _CAMERA_SHORT.search(behind)
    ours = {
        "camera": _CAMERA.search(behind) or short or "HQ Clean Audio" in texts(said, "audio"),
        "upscaled": _UPSCALED.search(behind),
        "three_d": said.get("3d") or _THREE_D.search(behind),
        # An encoded pack may call itself complete.
        "disc": _DISC.search(behind) and not _ENCODED.search(behind),
        "site": has_site or said.get("site"),
    }
    return found + [name for name, value in ours.items() if value]


def resolution(behind: str) -> str:
    """Return what the name calls the picture; a number of lines wins over every other word."""
    lines = _P_NUMBER.search(behind)
    if lines:
        return f"{lines[1]}p"
    size = _DIMENSIONS.search(behind)
    if size:
        wide, high = int(size[1]), int(size[2])
        return next((name for width, height, name in _SIZES if wide >= width or high >= height), "360p")
    if _UHD.search(behind):
        return "2160p"
    bare = _BARE_NUMBER.search(behind)
    if bare:
        return f"{bare[1]}p"
    return "1080p" if _FHD.search(behind) else "unknown"


def text(said: Mapping[str, object], name: str) -> str | None:
    """Return a word of PTT\'s answer, None when it has none."""
    value = said.get(name)
    return value if isinstance(value, str) else None


def texts(said: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return a list of PTT\'s answer."""
    value = said.get(name)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()
