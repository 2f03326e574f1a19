"""What the files of a torrent are: the thing itself, bonus material, a sample, an archive.

Told by their folders, by parts of their names and by their size beside the others; never by a word alone.
"""

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from program.media.entry import TorrentFile
from program.services.matching.noise import MASK, masked
from program.services.matching.text import simplified

_VIDEO = "mkv mp4 m4v avi mov wmv flv webm mpg mpeg m2ts mts ts vob ogm divx asf 3gp rmvb iso"
VIDEO_EXTENSIONS = frozenset(f".{extension}" for extension in _VIDEO.split())
ARCHIVE = re.compile(r"\.(?:rar|r\d\d|zip|7z|tar|gz|\d{3})$", re.IGNORECASE)

# Folders that hold anything but the thing itself.
_EXTRA_FOLDERS = frozenset(
    simplified(name)
    for name in (
        *(
            "sample",
            "samples",
            "extra",
            "extras",
            "featurette",
            "featurettes",
            "behind the scenes",
            "deleted scenes",
        ),
        *(
            "interview",
            "interviews",
            "trailer",
            "trailers",
            "bonus",
            "bonuses",
            "scenes",
            "shorts",
            "other",
            "promo",
        ),
        *(
            "promos",
            "making of",
            "bonus disc",
            "bonus features",
            "special features",
            "ncop",
            "nced",
            "nc",
            "menu",
        ),
        *(
            "menus",
            "cd",
            "cds",
            "ost",
            "soundtrack",
            "soundtracks",
            "scans",
            "creditless",
            "proof",
            "screens",
        ),
        *(
            "screenshots",
            "subs",
            "subtitles",
            "pv",
            "cm",
            "commentary",
            "music videos",
            "outtakes",
            "bloopers",
        ),
    )
)
# As media servers name them: `Title-trailer.mkv`.
_EXTRA_SUFFIX = re.compile(
    r"-(?:trailer|sample|deleted|behindthescenes|featurette|interview|scene|short|other|extra|clip|promo)\d*$",
    re.IGNORECASE,
)
# Parts of a name between dashes, brackets or dots that anime groups give their extras.
_CREDITS = re.compile(
    r"(?:^|[\s._\-\[(])(?:nc[. ]?(?:op|ed)|creditless[. ](?:op|ed|opening|ending)|clean[. ](?:opening|ending)|menu|pv|cm|preview"
    r"|teaser)[. _]?\d{0,2}[a-z]?(?:v\d)?(?=$|[\s._\-\])])",
    re.IGNORECASE,
)
_EXTRA_WORDS = re.compile(
    r"(?<![a-z])(?:making[. _]of|behind[. _]the[. _]scenes|featurettes?|deleted[. _]scenes?|bloopers?|gag[. _]reel|trailers?"
    r"|interviews?|bonus[. _](?:disc|features?|material)|outtakes?)(?![a-z])",
    re.IGNORECASE,
)
# These words are in titles of episodes too; a file that has an episode's number and its size is the episode.
_TITLE_WORDS = re.compile(r"^(?:trailers?|interviews?)$", re.IGNORECASE)
_EPISODE = re.compile(r"(?<![a-z0-9])(?:s\d{1,4}[ ._-]*e\d{1,4}|\d{1,2}x\d{2})(?!\d)", re.IGNORECASE)
# Bonus material that services count as an episode of season 0.
_SPECIAL = re.compile(r"(?<![a-z0-9])s0{1,2}[ ._-]*e\d{1,3}(?!\d)", re.IGNORECASE)
_SAMPLE = re.compile(r"(?<![a-z])sample(?![a-z])", re.IGNORECASE)
_SAMPLE_ONLY = re.compile(r"^sample(?![a-z])|[\s._\-]sample$|^[\s._\-]*sample[\s._\-]*$", re.IGNORECASE)
# A file with "sample" in its name is one when it is so much smaller than its neighbours.
_SMALL = 0.35


class Role(Enum):
    """What a file is to the torrent it is in."""

    MAIN = "main"
    EXTRA = "extra"
    SAMPLE = "sample"
    ARCHIVE = "archive"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileLook:
    """A file with what it is, the folders above it (nearest last) and its name without extension."""

    file: TorrentFile
    role: Role
    folders: tuple[str, ...]
    stem: str


def look_at_files(files: Sequence[TorrentFile], titles: Iterable[str]) -> tuple[FileLook, ...]:
    """Return what each file is. titles: of the film or of the known episodes; their words say nothing against a file."""
    known = " | ".join(simplified(title) for title in titles)
    sizes = [file.size for file in files if is_video(file.path)]
    usual = statistics.median(sizes) if sizes else 0
    largest = max(sizes, default=0)
    return tuple(_look(file, known, usual, largest) for file in files)


def is_video(path: str) -> bool:
    """Return True for a file that a player can play, by its extension."""
    return PurePosixPath(path).suffix.lower() in VIDEO_EXTENSIONS


def _look(file: TorrentFile, known: str, usual: float, largest: int) -> FileLook:
    path = PurePosixPath(file.path.replace("\\", "/").strip("/"))
    folders = tuple(part for part in path.parts[:-1] if part not in ("", "."))
    stem = path.name[: -len(path.suffix)] if path.suffix.lower() in VIDEO_EXTENSIONS else path.name
    return FileLook(file, _role(file, folders, stem, known, max(usual, largest * _SMALL)), folders, stem)


def _role(file: TorrentFile, folders: tuple[str, ...], stem: str, known: str, usual: float) -> Role:
    if ARCHIVE.search(file.path):
        return Role.ARCHIVE
    if not is_video(file.path):
        return Role.OTHER
    names = [simplified(folder) for folder in folders]
    if any(name in ("sample", "samples") for name in names) or _is_sample(file, stem, known, usual):
        return Role.SAMPLE
    # The first folder is the torrent's own and may be called like the title.
    if any(name in _EXTRA_FOLDERS for name in names if name not in known.split(" | ")):
        return Role.EXTRA
    return Role.EXTRA if _is_extra(file, stem, known, usual) else Role.MAIN


def _is_sample(file: TorrentFile, stem: str, known: str, usual: float) -> bool:
    if not _SAMPLE.search(stem):
        return False
    is_small = file.size < usual * _SMALL
    return is_small or (_SAMPLE_ONLY.search(stem) is not None and "sample" not in known)


def _is_group(file: TorrentFile, stem: str, suffix: re.Match[str], usual: float) -> bool:
    """Return True for a release group of that name: `x264-OTHER`, right behind a technical word, of a whole file's size."""
    return masked(stem)[0][: suffix.start()].endswith(MASK) and file.size >= usual * _SMALL


def _is_extra(file: TorrentFile, stem: str, known: str, usual: float) -> bool:
    suffix = _EXTRA_SUFFIX.search(stem)
    if (suffix and not _is_group(file, stem, suffix, usual)) or _CREDITS.search(stem):
        return True
    words = _EXTRA_WORDS.search(stem)
    if words is None or simplified(words[0]) in known or _SPECIAL.search(stem):
        return False
    is_episode = _EPISODE.search(stem, 0, words.start()) is not None and file.size >= usual * _SMALL
    return not (is_episode and _TITLE_WORDS.match(words[0]))
