"""A backup that is uploaded: checked before it is kept, of somebody who may, and nothing is replaced by it."""

from __future__ import annotations

import io
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.api.home import KEY, Home
from tests.web.visitor import Visitor

MIB = 1024 * 1024
PATH = "/database/backup/upload"

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def saved(home: Home) -> bytes:
    """A copy as somebody has it on a disk of their own; here it is gone."""
    name = home.post("/database/backup")["filename"]
    content = home.call("GET", f"/database/backup/download/{name}").content
    home.call("DELETE", f"/database/backup/clean?filename={name}")
    return content


def changed(content: bytes, tmp_path: Path, *statements: str) -> bytes:
    """A SQLite copy in which something was done."""
    file = tmp_path / "changed.db"
    file.write_bytes(content)
    with closing(sqlite3.connect(file)) as opened:
        for statement in statements:
            opened.execute(statement)
        opened.commit()
    return file.read_bytes()


def kept(home: Home) -> list[str]:
    return [one["filename"] for one in home.get("/database/backups")["backups"]]


def test_a_sound_copy_is_kept_and_can_be_put_in_place(home: Home) -> None:
    content = saved(home)
    answer = home.call("POST", PATH, data=content)
    assert answer.status_code == 200, answer.text
    assert kept(home) == [answer.json()["filename"]]
    home.post("/database/restore", {"filename": answer.json()["filename"]})
    assert home.get("/database/backups")["at_next_start"] == answer.json()["filename"]
    assert home.call("DELETE", "/database/restore").json()["message"] == "The database stays as it is"
    assert home.get("/database/backups")["at_next_start"] is None
    assert list((home.store.folder / "backups").glob(".*")) == []


Make = Callable[[bytes, Path], bytes]
REFUSED: tuple[tuple[Make, str], ...] = (
    (lambda _content, _: b"hello", "this is no copy of a database"),
    (lambda content, _: content[: len(content) // 2], "is no database of Rivulet, or damaged"),
    (
        lambda _content, _: b"PGDMP" + bytes(100),
        "is a dump of PostgreSQL, and the database in use is SQLite",
    ),
    (lambda content, to: changed(content, to, "drop table alembic_version"), "is no database of Rivulet"),
    (
        lambda content, to: changed(content, to, "update alembic_version set version_num='9999'"),
        "a newer version",
    ),
    (
        lambda content, to: changed(content, to, "alter table stream rename to other"),
        "it has no table stream",
    ),
    (
        lambda content, to: changed(
            content,
            to,
            "create trigger surprise after insert on stream begin delete from media_item; end",
        ),
        "holds surprise, which no database of Rivulet does",
    ),
)


@on_sqlite
def test_what_could_not_be_put_in_place_is_refused_and_not_kept(home: Home, tmp_path: Path) -> None:
    content = saved(home)
    for make, reason in REFUSED:
        status, said = home.refused("POST", PATH, data=make(content, tmp_path))
        assert status == 409
        assert reason in said
    assert kept(home) == []
    assert list((home.store.folder / "backups").iterdir()) == []


@on_sqlite
def test_a_file_larger_than_the_setting_is_refused(home: Home) -> None:
    home.use(api={"max_upload_mib": 1})
    status, said = home.refused("POST", PATH, data=b"SQLite format 3\0" + bytes(MIB))
    assert status in (409, 413)
    assert "1 MiB" in said or "larger than" in said
    assert kept(home) == []


@on_sqlite
def test_a_large_file_is_taken_of_who_has_the_key_and_cut_off_before_it_is_read_of_anybody_else(
    home: Home,
) -> None:
    large = b"SQLite format 3\0" + bytes(20 * MIB)
    assert home.refused("POST", PATH, data=large)[0] == 409
    for key in ("", "wrong"):
        head = f"POST /api/v1{PATH} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nContent-Length: {len(large)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", home.server.port), timeout=10) as raw:
            raw.sendall(head.encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


@on_sqlite
def test_the_key_opens_no_other_path_to_large_bodies(home: Home) -> None:
    head = f"POST /api/v1/items/add HTTP/1.1\r\nHost: x\r\nX-Api-Key: {KEY}\r\nContent-Length: {20 * MIB}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", home.server.port), timeout=10) as raw:
        raw.sendall(head.encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


@on_sqlite
def test_an_empty_body_is_no_file(home: Home) -> None:
    assert home.refused("POST", PATH) == (400, "body: it is empty; send the file itself")


@on_sqlite
def test_on_the_page_a_file_is_taken_in_whatever_it_is_called(home: Home) -> None:
    content = saved(home)
    owner = Visitor(home.server.port)
    owner.arrive()
    page = owner.open("/backups")
    token = dict(page.seen.form("/backups/upload").fields)["csrf"]

    def send(name: str, body: bytes, csrf: str = token) -> tuple[int, str]:
        files = {"file": (name, io.BytesIO(body))}
        answer = owner.post("/backups/upload", {"csrf": csrf}, files=files)
        return answer.status, answer.text

    assert send("../../settings.json", content)[0] == 200
    assert [name.startswith("rivulet-") for name in kept(home)] == [True]
    assert (home.store.folder / "settings.json").read_text().startswith("{")
    status, said = send("holiday.jpg", b"\xff\xd8\xff" + bytes(20 * MIB))
    assert status == 409
    assert "Nothing was taken in: this is no copy of a database" in said
    assert send("", b"")[0] == 422
    assert send("copy.db", content, csrf="wrong")[0] == 400
    assert len(kept(home)) == 1
    owner.close()


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_a_dump_that_brings_code_is_refused(home: Home) -> None:
    with home.library.db.write() as tx:
        tx.connection.exec_driver_sql("create function surprise() returns int language sql as 'select 1'")
    status, said = home.refused("POST", PATH, data=saved(home))
    assert status == 409
    assert "holds function public surprise()" in said
    assert kept(home) == []
