"""Films and episodes in several files: `CD1` and `CD2` are one film, one of them alone is half a film."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from program.services.matching.files import FileLook, Role

# `part1` in one word is a piece of a file; in two it may be a title.
_PIECE = re.compile(r"(?<![a-z])(?:(?:cd|disc|disk|dvd)[\s._\-]?|part)([1-9])(?!\d)", re.IGNORECASE)
# Of a lone file only this says for certain that there is another half; a lone `part1` or `disc1` may be in a title ...
_HALF = re.compile(r"(?<![a-z])cd[\s._\-]?[1-9](?!\d)", re.IGNORECASE)
# ... unless the year stands before it, where a film's title has ended.
_YEAR_BEFORE = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CD_FOLDER = re.compile(r"cd[\s._\-]?([1-9])", re.IGNORECASE)
# So many parts Plex puts together.
MOST_PARTS = 8


@dataclass(frozen=True, slots=True)
class Film:
    """A film in parts. parts: its files in their order; whole: how the one file would look that they are pieces of."""

    parts: tuple[FileLook, ...]
    whole: FileLook

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(look.file.size for look in self.parts)


def is_part(look: FileLook, looks: Sequence[FileLook]) -> bool:
    """Return True for one of several discs: half of a thing is none."""
    if _HALF.search(look.stem) or _in_cd_folder(look):
        return True
    if not _PIECE.search(look.stem):
        return False
    base = _PIECE.sub("", look.stem)
    return any(other is not look and _PIECE.sub("", other.stem) == base for other in looks)


def is_half_of_film(look: FileLook) -> bool:
    """Return True for a lone file of a film whose name says behind the year which piece it is: `Title.2001.part1.mkv`."""
    piece = _PIECE.search(look.stem)
    # A year at the very beginning is a title.
    return piece is not None and _YEAR_BEFORE.search(look.stem, 1, piece.start()) is not None


def films_in_parts(looks: Sequence[FileLook]) -> tuple[Film, ...]:
    """Return the films that are there in all their parts, from the first on, each part once."""
    found: dict[tuple[object, ...], list[tuple[int, FileLook]]] = {}
    for look in looks:
        if look.role is not Role.MAIN:
            continue
        piece = _PIECE.search(look.stem)
        folder = _in_cd_folder(look)
        if piece is not None:
            base = (*look.folders, look.stem[: piece.start()].casefold(), look.stem[piece.end() :].casefold())
            found.setdefault(base, []).append((int(piece[1]), look))
        elif folder is not None:
            found.setdefault((*look.folders[:-1], None), []).append((folder, look))
    return tuple(film for pieces in found.values() if (film := _film(pieces)) is not None)


def _film(pieces: list[tuple[int, FileLook]]) -> Film | None:
    ordered = sorted(pieces, key=lambda piece: piece[0])
    numbers = [number for number, _ in ordered]
    if numbers != list(range(1, len(numbers) + 1)) or not 1 < len(numbers) <= MOST_PARTS:
        return None
    looks = tuple(look for _, look in ordered)
    first = looks[0]
    folders = first.folders[:-1] if _in_cd_folder(first) else first.folders
    return Film(looks, replace(first, folders=folders, stem=_PIECE.sub("", first.stem)))


def _in_cd_folder(look: FileLook) -> int | None:
    """Return which part a file is by its folder, `CD1`, None when that says nothing."""
    found = _CD_FOLDER.fullmatch(look.folders[-1].strip()) if look.folders else None
    return int(found[1]) if found else None
