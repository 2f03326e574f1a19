"""Switches behaviours off, one at a time, in a copy of the program, and runs the tests that should notice."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic

from tools.conformance.catalog import ROOT, Proof

# Longest run of the tests of one proof, and of all of them before anything is switched off.
ONE_SECONDS = 120
ALL_SECONDS = 1800
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
    with tempfile.TemporaryDirectory(prefix="rivulet-conformance-") as folder:
        for name in filter(None, listed.split("\0")):
            if (root / name).is_file():
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        yield Path(folder)


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
        code, said = _pytest(folder, proof.tests, ONE_SECONDS)
    finally:
        _write(path, before)
    return Trial(proof, _verdict(code, said), monotonic() - began, said.strip().splitlines()[-1])


def _verdict(code: int, said: str) -> Verdict:
    """Return what pytest's answer means; a test that could not even begin has noticed nothing in particular."""
    if code == PASSED:
        return Verdict.SURVIVED
    return Verdict.KILLED if code == FAILED and " failed" in said.strip().splitlines()[-1] else Verdict.BROKEN


def _write(path: Path, text: str) -> None:
    """Write a file; what Python had compiled of it goes, since two changes within a second look alike to it."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _pytest(folder: Path, tests: Iterable[str], seconds: float) -> tuple[int, str]:
    """Return pytest's exit code and what it said. A test that goes on too long has failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["-n", "0", "--tb=no", "--timeout=60", *tests]
    try:
        ran = subprocess.run(
            command, cwd=folder, check=False, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"1 failed: not at an end after {seconds:g} s"
    return ran.returncode, ran.stdout + ran.stderr or "pytest said nothing"
