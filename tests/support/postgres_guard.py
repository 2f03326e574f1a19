"""Runs one PostgreSQL server in a folder until the test run that wants it is gone.

Usage: postgres_guard.py FOLDER, where FOLDER/alive is a named pipe that the test run holds open. Writes FOLDER/url when
the server answers, removes it when the server has stopped. The standard library only.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from pathlib import Path

# The port is chosen by asking for a free one; somebody else may take it before the server does.
TRIES = 3
SPEED = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
}


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs, newest version first; SystemExit with a sentence if absent."""
    found = shutil.which(name)
    if found and Path(found).resolve().name == name:
        return found
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    newest = sorted(versions, key=lambda path: int(path.parts[-3]), reverse=True)
    if not newest:
        sys.exit("PostgreSQL is not installed: run 'make test', or install the package 'postgresql'")
    return str(newest[0])


def run(*command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end; as the user `postgres` when we are root, since initdb refuses root."""
    if os.geteuid() == 0:
        return subprocess.run(
            command, check=False, cwd="/", user="postgres", group="postgres", extra_groups=[]
        )
    return subprocess.run(command, check=False, cwd="/")


def free_port() -> int:
    """Return a loopback port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def create_cluster(data: Path, password_file: Path) -> None:
    """Make the server's files; SystemExit when initdb fails."""
    command = [
        "--username=rivulet",
        f"--pwfile={password_file}",
        "--auth=password",
        "--encoding=UTF8",
        "--locale=C",
    ]
    if run(program("initdb"), "-D", str(data), *command, "--no-sync").returncode:
        sys.exit("initdb failed")


def start(home: Path, data: Path) -> int:
    """Start the server and return its port; SystemExit when it does not answer."""
    options = " ".join(f"-c {name}={value}" for name, value in SPEED.items())
    for _ in range(TRIES):
        port = free_port()
        listen = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home} {options}"
        log = ["-l", str(home / "server.log")]
        if (
            run(program("pg_ctl"), "-D", str(data), *log, "-o", listen, "-w", "-t", "60", "start").returncode
            == 0
        ):
            return port
    sys.exit(f"the server did not start:\n{(home / 'server.log').read_text()}")


def main(folder: Path) -> None:
    """Serve until the pipe's other end is closed."""
    home = folder / "server"
    home.mkdir(mode=0o700)
    password = secrets.token_hex(8)
    (home / "password").write_text(password)
    if os.geteuid() == 0:
        for path in (home, home / "password"):
            shutil.chown(path, "postgres", "postgres")
    data = home / "data"
    create_cluster(data, home / "password")
    port = start(home, data)
    url, half_written = folder / "url", folder / "url.new"
    half_written.write_text(f"postgresql://rivulet:{password}@127.0.0.1:{port}/postgres")
    half_written.rename(url)
    try:
        with (folder / "alive").open("rb") as pipe:
            pipe.read()
    finally:
        run(program("pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
        # The run waits for this, then removes the folder too; when it was killed, nobody else does.
        url.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
