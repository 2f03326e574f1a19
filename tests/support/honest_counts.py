"""No test is skipped in silence, and the run says how many ran on which database.

A skip is a failure unless its reason stands in `ALLOWED_SKIPS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest

# Reasons that begin with one of these may stay skips. Keep it short; each with the cause beside it.
ALLOWED_SKIPS: tuple[str, ...] = ()

OUTCOMES = ("passed", "failed", "skipped")


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped, without pytest's prefix."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip without an allowed reason into a failure that names the reason."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = reason_of(report)
    if reason.startswith(ALLOWED_SKIPS):
        return
    report.outcome = "failed"
    report.longrepr = f"skipped, and its reason is not on the short list in {__name__}: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at each test's outcome."""
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at each file's collection: a whole file can be skipped too."""
    report = yield
    refuse_skip(report)
    return report


def count(reports: dict[str, list[pytest.TestReport]]) -> dict[str, Counter[str]]:
    """Return, by database (`none` for tests without one), how many tests ended how."""
    ended: dict[str, dict[str, str]] = {}
    for outcome in ("passed", "skipped", "failed", "error"):
        for report in reports.get(outcome, []):
            database = dict(getattr(report, "user_properties", ())).get("database", "none")
            # A test that passed and then failed in its teardown has failed: the later outcome stays.
            ended.setdefault(str(database), {})[report.nodeid] = "failed" if outcome == "error" else outcome
    return {database: Counter(tests.values()) for database, tests in ended.items()}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts per database."""
    counts = count(terminalreporter.stats)
    if not counts:
        return
    terminalreporter.section("tests by database")
    for database in sorted(counts, key=["none", "sqlite", "postgres"].index):
        line = ", ".join(f"{counts[database][outcome]} {outcome}" for outcome in OUTCOMES)
        terminalreporter.write_line(f"database {database:<9} {line}")
