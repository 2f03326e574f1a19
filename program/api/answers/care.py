"""Backups and settings."""

from collections.abc import Mapping

from program.api.answers.base import Body, Instant


class BackupBody(Body):
    """A copy of the database. size: bytes."""

    filename: str
    size: int
    made_at: Instant


class BackupsBody(Body):
    """The copies of the database, the newest first. at_next_start: the one that is put in place then."""

    backups: list[BackupBody]
    at_next_start: str | None


class BackupResponse(Body):
    """A copy that was made."""

    success: bool
    message: str
    filename: str


class RestoreResponse(Body):
    """What becomes of a copy."""

    success: bool
    message: str


class CleanSnapshotsResponse(Body):
    """Which copies are gone."""

    success: bool
    message: str
    deleted_files: list[str]


class KeyBody(Body):
    """The API key that is in force now."""

    message: str
    api_key: str


class TriedBody(Body):
    """What a provider said."""

    works: bool
    state: str
    message: str


class SampleBody(Body):
    """A made-up file. about: what it shows; path: in the library."""

    about: str
    path: str


class RenamedBody(Body):
    """A file of the library. before, after: its path now and with the templates."""

    id: int
    before: str
    after: str


class NamingPreviewBody(Body):
    """What templates would make of samples and of the newest files."""

    samples: list[SampleBody]
    library: list[RenamedBody]


class SettingsSavedBody(Body):
    """locked: paths that the environment sets, with the variable."""

    message: str
    revision: str
    locked: Mapping[str, str]
