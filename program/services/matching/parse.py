"""What a release or file name says: one value for everything that the rules, the ranking and the mapping ask about.

The title, the numbering and the year are read here, from the front of the name. What stands behind them is read by `PTT`,
which never sees the title: a word of the title is then no language, no quality and nothing indecent.
"""

import re
import threading
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from PTT import parse_title

from program.media.release import JsonValue
from program.services.matching.languages import split_languages
from program.services.matching.noise import flat, without_extension
from program.services.matching.titles import TitleReading, read_head

# Longer names are cut; nobody names a release so, and every pattern stays quick.
_LONGEST_NAME = 400
# Titles of a search come back with the next search, and as file names with the download.
_CACHED_NAMES = 8192
# What stands for the title when PTT reads the rest.
_STUB = "Title 2000"

_P_NUMBER = re.compile(
    r"(?<!\d)(240|288|360|480|540|576|720|1080|1440|2160|4320)\s?[pi](?![a-z])", re.IGNORECASE
)
_DIMENSIONS = re.compile(r"(?<!\d)(\d{3,4})\s?x\s?(\d{3,4})(?!\d)", re.IGNORECASE)
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
    r"(?<![a-z])(?:ai[. -]?)?(?:upscaled?|ups(?:uhd|hd)|ai[. -]?enhanced)(?![a-z])", re.IGNORECASE
)
_CAMERA = re.compile(
    r"(?<![a-z0-9])(?:hq)?(?:hd)?-?(?:cam(?:rip)?|hd-?t[sc](?:rip)?|ts-?rip|tele-?sync|tele-?cine|pre-?dvd(?:rip)?|hc-?hdrip"
    r"|dvd-?scr(?:eener)?|scr(?:eener)?|workprint|(?:hq[. ]?)?clean[. ]aud(?:io)?|mic[. ]?dubbed|ac3-?md|\.md\.)(?![a-z])",
    re.IGNORECASE,
)
# Short words that mean a camera copy only where no better source is named.
_CAMERA_SHORT = re.compile(r"(?<![A-Za-z0-9])(?:TS|TC|CAM|HDTS|HDTC|R5|WP)(?![A-Za-z0-9])")
_DISC = re.compile(
    r"(?<![a-z0-9])(?:bdmv|bd(?:25|50|66|100)|dvd-?(?:5|9|r)|iso|(?:complete|full)[. ](?:uhd[. ])?blu-?ray|video_ts)(?![a-z0-9])",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"(?<![a-z])(?:complete|int[eé]grale?|full[. ]series|all[. ](?:seasons|episodes)|box[. ]?set|batch|collection|anthology"
    r"|tv[. ]?pack|complet[ao]|komplett)(?![a-z])",
    re.IGNORECASE,
)
_EXTRAS = re.compile(
    r"(?<![a-z])(making[. ]of|behind[. ]the[. ]scenes|featurettes?|deleted[. ]scenes?|bonus(?:[. ](?:disc|material|features?))?"
    r"|trailers?|teaser|samples?|interviews?|bloopers?|gag[. ]reel|soundtrack|ost|nc(?:op|ed)\d*"
    r"|creditless|promos?|recap|extras)(?![a-z])",
    re.IGNORECASE,
)
_THREE_D = re.compile(
    r"(?<![a-z0-9])(?:3d|h-?sbs|half-?(?:sbs|ou)|h-?ou|full-?sbs|mvc)(?![a-z0-9])", re.IGNORECASE
)
_DUAL = re.compile(
    r"(?<![a-z])(?:multi|dual|dl|ml)(?:[. -]?(?:audio|lang\w*))?(?![a-z])(?![. -]?subs?)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A name, read. readings: what its title may be, most likely first.

    seasons, episodes: () when none is named; episodes without seasons may count over the whole show. glued: the number as written
    when two episodes may be one. resolution: `2160p` … or `unknown`; quality, codec, hdr, audio, channels: in PTT's words.
    languages: of the sound, subtitles: apart; ISO 639-1. has_many_languages: it says so, without naming them. between: the words
    between the year or the numbers and the technical part, mostly an episode's title.
    """

    raw: str
    readings: tuple[TitleReading, ...] = ()
    years: tuple[int, ...] = ()
    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    air_date: date | None = None
    is_special: bool = False
    is_complete: bool = False
    glued: int | None = None
    form: str = ""
    resolution: str = "unknown"
    quality: str | None = None
    codec: str | None = None
    hdr: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    bit_depth: str | None = None
    languages: tuple[str, ...] = ()
    subtitles: tuple[str, ...] = ()
    has_many_languages: bool = False
    edition: str | None = None
    group: str | None = None
    network: str | None = None
    flags: frozenset[str] = frozenset()
    between: str = ""
    extras: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the most likely title, empty when there is none."""
        return self.readings[0].text if self.readings else ""

    @property
    def year(self) -> int | None:
        """Return the year beside the most likely title."""
        return self.readings[0].year if self.readings else None

    @property
    def has_numbers(self) -> bool:
        """Return True when it names a season, an episode or an air date."""
        return bool(self.seasons or self.episodes or self.air_date or self.is_special)

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as plain JSON values, without what is empty."""
        values: dict[str, JsonValue] = {
            "title": self.title,
            "year": self.year,
            "seasons": list(self.seasons),
            "episodes": list(self.episodes),
            "air_date": self.air_date.isoformat() if self.air_date else None,
            "special": self.is_special,
            "complete": self.is_complete,
            "resolution": self.resolution,
            "quality": self.quality,
            "codec": self.codec,
            "hdr": list(self.hdr),
            "audio": list(self.audio),
            "channels": list(self.channels),
            "bit_depth": self.bit_depth,
            "languages": list(self.languages),
            "subtitles": list(self.subtitles),
            "edition": self.edition,
            "group": self.group,
            "network": self.network,
            "flags": [*sorted(self.flags)],
            "extras": [*self.extras],
        }
        return {name: value for name, value in values.items() if value not in (None, False, "", [])}


# PTT is not known to be safe on several threads, and one at a time leaves the others to the file system.
_parsing = threading.Lock()


def parse(name: str, *, of_film: bool = False) -> Parsed:
    """Return what a release or file name says; any string whatever gives a value.

    of_film: a number that may belong to a title does, so that the second part of a film is no episode.
    """
    return _parse(name[:_LONGEST_NAME], of_film)


@lru_cache(maxsize=_CACHED_NAMES)
def _parse(name: str, of_film: bool) -> Parsed:  # noqa: FBT001 - the cache is quicker with plain arguments
    text = without_extension(flat(name))
    head = read_head(text, of_film=of_film)
    behind = head.behind
    languages = split_languages(behind)
    said = _read_by_ptt(languages.rest)
    quality = _text(said, "quality")
    numbering = head.numbering
    return Parsed(
        raw=name,
        readings=head.readings,
        years=head.years,
        seasons=numbering.seasons if numbering else (),
        episodes=numbering.episodes if numbering else (),
        air_date=numbering.air_date if numbering else None,
        is_special=bool(numbering and numbering.is_special),
        is_complete=_COMPLETE.search(text) is not None,
        glued=numbering.glued if numbering else None,
        form=numbering.form if numbering else "",
        resolution=_resolution(behind),
        quality=quality,
        codec=_text(said, "codec"),
        hdr=_texts(said, "hdr"),
        audio=_texts(said, "audio"),
        channels=_texts(said, "channels"),
        bit_depth=_text(said, "bit_depth"),
        languages=languages.audio(_texts(said, "languages")),
        subtitles=languages.subtitles,
        has_many_languages=_DUAL.search(languages.rest) is not None,
        edition=_text(said, "edition"),
        group=head.group or _text(said, "group"),
        network=_text(said, "network"),
        flags=frozenset(_flags(said, behind, quality, has_site=head.has_site)),
        between=head.between,
        extras=tuple(
            dict.fromkeys(match[1].lower() for match in _EXTRAS.finditer(f"{head.between} {behind}"))
        ),
    )


def _read_by_ptt(behind: str) -> dict[str, object]:
    if not behind.strip(" .-[]()"):
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


def _flags(said: dict[str, object], behind: str, quality: str | None, *, has_site: bool) -> list[str]:
    found = [name for name in _PTT_FLAGS if said.get(name)]
    short = quality not in _GOOD_SOURCES and _CAMERA_SHORT.search(behind)
    ours = {
        "camera": _CAMERA.search(behind) or short or "HQ Clean Audio" in _texts(said, "audio"),
        "upscaled": _UPSCALED.search(behind),
        "three_d": said.get("3d") or _THREE_D.search(behind),
        "disc": _DISC.search(behind),
        "site": has_site or said.get("site"),
    }
    return found + [name for name, value in ours.items() if value]


def _resolution(behind: str) -> str:
    """Return what the name calls the picture; a number of lines wins over every other word."""
    lines = _P_NUMBER.search(behind)
    if lines:
        return f"{lines[1]}p"
    size = _DIMENSIONS.search(behind)
    if size:
        wide, high = int(size[1]), int(size[2])
        return next((name for width, height, name in _SIZES if wide >= width or high >= height), "360p")
    return "2160p" if _UHD.search(behind) else "unknown"


def _text(said: dict[str, object], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


def _texts(said: dict[str, object], name: str) -> tuple[str, ...]:
    value = said.get(name)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()
