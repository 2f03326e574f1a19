"""What CI runs, and that its exit code is honest; `make` is a stand-in here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("failing", "code"), [("nothing", 0), ("lint", 2), ("test", 2)])
def test_ci_runs_lint_and_then_the_tests_and_fails_when_either_does(
    tmp_path: Path, failing: str, code: int
) -> None:
    calls = tmp_path / "calls"
    (tmp_path / "make").write_text(f'#!/bin/sh\necho "$PWD $1" >>{calls}\n[ "$1" != {failing} ] || exit 2\n')
    (tmp_path / "make").chmod(0o755)
    run = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run")],
        check=False,
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "CI": "true"},
        stdin=subprocess.DEVNULL,
        timeout=30,
    )
    assert run.returncode == code
    assert calls.read_text().splitlines() == [f"{ROOT} lint", f"{ROOT} test"]
