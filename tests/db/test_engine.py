"""Transactions: what a reader sees, what a writer leaves, and what a busy or broken database becomes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy import QueuePool, insert, select, text
from sqlalchemy.exc import SQLAlchemyError, StatementError

from program.clock import ManualClock
from program.db import connect, engine
from program.db.connect import engine_for
from program.db.engine import Database
from program.db.tables import ProviderStatus
from program.db.url import parse
from program.errors import StartupError, Transient
from tests.db.library import FILM, NOW, Library, wish
from tests.support.wait import until

only_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
only_postgres = pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)


@pytest.fixture
def library(db: Database, clock: ManualClock) -> Library:
    return Library(db, clock)


def put(db: Database, key: str, until_: datetime | None = None) -> None:
    with db.write() as tx:
        tx.connection.execute(insert(ProviderStatus).values(key=key, level=0, reason="", paused_until=until_))


def keys(db: Database) -> set[str]:
    with db.read() as tx:
        return set(tx.connection.scalars(select(ProviderStatus.key)))


class TestAddress:
    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
    def test_every_spelling_of_postgres_reaches_psycopg2(self, scheme: str) -> None:
        assert parse(f"{scheme}://ada:secret@db/rivulet").drivername == "postgresql+psycopg2"

    @pytest.mark.parametrize(
        "url", ["postgres://ada:secret@127.0.0.1:1/rivulet", "sqlite:///{folder}/rivulet.db"]
    )
    def test_connections_to_either_database_are_kept_in_a_pool(self, url: str, tmp_path: Path) -> None:
        engine = engine_for(parse(url.format(folder=tmp_path)))
        assert isinstance(engine.pool, QueuePool)
        assert engine.pool.size() == 20
        engine.dispose()

    @pytest.mark.parametrize("url", ["mysql://host/db", "sqlite://", "sqlite:///:memory:", "nonsense"])
    def test_anything_else_is_refused_with_a_sentence(self, url: str) -> None:
        with pytest.raises(StartupError, match=r"database\.url"):
            parse(url)

    def test_an_unreachable_server_is_one_sentence_without_the_password(self, tmp_path: Path) -> None:
        db = Database("postgres://ada:hunter22@127.0.0.1:1/x", data_dir=tmp_path, clock=ManualClock(NOW))
        with pytest.raises(StartupError, match="cannot be used") as caught:
            db.open()
        assert "hunter22" not in str(caught.value)
        assert "refused" in str(caught.value)

    def test_a_file_that_is_no_database_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "rivulet.db").write_text("a shopping list, much longer than a header" * 50)
        db = Database(f"sqlite:///{tmp_path}/rivulet.db", data_dir=tmp_path, clock=ManualClock(NOW))
        with pytest.raises(StartupError, match="not a database"):
            db.open()

    def test_a_folder_that_is_missing_is_made(self, tmp_path: Path) -> None:
        db = Database(f"sqlite:///{tmp_path}/new/rivulet.db", data_dir=tmp_path, clock=ManualClock(NOW))
        db.open()
        assert db.healthy()
        db.close()

    def test_a_folder_that_cannot_be_made_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        db = Database(f"sqlite:///{tmp_path}/file/r.db", data_dir=tmp_path, clock=ManualClock(NOW))
        with pytest.raises(StartupError, match="cannot be used"):
            db.open()


class TestWriting:
    def test_what_is_written_is_there_afterwards(self, db: Database) -> None:
        put(db, "tmdb")
        assert keys(db) == {"tmdb"}

    def test_an_exception_undoes_everything_and_comes_out_as_it_was(self, db: Database) -> None:
        def half() -> None:
            with db.write() as tx:
                tx.connection.execute(insert(ProviderStatus).values(key="tmdb", level=0, reason=""))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            half()
        assert keys(db) == set()

    def test_listeners_hear_of_a_commit_and_may_write_themselves(self, db: Database) -> None:
        heard: list[set[str]] = []

        def listener() -> None:
            heard.append(keys(db))
            if len(heard) == 1:
                put(db, "second")

        db.on_commit(listener)
        put(db, "first")
        assert heard == [{"first"}, {"first", "second"}]

    def test_listeners_hear_nothing_of_what_was_undone_or_read(self, db: Database) -> None:
        heard: list[int] = []
        db.on_commit(lambda: heard.append(1))
        with pytest.raises(ZeroDivisionError), db.write():
            raise ZeroDivisionError
        keys(db)
        assert heard == []

    @only_sqlite
    def test_a_write_within_a_write_is_refused_at_once(self, db: Database) -> None:
        with pytest.raises(RuntimeError, match="within a write"), db.write(), db.write():
            pass

    def test_two_writers_of_one_title_follow_each_other(self, library: Library) -> None:
        film = library.film()
        order: list[str] = []
        started = threading.Event()

        def second() -> None:
            started.set()
            with library.db.write(film):
                order.append("second")

        thread = threading.Thread(target=second)
        with library.db.write(film):
            thread.start()
            assert started.wait(10)
            thread.join(0.2)
            order.append("first")
        thread.join(10)
        assert order == ["first", "second"]

    @only_postgres
    def test_writers_of_different_titles_do_not_wait_on_postgres(self, library: Library) -> None:
        film = library.film()
        (other,) = library.ask(wish(FILM.__class__(tmdb="9")))
        with library.db.write(film):
            thread = threading.Thread(target=library.commit, args=(other.item_id, {}))
            thread.start()
            thread.join(10)
            assert not thread.is_alive()


class TestReading:
    def test_a_reader_sees_one_instant(self, db: Database) -> None:
        with db.read() as tx:
            count = select(ProviderStatus.key)
            assert tx.connection.scalars(count).all() == []
            put(db, "tmdb")
            assert tx.connection.scalars(count).all() == []
        assert keys(db) == {"tmdb"}

    def test_a_reader_cannot_write(self, db: Database) -> None:
        with pytest.raises(SQLAlchemyError, match=r"(?i)read-?only"), db.read() as tx:
            tx.connection.execute(insert(ProviderStatus).values(key="tmdb", level=0, reason=""))
        put(db, "tmdb")


class TestBroken:
    @only_sqlite
    def test_another_process_that_writes_for_long_makes_it_transient(
        self, db: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        db.close()
        monkeypatch.setattr(connect, "BUSY_MILLISECONDS", 20)
        db.open()
        with another_writer(database_url):
            with pytest.raises(Transient, match="busy"):
                put(db, "tmdb")
            assert db.healthy()
        put(db, "tmdb")

    @only_sqlite
    def test_a_writer_that_does_not_end_makes_others_transient(
        self, db: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engine, "WRITE_LOCK_SECONDS", 0.05)
        caught: list[BaseException] = []

        def second() -> None:
            try:
                put(db, "tmdb")
            except Transient as error:
                caught.append(error)

        with db.write():
            thread = threading.Thread(target=second)
            thread.start()
            thread.join(10)
        assert [str(error) for error in caught] == ["the database is busy: another write did not end"]

    @only_postgres
    def test_a_lost_connection_is_transient_and_the_next_try_works(
        self, db: Database, database_url: str
    ) -> None:
        def cut_off() -> None:
            with db.write() as tx:
                end_backend(database_url, tx.connection.scalar(text("SELECT pg_backend_pid()")))
                tx.connection.execute(select(1))

        with pytest.raises(Transient, match=r"connection|stopping"):
            cut_off()
        put(db, "tmdb")
        assert keys(db) == {"tmdb"}

    @only_postgres
    def test_a_lock_that_is_not_had_in_time_is_transient(
        self, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        film = library.film()
        library.db.close()
        monkeypatch.setattr(connect, "LOCK_MILLISECONDS", 50)
        library.db.open()
        with (
            library.db.write(film),
            pytest.raises(Transient, match="not had in time"),
            library.db.write(film),
        ):
            pass

    def test_the_same_row_from_two_writers_is_transient(self, db: Database) -> None:
        put(db, "tmdb")
        with pytest.raises(Transient, match="another write was first"):
            put(db, "tmdb")

    def test_a_mistake_of_ours_is_not_called_transient(self, db: Database) -> None:
        with pytest.raises(SQLAlchemyError), db.write() as tx:
            tx.connection.execute(text("SELECT nothing FROM nowhere"))

    def test_a_closed_database_is_not_healthy(self, db: Database) -> None:
        assert db.healthy()
        db.close()
        db.close()
        assert not db.healthy()

    def test_values_stay_out_of_error_texts(self, db: Database) -> None:
        with pytest.raises(SQLAlchemyError) as caught, db.write() as tx:
            tx.connection.execute(text("SELECT :x FROM nowhere"), {"x": "https://cdn/secret"})
        assert "secret" not in str(caught.value)


class TestValues:
    def test_an_instant_comes_back_aware_and_in_utc(self, db: Database) -> None:
        there = datetime(2031, 5, 1, 14, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
        put(db, "tmdb", there)
        with db.read() as tx:
            back = tx.connection.scalar(select(ProviderStatus.paused_until))
        assert back == there
        assert back is not None
        assert back.tzinfo is UTC

    def test_a_naive_instant_is_refused(self, db: Database) -> None:
        with pytest.raises(StatementError, match="without a time zone"):
            put(db, "tmdb", datetime(2031, 5, 1))  # noqa: DTZ001

    def test_text_no_database_could_store_is_made_storable(self, library: Library) -> None:
        film = library.film(title="Sin\0tel \ud83d")
        assert library.item(film).title == "Sintel ?"


@contextmanager
def another_writer(url: str) -> Iterator[None]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.rollback()


def end_backend(url: str, backend: int) -> None:
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", (backend,))
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", (backend,))

        def is_gone() -> bool:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", (backend,))
            connection.commit()
            return cursor.fetchone() == (0,)

        until(is_gone, 10, "the end of the backend")
