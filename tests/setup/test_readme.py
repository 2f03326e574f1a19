"""What the README promises can be done."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from program.plugins import compose_settings, discover

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_make_target_of_a_page_exists(page: Path) -> None:
    assert set(re.findall(r"`(?:[A-Z_]+=\S+ )?make ([a-z-]+)", page.read_text())) <= TARGETS


def test_the_settings_that_the_readme_shows_are_accepted() -> None:
    [example] = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    settings = compose_settings(discover()).model_validate(json.loads(example))
    shown = {f"{section}.{key}" for section, keys in json.loads(example).items() for key in keys}
    enabled = {
        f"{section}.{key}"
        for section, keys in settings.model_dump().items()
        if isinstance(keys, dict)
        for key, values in keys.items()
        if isinstance(values, dict) and values.get("enabled")
    }
    assert enabled == shown


def test_help_lists_every_target_that_a_person_uses() -> None:
    listed = subprocess.run(["make", "help"], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    assert set(re.findall(r"^make ([a-z-]+)", listed, re.MULTILINE)) == TARGETS - {
        "help",
        "setup-tests",
        "setup-lint",
        "setup-all-tests",
        "setup-bench",
    }


def test_every_decision_says_why_and_what_would_change_it() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert records
    numbers = [int(record.name[:4]) for record in records]
    assert len(set(numbers)) == len(numbers), "a number names one decision"
    parts = ("**Context.**", "**Choice.**", "**What would change our mind.**")
    assert not [record.name for record in records if not all(part in record.read_text() for part in parts)]
