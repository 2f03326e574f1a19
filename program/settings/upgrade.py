"""Settings files of older versions, brought to today's form one version at a time."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from program.settings.problems import InvalidSettings, Problem

Document = dict[str, JsonValue]
Upgrade = Callable[[Document], Document]

# The version that this program writes. A file without the key is of version 1.
VERSION = 1

# Version to the function that makes the next version's document of it.
UPGRADES: Mapping[int, Upgrade] = {}


def upgrade(
    document: Document, upgrades: Mapping[int, Upgrade] = UPGRADES, target: int = VERSION
) -> Document:
    """Return the document in today's form; raise InvalidSettings when it is of a newer version than `target`."""
    version = document.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidSettings([Problem("version", "must be a whole number of 1 or more")])
    if version > target:
        reason = f"{version} was written by a newer version of the program; this one knows up to {target}"
        raise InvalidSettings([Problem("version", reason)])
    for step in range(version, target):
        document = {**upgrades[step](document), "version": step + 1}
    return document
