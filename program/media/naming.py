"""How an entry is called in the mounted library: one layout that Plex, Jellyfin, Emby and Kodi all read.

    /movies/Demo Film (2031) {tmdb-101} [tmdbid=101]/Demo Film (2031) {tmdb-101} [tmdbid=101] - 1080p.mkv
    /shows/Demo Show (2030) {tvdb-9} [tvdbid=9]/Season 01/Demo Show (2030) - s01e02.mkv

Plex reads the id in braces, Jellyfin and Emby the one in brackets. A film's file name begins with its folder's name, since
Jellyfin groups versions by that prefix.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# What every file system in use allows for one name, in UTF-8 bytes.
MAX_NAME_BYTES = 255

# What rendered names keep free below that limit: a collision's ` (2)`, a subtitle's `.pt-BR.forced.srt`.
RESERVE_BYTES = 24

UNTITLED = "Untitled"

# Names that Windows gives to devices, with or without an extension behind them.
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)

# Separators become something that still separates; the rest of what Windows refuses goes.
_SPOKEN = str.maketrans(
    {"/": "-", "\\": "-", "|": "-", '"': "'", "<": None, ">": None, "?": None, "*": None, ":": "-"}
)

# Line and paragraph separators, writing-direction marks, the byte order mark and halves of surrogate pairs.
_INVISIBLE = re.compile("[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_CLEAN = re.compile(
    r"[^\x00-\x1f\x7f-\x9f<>:\"/\\|?*\s.~\ud800-\udfff](?:[^\x00-\x1f\x7f-\x9f<>:\"/\\|?*\ud800-\udfff\ufeff]*[^\x00-\x1f\x7f-\x9f<>:\"/\\|?*\s.\ud800-\udfff])?"
)

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}$")


@dataclass(frozen=True, slots=True)
class NameFacts:
    """What the name of one file is made of. A file with episodes belongs to a show, one without to a film.

    tag: what tells versions apart, e.g. `1080p`; extension: with or without its dot; season is needed with episodes.
    """

    title: str
    year: int | None = None
    tmdb_id: str | int | None = None
    tvdb_id: str | int | None = None
    imdb_id: str | None = None
    season: int | None = None
    episodes: tuple[int, ...] = ()
    extension: str = "mkv"
    tag: str = ""


def render(facts: NameFacts) -> str:
    """Return the absolute path of the file within the library, e.g. `/movies/…/….mkv`; never raises for odd titles."""
    return _episode_path(facts) if facts.episodes else _movie_path(facts)


def folder_of(path: str) -> str:
    """Return the folder that a media server is asked to scan for the file at `path`: the film's or the season's."""
    return path.rpartition("/")[0] or "/"


def episode_token(season: int, episodes: tuple[int, ...]) -> str:
    """Return `s01e02`, `s01e01-e03` for a run, `s01e01e03` for episodes that do not follow one another."""
    numbers = sorted(set(episodes))
    first, last = numbers[0], numbers[-1]
    token = f"s{season:02}e{first:02}"
    if len(numbers) == 1:
        return token
    if last - first + 1 == len(numbers):
        return f"{token}-e{last:02}"
    return token + "".join(f"e{number:02}" for number in numbers[1:])


def season_folder(season: int) -> str:
    """Return the name of a season's folder; specials are `Season 00`."""
    return f"Season {season:02}"


@lru_cache(maxsize=4096)
def safe_name(name: str) -> str:
    """Return `name` as one path component that Linux, Windows and the scanners accept: NFC, at most 255 bytes of UTF-8.

    A name that is safe already comes back as it is; an empty one becomes `Untitled`.
    """
    if _is_safe(name):
        return name
    cleaned = _strip(_speak(name))
    stem, extension = split_extension(cleaned)
    stem = _strip(stem)
    if not stem:
        stem = UNTITLED
    if stem.split(".", maxsplit=1)[0].strip().casefold() in _RESERVED:
        stem = f"{stem}_"
    return fit(stem, extension)


def fit(stem: str, rest: str, limit: int = MAX_NAME_BYTES) -> str:
    """Return `stem + rest` with the stem cut, at a character's border, so that the whole is at most `limit` bytes."""
    room = limit - len(rest.encode())
    if len(stem.encode()) > room:
        stem = _strip_end(stem.encode()[: max(room, 1)].decode(errors="ignore")) or "_"
    return stem + rest


def split_extension(name: str) -> tuple[str, str]:
    """Return the name without its extension, and the extension with its dot (empty when there is none)."""
    found = _EXTENSION.search(name)
    return (name[: found.start()], found.group()) if found and found.start() else (name, "")


def numbered(name: str, number: int) -> str:
    """Return the name of the `number`-th file that wants to be called `name`: ` (2)` before the extension."""
    stem, extension = split_extension(name)
    return fit(stem, f" ({number}){extension}")


def _movie_path(facts: NameFacts) -> str:
    ids = _tags(("tmdb", facts.tmdb_id), ("imdb", facts.imdb_id), ("tvdb", facts.tvdb_id))
    version = f" - {tag}" if (tag := _title(facts.tag)) else ""
    tail = version + _dotted(facts.extension)
    head = _head(facts, ids, len(tail.encode()))
    return f"/movies/{safe_name(head)}/{safe_name(head + tail)}"


def _episode_path(facts: NameFacts) -> str:
    ids = _tags(("tvdb", facts.tvdb_id), ("tmdb", facts.tmdb_id), ("imdb", facts.imdb_id))
    season = facts.season or 0
    version = f" - {tag}" if (tag := _title(facts.tag)) else ""
    tail = f" - {episode_token(season, facts.episodes)}{version}{_dotted(facts.extension)}"
    folder = safe_name(_head(facts, ids, 0))
    return f"/shows/{folder}/{season_folder(season)}/{safe_name(_head(facts, '', len(tail.encode())) + tail)}"


def _head(facts: NameFacts, ids: str, tail_bytes: int) -> str:
    """Return `Title (Year) ids`, the title cut so that `tail_bytes` more fit behind it."""
    year = f" ({facts.year})" if facts.year else ""
    limit = MAX_NAME_BYTES - RESERVE_BYTES - tail_bytes
    return fit(_title(facts.title) or UNTITLED, year + ids, limit)


def _tags(*ids: tuple[str, str | int | None]) -> str:
    """Return the first known id in both spellings, with a leading space; empty when none is known."""
    for kind, value in ids:
        text = re.sub(r"[^A-Za-z0-9]", "", str(value or ""))
        if text:
            return f" {{{kind}-{text}}} [{kind}id={text}]"
    return ""


def _title(title: str) -> str:
    """Return the title without brackets and braces, which would be read as ids or be ignored by scanners."""
    return _strip(_speak(re.sub(r"[\[\]{}]", " ", title)))


def _speak(text: str) -> str:
    """Return the text in NFC without what no file name may hold; `Title: Part` reads `Title - Part`."""
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    text = re.sub(r"\s*:\s+", " - ", text).translate(_SPOKEN)
    text = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return re.sub(r"\s+", " ", text)


def _strip(text: str) -> str:
    """Return the text without leading dots (hidden files) and trailing dots and spaces (lost by Windows)."""
    return _strip_end(text.lstrip(" .~"))


def _strip_end(text: str) -> str:
    return text.rstrip(" .")


def _dotted(extension: str) -> str:
    letters = re.sub(r"[^A-Za-z0-9]", "", extension).lower()
    return f".{letters[:8]}" if letters else ""


def _is_safe(name: str) -> bool:
    if not _CLEAN.fullmatch(name) or len(name.encode()) > MAX_NAME_BYTES:
        return False
    if "  " in name or not unicodedata.is_normalized("NFC", name) or _INVISIBLE.search(name):
        return False
    return name.split(".", maxsplit=1)[0].strip().casefold() not in _RESERVED
