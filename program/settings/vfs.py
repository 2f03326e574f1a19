"""The `vfs` section of the settings: where the library appears and how much the file system may use."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from program.media.naming import strm_name
from program.settings.naming import NamingSettings
from program.settings.profiles import ProfileSettings, check_profiles
from program.settings.provider import Section


def _from_octal(value: object) -> object:
    """Return the number that a string such as `022` or `0o755` means, as everybody writes permissions."""
    return int(value, 8) if isinstance(value, str) and value.removeprefix("0o").isdecimal() else value


def _none_when_empty(value: object) -> object:
    """Return None for an empty text: a form and an environment have no other word for nothing."""
    return None if value == "" else value


Permissions = Annotated[int, BeforeValidator(_from_octal), Field(ge=0, le=0o777)]


class VfsSettings(Section):
    """How the library is shown as files."""

    mode: Literal["fuse", "webdav", "auto", "strm"] = Field(
        default="fuse",
        description="fuse mounts the library, webdav only serves it over HTTP, auto mounts it if it can, strm writes to strm_path",
    )
    mount_path: Path = Field(
        default=Path("/mnt/rivulet"),
        description="Folder at which the library is mounted; created when missing, else empty",
    )
    strm_path: Annotated[Path | None, BeforeValidator(_none_when_empty)] = Field(
        default=None,
        description="Folder for STRM files, each with the address of a video; in mode strm it is what media servers look at",
    )
    strm_url: str = Field(
        default="",
        pattern=r"^(https?://\S+[^\s/])?$",
        description="What addresses in STRM files begin with, e.g. http://nas:8484; empty: this machine's own address",
    )
    naming: NamingSettings = Field(
        default_factory=NamingSettings,
        description="What folders and files are called; see docs/library.md",
    )
    profiles: Annotated[dict[str, ProfileSettings], AfterValidator(check_profiles)] = Field(
        default={},
        description="Further folders of the library, each with rules for what is in it, by a name of yours; see docs/library.md",
    )
    subtitle_languages: tuple[Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")], ...] = Field(
        default=(),
        description='Languages of the subtitles that stand beside videos, e.g. ["en", "pt-BR"], with those of which none is known; '
        "empty: all that there are",
    )
    cache_dir: Path = Field(
        default=Path("vfs-cache"),
        description="Folder, seen from the config folder, for the beginning and end of each file and what was played; ours alone",
    )
    memory_mib: int = Field(
        default=96,
        ge=16,
        le=65536,
        description="Memory for file contents in MiB, over all open files together",
    )
    connections: int = Field(
        default=6,
        ge=1,
        le=16,
        description="Connections for one reader at most, where a provider gives each too little; usually one is used",
    )
    analysis_handles: int = Field(
        default=2,
        ge=1,
        description="Files that media servers may look through (thumbnails, intros) at the same time while somebody watches",
    )
    analysis_gib_per_hour: int = Field(
        default=0,
        ge=0,
        description="GiB an hour that media servers may read in looking through files; 0 sets no limit. Watching is never limited",
    )
    disk_mib: int = Field(
        default=24576,
        ge=0,
        description="Disk space for the beginnings and ends of files in MiB, about 2 for each file; 0 keeps none",
    )
    played_mib: int = Field(
        default=4096,
        ge=0,
        description="Disk space in MiB for what was played, so that going back needs no provider; 0 keeps none",
    )
    keep_free_mib: int = Field(
        default=4096,
        ge=0,
        description="Disk space in MiB that stays free for others: below that nothing more is kept, and what was played goes",
    )
    read_timeout_seconds: float = Field(
        default=30, gt=0, le=600, description="A read that got no data for so many seconds ends with an error"
    )
    uid: int = Field(default_factory=os.getuid, ge=0, description="Owner of the files, a user id")
    gid: int = Field(default_factory=os.getgid, ge=0, description="Group of the files, a group id")
    file_mode: Permissions = Field(
        default=0o644, description='Permissions of files before the umask, as a number or in octal: "644"'
    )
    dir_mode: Permissions = Field(
        default=0o755, description='Permissions of folders before the umask, as a number or in octal: "755"'
    )
    umask: Permissions = Field(
        default=0o022, description='Permissions that are taken away, as a number or in octal: "022"'
    )
    allow_other: bool | None = Field(
        default=None,
        description="Whether other users may read the mount; null allows it where this machine does",
    )
    attr_timeout: float = Field(
        default=300,
        ge=0,
        description="Seconds for which the kernel keeps sizes and times; changes are announced at once anyway",
    )
    entry_timeout: float = Field(
        default=300,
        ge=0,
        description="Seconds for which the kernel keeps names; changes are announced at once anyway",
    )

    @model_validator(mode="after")
    def _has_a_folder(self) -> "VfsSettings":
        if self.mode == "strm" and self.strm_path is None:
            raise ValueError("mode strm needs strm_path, the folder to write to")
        return self

    @property
    def is_mounting(self) -> bool:
        """Whether a mount is wanted, at least if it can be had."""
        return self.mode in ("fuse", "auto")

    @property
    def is_strm(self) -> bool:
        """Whether what people and media servers look at is the folder of STRM files."""
        return self.mode == "strm" and self.strm_path is not None

    @property
    def folder(self) -> str:
        """The folder that people and media servers look at."""
        return str(self.strm_path if self.is_strm else self.mount_path)

    def shown_as(self, path: str) -> str:
        """Return the path within that folder of what the library has at `path`."""
        if not self.is_strm:
            return path
        above, _, name = path.rpartition("/")
        return f"{above}/{strm_name(name)}"
