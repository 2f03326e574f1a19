"""Both databases for tests: ask for `database_url` and the test runs once on SQLite and once on PostgreSQL.

PostgreSQL is the real server. The first test that needs it starts one (data in a temporary folder, on a free loopback
port, without fsync); all xdist workers share it, and each test gets a database of its own. A guard process owns the
server and stops it when the test run ends, however it ends: it waits for the end of a pipe that only the run holds.

Most tests do not care how the tables come about: `tables_url` has them already, as a copy of what each process makes once.

A test for one of the two only says so with
`@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg2
import pytest

from program.clock import SystemClock
from program.db.engine import Database
from tests.support.wait import until

KINDS = ("sqlite", "postgres")
GUARD = Path(__file__).with_name("postgres_guard.py")
# Creating a cluster takes 2 s; a machine with busy cores may need many times that.
START_SECONDS = 90
STOP_SECONDS = 30

_folder = pytest.StashKey[Path]()
_pipe = pytest.StashKey[int]()


class SharedServer:
    """The one PostgreSQL server of a test run. `folder` is the same for all workers of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self) -> str:
        """Return the address of its maintenance database; start the server if nobody has yet."""
        with self._alone():
            address = self.folder / "url"
            if not address.exists():
                self._start(address)
            return address.read_text()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _start(self, address: Path) -> None:
        log = self.folder / "guard.log"
        with log.open("w") as output:
            guard = subprocess.Popen(
                [sys.executable, str(GUARD), str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C ends the tests; the guard then stops the server in order
            )
        until(lambda: address.exists() or guard.poll() is not None, START_SECONDS, "PostgreSQL's start")
        if not address.exists():
            pytest.fail(f"PostgreSQL did not start:\n{log.read_text()}", pytrace=False)
        guard.returncode = 0  # it outlives this process on purpose: no warning about a running child

    def create(self, template: str = "") -> str:
        """Return the URL of a new database, empty or a copy of the one at `template`, which nobody may be connected to."""
        name = f"test_{uuid4().hex}"
        source = f' TEMPLATE "{template.rsplit("/", 1)[1]}"' if template else ""
        self._command(f'CREATE DATABASE "{name}"{source}')
        return self.url().rsplit("/", 1)[0] + "/" + name

    def drop(self, url: str) -> None:
        """Remove a database, whoever is still connected to it."""
        self._command(f'DROP DATABASE IF EXISTS "{url.rsplit("/", 1)[1]}" WITH (FORCE)')

    def _command(self, statement: str) -> None:
        with closing(psycopg2.connect(self.url())) as connection:
            connection.autocommit = True  # databases are created outside a transaction
            with connection.cursor() as cursor:
                cursor.execute(statement)


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> SharedServer:
    """The run's PostgreSQL server, started when first asked for."""
    return SharedServer(request.config.stash[_folder])


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """`sqlite` or `postgres`: a test that asks for it runs once on each."""
    return str(request.param)


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh, empty database of the test's own; gone when the test is over."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'rivulet.db'}"
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    url = server.create()
    yield url
    server.drop(url)


class Templates:
    """A database of each kind that has the tables and nothing in them, made when first asked for."""

    def __init__(self, folder: Path, new_postgres: Callable[[], str]) -> None:
        self._folder = folder
        self._new_postgres = new_postgres
        self._made: dict[str, str] = {}

    def url(self, kind: str) -> str:
        """Return where the one of a kind is; nobody is connected to it."""
        if kind not in self._made:
            made = self._new_postgres() if kind == "postgres" else f"sqlite:///{self._folder / 'tables.db'}"
            database = Database(made, data_dir=self._folder, clock=SystemClock())
            database.open()
            database.close()
            self._made[kind] = made
        return self._made[kind]


@pytest.fixture(scope="session")
def templates(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """What databases with tables are copied from."""
    return Templates(
        tmp_path_factory.mktemp("tables"), lambda: request.getfixturevalue("postgres_server").create()
    )


@pytest.fixture
def sqlite_tables_url(templates: Templates, tmp_path: Path) -> str:
    """The URL of an SQLite database of the test's own that has the tables already."""
    file = tmp_path / "rivulet.db"
    shutil.copy(templates.url("sqlite").removeprefix("sqlite:///"), file)
    return f"sqlite:///{file}"


@pytest.fixture
def tables_url(database_kind: str, templates: Templates, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database of the test's own that has the tables already; gone when the test is over."""
    if database_kind == "sqlite":
        yield request.getfixturevalue("sqlite_tables_url")
        return
    server: SharedServer = request.getfixturevalue("postgres_server")
    url = server.create(templates.url("postgres"))
    yield url
    server.drop(url)


def pytest_configure(config: pytest.Config) -> None:
    """Make the run's folder and hold its pipe; a worker is told the folder by the process that started it."""
    worker_input = getattr(config, "workerinput", None)
    if worker_input is not None:
        config.stash[_folder] = Path(worker_input["postgres_folder"])
        return
    folder = Path(tempfile.mkdtemp(prefix="rivulet-postgres-"))
    folder.chmod(0o711)  # the server's own user must reach its data folder
    os.mkfifo(folder / "alive")
    config.stash[_folder] = folder
    config.stash[_pipe] = os.open(folder / "alive", os.O_RDWR)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell an xdist worker where the shared server lives."""
    node.workerinput["postgres_folder"] = str(node.config.stash[_folder])  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the guard stop the server and wait until it has; remove the folder."""
    pipe = config.stash.get(_pipe, None)
    if pipe is None:
        return
    folder = config.stash[_folder]
    os.close(pipe)
    if (folder / "url").exists():
        until(lambda: not (folder / "url").exists(), STOP_SECONDS, "PostgreSQL's stop")
    shutil.rmtree(folder, ignore_errors=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note a test's database, for the counts at the end and for `-m postgres`."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    kind = parameters.get("database_kind")
    if kind is None:
        return
    item.user_properties.append(("database", kind))
    if kind == "postgres":
        item.add_marker(pytest.mark.postgres)
