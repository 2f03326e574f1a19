"""The frozen list of names with their right reading, and how well the parser does on it: `python -m tests.support.readings`."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from program.services.matching.parse import Outline, outline

CASES = Path(__file__).parents[1] / "cases"
LIST = CASES / "readings.txt"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a name counts. absolute: over the whole show, when a season is named as well."""

    seasons: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()
    absolute: tuple[int, ...] = ()
    air_date: date | None = None

    @property
    def is_empty(self) -> bool:
        """Return True when nothing is counted."""
        return not (self.seasons or self.episodes or self.absolute or self.air_date)


@dataclass(frozen=True, slots=True)
class Row:
    """One name with its right reading."""

    kind: str
    name: str
    title: str
    numbers: Numbers
    year: int | None


@dataclass(frozen=True, slots=True)
class Score:
    """How one kind does. counted: names that have numbers; taken: those in which the parser finds some; right: found right."""

    kind: str
    names: int
    counted: int
    taken: int
    right: int
    titles: int
    years: int

    @property
    def precision(self) -> float:
        """Return the share of what was taken that is right: a wrong take fetches a wrong file."""
        return self.right / self.taken if self.taken else 1.0

    @property
    def recall(self) -> float:
        """Return the share of what there was to find: a miss leaves a release unused."""
        return self.right / self.counted if self.counted else 1.0


def rows(path: Path = LIST) -> tuple[Row, ...]:
    """Return the list."""
    found, kind = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif line and not line.startswith("#"):
            name, _, right = line.partition(" => ")
            title, _, said = right.rpartition("|") if "|" in right else (right, "", "")
            found.append(_row(kind, name, title.strip(), said.split()))
    return tuple(found)


def read(row: Row) -> Outline:
    """Return what the parser says."""
    return outline(row.name, of_film=row.kind == "film")


def numbers_of(found: Outline) -> Numbers:
    """Return what the parser counts, in the list's words."""
    if found.seasons and found.absolute:
        return Numbers(found.seasons, found.episodes, found.absolute, found.air_date)
    return Numbers(found.seasons, found.episodes, (), found.air_date)


def plain(title: str) -> str:
    """Return a title as it is compared: capitals, dots and commas say nothing."""
    return re.sub(r"[\s._,:]+", " ", title.casefold()).strip(" -")


def is_right(row: Row, found: Outline) -> tuple[bool, bool, bool]:
    """Return whether the numbers, the title and the year are right."""
    return numbers_of(found) == row.numbers, plain(found.title) == plain(row.title), found.year == row.year


def scores(of: Iterable[Row]) -> tuple[Score, ...]:
    """Return how each kind does."""
    kinds: dict[str, list[Row]] = {}
    for row in of:
        kinds.setdefault(row.kind, []).append(row)
    return tuple(_score(kind, group) for kind, group in kinds.items())


def _score(kind: str, group: list[Row]) -> Score:
    found = [(row, read(row)) for row in group]
    verdicts = [is_right(row, said) for row, said in found]
    return Score(
        kind=kind,
        names=len(group),
        counted=sum(not row.numbers.is_empty for row in group),
        taken=sum(not numbers_of(said).is_empty for _, said in found),
        right=sum(
            numbers and not row.numbers.is_empty for row, (numbers, _, _) in zip(group, verdicts, strict=True)
        ),
        titles=sum(title for _, title, _ in verdicts),
        years=sum(year for _, _, year in verdicts),
    )


def _row(kind: str, name: str, title: str, said: list[str]) -> Row:
    parts = {word[0]: word[1:] for word in said}
    episodes, absolute = _numbers(parts.get("E", "")), _numbers(parts.get("A", ""))
    has_season = "S" in parts
    return Row(
        kind=kind,
        name=name,
        title=title,
        numbers=Numbers(
            _numbers(parts.get("S", "")),
            episodes if has_season else episodes or absolute,
            absolute if has_season else (),
            date.fromisoformat(parts["D"]) if "D" in parts else None,
        ),
        year=int(parts["Y"]) if "Y" in parts else None,
    )


def _numbers(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def main() -> None:
    """Print the scores, and with `-v` every name that is read wrong."""
    chosen = rows(CASES / sys.argv[1]) if sys.argv[1:2] and sys.argv[1] != "-v" else rows()
    for score in scores(chosen):
        sys.stdout.write(
            f"{score.kind:9} {score.names:4} names  precision {score.precision:6.1%}  recall {score.recall:6.1%}"
            f"  titles {score.titles / score.names:6.1%}  years {score.years / score.names:6.1%}\n"
        )
    for row in chosen if "-v" in sys.argv else ():
        found = read(row)
        if not all(is_right(row, found)):
            sys.stdout.write(
                f"{row.kind}: {row.name}\n      {_shown(found.title, numbers_of(found), found.year)}\n"
            )
            sys.stdout.write(f"  not {_shown(row.title, row.numbers, row.year)}\n")


def _shown(title: str, numbers: Numbers, year: int | None) -> str:
    said = (numbers.seasons, numbers.episodes, numbers.absolute, numbers.air_date)
    return f"{title!r} " + " ".join(str(part) if part else "-" for part in (*said, year))


if __name__ == "__main__":
    main()
