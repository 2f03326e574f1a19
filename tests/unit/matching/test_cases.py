"""`main.py cases`: the project's own cases always, those of the public bug reports when they are there."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from program.cli.cases import Result, Skipped, run, run_file

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
OWN = [
    pytest.param(file, marks=[pytest.mark.slow] if "slow" in file.name else [], id=file.name)
    for file in sorted((ROOT / "tests" / "cases").glob("*.jsonl"))
]
REPORTED = ROOT.parent / "shared" / "cases" / "cases.jsonl"


def _results(file: Path) -> list[Result | Skipped]:
    return list(run(file.read_text(encoding="utf-8").splitlines(), NOW))


@pytest.mark.parametrize("file", OWN)
def test_every_case_of_our_own_is_decided_rightly(file: Path) -> None:
    wrong = [
        result.line() for result in _results(file) if not isinstance(result, Result) or not result.passed
    ]
    assert wrong == []


@pytest.mark.parametrize("kinds", ["abc", pytest.param("e", marks=pytest.mark.slow)])
def test_every_reported_case_is_decided_rightly(kinds: str) -> None:
    lines = REPORTED.read_text(encoding="utf-8").splitlines() if REPORTED.exists() else []
    wanted = [line for line in lines if json.loads(line)["kind"] in kinds]
    wrong = [r.line() for r in run(wanted, NOW) if not isinstance(r, Result) or not r.passed]
    assert wrong == []


def test_a_line_that_is_no_case_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = {
        "id": "1",
        "kind": "a",
        "input": {"wanted": {"title": "Lantern"}, "releases": ["Lantern.2020.1080p"]},
    }
    lines = [
        "{not json",
        json.dumps({"id": "2", "kind": "a", "input": {"wanted": {}}, "expected": {"accept": []}}),
        json.dumps({"id": "3", "kind": "f", "input": {"a": 1}, "expected": {"b": 2}}),
        json.dumps(["a list"]),
        "",
        json.dumps({**good, "expected": {"accept": ["Lantern.2020.1080p"]}}),
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    said: list[str] = []
    assert run_file(file, NOW, said.append) == 1
    told = [json.loads(line) for line in said[:-1]]
    assert [line.get("line") for line in told if "malformed" in line] == [1, 2, 4]
    assert told[-1]["pass"] is True
    assert said[-1] == "a 1/1\nmalformed 3"


def test_a_wrong_expectation_fails_and_the_reason_is_told() -> None:
    case = {
        "id": "x",
        "kind": "a",
        "input": {"wanted": {"title": "Lantern", "year": 2020}, "releases": ["Lantern.1999.1080p"]},
        "expected": {"accept": ["Lantern.1999.1080p"], "reject": []},
    }
    (result,) = run([json.dumps(case)], NOW)
    assert isinstance(result, Result)
    assert not result.passed
    assert "wrong_year" in str(result.reasons["Lantern.1999.1080p"])


def test_an_unknown_setting_and_an_unknown_expectation_are_told() -> None:
    case = {
        "id": "x",
        "kind": "c",
        "input": {
            "wanted": {"title": "Lantern"},
            "settings": {"prefer_green": True},
            "releases": ["Lantern.2020.1080p"],
        },
        "expected": {"accept": ["Lantern.2020.1080p"], "item_state": "waits"},
    }
    (result,) = run([json.dumps(case)], NOW)
    assert isinstance(result, Result)
    assert result.unchecked == ("item_state",)
    assert result.reasons["settings not known"] == ["prefer_green"]
