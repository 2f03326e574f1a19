"""The lock files: no address, every hash, in step with pyproject.toml, and no new GPL package unnoticed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("requirements-build.txt", "requirements.txt", "requirements-dev.txt", "requirements-engine.txt")
WANTED = {
    "requirements-build.txt": ["setuptools"],
    "requirements.txt": PROJECT["project"]["dependencies"],
    "requirements-dev.txt": [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]],
    "requirements-engine.txt": PROJECT["project"]["optional-dependencies"]["engine"],
}
# rank-torrent-name imports it; NOTICE says what follows from that.
KNOWN_GPL = {"levenshtein"}


def locked(lock: str) -> dict[str, str]:
    """Return the versions by name."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def licence(package: str) -> str:
    """Return what the installed package says of its licence, in one line."""
    about = metadata.metadata(package)
    classes = [line for line in about.get_all("Classifier") or [] if line.startswith("License")]
    return " ".join([about.get("License-Expression") or (about.get("License") or "")[:80], *classes])


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    assert "://" not in (ROOT / lock).read_text()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(lock: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z])", (ROOT / lock).read_text())
    assert not [block.splitlines()[0] for block in blocks if "==" in block and "--hash=sha256:" not in block]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_everything_that_pyproject_asks_for(lock: str) -> None:
    versions = locked(lock)
    wanted = [Requirement(line) for line in WANTED[lock]]
    missing = [
        str(one)
        for one in wanted
        if not one.specifier.contains(versions.get(canonicalize_name(one.name), "0"), prereleases=True)
    ]
    assert not missing


def test_the_development_lock_holds_the_programs_versions() -> None:
    program, development = locked("requirements.txt"), locked("requirements-dev.txt")
    assert program.items() <= development.items()


def test_the_lock_of_the_other_engine_can_be_installed_beside_the_development_lock() -> None:
    development = locked("requirements-dev.txt")
    shared = {
        name: version for name, version in locked("requirements-engine.txt").items() if name in development
    }
    assert shared.items() <= development.items()


def test_no_gpl_package_enters_unnoticed() -> None:
    installed = {canonicalize_name(one.name) for one in metadata.distributions()}
    for package in sorted(locked("requirements.txt").keys() & installed):
        is_gpl = re.search(r"\bA?GPL|GNU (?:Affero )?General Public", licence(package))
        assert not is_gpl or package in KNOWN_GPL, f"{package}: {licence(package)}"


def test_the_notice_names_the_gpl_package() -> None:
    notice = (ROOT / "NOTICE").read_text()
    assert "GPL" in licence("levenshtein")
    assert "Levenshtein" in notice
    assert "rank-torrent-name" in notice


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_program_starts_without_the_development_packages(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    install = [
        "-m",
        "pip",
        "install",
        "-q",
        "--use-pep517",
        "--no-build-isolation",
        "--require-hashes",
        "--no-deps",
    ]
    for lock in ("requirements-build.txt", "requirements.txt"):
        subprocess.run([str(python), *install, "-r", lock], check=True, cwd=ROOT, timeout=400)
    for arguments in (["version"], ["--help"]):
        run = subprocess.run(
            [str(python), "main.py", *arguments],
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.returncode == 0, run.stderr
