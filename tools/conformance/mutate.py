"""Switches behaviours off, one at a time, in a copy of the program, and runs the tests that should notice."""

import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic, sleep
from typing import NoReturn

import pytest

from tools.conformance.catalog import ROOT, Proof

# Longest run of the tests of one proof, and of all of them before anything is switched off.
ONE_SECONDS = 120
ALL_SECONDS = 1800
LOOK_SECONDS = 0.05
# What takes long to read and stays the same; each run begins as a copy of a process that has read it.
PACKAGES = (
    *(
        "alembic.command",
        "apscheduler.schedulers.background",
        "diskcache",
        "flask",
        "hypothesis",
        "loguru",
        "pebble",
    ),
    *(
        "prometheus_client",
        "psycopg2",
        "pydantic",
        "pytest_httpserver",
        "requests",
        "RTN",
        "sqlalchemy.orm",
        "waitress",
    ),
)
# What pytest says at its end when tests have failed; warnings may follow it.
SUMMARY = re.compile(r"^\d+ failed\b.*$", re.MULTILINE)
# What pytest answers when all tests passed, and when some failed.
PASSED, FAILED = 0, 1


class Verdict(StrEnum):
    """What became of a change. Only `killed` is well."""

    KILLED = "killed"
    SURVIVED = "survived"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Trial:
    """One change tried. said: the last line of pytest."""

    proof: Proof
    verdict: Verdict
    seconds: float
    said: str


@contextmanager
def copy_of(root: Path = ROOT) -> Iterator[Path]:
    """Give a copy of what git knows of, with its changes, in a temporary folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    with tempfile.TemporaryDirectory(prefix="rivulet-conformance-") as base:
        folder = Path(base, "copy")
        for name in filter(None, listed.split("\0")):
            if (root / name).is_file():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        yield folder


def warm_up() -> None:
    """Read the packages that every run needs."""
    for name in PACKAGES:
        importlib.import_module(name)


def passing(folder: Path, proofs: Iterable[Proof]) -> str | None:
    """Return None when every test passes while nothing is switched off, else what pytest said."""
    tests = sorted({test for proof in proofs for test in proof.tests})
    code, said = _pytest(folder, tests, ALL_SECONDS)
    return None if code == PASSED else said


def trial(folder: Path, proof: Proof) -> Trial:
    """Switch off what a proof is about, run its tests, and switch it on again."""
    path, began = folder / proof.file, monotonic()
    before = path.read_text(encoding="utf-8")
    _write(path, proof.changed(before))
    try:
        code, said = _pytest(folder, ("-x", *proof.tests), ONE_SECONDS)
    finally:
        _write(path, before)
    summary = SUMMARY.search(said)
    last = summary[0] if summary else said.strip().splitlines()[-1]
    return Trial(proof, verdict_of(code, said), monotonic() - began, last)


def verdict_of(code: int, said: str) -> Verdict:
    """Return what pytest's answer means; a test that could not even begin has noticed nothing in particular."""
    if code == PASSED:
        return Verdict.SURVIVED
    return Verdict.KILLED if code == FAILED and SUMMARY.search(said) else Verdict.BROKEN


def _write(path: Path, text: str) -> None:
    """Write a file; what Python had compiled of it goes, since two changes within a second look alike to it."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _pytest(folder: Path, arguments: Iterable[str], seconds: float) -> tuple[int, str]:
    """Return pytest's exit code and what it said. A test that goes on too long has failed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        child = os.fork()
        if child == 0:
            _be_pytest(folder, arguments, said.fileno())
        code = _end_of(child, seconds)
        _take_away_mounts(folder.parent)
        said.seek(0)
        return code, said.read().strip() or f"1 failed: not at an end after {seconds:g} s"


def _be_pytest(folder: Path, arguments: Iterable[str], output: int) -> NoReturn:
    """Run tests in this process, which has read the packages but nothing of the program yet, and end it."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    sys.path[:] = [path for path in sys.path if path not in ("", str(ROOT))]
    how = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0", "--tb=line", "--timeout=60"]
    # Its own plugins are among the packages that are read already.
    how += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    how.append(f"--basetemp={folder.parent / f'tests-{os.getpid()}'}")
    code = 2
    try:
        code = int(pytest.main([*how, *arguments]))
    except BaseException:  # noqa: BLE001 - boundary: the child says what happened and ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_of(child: int, seconds: float) -> int:
    """Return a child's exit code; end it and what it started when that takes too long."""
    end = monotonic() + seconds
    while monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        sleep(LOOK_SECONDS)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return FAILED


def _take_away_mounts(below: Path) -> None:
    """Take away what is still mounted below a folder: a mount that stays may be just what a change brings about."""
    mounted = [line.split()[1] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    for path in (path for path in mounted if Path(path).is_relative_to(below)):
        for command in (["fusermount3", "-u", "-z", path], ["umount", "-l", path]):
            if (
                shutil.which(command[0])
                and not subprocess.run(command, check=False, capture_output=True).returncode
            ):
                break
