"""Every family of `make bench` still measures something: each runs once in its tiny form. No time is asserted."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from bench import Bar, Family, Row, Stage, Trial
from bench.__main__ import ended_in_time
from bench.measure import MissingError, Result, measure
from bench.registry import families
from bench.report import family_report, from_json, lines, to_json
from bench.rows.matching import Matching

FAMILIES = families()
# The others start the program, or read through a mount.
QUICK = {"loop", "matching", "queues"}


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=() if key in QUICK else pytest.mark.slow) for key in FAMILIES]
)
def test_a_family_measures_each_of_its_rows(key: str) -> None:
    family = FAMILIES[key]
    results = measure(family, rounds=1, is_tiny=True)
    assert results
    for result in results:
        numbers = (*result.ours, *result.reference)
        assert len(result.ours) == 1
        assert len(result.reference) == (1 if result.row.beside else 0)
        assert all(math.isfinite(number) and number >= 0 for number in numbers), result


def test_a_report_comes_back_from_its_json_and_is_told_line_by_line() -> None:
    row = Row("sorting", "s", beside="sorted()", bar=Bar.ratio(1.5))
    results = [Result(row, (2.0, 4.0, 3.0), (1.0, 2.0, 3.0))]
    report = family_report(Matching, results, rounds=3, load=0.26)
    assert from_json(to_json([report])) == [report]
    assert lines(report) == (
        "matching: Names: parse, rules, rank, map (load before: 0.3)\n"
        "  sorting: 3 (2-4) s | beside sorted(): 2 (1-3) s | ratio 2 (1-2) | bar ≤ 1.5 x: MISSED\n"
    )


@pytest.mark.parametrize(
    ("bar", "is_met"),
    [
        (Bar.value(3), True),
        (Bar.value(2.9), False),
        (Bar.ratio(2), True),
        (Bar.ratio(2.5, at_least=True), False),
        (Bar.beyond(1), True),
        (Bar.beyond(0.9), False),
    ],
)
def test_a_bar_is_held_against_the_median(bar: Bar, *, is_met: bool) -> None:
    assert Result(Row("sorting", "s", bar=bar), (2.0, 4.0, 3.0), (1.0, 2.0, 3.0)).is_met is is_met


class Interrupted(Family):
    """A family whose trial fails."""

    key = "interrupted"
    title = "Fails half-way"

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Start a server and fail."""
        (stage.folder / "here").touch()
        started.append((stage.folder, stage.start(["sleep", "60"])))
        yield Trial((Row("nothing", "s"),), ours=lambda: (1 / 0,))


started: list[tuple[Path, subprocess.Popen[bytes]]] = []


def test_what_a_family_started_ends_with_it_also_when_it_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        measure(Interrupted, rounds=1)
    [(folder, server)] = started
    assert server.returncode is not None
    assert not folder.exists()


def test_a_program_that_is_not_installed_is_named() -> None:
    class Lacking(Interrupted):
        key = "lacking"
        needs = ("no-such-program",)

    with pytest.raises(MissingError, match="no-such-program"):
        measure(Lacking, rounds=1)


def test_the_runner_stops_a_family_whose_time_is_over() -> None:
    assert not started_in_time(["sleep", "60"])
    assert started_in_time(["true"])


def started_in_time(command: list[str]) -> bool:
    with subprocess.Popen(command, start_new_session=True) as process:
        return ended_in_time(process, 1.0 if command == ["true"] else 0.0)
