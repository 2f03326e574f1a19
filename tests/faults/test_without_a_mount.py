"""A program that does not mount: because it is told so, or because the machine does not allow it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from program.demo.launch import ROOT, call, is_mounted
from tests.faults.test_start import WITHOUT_FUSE
from tests.support.commands import command, write_settings
from tests.support.wait import until

# A start takes three seconds, and fifty on a machine that runs other tests on every core.
START_SECONDS = 150
KEY = "key-of-the-owner-0001"
pytestmark = pytest.mark.timeout(300)

UNSHARE = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]


@contextmanager
def running(folder: Path, mode: str, before: Sequence[str] = (), **vfs: str) -> Iterator[str]:
    """Give the address of a program in this mode; it has to end in order. before: a command that runs it; vfs: more settings."""
    more = {f"vfs.{name}": value for name, value in vfs.items()}
    config = write_settings(folder, {"vfs.mode": mode, "api_key": KEY, **more})
    port = json.loads((config / "settings.json").read_text())["api"]["port"]
    env = {**os.environ, "RIVULET_CONFIG": str(config)}
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [*before, sys.executable, "main.py", "run"], cwd=ROOT, env=env, stdout=output, stderr=output
        )
    try:
        api = f"http://127.0.0.1:{port}"
        until(lambda: process.poll() is not None or answers(api), START_SECONDS, "the start")
        assert process.poll() is None, (folder / "output").read_text()
        yield api
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)


def answers(api: str) -> bool:
    try:
        return call("GET", f"{api}/health").status == 200
    except OSError:
        return False


def told(api: str) -> dict[str, Any]:
    """Return what the API says of the file system."""
    found: dict[str, Any] = call("GET", f"{api}/api/v1/lifecycle", headers={"X-Api-Key": KEY}).data["vfs"]
    return found


@pytest.fixture
def without_fuse(tmp_path: Path) -> list[str]:
    """Return what runs a command on a machine that has no /dev/fuse."""
    dev = tmp_path / "dev"
    dev.mkdir()
    return [*UNSHARE, "sh", "-c", WITHOUT_FUSE, str(dev)]


def test_webdav_mounts_nothing_and_serves_the_same_folders(tmp_path: Path) -> None:
    with running(tmp_path, "webdav") as api:
        assert not is_mounted(tmp_path / "mount")
        assert (told(api)["way"], told(api)["why_not_mounted"]) == ("http", None)
        asked = {"X-Api-Key": KEY, "Depth": "1"}
        listed = requests.request("PROPFIND", f"{api}/dav/", headers=asked, timeout=10).text
        assert "/dav/movies/" in listed
        assert "/dav/shows/" in listed
    assert not (tmp_path / "mount").exists()


def test_auto_serves_over_http_where_there_is_no_fuse_and_says_so(
    tmp_path: Path, without_fuse: list[str]
) -> None:
    with running(tmp_path, "auto", without_fuse) as api:
        assert told(api)["way"] == "http"
        assert "/dev/fuse is missing" in told(api)["why_not_mounted"]
        assert call("GET", f"{api}/files/", headers={"X-Api-Key": KEY}).status == 200
        found = command(tmp_path / "config", "check", before=without_fuse)
        assert found.code == 0, found.out
        [line] = [line for line in found.out.splitlines() if "/dev/fuse" in line]
        assert line.startswith("note   mount: /dev/fuse is missing")
        assert line.endswith("the library is served at /dav and /files of the API")
    log = (tmp_path / "output").read_text()
    assert "the library is served at /dav and /files of the API instead" in log
    assert "library at /dav and /files of the API" in log


@pytest.mark.slow
def test_auto_mounts_where_the_machine_allows_it(tmp_path: Path) -> None:
    with running(tmp_path, "auto") as api:
        assert is_mounted(tmp_path / "mount")
        assert (told(api)["way"], told(api)["why_not_mounted"]) == ("fuse", None)
    assert not is_mounted(tmp_path / "mount")


@pytest.mark.slow
def test_strm_mounts_nothing_and_keeps_a_folder_instead(tmp_path: Path) -> None:
    with running(tmp_path, "strm", strm_path=str(tmp_path / "strm")) as api:
        assert told(api)["way"] == "http"
        until((tmp_path / "strm" / "movies").is_dir, what="the folder")
        assert not is_mounted(tmp_path / "mount")
    config = write_settings(tmp_path / "other", {"vfs.mode": "strm"})
    refused = command(config, "run")
    assert "mode strm needs strm_path" in refused.err


def test_a_new_profile_is_a_folder_of_the_mount_without_a_restart(tmp_path: Path) -> None:
    with running(tmp_path, "fuse") as api:
        mount, key = tmp_path / "mount", {"X-Api-Key": KEY}
        assert sorted(child.name for child in mount.iterdir()) == ["movies", "shows"]
        change = {"vfs": {"profiles": {"kids": {"path": "/kids", "rules": {"genres": ["Animation"]}}}}}
        saved = call("POST", f"{api}/api/v1/settings/set/all", change, key)
        assert saved.status == 200, saved.data
        until((mount / "kids" / "movies").is_dir, what="the new folder")
        wrong = {"vfs": {"profiles": {"kids": {"path": "/movies"}}}}
        refused = call("POST", f"{api}/api/v1/settings/set/all", wrong, key)
        assert (refused.status, "vfs.profiles.kids.path" in refused.data["detail"]) == (422, True)
