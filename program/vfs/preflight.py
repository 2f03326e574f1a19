"""Whether a folder can be mounted, said in one sentence that tells what to mend."""

import contextlib
import errno
import os
from pathlib import Path

from loguru import logger

from program.errors import StartupError
from program.settings.vfs import VfsSettings
from program.vfs.kernel import answers, detach, mounts_at

KIND = "fuse.rivulet"

# A folder that does not answer within this time will not do so later.
ANSWER_SECONDS = 10.0

# What asking says of a mount whose process is gone.
_DEAD = frozenset({errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.ENODEV})


def mount_point(settings: VfsSettings) -> Path:
    """Return where the mount will be as the kernel names it, without symbolic links."""
    return settings.mount_path.resolve()


def why_unusable(settings: VfsSettings) -> str | None:
    """Return why the library cannot be mounted, None when it can be; changes nothing."""
    try:
        check(settings)
        _check_folder(mount_point(settings))
    except StartupError as error:
        return str(error)
    return None


def check(settings: VfsSettings) -> None:
    """Raise StartupError when this machine or these settings do not allow a mount."""
    if not Path("/dev/fuse").exists():
        raise StartupError(
            "/dev/fuse is missing: load the fuse module (modprobe fuse), or give it to the container (--device /dev/fuse)"
        )
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise StartupError(
            "/dev/fuse may not be opened by this user: add the user to its group, or run as root"
        )
    if settings.allow_other and not may_allow_other():
        raise StartupError(
            "vfs.allow_other: not allowed to this user: add the line user_allow_other to /etc/fuse.conf, or set it to false"
        )
    if settings.cache_dir.resolve().is_relative_to(mount_point(settings)):
        raise StartupError(
            f"vfs.cache_dir: {settings.cache_dir} lies within vfs.mount_path; choose another folder"
        )


def prepare(path: Path) -> None:
    """Make the path an empty folder without what a dead process left mounted there. Raises StartupError."""
    while is_stale(path):
        logger.warning("{} still shows a mount whose process is gone; clearing it", path)
        if not detach(path):
            raise StartupError(
                f"vfs.mount_path: a dead mount at {path} cannot be cleared; run: umount -l {path}"
            )
    _check_folder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"vfs.mount_path: {path} cannot be made: {error.strerror}") from error


def is_stale(path: Path) -> bool:
    """Return whether a mount is at the path whose process is gone."""
    trouble = answers(path, ANSWER_SECONDS)
    return trouble is not None and trouble.errno in _DEAD and bool(mounts_at(path))


def may_allow_other() -> bool:
    """Return whether this user may let others read the mount."""
    if os.geteuid() == 0:
        return True
    with contextlib.suppress(OSError):
        lines = Path("/etc/fuse.conf").read_text(encoding="utf-8", errors="replace").splitlines()
        return any(line.strip() == "user_allow_other" for line in lines)
    return False


def _check_folder(path: Path) -> None:
    """Raise StartupError unless the path is an empty folder, a stale mount, or can become a folder."""
    trouble = answers(path, ANSWER_SECONDS)
    if trouble is not None:
        if isinstance(trouble, FileNotFoundError) or is_stale(path):
            return
        raise StartupError(f"vfs.mount_path: {path} cannot be used: {trouble.strerror or trouble}")
    if any(entry.kind == KIND for entry in mounts_at(path)):
        raise StartupError(f"vfs.mount_path: {path} is already mounted by a running Rivulet")
    try:
        is_empty = next(path.iterdir(), None) is None
    except OSError as error:
        raise StartupError(f"vfs.mount_path: {path} cannot be used: {error.strerror}") from error
    if not is_empty:
        raise StartupError(f"vfs.mount_path: {path} is not empty; choose an empty folder")
