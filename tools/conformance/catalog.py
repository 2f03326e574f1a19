"""Reads the statements and the proofs from their files."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.conformance.split import Kind, Piece

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINES = HERE / "lines"
PROOFS = HERE / "proofs"
BOILERPLATE = "boilerplate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One statement of a specification; layout has neither id nor words.

    asks: what it asks, in our words. proofs: their ids. departs: numbers of the decision records that say what we do instead, or
    how. lacks: what of it is not there yet.
    """

    section: str
    kind: Kind
    hash: str
    id: str = ""
    asks: str = ""
    proofs: tuple[str, ...] = ()
    departs: tuple[int, ...] = ()
    lacks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A specification with its statements in their order. page: how the name of its file begins."""

    name: str
    title: str
    letter: str
    page: str
    lines: tuple[Line, ...]

    def statements(self) -> tuple[Line, ...]:
        """Return the lines that say something."""
        return tuple(line for line in self.lines if line.kind is not Kind.LAYOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Tests, and a change of the program which at least one of them must notice.

    tests: node ids of pytest. file: relative to the repository; old: stands in it exactly once.
    """

    id: str
    tests: tuple[str, ...]
    file: str
    old: str
    new: str

    def changed(self, text: str) -> str:
        """Return the file's text with the change; raise ValueError when its place is not there or not the only one."""
        count = text.count(self.old)
        if count != 1:
            raise ValueError(
                f"{self.id}: the text to change stands {count} times in {self.file}; mend its proof in tools/conformance/proofs"
            )
        return text.replace(self.old, self.new)


def specifications() -> tuple[Specification, ...]:
    """Return the specifications in the order of their files."""
    return tuple(_specification(path) for path in sorted(LINES.glob("*.toml")) if path.stem != BOILERPLATE)


def boilerplate() -> Mapping[str, str]:
    """Return what belongs to the website and not to a specification: what it is, by hash."""
    read = tomllib.loads((LINES / f"{BOILERPLATE}.toml").read_text(encoding="utf-8"))
    return {row["hash"]: row["is"] for row in read["boilerplate"]}


def proofs() -> Mapping[str, Proof]:
    """Return the proofs by id; raise ValueError when two have one id."""
    found: dict[str, Proof] = {}
    for path in sorted(PROOFS.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["proof"]:
            proof = Proof(**{**row, "tests": tuple(row["tests"])})
            if proof.id in found:
                raise ValueError(f"two proofs are called {proof.id}")
            found[proof.id] = proof
    return found


def differences(lines: Iterable[Line], pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield what a page has and the lines lack, what they have too much, and what stands elsewhere."""
    have = [(line.section, line.kind, line.hash) for line in lines]
    want = [(piece.section, piece.kind, piece.hash) for piece in pieces]
    for place in (key for key in want if key not in have):
        yield f"missing: {place[1]} {place[2]} in “{place[0]}”"
    for place in (key for key in have if key not in want):
        yield f"surplus: {place[1]} {place[2]} in “{place[0]}”"
    if have != want and sorted(have) == sorted(want):
        yield "all are there, but in another order"
    elif len(have) != len(want):
        yield f"{len(have)} lines for {len(want)} pieces"


def _specification(path: Path) -> Specification:
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    lines = tuple(_line(row) for row in read.pop("line"))
    return Specification(name=path.stem, lines=lines, **read)


def _line(row: Mapping[str, Any]) -> Line:
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    return Line(**{**row, **lists, "kind": Kind(str(row["kind"]))})
