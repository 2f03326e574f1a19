"""Updaters: media servers that scan a folder and say what they have. One file per server.

What they share is here: a path of our mount as the server sees it.
"""

import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath


def is_below(path: str, folder: str) -> bool:
    """Return whether `path` is `folder` or beneath it, by path components (`/tv-uhd` is not beneath `/tv`)."""
    return PurePosixPath(normal(path)).is_relative_to(normal(folder))


def depth(folder: str) -> int:
    """Return how many components a path has, for choosing the longest of several prefixes."""
    return len(PurePosixPath(folder).parts)


def normal(path: str) -> str:
    """Return a path in one Unicode form and without a slash at its end, for comparing."""
    return unicodedata.normalize("NFC", path).rstrip("/") or "/"


def mapped(path: str, path_map: Mapping[str, str]) -> str:
    """Return a path of our mount as the server sees it; the longest prefix of `path_map` wins, none leaves it as it is."""
    prefixes = [ours for ours in path_map if is_below(path, ours)]
    if not prefixes:
        return path
    ours = max(prefixes, key=depth)
    rest = PurePosixPath(path).relative_to(PurePosixPath(ours))
    return str(PurePosixPath(path_map[ours]) / rest)
