"""Whether a release is worth taking in the place of the one that is there."""

from program.media.release import JudgedRelease
from program.services.matching.rank import resolution_place

# What a name says of itself when it is the same copy without a fault.
_CORRECTED = frozenset({"proper", "repack"})


def is_better(new: JudgedRelease, old: JudgedRelease, *, until: str, gain: int) -> bool:
    """Return True for a higher resolution up to `until`, for `gain` points more in the same one, and for a corrected copy.

    until: the resolution from which on only a corrected copy of the same source counts.
    """
    mine, theirs, last = map(resolution_place, (new.resolution, old.resolution, until))
    if new.infohash == old.infohash:
        return False
    if mine == theirs and _is_corrected(new, old):
        return True
    if theirs >= last:
        return False
    return theirs < mine <= last or (mine == theirs and new.rank - old.rank >= gain)


def _is_corrected(new: JudgedRelease, old: JudgedRelease) -> bool:
    """Return True for a proper of the same source, or the group's own repack, of a copy that is neither."""
    said, before = _flags(new), _flags(old)
    if before & _CORRECTED or not said & _CORRECTED or new.parsed.get("quality") != old.parsed.get("quality"):
        return False
    return "proper" in said or new.parsed.get("group") == old.parsed.get("group")


def _flags(release: JudgedRelease) -> frozenset[str]:
    flags = release.parsed.get("flags")
    return frozenset(str(flag) for flag in flags) if isinstance(flags, list) else frozenset()
