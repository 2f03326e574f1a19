"""No verdict hangs on a name: with titles, groups and numbers of titles renamed, every case is decided as before."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from program.cli.cases import Result, run
from tests.support.renaming import Renaming

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
FILES = [
    *sorted((ROOT / "tests" / "cases").glob("*.jsonl")),
    ROOT.parent / "shared" / "cases" / "cases.jsonl",
]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("file", [file for file in FILES if file.exists()], ids=lambda file: file.name)
def test_other_names_change_no_verdict(file: Path, seed: int) -> None:
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    renamed = [Renaming(case, seed).case(case) for case in cases if case["kind"] in "abc"]
    results = list(run((json.dumps(case) for case in renamed), NOW))
    wrong = [result.line() for result in results if not isinstance(result, Result) or not result.passed]
    assert wrong == []


def test_a_renamed_case_is_about_other_names() -> None:
    case = {
        "input": {
            "wanted": {"title": "Paper Lantern 43"},
            "releases": ["Paper.Lantern.43.2007.1080p.WEB-GRP"],
        },
        "expected": {"accept": []},
    }
    renamed = Renaming(case, 1).case(case)
    name = renamed["input"]["releases"][0]
    assert "Paper" not in name
    assert "Lantern" not in name
    assert ".154.2007.1080p.WEB-" in name
    assert not name.endswith("GRP")
