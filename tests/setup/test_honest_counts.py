"""Skips are failures, and the counts per database are right: shown by test runs of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wait import until

ROOT = Path(__file__).parents[2]
PLUGINS = ("-p", "tests.support.databases", "-p", "tests.support.honest_counts")


def run_pytest(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the given test file by itself, with our plugins and nothing else of this repository."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = postgres: needs it\n")
    (folder / "test_inner.py").write_text(source)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", *PLUGINS, "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


SKIPPED = {
    "by_mark": "import pytest\n\n@pytest.mark.skip(reason='not today')\ndef test_one(): pass\n",
    "in_the_test": "import pytest\n\ndef test_one(): pytest.skip('not now')\n",
    "in_a_fixture": (
        "import pytest\n\n@pytest.fixture\ndef lazy(): pytest.skip('not here')\n\ndef test_one(lazy): pass\n"
    ),
    "a_whole_file": "import pytest\n\npytest.skip('not at all', allow_module_level=True)\n",
}


def test_each_kind_of_skip_fails_the_run_and_its_reason_is_shown(tmp_path: Path) -> None:
    for kind, source in SKIPPED.items():
        (tmp_path / f"test_{kind}.py").write_text(source)
    run = run_pytest(tmp_path, "def test_that_is_run(): pass\n", "--continue-on-collection-errors")
    assert run.returncode != 0, run.stdout
    told = [line for line in run.stdout.splitlines() if "not on the short list" in line]
    for reason in ("not today", "not now", "not here", "not at all"):
        assert any(reason in line for line in told), run.stdout


def test_an_expected_failure_is_not_mistaken_for_a_skip(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, "import pytest\n\n@pytest.mark.xfail\ndef test_one(): assert False\n")
    assert run.returncode == 0, run.stdout
    assert "1 xfailed" in run.stdout


COUNTED = """
def test_without(): pass
def test_with(database_url): pass
def test_broken(database_kind): assert database_kind == "sqlite"
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_run_says_how_many_tests_ended_how_on_each_database(tmp_path: Path, processes: str) -> None:
    run = run_pytest(tmp_path, COUNTED, "-n", processes)
    lines = re.findall(r"^database (\w+) +(.*)$", run.stdout, re.MULTILINE)
    assert lines == [
        ("none", "1 passed, 0 failed, 0 skipped"),
        ("sqlite", "2 passed, 0 failed, 0 skipped"),
        ("postgres", "1 passed, 1 failed, 0 skipped"),
    ], run.stdout + run.stderr


def test_a_test_whose_clean_up_fails_counts_as_failed_once(tmp_path: Path) -> None:
    source = "import pytest\n\n@pytest.fixture\ndef dirty():\n    yield\n    assert False\n\ndef test_one(dirty): pass\n"
    run = run_pytest(tmp_path, source)
    assert re.search(r"^database none +0 passed, 1 failed, 0 skipped$", run.stdout, re.MULTILINE), run.stdout


KILLED = """
import os, pathlib, signal
def test_one(postgres_server):
    postgres_server.url()
    pathlib.Path("where").write_text(str(postgres_server.folder))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_neither_a_server_nor_files(tmp_path: Path) -> None:
    run_pytest(tmp_path, KILLED, "-n", "0")
    folder = Path((tmp_path / "where").read_text())
    until(lambda: not folder.exists(), 30, "the end of the orphaned server")
