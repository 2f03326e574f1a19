"""A real Redis on loopback for one test run, with nothing on disk."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from program.demo.launch import free_port
from tests.support.wait import until

STOP_SECONDS = 10


@contextmanager
def redis_server(folder: Path) -> Iterator[int]:
    """Yield the port of a Redis that lives as long as the block."""
    # Debian's redis-tools holds the server's executable under the name of a tool; what it does goes by the name it is called by.
    executable = shutil.which("redis-server") or shutil.which("redis-check-rdb")
    assert executable is not None, "Redis is not installed; make test-all installs it"
    port = free_port()
    options = [
        "--bind",
        "127.0.0.1",
        "--port",
        str(port),
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        str(folder),
    ]
    with (folder / "redis.log").open("w") as log:
        server = subprocess.Popen(["redis-server", *options], executable=executable, stdout=log, stderr=log)
        try:
            until(lambda: answers(port), 20, "Redis answers")
            yield port
        finally:
            server.terminate()
            server.wait(STOP_SECONDS)


def answers(port: int) -> bool:
    """Return whether somebody speaks Redis at a port."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
