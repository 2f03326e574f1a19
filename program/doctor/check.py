"""What a check is, what it answers, and what it may look at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from program.clock import Clock
from program.db.engine import Database
from program.errors import RivuletError
from program.plugins import Broken, Registry
from program.settings.models import RootSettings
from program.settings.store import SettingsStore


class Level(StrEnum):
    """How bad it is: nothing, worth knowing, to be mended."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer. mend: what to do; about: which of several, e.g. a provider."""

    level: Level
    said: str
    mend: str = ""
    about: str = ""


def ok(said: str, about: str = "") -> Verdict:
    """Return that all is well."""
    return Verdict(Level.OK, said, about=about)


def note(said: str, mend: str, about: str = "") -> Verdict:
    """Return something worth knowing."""
    return Verdict(Level.NOTE, said, mend, about)


def wrong(said: str, mend: str, about: str = "") -> Verdict:
    """Return something that has to be mended."""
    return Verdict(Level.WRONG, said, mend, about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What only the running program knows. state: of its machine; failed, waiting: jobs by queue; lag: of the loop, in seconds."""

    state: str
    failed: Mapping[str, int]
    waiting: Mapping[str, int]
    lag: float
    listeners: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What a check may look at.

    db: None when it cannot be opened, for the reason in `database_trouble`. work: None when the program is looked at from outside.
    """

    store: SettingsStore
    clock: Clock
    registry: Registry
    db: Database | None = None
    database_trouble: str = ""
    broken: tuple[Broken, ...] = ()
    work: Callable[[], Work] | None = None

    @property
    def settings(self) -> RootSettings:
        """Return the settings in force."""
        return self.store.current


Look: TypeAlias = Callable[[Patient], Verdict | Iterable[Verdict]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question. what: what is looked at; why: what it is good for.

    is_quick: asks no service and costs next to nothing. needs_db: left out when there is no database, which is told elsewhere.
    """

    name: str
    group: str
    what: str
    why: str
    look: Look
    is_quick: bool = True
    needs_db: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A question with one of its answers."""

    check: Check
    verdict: Verdict

    @property
    def name(self) -> str:
        """Return the name of the check, and of what it is about."""
        return f"{self.check.name} {self.verdict.about}".strip()

    @property
    def is_wrong(self) -> bool:
        """Return whether a person has something to mend."""
        return self.verdict.level is Level.WRONG

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "group": self.check.group,
            "level": self.verdict.level.value,
            "what": self.check.what,
            "said": self.verdict.said,
            "why": self.check.why,
            "fix": self.verdict.mend,
        }


def examine(patient: Patient, checks: Iterable[Check], *, quick: bool = False) -> list[Finding]:
    """Return what the checks found, in their order; one that cannot be carried out says so and stops no other."""
    return [
        Finding(check, verdict)
        for check in checks
        if (check.is_quick or not quick) and (patient.db is not None or not check.needs_db)
        for verdict in _answers(patient, check)
    ]


def _answers(patient: Patient, check: Check) -> list[Verdict]:
    try:
        found = check.look(patient)
        return [found] if isinstance(found, Verdict) else list(found)
    except (RivuletError, OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return [wrong(f"it could not be looked at: {said}", "The log says more.")]


def worst(findings: Iterable[Finding]) -> Level:
    """Return the worst of the findings."""
    levels = {finding.verdict.level for finding in findings}
    return next((level for level in (Level.WRONG, Level.NOTE) if level in levels), Level.OK)
