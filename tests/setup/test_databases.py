"""The database fixture itself: what every test on both databases relies on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tests.support.databases import SharedServer


def make_a_table(kind: str, url: str) -> None:
    connection = (
        psycopg2.connect(url) if kind == "postgres" else sqlite3.connect(url.removeprefix("sqlite:///"))
    )
    with closing(connection), connection:
        connection.cursor().execute("CREATE TABLE film (title TEXT)")


@pytest.mark.parametrize("run", [1, 2])
def test_every_test_gets_an_empty_database_of_its_own(
    database_kind: str, database_url: str, run: int
) -> None:
    make_a_table(database_kind, database_url)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_sqlite_address_names_a_file_in_the_tests_own_folder(database_url: str, tmp_path: Path) -> None:
    assert database_url == f"sqlite:///{tmp_path}/rivulet.db"
    assert database_url.startswith("sqlite:////")


@pytest.mark.postgres
def test_a_dropped_database_is_gone_even_while_somebody_is_connected(postgres_server: SharedServer) -> None:
    url = postgres_server.create()
    with closing(psycopg2.connect(url)):
        postgres_server.drop(url)
        with pytest.raises(psycopg2.OperationalError, match="does not exist"):
            psycopg2.connect(url)


@pytest.mark.postgres
def test_all_workers_use_one_server(postgres_server: SharedServer) -> None:
    assert SharedServer(postgres_server.folder).url() == postgres_server.url()
