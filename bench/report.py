"""What a run says: lines for a person, JSON for a program, and the table of `docs/bench.md` from the results that are kept."""

import json
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.measure import Result
from bench.registry import families
from bench.row import Family

RESULTS = Path(__file__).parent / "results"
GIB = 1024**3
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class RowReport:
    """A row as it is told. ours, reference: one number per round; ratio: the median of ours by the reference, round by round."""

    name: str
    unit: str
    beside: str
    bar: str
    is_met: bool | None
    ours: tuple[float, ...]
    reference: tuple[float, ...]
    ratios: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """A family as it is told. load: of the last minute before it began; missing: why it was not measured, nothing when it was."""

    key: str
    title: str
    measured_at: str
    machine: str
    load: float
    rounds: int
    rows: tuple[RowReport, ...]
    missing: str = ""


def row_report(result: Result) -> RowReport:
    """Return what is told of a row."""
    row = result.row
    return RowReport(
        name=row.name,
        unit=row.unit,
        beside=row.beside,
        bar=row.bar.words(row.unit) if row.bar else "",
        is_met=result.is_met,
        ours=tuple(map(rounded, result.ours)),
        reference=tuple(map(rounded, result.reference)),
        ratios=tuple(map(rounded, result.ratios)),
    )


def family_report(
    family: type[Family], results: Sequence[Result], *, rounds: int, load: float, missing: str = ""
) -> FamilyReport:
    """Return what is told of a family that was measured just now."""
    return FamilyReport(
        key=family.key,
        title=family.title,
        measured_at=datetime.now(UTC).isoformat(timespec="minutes"),
        machine=machine(),
        load=round(load, 1),
        rounds=rounds,
        rows=tuple(map(row_report, results)),
        missing=missing,
    )


def machine() -> str:
    """Return what it was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )


def to_json(reports: Iterable[FamilyReport]) -> str:
    """Return reports as JSON."""
    return json.dumps({"families": [asdict(report) for report in reports]}, indent=1, ensure_ascii=False)


def from_json(text: str) -> list[FamilyReport]:
    """Return the reports of a JSON text that `to_json` made."""
    return [_family(document) for document in json.loads(text)["families"]]


def _family(document: dict[str, Any]) -> FamilyReport:
    return FamilyReport(**{**document, "rows": tuple(map(_row, document["rows"]))})


def _row(document: dict[str, Any]) -> RowReport:
    numbers = {name: tuple(document[name]) for name in ("ours", "reference", "ratios")}
    return RowReport(**{**document, **numbers})


def lines(report: FamilyReport) -> str:
    """Return a family as lines for a person."""
    head = f"{report.key}: {report.title} (load before: {report.load:g})"
    if report.missing:
        return f"{head}\n  not measured: {report.missing}\n"
    return "\n".join([head, *map(_line, report.rows)]) + "\n"


def _line(row: RowReport) -> str:
    parts = [f"  {row.name}: {spread(row.ours)} {row.unit}"]
    if row.beside:
        parts.append(f"beside {row.beside}: {spread(row.reference)} {row.unit}")
    if row.ratios:
        parts.append(f"ratio {spread(row.ratios)}")
    if row.bar:
        parts.append(f"bar {row.bar}: {verdict(row.is_met)}")
    return " | ".join(parts)


def verdict(is_met: bool | None) -> str:  # noqa: FBT001 - the value itself, not an option
    """Return whether a bar is met, in a word."""
    return {True: "met", False: "MISSED", None: ""}[is_met]


def rounded(number: float) -> float:
    """Return a number with the digits that mean something."""
    return float(f"{number:.4g}")


def spread(numbers: Sequence[float]) -> str:
    """Return the median of the rounds, with the least and the most when there was more than one."""
    if not numbers:
        return "-"
    middle = plain(statistics.median(numbers))
    return middle if len(numbers) == 1 else f"{middle} ({plain(min(numbers))}-{plain(max(numbers))})"


def plain(number: float) -> str:
    """Return a number with three digits that count, and never as a power of ten."""
    return f"{number:,.0f}" if number >= THOUSAND else f"{number:.3g}"


def keep(report: FamilyReport, folder: Path = RESULTS) -> Path:
    """Write a family's report where `docs/bench.md` takes its tables from; return the file."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{report.key}.json"
    path.write_text(to_json([report]) + "\n", encoding="utf-8")
    return path


def kept(folder: Path = RESULTS) -> list[FamilyReport]:
    """Return the reports that are kept, in the order of their keys."""
    return [report for path in sorted(folder.glob("*.json")) for report in from_json(path.read_text("utf-8"))]


def kept_markdown() -> str:
    """Return the kept results as tables, one per family."""
    return "\n\n".join(_table(report) for report in kept() if report.key in families())


def _table(report: FamilyReport) -> str:
    head = (
        f"### {report.title} (`{report.key}`)\n\n"
        f"{report.measured_at[:10]}, {report.machine}, load before {report.load:g}, rounds: {report.rounds}\n\n"
        "| what | unit | Rivulet | reference | beside | ratio | bar | |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "\n".join(
        f"| {row.name} | {row.unit} | {spread(row.ours)} | {spread(row.reference)} | {row.beside or '-'} "
        f"| {spread(row.ratios)} | {row.bar or '-'} | {verdict(row.is_met)} |"
        for row in report.rows
    )
