"""The walk through the code in docs/pipeline.md, and the list of decisions, name what there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
# A line such as: - `program/event_loop.py`: `EventLoop.turn`, `job_for`
STATION = re.compile(r"^- `(program/[\w/]+\.py)`: (.+)$", re.MULTILINE)


def stations() -> Iterator[tuple[str, str]]:
    """Yield (file, name) for each name that the walk mentions."""
    text = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
    for file, names in STATION.findall(text):
        yield from ((file, name) for name in re.findall(r"`([\w.]+)`", names))


def defined(file: str) -> set[str]:
    """Return the functions, classes, methods (as `Class.method`) and constants that a file defines."""
    found = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                found |= {
                    name,
                    *(f"{name}.{part.name}" for part in body if isinstance(part, ast.FunctionDef)),
                }
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def test_the_walk_is_there() -> None:
    assert len(list(stations())) > 40


@pytest.mark.parametrize(("file", "name"), list(stations()))
def test_each_station_of_the_walk_is_where_it_says(file: str, name: str) -> None:
    assert name in defined(file)


def test_every_decision_is_listed_with_its_title() -> None:
    listed = (DECISIONS / "README.md").read_text(encoding="utf-8")
    for record in sorted(DECISIONS.glob("0*.md")):
        number, title = record.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").split(". ", 1)
        assert f"- [{int(number):04d}]({record.name}) {title}" in listed
