"""Runs a family: its trials round by round, ours and the reference in turn."""

import shutil
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from bench.row import Family, Of, Row, Trial
from bench.stage import Stage


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured of a row. ours, reference: one number per round; the reference's are none when the row has none."""

    row: Row
    ours: tuple[float, ...]
    reference: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """Return ours by the reference, of each round in which the reference was not nothing."""
        return tuple(mine / theirs for mine, theirs in zip(self.ours, self.reference, strict=False) if theirs)

    @property
    def is_met(self) -> bool | None:
        """True when the row's bar is met, None when it has none."""
        bar = self.row.bar
        return None if bar is None else bar.is_met(self._held_against(bar.of))

    def _held_against(self, of: Of) -> float:
        match of:
            case Of.VALUE:
                return statistics.median(self.ours)
            case Of.RATIO:
                return statistics.median(self.ratios)
            case Of.BEYOND:
                pairs = zip(self.ours, self.reference, strict=True)
                return statistics.median(mine - theirs for mine, theirs in pairs)


class MissingError(Exception):
    """A program that the family needs is not installed; the message names it."""


def measure(family: type[Family], *, rounds: int, is_tiny: bool = False) -> list[Result]:
    """Run a family and return its rows. Raises MissingError; whatever goes wrong inside is raised as well."""
    missing = [name for name in family.needs if shutil.which(name) is None]
    if missing:
        raise MissingError(f"not installed: {', '.join(missing)}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"rivulet-bench-{family.key}-")))
        stage = Stage(folder, stack, rounds=rounds, is_tiny=is_tiny)
        trials = stack.enter_context(closing(family().trials(stage)))
        return [result for trial in trials for result in _run(trial, rounds)]


def _run(trial: Trial, rounds: int) -> list[Result]:
    ours: list[Sequence[float]] = []
    theirs: list[Sequence[float]] = []
    for turn in range(min(rounds, trial.most_rounds or rounds)):
        sides = [(trial.ours, ours), (trial.reference, theirs)]
        # Whoever comes second finds a warmer machine, so they change places.
        for work, numbers in sides if turn % 2 else reversed(sides):
            if work is not None:
                numbers.append(work())
    return [
        Result(row, tuple(run[at] for run in ours), tuple(run[at] for run in theirs))
        for at, row in enumerate(trial.rows)
    ]
