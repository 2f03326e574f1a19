"""What a changed setting needs to take effect; a table, so that the program and the documentation say the same."""

from collections.abc import Mapping
from enum import StrEnum

from program.settings import document as documents
from program.settings.fields import leaves
from program.settings.models import RootSettings


class Applies(StrEnum):
    """When a new value counts."""

    LIVE = "at once"
    PART = "at once; the parts concerned are built anew"
    RESTART = "after a restart of the program"


# By the longest path that a setting's own begins with.
APPLIES: Mapping[str, Applies] = {
    "$schema": Applies.LIVE,
    "version": Applies.LIVE,
    "api_key": Applies.LIVE,
    "api": Applies.RESTART,
    "network": Applies.LIVE,
    "database": Applies.RESTART,
    "queue": Applies.RESTART,
    "queue.provider_limits": Applies.LIVE,
    "startup": Applies.RESTART,
    "content": Applies.PART,
    "indexing": Applies.PART,
    "scraping": Applies.PART,
    "scraping.scrape_cooldown_hours": Applies.LIVE,
    "scraping.max_failed_attempts": Applies.LIVE,
    "scraping.prefer_packs": Applies.LIVE,
    "scraping.flow_deadline_seconds": Applies.LIVE,
    "indexing.release_kinds": Applies.LIVE,
    "indexing.schedule_offset_minutes": Applies.LIVE,
    "indexing.theatrical_wait_days": Applies.LIVE,
    "indexing.unknown_date_days": Applies.LIVE,
    "ranking": Applies.LIVE,
    "downloaders": Applies.PART,
    "downloaders.order": Applies.LIVE,
    "downloaders.remove_torrents": Applies.LIVE,
    "updaters": Applies.PART,
    "subtitles": Applies.PART,
    "notifications": Applies.PART,
    "plugins": Applies.PART,
    "plugins.entry_points": Applies.RESTART,
    "plugins.folder": Applies.RESTART,
    "vfs": Applies.RESTART,
    "vfs.profiles": Applies.LIVE,
    "vfs.naming": Applies.LIVE,
    "log": Applies.LIVE,
}


def applies(path: str) -> Applies:
    """Return when a new value at `path` counts."""
    found = max((known for known in APPLIES if f"{path}.".startswith(f"{known}.")), key=len)
    return APPLIES[found]


def changed(old: RootSettings, new: RootSettings) -> tuple[str, ...]:
    """Return the paths whose values differ between two settings of one model."""
    before, after = documents.plain(old), documents.plain(new)
    paths = [leaf.path for leaf in leaves(type(new))]
    return tuple(path for path in paths if documents.read_at(before, path) != documents.read_at(after, path))
