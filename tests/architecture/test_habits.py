"""Habits that no linter knows: the clock, waiting, broad excepts, mocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support.source import SourceFile, files_of_tests, program_files

# Where an unknown exception may be caught, because the work beside it must go on; style rule 8.
BOUNDARIES = {
    "program.api": "the error handler answers 500 in JSON",
    "program.event_loop": "one item's decision must not stop the turn",
    "program.bus": "a listener must not keep the others from hearing",
    "program.lifecycle": "what a service's start raises is raised in the thread that waits for it",
    "program.reactions": "an event reaction must not stop the others",
    "program.runner": "the loop's thread: when it ends, so does the program",
    "program.plugins": "a broken plugin is reported and never stops the rest",
    "program.queues": "the worker loop outlives every job",
    "program.services.matching": "a broken rule is an answer",
    "program.vfs.workers": "the worker loop outlives every task",
    "program.vfs.operations": "every exception becomes an errno",
}

# Reading the machine's clock; the program takes a Clock instead.
CLOCK_CALLS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "monotonic"),
    ("time", "monotonic_ns"),
    ("time", "sleep"),
}


def calls(file: SourceFile) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield (object, method, node) of each call `object.method(...)`; `a.b.c()` gives (`b`, `c`)."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            yield getattr(owner, "id", getattr(owner, "attr", "")), node.func.attr, node


def is_broad(handler: ast.ExceptHandler) -> bool:
    """True for a handler that catches everything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or getattr(kind, "id", "") in {"Exception", "BaseException"} for kind in caught)


def passes_on(handler: ast.ExceptHandler) -> bool:
    """True for a handler that only tidies up: it ends by raising what it caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_only_the_clock_reads_the_clock() -> None:
    readers = [
        f"{file.place(node)} calls {owner}.{method}"
        for file in program_files()
        if not file.is_in("program.clock", "program.demo")
        for owner, method, node in calls(file)
        if (owner, method) in CLOCK_CALLS
    ]
    assert not readers


def test_no_service_blocks_on_another_job() -> None:
    waiting = [
        file.place(node)
        for file in program_files("program.services")
        for _, method, node in calls(file)
        if method == "result"
    ]
    assert not waiting


def test_everything_is_caught_only_at_the_named_boundaries_and_with_a_reason() -> None:
    wrong = []
    for file in program_files():
        lines = file.text.splitlines()
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.ExceptHandler) or not is_broad(node) or passes_on(node):
                continue
            has_reason = re.search(r"# noqa: BLE001\W+\w+", lines[node.lineno - 1])
            if not has_reason or not file.is_in(*BOUNDARIES):
                wrong.append(file.place(node))
    assert not wrong


def test_tests_wait_for_events_and_never_sleep() -> None:
    sleeping = [
        file.place(node)
        for file in files_of_tests()
        for owner, method, node in calls(file)
        if method == "sleep"
    ]
    assert not sleeping


def test_tests_use_real_parts_and_no_mocks() -> None:
    mocking = [
        f"{file.place(node)} imports {module}"
        for file in files_of_tests()
        for module, node in file.imports()
        if module.startswith(("unittest.mock", "mock", "pytest_mock", "responses", "requests_mock"))
    ]
    assert not mocking
