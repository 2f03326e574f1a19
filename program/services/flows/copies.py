"""Which copies of a title are wanted, by which ranking, and when a better or a further one is looked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.db import shelves
from program.db.engine import Tx
from program.media.entry import Entry
from program.media.profiles import TitleFacts, matching
from program.services.matching.rank import resolution_place
from program.settings.models import RootSettings
from program.settings.profiles import enabled_profiles
from program.settings.ranking import RankingProfile, RankingRules, RankingSettings

# The name of the copy that every title has.
USUAL = ""
# A corrected copy comes within days of the faulty one.
CORRECTED_WITHIN = timedelta(days=7)
# A further copy is looked for soon after the first one is there, and seldom once it has not been found for long.
SOON = timedelta(minutes=5)
SELDOM = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Rankings:
    """The ranking of the usual copy, and by profile those of the copies wanted beside it."""

    usual: RankingRules
    beside: Mapping[str, RankingRules]

    def of(self, profile: str) -> RankingRules:
        """Return the ranking of a copy; that of the usual one for a profile that is gone."""
        return self.beside.get(profile, self.usual)


def rankings(settings: RootSettings, tx: Tx, root_id: int) -> Rankings:
    """Return by which rankings a title's copies are chosen: by who asked for it, and in which library profiles it is."""
    ranking = settings.ranking
    if not ranking.profiles:
        return Rankings(ranking, {})
    facts = shelves.facts_of(tx, root_id)
    if facts is None:
        return Rankings(ranking, {})
    shelved = matching(enabled_profiles(settings.vfs.profiles).values(), facts)
    fitting = {name: profile for name, profile in ranking.profiles.items() if _fits(profile, facts, shelved)}
    usual = _chosen(ranking, facts.ranking) or next(
        (profile for profile in fitting.values() if not profile.beside), ranking
    )
    return Rankings(usual, {name: profile for name, profile in fitting.items() if profile.beside})


def _chosen(ranking: RankingSettings, name: str | None) -> RankingRules | None:
    """Return the ranking that a person chose for a title; None when the settings decide, or no longer know that profile."""
    return ranking if name == USUAL else ranking.profiles.get(name) if name is not None else None


def _fits(profile: RankingProfile, facts: TitleFacts, shelved: Sequence[str]) -> bool:
    """Return True when one of the profile's lists, people or library profiles is the title's; without any it fits all."""
    asked = {*profile.lists} & {*facts.lists} or {*profile.people} & {*facts.requested_by}
    is_open = not (profile.lists or profile.people or profile.library_profiles)
    return is_open or bool(asked or {*profile.library_profiles} & {*shelved})


def to_look_for(chosen: Rankings, files: Sequence[Entry]) -> tuple[str, ...]:
    """Return the copies, by profile, of which a better one may be taken or which are not there yet."""
    found = []
    for profile in (USUAL, *chosen.beside):
        file = held(files, profile)
        is_open = chosen.of(profile).upgrade_until is not None and file is not None
        if is_open or (file is None and profile != USUAL):
            found.append(profile)
    return tuple(found)


def file_of(files: Sequence[Entry], profile: str) -> Entry | None:
    """Return the newest file of a copy. files: the newest first."""
    return next((file for file in files if file.ranking_profile == profile), None)


def held(files: Sequence[Entry], profile: str) -> Entry | None:
    """Return the file of a copy, None for a further one that nobody gives the bytes of any more: another is looked for then.

    A title whose usual copy is given up is searched from the start, and not for something better.
    """
    file = file_of(files, profile)
    return None if file is not None and file.given_up_at is not None and profile != USUAL else file


def window(ranking: RankingSettings) -> timedelta | None:
    """Return for how long after its first copy a title may be looked at again, None when nobody wants that."""
    asking = [
        one.upgrade_for_days
        for one in (ranking, *ranking.profiles.values())
        if one.upgrade_until is not None or (isinstance(one, RankingProfile) and one.beside)
    ]
    return timedelta(days=max(asking)) if asking else None


def next_look(
    chosen: Rankings, files: Sequence[Entry], since: datetime, now: datetime, *, is_first: bool
) -> datetime | None:
    """Return when a better or a further copy is looked for next, None for never. since: when the first file appeared."""
    dates = [
        _next_of(chosen.of(profile), held(files, profile), since, now, is_first=is_first)
        for profile in to_look_for(chosen, files)
    ]
    return min((at for at in dates if at is not None), default=None)


def _next_of(
    ranking: RankingRules, file: Entry | None, since: datetime, now: datetime, *, is_first: bool
) -> datetime | None:
    at, last = (
        now + timedelta(hours=ranking.upgrade_every_hours),
        since + timedelta(days=ranking.upgrade_for_days),
    )
    if file is None:
        return now + SOON if is_first else at if at <= last else now + SELDOM
    if resolution_place(file.version) >= resolution_place(ranking.upgrade_until or ""):
        last = min(last, since + CORRECTED_WITHIN)
    return at if at <= last else None
