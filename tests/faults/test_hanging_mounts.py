"""A mount that answers nothing: whoever asks is left behind, and that is never a thread of ours.

A thread that waits for a mount cannot be killed. Were it one of the process that serves the mount, a `kill -9` would leave a
process that never ends and a mount that hangs for everybody.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from program.demo.launch import ROOT, is_mounted, unmount
from program.vfs.kernel import answers, numbers
from tests.support.wait import until


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Path]:
    """A mount whose process does not run on."""
    folder, manifest = tmp_path / "mount", tmp_path / "manifest.json"
    folder.mkdir()
    manifest.write_text(json.dumps([{"path": "a.mkv", "size": 5, "urls": ["http://127.0.0.1:9/a"]}]))
    command = [sys.executable, "main.py", "mount", str(manifest), str(folder)]
    server = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_mounted(folder) and answers(folder, 5.0) is None, 20.0, "the mount")
        os.kill(server.pid, signal.SIGSTOP)
        yield folder
    finally:
        server.kill()
        server.wait(10)
        unmount(folder)


def test_asking_a_mount_that_hangs_ends_in_time_and_leaves_no_thread(hanging: Path) -> None:
    before = threading.active_count()
    assert isinstance(answers(hanging, 0.5), TimeoutError)
    assert threading.active_count() == before


def test_a_mount_that_answers_is_asked_by_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a name with spaces").write_text("x")
    there, not_there = tmp_path / "a name with spaces", tmp_path / "nothing"
    assert answers(tmp_path, 5.0) is None
    missing = answers(not_there, 5.0)
    assert isinstance(missing, FileNotFoundError)
    assert numbers([there, not_there]) == {there: there.stat().st_ino}
