"""The database: snapshots to read from, short transactions to write in."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, RootTransaction, select
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from program.clock import Clock
from program.db import backup, faults, migrate, restore
from program.db.backup import Backup
from program.db.connect import engine_for
from program.db.tables import MediaItem
from program.db.url import parse, shown, sqlite_file
from program.errors import StartupError, Transient

# SQLite waits a while for another process by itself; beginning is the one thing that is safe to repeat.
BEGIN_ATTEMPTS = 3
# A writer holds the lock for milliseconds; who waits this long meets a fault, not a queue.
WRITE_LOCK_SECONDS = 30.0


class Tx:
    """One transaction. Opaque outside this room: hand it to the functions of `program.db`."""

    __slots__ = ("connection",)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection


class Database:
    """SQLite or PostgreSQL behind one address.

    Raises `StartupError` from the constructor and from `open`, with a sentence for the user.
    """

    def __init__(self, url: str, *, data_dir: Path, clock: Clock) -> None:
        self._url = parse(url)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        self._data_dir = data_dir
        self._clock = clock
        self._listeners: list[Callable[[], None]] = []
        self._engine: Engine | None = None
        # One writer at a time on SQLite, where a transaction that reads before it writes otherwise fails at once.
        self._write_lock = threading.Lock()
        self._writer: int | None = None

    def open(self) -> None:
        """Connect, back up and migrate; raise `StartupError` when that cannot be."""
        try:
            migrate.to_newest(self._url, self._data_dir, self._clock.now())
            self._engine = engine_for(self._url)
        except (SQLAlchemyError, OSError) as error:
            raise StartupError(
                f"the database {shown(self._url)} cannot be used: {faults.reason(error)}"
            ) from error

    def restore_pending(self) -> None:
        """Put the copy in place that was asked for while the program ran; to be called before `open`."""
        restore.at_start(self._url, self._data_dir, self._clock.now())

    def connect(self) -> None:
        """Connect to what there is, without changing it; raise `StartupError` when that cannot be."""
        file = self.file
        if file is not None and not file.exists():
            raise StartupError(f"there is no database at {file} yet; the first start makes it")
        try:
            self._engine = engine_for(self._url)
            with self.read() as tx:
                tx.connection.exec_driver_sql("SELECT 1")
        except (SQLAlchemyError, OSError) as error:
            raise StartupError(
                f"the database {shown(self._url)} cannot be used: {faults.reason(error)}"
            ) from error

    def revision(self) -> str | None:
        """Return the version of the tables, None when there are none yet. Raises `StartupError`."""
        return migrate.revision_at(self._url)

    @property
    def file(self) -> Path | None:
        """Return the file of SQLite, None on PostgreSQL."""
        return sqlite_file(self._url)

    def backup(self) -> Backup | None:
        """Return a new copy of everything; None when PostgreSQL's own tool cannot make one, as the log says."""
        folder = backup.folder_in(self._data_dir)
        made = backup.make(self._url, folder, self._clock.now())
        return backup.named(folder, made.name) if made is not None else None

    def take_in(self, pieces: Iterable[bytes], most: int) -> Backup:
        """Put a copy from elsewhere among the backups once it is known that it could be put in place here, and return it.

        most: bytes. Raises NotPossible with the reason; then nothing is kept.
        """
        folder = backup.folder_in(self._data_dir)
        with backup.incoming(folder, pieces, most, self._clock.now()) as copy:
            restore.check(self._url, copy)
            return backup.keep(folder, copy)

    def check_backup(self, name: str) -> Backup:
        """Return a copy that could be put in place here; raise NotFound, or NotPossible with the reason."""
        found = backup.named(backup.folder_in(self._data_dir), name)
        restore.check(self._url, found)
        return found

    def close(self) -> None:
        """Close every connection; on SQLite fold the write-ahead log into the file first. Closing twice is fine."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if self._is_sqlite:
            _fold_log(engine)
        engine.dispose()

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each committed write, outside all locks. It must be quick and must not raise."""
        self._listeners.append(listener)

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """Give a read-only snapshot; raise `Transient` when the database is busy or gone."""
        with faults.translated(), self._opened().connect() as connection:
            if not self._is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            yield Tx(connection)

    @contextmanager
    def write(self, root_id: int | None = None) -> Iterator[Tx]:
        """Give a transaction that commits when the block ends and rolls back when it raises.

        root_id: the title that is about to change; its row is locked first, so that two writers of one title follow each other.
        Raises `Transient` when the database is busy or gone, or another writer was first.
        """
        with self._alone(), faults.translated(), self._begun() as tx:
            if root_id is not None:
                lock_root(tx, root_id)
            yield tx
        for listener in tuple(self._listeners):
            listener()

    def healthy(self) -> bool:
        """Return whether the database answers."""
        try:
            with self.read() as tx:
                tx.connection.execute(select(1))
        except (Transient, SQLAlchemyError, RuntimeError):
            return False
        return True

    def _opened(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the database is not open")
        return self._engine

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._is_sqlite:
            yield
            return
        if self._writer == threading.get_ident():
            raise RuntimeError("a write within a write of the same thread")
        if not self._write_lock.acquire(timeout=WRITE_LOCK_SECONDS):
            raise Transient("the database is busy: another write did not end")
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None
            self._write_lock.release()

    @contextmanager
    def _begun(self) -> Iterator[Tx]:
        transaction = self._begin()
        with transaction.connection as connection, transaction:
            yield Tx(connection)

    def _begin(self) -> RootTransaction:
        for left in reversed(range(BEGIN_ATTEMPTS)):
            connection = self._opened().connect().execution_options(rivulet_writes=True)
            try:
                return connection.begin()
            except OperationalError as error:
                connection.close()
                if not left or faults.passing_reason(error) is None:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")


def lock_root(tx: Tx, root_id: int) -> None:
    """Make other writers of this title wait until the transaction ends."""
    lock_roots(tx, (root_id,))


def lock_roots(tx: Tx, root_ids: Collection[int]) -> None:
    """Make other writers of these titles wait; always in the same order, so that two never wait for each other.

    SQLite has one writer anyway.
    """
    if root_ids and tx.connection.dialect.name != "sqlite":
        tx.connection.execute(
            select(MediaItem.id).where(MediaItem.id.in_(root_ids)).order_by(MediaItem.id).with_for_update()
        )


def _fold_log(engine: Engine) -> None:
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        if driver is not None:
            # Busy readers only make it fold less.
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
