"""The `vfs` section of the settings: where the library appears and how much the file system may use."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field

from program.settings.provider import Section


class VfsSettings(Section):
    """How the library is shown as files."""

    mode: Literal["fuse", "webdav", "auto"] = Field(
        "fuse", description="How the library is shown: a FUSE mount, WebDAV, or whichever this machine allows"
    )
    mount_path: Path = Field(
        Path("/mnt/rivulet"),
        description="Folder at which the library is mounted; created when missing, else empty",
    )
    cache_dir: Path = Field(
        Path("data/vfs-cache"),
        description="Folder that keeps the beginning and end of each file; only ours to write to",
    )
    memory_mib: int = Field(
        96, ge=16, le=65536, description="Memory for file contents in MiB, over all open files together"
    )
    disk_mib: int = Field(
        4096, ge=0, description="Disk space for the beginnings and ends of files in MiB; 0 keeps none"
    )
    read_timeout_seconds: float = Field(
        30, gt=0, le=600, description="A read that got no data for so many seconds ends with an error"
    )
    uid: int = Field(default_factory=os.getuid, ge=0, description="Owner of the files, a user id")
    gid: int = Field(default_factory=os.getgid, ge=0, description="Group of the files, a group id")
    file_mode: int = Field(
        0o644, ge=0, le=0o777, description="Permissions of files before the umask, as a number"
    )
    dir_mode: int = Field(
        0o755, ge=0, le=0o777, description="Permissions of folders before the umask, as a number"
    )
    umask: int = Field(0o022, ge=0, le=0o777, description="Permissions that are taken away, as a number")
    allow_other: bool | None = Field(
        None, description="Whether other users may read the mount; null allows it where this machine does"
    )
    attr_timeout: float = Field(
        300,
        ge=0,
        description="Seconds for which the kernel keeps sizes and times; changes are announced at once anyway",
    )
    entry_timeout: float = Field(
        300,
        ge=0,
        description="Seconds for which the kernel keeps names; changes are announced at once anyway",
    )
