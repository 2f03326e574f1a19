"""`python main.py demo`, run as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from program.demo.launch import ROOT, is_mounted
from tests.support.wait import until

pytestmark = pytest.mark.fuse
SECONDS = 110


def demo(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the demo in a session of its own, with its output on a pipe."""
    return subprocess.Popen(
        [sys.executable, "main.py", "demo", "--keep", str(folder), *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo of one film that stays up."""
    with demo(tmp_path, "--films", "1", "--shows", "0", "--faults", "none") as process:
        yield process
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)


def line_with(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith(word):
            return line.removeprefix(word)
    raise AssertionError(f"no line begins with {word}:\n{''.join(seen)}")


def pids_of(folder: Path) -> list[int]:
    """Return the processes that were started with this folder among their arguments or settings."""
    servers = json.loads((folder / "servers.json").read_text())["pid"]
    return [int(servers), int((folder / "program.pid").read_text())]


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.timeout(150)
def test_the_demo_ends_with_one_object_that_says_that_all_is_well(tmp_path: Path) -> None:
    process = demo(tmp_path, DEMO_EXIT="1")
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, output
    summary: dict[str, Any] = json.loads(output.splitlines()[-1])
    assert list(summary) == [
        "items",
        "completed",
        "unreleased",
        "files_verified",
        "seconds",
        "provider_requests",
    ]
    assert (summary["items"], summary["completed"], summary["unreleased"], summary["files_verified"]) == (
        18,
        17,
        1,
        17,
    )
    assert set(summary["provider_requests"]) == {
        "cdn",
        "jellyfin",
        "overseerr",
        "plex",
        "realdebrid",
        "tmdb",
        "torrentio",
        "tvdb",
    }
    assert summary["seconds"] < 60
    assert "seed 1" in output
    assert not is_mounted(tmp_path / "library")


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_the_demo_stays_up_until_it_is_ended_and_leaves_nothing_behind(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    ready = json.loads(line_with(running, "READY "))
    assert list(ready) == ["api", "key", "mount"]
    assert is_mounted(Path(ready["mount"]))
    assert list(Path(ready["mount"]).rglob("*.mkv"))
    pids = pids_of(tmp_path)
    running.send_signal(signal.SIGINT)
    assert running.wait(SECONDS) == 0
    assert not is_mounted(Path(ready["mount"]))
    assert not any(map(is_alive, pids))


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_a_demo_that_is_killed_leaves_nothing_behind_either(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    ready = json.loads(line_with(running, "READY "))
    pids = pids_of(tmp_path)
    running.kill()
    running.wait(SECONDS)
    until(lambda: not any(map(is_alive, pids)), timeout=40, what="the end of its children")
    assert not is_mounted(Path(ready["mount"]))


def test_a_port_in_use_is_said_in_one_sentence_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = demo(tmp_path, "--port", str(port), DEMO_EXIT="1")
        output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert output.startswith(f"port {port} of this machine is in use")
    assert len(output.splitlines()) == 1
    assert not list(tmp_path.iterdir())
