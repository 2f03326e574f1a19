"""docs/conformance.md, from the statements and the proofs."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from tools.conformance.catalog import ROOT, Line, Proof, Specification, proofs, specifications

PAGE = "docs/conformance.md"

INTRODUCTION = """# What the specifications ask, and what shows it

Rivulet follows specifications of the [queues](#the-queues), of the [lifecycle](#the-lifecycle) and of the
[item states](#the-item-states). Each of their sentences, table rows, steps, list items and code blocks has a number here, in
our own words. It has the tests that show it, or the decision that departs from it, or both where the same is done by other means.

The code after a number stands for the words of the specification. `python -m tools.conformance --pages FOLDER` splits the pages of
the specifications anew and names whatever is missing here or too much. Each test must notice when what it shows is switched off:
`python -m tools.conformance --mutate` switches the behaviours off one by one in a copy of the program, and names each test that
did not notice. This page is made from `tools/conformance/` by `make docs`.
"""


def conformance_page() -> str:
    """Return the page."""
    known = proofs()
    specs = specifications()
    tables = (part for spec in specs for part in _specification(spec, known))
    return "\n".join([INTRODUCTION, _tally(specs, known), *tables])


def _tally(specs: Iterable[Specification], known: Mapping[str, Proof]) -> str:
    """Return how many statements there are, and how they are shown."""
    lines = [line for spec in specs for line in spec.statements()]
    shown, departing = sum(bool(line.proofs) for line in lines), sum(bool(line.departs) for line in lines)
    tests = {test for proof in known.values() for test in proof.tests}
    return (
        f"There are {len(lines)} statements. {shown} are shown by {len(tests)} tests, with {len(known)} behaviours to be switched "
        f"off; of {departing} a decision says what is done otherwise, or by other means.\n"
    )


def _specification(spec: Specification, known: Mapping[str, Proof]) -> Iterator[str]:
    yield f"## {spec.title}\n"
    for section, lines in groupby(spec.statements(), key=lambda line: line.section):
        yield f"### {section or 'In general'}\n"
        yield "| | what it asks | what shows it |\n|---|---|---|"
        yield from (_row(line, known) for line in lines)
        yield ""


def _row(line: Line, known: Mapping[str, Proof]) -> str:
    shown = [*_files(_tests(line, known)), *(_decision(number) for number in line.departs)]
    if line.lacks:
        shown.append(f"not yet: {line.lacks}")
    return f"| {line.id} `{line.hash}` | {line.asks} | {'<br>'.join(shown)} |"


def _tests(line: Line, known: Mapping[str, Proof]) -> Iterable[str]:
    """Return the tests of a line, each once."""
    return dict.fromkeys(test for proof in line.proofs for test in known[proof].tests)


def _files(tests: Iterable[str]) -> Iterator[str]:
    """Yield each file once, with its tests."""
    by_file: dict[str, list[str]] = {}
    for node in tests:
        file, _, name = node.partition("::")
        by_file.setdefault(file, []).append(f"`{name}`")
    for file, names in by_file.items():
        yield f"[{Path(file).name}](../{file}): {', '.join(names)}"


def _decision(number: int) -> str:
    path = decision(number)
    return f"departs: [decision {number}](decisions/{path.name})"


def decision(number: int, root: Path = ROOT) -> Path:
    """Return the record of a decision; raise ValueError when there is none."""
    found = sorted((root / "docs" / "decisions").glob(f"{number:04}-*.md"))
    if not found:
        raise ValueError(f"there is no decision {number}")
    return found[0]
