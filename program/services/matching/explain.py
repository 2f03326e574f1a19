"""Why a release is taken or not, rule by rule, and why one stands above another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from program.media.release import FoundRelease, JudgedRelease, Rejection
from program.media.wanted import Wanted
from program.services.matching.judge import LOW_RANK, answers, look_at, low_rank
from program.services.matching.names import Names
from program.services.matching.rank import TERM_NAMES, key_of, score_of
from program.settings.ranking import RankingOptions

# A sentence names so many properties that make the difference.
_MOST_TERMS = 3


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """What one rule says of a release. refusal None: nothing against it."""

    code: str
    refusal: Rejection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A release with every rule's answer and its points, also when it is refused.

    release: as a search would judge it. title: the reading of its name that fits best, known_name: the name that it fits.
    """

    release: JudgedRelease
    answers: tuple[RuleAnswer, ...]
    title: str
    year: int | None
    known_name: str

    @property
    def is_accepted(self) -> bool:
        """Return True when no rule has anything against it."""
        return self.release.rejection is None


@dataclass(frozen=True, slots=True)
class Difference:
    """What puts one release above another. by: `resolution`, `rank`, `cached`, `seeders`, `size` or `hash`."""

    above: JudgedRelease
    below: JudgedRelease
    by: str
    sentence: str


def explain_releases(
    wanted: Wanted, releases: Iterable[FoundRelease], ranking: RankingOptions, now: datetime
) -> tuple[Explained, ...]:
    """Return every release with all that speaks for and against it, in the order given."""
    names = Names(wanted)
    return tuple(_explained(wanted, names, release, ranking, now) for release in releases)


def found_again(release: JudgedRelease) -> FoundRelease:
    """Return a stored release as a search would find it."""
    return FoundRelease(
        infohash=release.infohash,
        raw_title=release.raw_title,
        source=release.sources[0] if release.sources else "",
        size=release.size,
        seeders=release.seeders,
        cached_at=release.cached_at,
    )


def best_first(releases: Iterable[Explained], ranking: RankingOptions) -> tuple[Explained, ...]:
    """Return the accepted ones, the best first."""
    accepted = [release for release in releases if release.is_accepted]
    by_rank = ranking.order == "rank"
    return tuple(sorted(accepted, key=lambda one: key_of(one.release, by_rank=by_rank), reverse=True))


def explain(one: JudgedRelease, other: JudgedRelease, ranking: RankingOptions) -> Difference:
    """Return which of two accepted releases stands above the other, and by what."""
    by_rank = ranking.order == "rank"
    if key_of(one, by_rank=by_rank) < key_of(other, by_rank=by_rank):
        one, other = other, one
    steps = ("rank", "resolution") if by_rank else ("resolution", "rank")
    places = zip(
        (*steps, "cached", "seeders", "size", "hash"),
        *(key_of(r, by_rank=by_rank) for r in (one, other)),
        strict=True,
    )
    by = next((name for name, mine, theirs in places if mine != theirs), "hash")
    return Difference(one, other, by, _SENTENCES[by](one, other))


def _explained(
    wanted: Wanted, names: Names, found: FoundRelease, ranking: RankingOptions, now: datetime
) -> Explained:
    look = look_at(wanted, names, found.raw_title, ranking, now, found.size)
    said = tuple(RuleAnswer(rule.code, refusal) for rule, refusal in answers(look))
    score = score_of(look.parsed, ranking)
    rank = sum(score.values())
    said = (*said, RuleAnswer(LOW_RANK, low_rank(rank, ranking)))
    return Explained(
        release=JudgedRelease(
            infohash=found.infohash,
            raw_title=found.raw_title,
            sources=(found.source,),
            size=found.size,
            seeders=found.seeders,
            cached_at=found.cached_at,
            parsed=look.parsed.as_json(),
            rejection=next((one.refusal for one in said if one.refusal is not None), None),
            rank=rank,
            score=score,
            resolution=look.parsed.resolution,
            similarity=round(look.match.similarity, 3),
        ),
        answers=said,
        title=look.match.reading.text,
        year=look.match.reading.year,
        known_name=look.match.name,
    )


def _by_rank(one: JudgedRelease, other: JudgedRelease) -> str:
    names = dict.fromkeys((*one.score, *other.score))
    gains = {name: one.score.get(name, 0) - other.score.get(name, 0) for name in names}
    telling = sorted((name for name, gain in gains.items() if gain), key=lambda name: -abs(gains[name]))[
        :_MOST_TERMS
    ]
    terms = ", ".join(
        f"{TERM_NAMES.get(name, name.partition('.')[2] or name)} {gains[name]:+}" for name in telling
    )
    return f"{one.rank} points against {other.rank}: {terms}"


_SENTENCES: Mapping[str, Callable[[JudgedRelease, JudgedRelease], str]] = {
    "resolution": lambda one, other: f"{one.resolution} is above {other.resolution}",
    "rank": _by_rank,
    "cached": lambda one, _: f"is said to be cached at {', '.join(one.cached_at)}",
    "seeders": lambda one, other: f"{one.seeders or 0} seeders against {other.seeders or 0}",
    "size": lambda one, other: f"is the larger one: {one.size or 0} bytes against {other.size or 0}",
    "hash": lambda _, __: (
        "nothing: they are alike, and the hash decides so that the order is always the same"
    ),
}


def chain(ranked: Sequence[Explained], ranking: RankingOptions) -> tuple[Difference, ...]:
    """Return what puts each release above the next one."""
    return tuple(explain(one.release, other.release, ranking) for one, other in pairwise(ranked))
