"""What a start cannot do without: it ends with one sentence, an exit code that is not 0, and nothing left behind."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from program.clock import SystemClock
from program.db.connect import engine_for
from program.db.engine import Database
from program.db.url import parse
from program.demo.launch import call, is_mounted
from tests.support.commands import Ended, command, write_settings
from tests.support.databases import SharedServer
from tests.support.stage import Stage

CANNOT_START = 2
# A /dev without fuse, made of the few files that a program needs.
WITHOUT_FUSE = """
set -e
mount -t tmpfs none "$0"
for name in null zero random urandom; do touch "$0/$name"; mount --bind "/dev/$name" "$0/$name"; done
mount --rbind "$0" /dev
exec "$@"
"""


def refused(folder: Path, changes: Mapping[str, Any], **how: Any) -> str:
    """Start with these settings and return the sentence that it ends with; nothing is left behind."""
    config = write_settings(folder, changes)
    ended = command(config, "run", **how)
    assert_refused(ended)
    assert not is_mounted(folder / "mount")
    settings = json.loads((config / "settings.json").read_text())
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Raises when something still listens there.
        probe.bind(("127.0.0.1", settings["api"]["port"]))
    return ended.sentence


def assert_refused(ended: Ended) -> None:
    assert ended.code == CANNOT_START
    assert ended.sentence.startswith("rivulet: ")
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scraping.torrrentio": {"enabled": True}}, ["scraping.torrrentio", "unknown key", "torrentio?"]),
        ({"queue.workers": "many"}, ["queue.workers", "whole number", "many"]),
        ({"indexing.tmdb": {"enabled": True, "url": "no url"}}, ["indexing.tmdb.url", "is not a URL"]),
    ],
    ids=["an unknown key", "a wrong type", "a bad address"],
)
def test_a_wrong_setting_is_named_with_its_path_in_the_file(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    config = write_settings(tmp_path, changes)
    ended = command(config, "run")
    assert_refused(ended)
    assert all(word in ended.sentence for word in ["settings.json", *words])
    assert ended.err.count("\n") == 1, "one sentence and nothing else"
    assert sorted(config.iterdir()) == [config / "settings.json"]


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ended = command(write_settings(tmp_path, {"api.port": port}), "run")
    assert_refused(ended)
    assert f"127.0.0.1:{port}" in ended.sentence
    assert "api.port" in ended.sentence
    assert not is_mounted(tmp_path / "mount")


def test_a_missing_dev_fuse_is_named_with_what_to_do(tmp_path: Path) -> None:
    dev = tmp_path / "dev"
    dev.mkdir()
    namespace = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
    sentence = refused(tmp_path, {}, before=[*namespace, "sh", "-c", WITHOUT_FUSE, str(dev)])
    assert "/dev/fuse is missing" in sentence
    assert "modprobe fuse" in sentence


@pytest.mark.parametrize(
    ("mount", "word"),
    [("taken", "is not empty"), ("file", "Not a directory"), ("file/below", "Not a directory")],
)
def test_a_mount_path_that_cannot_be_used_is_named(tmp_path: Path, mount: str, word: str) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "holiday.mkv").write_bytes(b"mine")
    (tmp_path / "file").write_text("mine")
    sentence = refused(tmp_path, {"vfs.mount_path": str(tmp_path / mount)})
    assert f"vfs.mount_path: {tmp_path / mount}" in sentence
    assert word in sentence
    assert (tmp_path / "taken" / "holiday.mkv").read_bytes() == b"mine"
    assert (tmp_path / "file").read_text() == "mine"


def test_a_database_that_cannot_be_reached_is_named_without_its_password(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        address = f"postgresql://keeper:open-sesame@127.0.0.1:{port}/library"
        config = write_settings(tmp_path, {"database.url": address})
        ended = command(config, "run")
    assert_refused(ended)
    assert f"127.0.0.1:{port}/library" in ended.sentence
    assert "Connection refused" in ended.sentence
    assert "open-sesame" not in ended.err


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    config = write_settings(tmp_path, {})
    file = config / "rivulet.db"
    file.write_bytes(b"my diary, not a database. " * 100)
    ended = command(config, "run")
    assert_refused(ended)
    assert "is not a database" in ended.sentence
    assert file.read_bytes() == b"my diary, not a database. " * 100


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_newer_database_is_refused_and_left_as_it_is(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'newer.db'}"
    if kind == "postgres":
        server: SharedServer = request.getfixturevalue("postgres_server")
        url = server.create()
        request.addfinalizer(lambda: server.drop(url))
    database = Database(url, data_dir=tmp_path, clock=SystemClock())
    database.open()
    database.close()
    set_revision(url, "9999")
    sentence = refused(tmp_path, {"database.url": url})
    assert "newer version of Rivulet (revision 9999)" in sentence
    assert set_revision(url, "9999") == "9999"


def set_revision(url: str, revision: str) -> str:
    """Write the revision of a database and return what it was."""
    engine = engine_for(parse(url))
    try:
        with engine.connect().execution_options(rivulet_writes=True) as connection:
            before = str(connection.scalar(text("SELECT version_num FROM alembic_version")))
            connection.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": revision})
            connection.commit()
    finally:
        engine.dispose()
    return before


def test_a_second_program_on_the_same_folder_refuses_and_the_first_goes_on(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.start_program()
        config = stage.installation.config
        wipe = {"RIVULET_STARTUP__UNSAFE_WIPE_DATABASE_ON_STARTUP": "true", "RIVULET_API__PORT": "1"}
        ended = command(config, "run", env=wipe)
        assert_refused(ended)
        assert f"another Rivulet runs with the config folder {config}" in ended.sentence
        assert call("GET", f"{stage.installation.api}/health").status == 200
        assert is_mounted(stage.mount)
        stage.kill_program()
        # What a killed program held is free at once.
        stage.start_program()
