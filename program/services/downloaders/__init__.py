"""Downloaders: they hold torrents and give addresses of their files. One file per service.

What they share is here: what a file is by its name, and whether an answer is about the file that was asked for.
"""

import re
import unicodedata
from pathlib import PurePosixPath

_VIDEO = "mkv mp4 avi m4v mov wmv flv webm ts m2ts mts mpg mpeg vob ogm ogv divx 3gp asf rmvb"
VIDEO_SUFFIXES = frozenset(f".{word}" for word in _VIDEO.split())
_ARCHIVE = re.compile(r"\.(?:rar|zip|zipx|7z|tar|gz|r\d\d)$", re.IGNORECASE)
# Packing replaces what Windows does not allow in names.
_REPLACED = re.compile(r'[|"\\?*:<>]')


def is_video(path: str) -> bool:
    """Return whether a file is a video by its name."""
    return PurePosixPath(path).suffix.lower() in VIDEO_SUFFIXES


def is_archive(path: str) -> bool:
    """Return whether a file is an archive by its name: nothing in it can be read in place."""
    return _ARCHIVE.search(path) is not None


def plain_name(path: str) -> str:
    """Return the last component of a path in a form for comparing."""
    return _REPLACED.sub("_", unicodedata.normalize("NFC", PurePosixPath(path).name)).casefold()
