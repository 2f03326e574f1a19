"""Whether others can see the library folder: what the first-run pages check live. Reads only what the system says of its mounts."""

from dataclasses import dataclass
from pathlib import Path

from program.settings.vfs import VfsSettings
from program.vfs.preflight import may_allow_other, mount_point

MOUNTS = Path("/proc/self/mountinfo")
# Where a line of mountinfo holds the mount point, and where its optional fields begin.
POINT, OPTIONAL = 4, 6


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. mend: what to do when it is not well."""

    is_well: bool
    title: str
    said: str
    mend: str = ""


def checks(settings: VfsSettings, *, is_mounted: bool, mountinfo: str) -> tuple[Check, ...]:
    """Return what was found about the library folder."""
    path = mount_point(settings)
    is_fallback = settings.mode == "auto" and not any(
        parts[POINT] == str(path) for line in mountinfo.splitlines() if len(parts := line.split()) > POINT
    )
    if not settings.is_mounting or is_fallback:
        return (_served(is_fallback=is_fallback),)
    return (_folder(path, is_mounted=is_mounted), _others(settings), _shared(path, mountinfo))


def read_mounts() -> str:
    """Return what the system says of its mounts."""
    return MOUNTS.read_text(encoding="utf-8", errors="replace")


def _served(*, is_fallback: bool) -> Check:
    why = (
        "This machine does not allow a mount; the log says why"
        if is_fallback
        else "No mount is wanted (vfs.mode)"
    )
    said = f"{why}. Its files are at /dav (WebDAV) and /files of this address; the password is the API key"
    return Check(True, "The library is served over HTTP", said)


def _folder(path: Path, *, is_mounted: bool) -> Check:
    if is_mounted:
        return Check(True, "The folder is there", f"{path} is mounted and can be read")
    return Check(
        False,
        "The folder is not there",
        f"{path} cannot be read just now",
        "The log says why; restart the program.",
    )


def _others(settings: VfsSettings) -> Check:
    allowed = may_allow_other() if settings.allow_other is None else settings.allow_other
    if allowed:
        return Check(
            True, "Other users may read it", "A media server that runs as another user sees the files"
        )
    return Check(
        False,
        "Only this user may read it",
        "A media server that runs as another user sees an empty folder",
        "Add the line user_allow_other to /etc/fuse.conf and restart the program.",
    )


def _shared(path: Path, mountinfo: str) -> Check:
    """Look at the mount that the folder lies on: only when it is shared does a container see what is mounted beneath it."""
    on = [line.split() for line in mountinfo.splitlines()]
    above = [parts for parts in on if len(parts) > OPTIONAL and _is_above(parts[POINT], path)]
    nearest = max(above, key=lambda parts: len(parts[POINT]), default=None)
    if nearest is not None and any(part.startswith("shared:") for part in nearest[OPTIONAL:]):
        return Check(
            True,
            "Containers can see it",
            f"What is mounted beneath {nearest[POINT]} reaches containers that have it",
        )
    place = path.parent
    return Check(
        False,
        "Containers may not see it",
        "That matters only when your media server runs in a container",
        f"On the host: mount --bind {place} {place} && mount --make-rshared {place}",
    )


def _is_above(point: str, path: Path) -> bool:
    return Path(point) != path and path.is_relative_to(point)
