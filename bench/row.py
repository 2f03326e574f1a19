"""What a family of rows says: rows with their bars, and how each is measured."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

from bench.stage import Stage


class Of(StrEnum):
    """What a bar is held against."""

    VALUE = "value"
    RATIO = "ratio"
    BEYOND = "beyond"


@dataclass(frozen=True, slots=True)
class Bar:
    """What the design asks of a row. limit: in the row's unit, or a ratio; at_least: more is better."""

    of: Of
    limit: float
    at_least: bool = False

    @classmethod
    def value(cls, limit: float, *, at_least: bool = False) -> Self:
        """Return a bar for the number itself, in the row's unit."""
        return cls(Of.VALUE, limit, at_least)

    @classmethod
    def ratio(cls, limit: float, *, at_least: bool = False) -> Self:
        """Return a bar for ours by the reference."""
        return cls(Of.RATIO, limit, at_least)

    @classmethod
    def beyond(cls, limit: float) -> Self:
        """Return a bar for ours less the reference, in the row's unit."""
        return cls(Of.BEYOND, limit)

    def is_met(self, measured: float) -> bool:
        """True when what was measured of it is on the right side."""
        return measured >= self.limit if self.at_least else measured <= self.limit

    def words(self, unit: str) -> str:
        """Return the bar as it stands in the table."""
        sign = "≥" if self.at_least else "≤"
        match self.of:
            case Of.VALUE:
                return f"{sign} {self.limit:g} {unit}"
            case Of.RATIO:
                return f"{sign} {self.limit:g} x"
            case Of.BEYOND:
                return f"{sign} reference + {self.limit:g} {unit}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. beside: what the reference is, nothing when the row has none; bar: None when nothing is asked."""

    name: str
    unit: str
    beside: str = ""
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """Rows that are read from the same run.

    ours, reference: each run it once and return one number per row, in the order of `rows`. most_rounds: for what takes minutes.
    """

    rows: tuple[Row, ...]
    ours: Callable[[], Sequence[float]]
    reference: Callable[[], Sequence[float]] | None = None
    most_rounds: int | None = None


class Family(ABC):
    """Rows about one thing. `bench/__init__.py` shows one and says what the attributes are."""

    key: ClassVar[str]
    title: ClassVar[str]
    seconds: ClassVar[int] = 300
    needs: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield the trials; each is measured before the next is asked for."""
