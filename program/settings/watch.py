"""Watches the settings file for edits by hand."""

from program.errors import SettingsError
from program.settings.models import RootSettings
from program.settings.problems import InvalidSettings, Problem
from program.settings.store import SettingsStore

# Modification time in ns, size, inode: two edits within one second differ, and so does a file put in place of another.
Signature = tuple[int, int, int]
MISSING: Signature = (0, 0, 0)


class Watcher:
    """Looks at the file each time it is asked; the scheduler asks every 2 s. For one thread at a time."""

    def __init__(self, store: SettingsStore) -> None:
        self._store = store
        self._seen = self._signature()
        # An editor at work leaves the file broken or missing for an instant: a second look comes before a report.
        self._suspect: Signature | None = None

    def poll(self) -> RootSettings | SettingsError | None:
        """Return new settings after a good edit, what is wrong after a bad one (once), None when there is nothing new.

        After a bad edit the settings in force stay.
        """
        signature = self._signature()
        if signature == self._seen:
            return None
        try:
            settings = self._store.reload()
        except InvalidSettings as error:
            return self._wrong(signature, error)
        except OSError as error:
            return self._wrong(signature, InvalidSettings([Problem("", f"cannot be read: {error.strerror}")]))
        self._seen = signature
        return settings

    def _wrong(self, signature: Signature, error: InvalidSettings) -> InvalidSettings | None:
        if signature != self._suspect:
            self._suspect = signature
            return None
        self._seen, self._suspect = signature, None
        return error

    def _signature(self) -> Signature:
        try:
            found = self._store.file.stat()
        except OSError:
            return MISSING
        return (found.st_mtime_ns, found.st_size, found.st_ino)
