"""`backup`, `restore` and `migrate`."""

from program.clock import Clock
from program.db import backup, restore
from program.db.backup import Backup
from program.db.engine import Database
from program.db.url import parse
from program.errors import NotPossible
from program.folder_lock import alone_in
from program.opening import database_url
from program.settings.store import SettingsStore


def make(store: SettingsStore, clock: Clock) -> Backup:
    """Return a new copy of the database, also while the program runs. Raises NotPossible."""
    database = Database(database_url(store), data_dir=store.folder, clock=clock)
    database.connect()
    try:
        made = database.backup()
    finally:
        database.close()
    if made is None:
        raise NotPossible("the copy could not be made; is pg_dump installed?")
    return made


def put_back(store: SettingsStore, clock: Clock, name: str) -> Backup:
    """Put a copy in place of the database and return it; the program must not run meanwhile. Raises NotPossible, NotFound."""
    found = backup.named(backup.folder_in(store.folder), name)
    with alone_in(store.folder):
        restore.restore(parse(database_url(store)), found, clock.now())
    return found


def migrate(store: SettingsStore, clock: Clock) -> tuple[str, str]:
    """Bring the tables to the newest version, after a copy; return the version before and after."""
    from_outside = Database(database_url(store), data_dir=store.folder, clock=clock)
    with alone_in(store.folder):
        before = from_outside.revision()
        from_outside.open()
        try:
            return before or "empty", from_outside.revision() or "empty"
        finally:
            from_outside.close()
