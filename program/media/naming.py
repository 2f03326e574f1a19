"""How an entry is called in the mounted library: one layout that Plex, Jellyfin, Emby and Kodi all read.

    /movies/Demo Film (2031) {tmdb-101} [tmdbid=101]/Demo Film (2031) {tmdb-101} [tmdbid=101] - 1080p.mkv
    /shows/Demo Show (2030) {tvdb-9} [tvdbid=9]/Season 01/Demo Show (2030) - s01e02.mkv

Plex reads the id in braces, Jellyfin and Emby the one in brackets. A film's file name begins with its folder's name, since
Jellyfin groups versions by that prefix.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from program.media.templates import DEFAULTS, Templates, fill

# What every file system in use allows for one name, in UTF-8 bytes.
MAX_NAME_BYTES = 255

# What rendered names keep free below that limit: a collision's ` (2)`, a subtitle's `.pt-BR.forced.srt`.
RESERVE_BYTES = 24

# What a film's folder keeps free beside that for what its file says more, so that all versions of a film have one folder.
FILE_ROOM = 48

UNTITLED = "Untitled"
UNKNOWN_VERSION = "unknown"

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

# As release groups write them, and as the servers show them.
_EDITIONS = tuple(
    (edition, re.compile(rf"\b{words}\b", re.IGNORECASE))
    for edition, words in (
        ("Director's Cut", r"(?:directors?|director's)[ .]cut|\bDC"),
        ("Final Cut", r"final[ .]cut"),
        ("Extended", r"extended(?:[ .](?:cut|edition|version))?"),
        ("Theatrical", r"theatrical(?:[ .](?:cut|edition|version))?"),
        ("Unrated", r"unrated(?:[ .](?:cut|edition|version))?"),
        ("Uncut", r"uncut"),
        ("Special Edition", r"special[ .]edition"),
        ("Criterion", r"criterion(?:[ .]collection)?"),
        ("Remastered", r"(?:4k[ .])?remaster(?:ed)?"),
        ("IMAX", r"imax(?:[ .]edition)?"),
    )
)

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

# What Plex and Jellyfin read beside a video; `.sub` is the one half of a pair whose other is `.idx`.
SUBTITLES = frozenset({".srt", ".ass", ".ssa", ".vtt", ".sub", ".idx", ".sup", ".smi"})

# A file that holds the address of a video.
STRM = ".strm"

# How the parts of one film are called at the end of their names, so that Plex, Jellyfin, Emby and Kodi play them as one.
PART = " - part"
_PART = re.compile(rf"{PART}\d{{1,2}}$")


@dataclass(frozen=True, slots=True)
class NameFacts:
    """What the name of one file is made of. A file with episodes belongs to a show, one without to a film.

    tag: what tells versions apart, e.g. `1080p`; edition: e.g. `Director's Cut`; extension: with or without its dot; season is
    needed with episodes; episode_title: of the first of them; part: which file of a film in parts it is, 0 for a whole one.
    original_name: of the release's file, without its extension; absolute: number of the first episode over the whole show.
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
    edition: str = ""
    episode_title: str = ""
    original_title: str = ""
    part: int = 0
    original_name: str = ""
    absolute: int | None = None


def render(facts: NameFacts, templates: Templates = DEFAULTS) -> str:
    """Return the absolute path of the file within the library, e.g. `/movies/…/….mkv`; never raises for odd titles."""
    extension = _dotted(facts.extension)
    if not facts.episodes:
        values = _values(facts, (("tmdb", facts.tmdb_id), ("imdb", facts.imdb_id), ("tvdb", facts.tvdb_id)))
        folder = _named(templates.movie_folder, values, MAX_NAME_BYTES - RESERVE_BYTES - FILE_ROOM)
        ending = part_tail(facts.part, extension) if facts.part else extension
        file = _named(templates.movie_file, {**values, "folder": folder}, _room(ending))
        return f"/movies/{folder}/{safe_name(file + ending)}"
    values = _values(facts, (("tvdb", facts.tvdb_id), ("tmdb", facts.tmdb_id), ("imdb", facts.imdb_id)))
    folder = _named(templates.show_folder, values, MAX_NAME_BYTES - RESERVE_BYTES)
    season = _named(templates.season_folder, values, MAX_NAME_BYTES - RESERVE_BYTES)
    file = _named(templates.episode_file, {**values, "folder": folder}, _room(extension))
    return f"/shows/{folder}/{season}/{safe_name(file + extension)}"


def tag_of(version: str) -> str:
    """Return what a version is called in a name: nothing when it is not known."""
    return "" if version == UNKNOWN_VERSION else version


def edition_of(file_name: str) -> str:
    """Return the edition that a release's file says it is, e.g. `Director's Cut`; empty when it says none.

    It stands behind the year there, so that a title which reads like one is none.
    """
    _, _, behind = _YEAR.sub("\0", file_name.replace("_", "."), count=1).partition("\0")
    return next((edition for edition, words in _EDITIONS if words.search(behind)), "")


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
    """Return the name of the `number`-th file that wants to be called `name`: ` (2)` before the extension and ` - part1`."""
    stem, extension = split_extension(name)
    whole = without_part(stem)
    return fit(whole, f" ({number}){stem[len(whole) :]}{extension}")


def strm_name(name: str) -> str:
    """Return what the STRM file of a video is called."""
    return fit(split_extension(name)[0], STRM)


def is_subtitle(name: str) -> bool:
    """Return whether a file is a subtitle by its name."""
    return split_extension(name)[1].lower() in SUBTITLES


def part_tail(part: int, extension: str) -> str:
    """Return how the name of a film's part ends, e.g. ` - part2.avi`. extension: with its dot."""
    return f"{PART}{part}{extension}"


def without_part(stem: str) -> str:
    """Return a name (without its extension) without what says that it is a part."""
    return _PART.sub("", stem)


def is_of_part(tail: str) -> bool:
    """Return whether what follows a video's name is that of another part, or of something beside another part."""
    return tail.startswith(PART)


def beside(name: str, tail: str) -> str:
    """Return what a file beside the video `name` is called: the video's name, then `tail` (`.en.srt`, ` - part2.avi`)."""
    stem, _ = split_extension(name)
    return fit(without_part(stem) if is_of_part(tail) else stem, tail)


def _values(facts: NameFacts, ids: tuple[tuple[str, str | int | None], ...]) -> dict[str, str | int]:
    """Return what the fields of a template stand for; what is not known is left out. ids: the preferred one first."""
    values: dict[str, str | int | None] = {
        "title": _title(facts.title) or UNTITLED,
        "original_title": _title(facts.original_title),
        "year": facts.year,
        "version": _title(facts.tag),
        "edition": _bare(facts.edition),
        "original_name": _title(facts.original_name),
        "ids": _tags(ids),
        **{f"{kind}_id": _bare(str(value or "")) for kind, value in ids},
    }
    if facts.episodes:
        season = facts.season or 0
        values |= {
            "season": season,
            "episode": min(facts.episodes),
            "episodes": episode_token(season, facts.episodes),
            "episode_title": _title(facts.episode_title),
            "absolute": facts.absolute,
        }
    return {name: value for name, value in values.items() if value not in (None, "")}


def _named(template: str, values: Mapping[str, str | int], limit: int) -> str:
    """Return a template filled in, safe and at most `limit` bytes: the title is cut first, then whatever is at the end."""
    name = fill(template, values)
    title = str(values["title"])
    over = len(name.encode()) - limit
    if over > 0 and len(title.encode()) > over:
        name = fill(template, {**values, "title": fit(title, "", len(title.encode()) - over)})
    return safe_name(fit(name or UNTITLED, "", limit))


def _room(extension: str) -> int:
    return MAX_NAME_BYTES - RESERVE_BYTES - len(extension.encode())


def _tags(ids: tuple[tuple[str, str | int | None], ...]) -> str:
    """Return the first known id in both spellings; empty when none is known."""
    for kind, value in ids:
        text = re.sub(r"[^A-Za-z0-9]", "", str(value or ""))
        if text:
            return f"{{{kind}-{text}}} [{kind}id={text}]"
    return ""


def _bare(text: str) -> str:
    """Return a text without anything that could end the braces it may stand in."""
    return _strip(_speak(re.sub(r"[^\w' .-]", "", text)))


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
