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


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\n\n@pytest.mark.skip(reason='not today')\ndef test_one(): pass\n",
        "import pytest\n\ndef test_one(): pytest.skip('not today')\n",
        "import pytest\n\n@pytest.fixture\ndef lazy(): pytest.skip('not today')\n\ndef test_one(lazy): pass\n",
        "import pytest\n\npytest.skip('not today', allow_module_level=True)\n",
    ],
    ids=["by mark", "in the test", "in a fixture", "a whole file"],
)
def test_a_skip_fails_the_run_and_its_reason_is_shown(tmp_path: Path, source: str) -> None:
    run = run_pytest(tmp_path, source)
    assert run.returncode != 0, run.stdout
    assert "not on the short list" in run.stdout
    assert "not today" in run.stdout


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
