"""A search's answers, judged: each release comes back once, refused with a reason or ranked."""

import base64
import binascii
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from program.media.release import FoundRelease, JudgedRelease, Rejection
from program.media.wanted import Wanted
from program.services.matching.kept_names import read
from program.services.matching.names import Names, TitleMatch
from program.services.matching.numbering import WEAK
from program.services.matching.parse import Parsed
from program.services.matching.rank import score_of
from program.services.matching.rules import RULES
from program.services.matching.rules.base import Look, Rule, refused
from program.services.matching.rules.year import SLACK, years_of
from program.services.matching.titles import TitleReading
from program.settings.ranking import RankingOptions

# The code of what has too few points; not a rule, since points are counted last.
LOW_RANK = "low_rank"
_HEX_LENGTH, _HEX_DIGITS = 40, "0123456789abcdef"
_BASE32_LENGTH = 32


@dataclass(frozen=True, slots=True)
class _Merged:
    """One torrent as all scrapers together describe it. infohash: as it was given where it is no torrent's."""

    infohash: str
    is_torrent: bool
    raw_title: str
    sources: tuple[str, ...]
    size: int | None
    seeders: int | None
    cached_at: tuple[str, ...]


def judge(
    wanted: Wanted, releases: Iterable[FoundRelease], ranking: RankingOptions, now: datetime
) -> tuple[JudgedRelease, ...]:
    """Return every release once, in the order found, either refused or with rank and score."""
    return judged_by(RULES, wanted, releases, ranking, now)


def judged_by(
    rules: Sequence[Rule],
    wanted: Wanted,
    releases: Iterable[FoundRelease],
    ranking: RankingOptions,
    now: datetime,
) -> tuple[JudgedRelease, ...]:
    """Return the same by chosen rules only."""
    names = Names(wanted)
    return tuple(_judged(rules, wanted, names, merged, ranking, now) for merged in _merged(releases))


def look_at(
    wanted: Wanted, names: Names, title: str, ranking: RankingOptions, now: datetime, size: int | None = None
) -> Look:
    """Return what the rules look at for one release name."""
    parsed = read(title, of_film=wanted.is_movie)
    match = _best_match(wanted, names, parsed, ranking)
    if parsed.form in WEAK and match.reading.text.rstrip("]) ").endswith(_number_of(parsed)):
        # The lone number turned out to be the title's.
        parsed = replace(parsed, seasons=(), episodes=(), absolute=(), glued=None, form="")
    if wanted.is_anime and not parsed.seasons and match.similarity < ranking.title_similarity:
        told = names.season_in(parsed.readings)
        if told is not None and told[1] in {episode.season for episode in wanted.episodes}:
            match, parsed = told[0], replace(parsed, seasons=(told[1],), absolute=())
    return Look(wanted, names, parsed, match, ranking, now, size)


def _number_of(parsed: Parsed) -> str:
    return str(parsed.glued or parsed.episodes[-1])


def answers(look: Look, rules: Iterable[Rule] = RULES) -> Iterator[tuple[Rule, Rejection | None]]:
    """Yield every rule with what it says, in the order of the rules; a rule that crashes refuses, so that it is seen."""
    for rule in rules:
        try:
            answer = rule.check(look)
        except Exception as error:  # noqa: BLE001 - the boundary of the rules: a broken rule is an answer, not a crash
            answer = refused("rule_crashed", f"the rule {rule.code} failed: {type(error).__name__}")
        yield rule, answer


def refusals(look: Look, rules: Iterable[Rule] = RULES) -> Iterator[Rejection]:
    """Yield the refusals among the answers."""
    return (answer for _, answer in answers(look, rules) if answer is not None)


def low_rank(rank: int, ranking: RankingOptions) -> Rejection | None:
    """Return the refusal of a release with fewer points than the user wants."""
    if rank >= ranking.remove_ranks_under:
        return None
    return refused(LOW_RANK, f"has {rank} points, less than {ranking.remove_ranks_under}")


def normal_hash(infohash: str) -> str | None:
    """Return 40 hex digits in small letters from hex or base32, None for anything else."""
    text = infohash.strip()
    if len(text) == _BASE32_LENGTH:
        try:
            return base64.b32decode(text.upper()).hex()
        except binascii.Error:
            return None
    lower = text.lower()
    # Every release of every search comes by here, and this takes a tenth of what an expression does.
    return lower if len(lower) == _HEX_LENGTH and not lower.strip(_HEX_DIGITS) else None


def _merged(releases: Iterable[FoundRelease]) -> list[_Merged]:
    groups: dict[str, tuple[bool, list[FoundRelease]]] = {}
    for release in releases:
        known = normal_hash(release.infohash)
        groups.setdefault(known or release.infohash, (known is not None, []))[1].append(release)
    return [
        _joined(infohash, group, is_torrent=is_torrent) for infohash, (is_torrent, group) in groups.items()
    ]


def _joined(infohash: str, group: list[FoundRelease], *, is_torrent: bool) -> _Merged:
    first = group[0]
    if len(group) == 1:
        # As it is with nearly all.
        said = tuple(dict.fromkeys(first.cached_at))
        return _Merged(
            infohash, is_torrent, first.raw_title, (first.source,), first.size or None, first.seeders, said
        )
    return _Merged(
        infohash=infohash,
        is_torrent=is_torrent,
        raw_title=max((release.raw_title for release in group), key=len),
        sources=tuple(dict.fromkeys(release.source for release in group)),
        size=max((release.size for release in group if release.size), default=None),
        seeders=max((release.seeders for release in group if release.seeders is not None), default=None),
        cached_at=tuple(dict.fromkeys(key for release in group for key in release.cached_at)),
    )


def _judged(
    rules: Sequence[Rule],
    wanted: Wanted,
    names: Names,
    merged: _Merged,
    ranking: RankingOptions,
    now: datetime,
) -> JudgedRelease:
    if not merged.is_torrent:
        return _result(merged, None, {}, refused("bad_hash", "its hash is not a torrent's"))
    try:
        look = look_at(wanted, names, merged.raw_title, ranking, now, merged.size)
    except Exception as error:  # noqa: BLE001 - the boundary of the rules: a name that breaks the parser is one refusal
        return _result(
            merged, None, {}, refused("rule_crashed", f"its name cannot be read: {type(error).__name__}")
        )
    rejection = next(iter(refusals(look, rules)), None)
    score = {} if rejection else score_of(look.parsed, ranking)
    if rejection is None:
        rejection = low_rank(sum(score.values()), ranking)
    return _result(merged, look, score, rejection)


def _result(
    merged: _Merged, look: Look | None, score: dict[str, int], rejection: Rejection | None
) -> JudgedRelease:
    return JudgedRelease(
        infohash=merged.infohash,
        raw_title=merged.raw_title,
        sources=merged.sources,
        size=merged.size,
        seeders=merged.seeders,
        cached_at=merged.cached_at,
        # Plain dicts: a mapping proxy cannot be sent back from another process.
        parsed=look.parsed.as_json() if look else {},
        rejection=rejection,
        rank=sum(score.values()),
        score=score,
        resolution=look.parsed.resolution if look else "unknown",
        similarity=round(look.match.similarity, 3) if look else 0.0,
    )


def _best_match(wanted: Wanted, names: Names, parsed: Parsed, ranking: RankingOptions) -> TitleMatch:
    """Return the reading that fits: close enough first, then with a fitting year, then the closest, then the likeliest."""

    def worth(match: TitleMatch) -> tuple[bool, bool, float]:
        year = match.reading.year
        fits = year is None or not allowed or any(abs(year - known) <= SLACK for known in allowed)
        return match.similarity >= ranking.title_similarity, fits, match.similarity

    matches = [names.closest(reading) for reading in parsed.readings]
    if len(matches) == 1:
        return matches[0]
    allowed = years_of(wanted, parsed)
    return max(matches, key=worth, default=TitleMatch(TitleReading(""), 0.0, ""))
