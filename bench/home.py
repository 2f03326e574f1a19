"""The real program in a process of its own, with a library that is there already and no provider."""

import http.client
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import requests

from bench.library import fill
from program.clock import SystemClock
from program.db.engine import Database
from program.demo.launch import Installation, Running, free_port

# Whoever looks at the pages here made it up.
PASSWORD = "correct horse battery"  # noqa: S105
CALL_SECONDS = 60
OK = 200


def installed(folder: Path, rows: int, settings: Mapping[str, object] | None = None) -> Installation:
    """Return an installation below `folder` with a library of about so many items. settings: sections to add."""
    made = Installation(folder, folder / "mount", free_port(), secrets.token_hex(16))
    made.mount.mkdir(parents=True)
    made.config.mkdir()
    document = {
        "api_key": made.key,
        "api": {"host": "127.0.0.1", "port": made.port},
        "vfs": {"mount_path": str(made.mount), "cache_dir": str(folder / "cache")},
        "log": {"to_file": False, "level": "WARNING"},
        **(settings or {}),
    }
    (made.config / "settings.json").write_text(json.dumps(document), encoding="utf-8")
    clock = SystemClock()
    db = Database(f"sqlite:///{made.config / 'rivulet.db'}", data_dir=made.config, clock=clock)
    db.open()
    if rows:
        fill(db, rows, datetime.now(UTC))
    db.close()
    return made


@contextmanager
def running(made: Installation) -> Iterator[Running]:
    """Run the program until the block ends; it is ready when the block begins."""
    program = Running(made)
    try:
        program.wait_ready(CALL_SECONDS)
        yield program
    finally:
        program.stop()


def signed_in(made: Installation) -> Mapping[str, str]:
    """Set the password of a fresh home and return the header of somebody who is signed in."""
    with requests.Session() as session:
        page = session.get(f"{made.api}/welcome", timeout=CALL_SECONDS)
        token = re.search(r'name="csrf[^"]*" value="([^"]+)"', page.text)
        form = {"password": PASSWORD, "again": PASSWORD, **({"csrf": token[1]} if token else {})}
        session.post(f"{made.api}/welcome", data=form, timeout=CALL_SECONDS).raise_for_status()
        return {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in session.cookies)}


class Caller:
    """One connection that stays open, as a page's or a client's does."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CALL_SECONDS)
        self._headers = dict(headers or {})

    def get(self, path: str) -> bytes:
        """Return the body of an answer; raise RuntimeError when it is not 200."""
        self._connection.request("GET", path, headers=self._headers)
        with self._connection.getresponse() as answer:
            body = answer.read()
        if answer.status != OK:
            raise RuntimeError(f"GET {path}: {answer.status} {body[:200]!r}")
        return body

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
