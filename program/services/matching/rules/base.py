"""What a rule looks at and how it says no."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from program.media.release import Rejection
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.names import Names, TitleMatch
from program.services.matching.parse import Parsed
from program.settings.ranking import RankingOptions


@dataclass(frozen=True, slots=True)
class Look:
    """One release beside what is wanted. match: the reading of its title that fits best. size: bytes."""

    wanted: Wanted
    names: Names
    parsed: Parsed
    match: TitleMatch
    options: RankingOptions
    now: datetime
    size: int | None = None


Check = Callable[[Look], Rejection | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to refuse a release. code: the stable word for machines."""

    code: str
    check: Check


def refused(code: str, sentence: str, *, permanent: bool = True) -> Rejection:
    """Return the refusal of a rule."""
    return Rejection(code, sentence, permanent)


def listed(numbers: Iterable[int]) -> str:
    """Return numbers for a sentence, runs shortened: `1-3, 7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def regular(wanted: Wanted) -> tuple[WantedEpisode, ...]:
    """Return the episodes that are no specials."""
    return tuple(episode for episode in wanted.episodes if episode.season > 0)


def season_count(wanted: Wanted) -> int:
    """Return how many seasons beside the specials are known."""
    return len({episode.season for episode in regular(wanted)})
