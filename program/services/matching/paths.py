"""Names with folders before them: what the folders say that the file itself does not."""

import re
from dataclasses import replace

from program.services.matching.counting import Numbering
from program.services.matching.head import Head
from program.services.matching.noise import has_extension

_ROOTED = re.compile(r"^(?:[a-z]:[\\/]|[\\/]{1,2}(?=\S))", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\\/]")
_FRONT_NUMBER = re.compile(r"^[\s\[(]*(?P<e>\d{1,3})(?=[\s.)\]_-]|$)")


def folders_and_leaf(name: str) -> tuple[tuple[str, ...], str]:
    """Return the folders of a path, nearest last, and its last part; a name with a slash in it is no path."""
    parts = [part.strip() for part in _SEPARATOR.split(name)]
    parts = [part for part in parts if part]
    is_path = len(parts) > 1 and (_ROOTED.match(name) or (has_extension(name) and _is_whole(parts)))
    return (tuple(parts[:-1]), parts[-1]) if is_path else ((), name)


def _is_whole(parts: list[str]) -> bool:
    """Return True when no bracket is open over a separator, as in `[720p/MKV]`."""
    return all(part.count("(") == part.count(")") and part.count("[") == part.count("]") for part in parts)


def with_folders(leaf: Head, folders: list[Head], text: str) -> Head:
    """Return what a file says, completed by its folders, nearest first in `folders`. text: the file's own name."""
    numbering = leaf.numbering
    titled = next((folder for folder in folders if folder.readings), None)
    season = next((f.numbering for f in folders if f.numbering and len(f.numbering.seasons) == 1), None)
    if numbering is None or not (numbering.seasons or numbering.episodes or numbering.air_date):
        whole = next((f for f in folders if f.numbering and f.numbering.episodes), None)
        front = _FRONT_NUMBER.match(text)
        if whole is not None:
            return replace(leaf, readings=whole.readings, numbering=whole.numbering, years=whole.years)
        if season is None or front is None:
            return leaf
        numbering = Numbering(season.seasons, (int(front["e"]),), form="folder", end=front.end())
    elif season is not None and numbering.episodes and not numbering.seasons:
        numbering = replace(numbering, seasons=season.seasons, form="folder")
    begins_with_count = numbering.start == 0 or not leaf.readings
    if titled is not None and begins_with_count:
        return replace(leaf, readings=titled.readings, numbering=numbering, years=titled.years)
    return replace(leaf, numbering=numbering)
