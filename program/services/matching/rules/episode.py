"""The release does not hold the wanted episode."""

from datetime import timedelta

from program.media.item import MediaType
from program.media.release import Rejection
from program.media.wanted import Wanted
from program.services.matching.parse import Parsed
from program.services.matching.rules.base import Look, listed, refused, regular, season_count

CODE = "wrong_episode"
# An air date in a name is a local one.
DATE_SLACK = timedelta(days=1)


def check(look: Look) -> Rejection | None:
    """Refuse what names other episodes or other seasons, or none; a pack that holds the episode is welcome."""
    wanted, parsed = look.wanted, look.parsed
    if wanted.type is not MediaType.EPISODE:
        return None
    if parsed.air_date is not None and not parsed.seasons:
        wrong_day = _check_date(wanted, parsed)
        return _check_plain(wanted, parsed) if wrong_day and parsed.episodes else wrong_day
    if parsed.is_special and wanted.season != 0:
        return refused(CODE, "is a special")
    return _check_numbers(wanted, parsed)


def _check_numbers(wanted: Wanted, parsed: Parsed) -> Rejection | None:
    if parsed.seasons:
        return _check_season(wanted, parsed)
    if parsed.episodes:
        return _check_plain(wanted, parsed)
    if parsed.is_complete and wanted.season != 0:
        return None
    return refused(CODE, "names no season and no episode")


def _check_date(wanted: Wanted, parsed: Parsed) -> Rejection | None:
    aired = next((e.aired_at for e in wanted.episodes if e.item_id == wanted.item_id), wanted.released_at)
    if aired is None or parsed.air_date is None or abs(aired.date() - parsed.air_date) <= DATE_SLACK:
        return None
    return refused(CODE, f"was on air on {parsed.air_date}, the episode on {aired.date()}")


def _check_season(wanted: Wanted, parsed: Parsed) -> Rejection | None:
    if wanted.season in parsed.seasons and (not parsed.episodes or wanted.episode in parsed.episodes):
        return None
    if is_absolute_in_season_one(wanted, parsed) and wanted.absolute in parsed.episodes:
        return None
    if wanted.absolute is not None and wanted.absolute in parsed.absolute:
        return None
    if parsed.glued is not None and _is_glued(wanted, parsed):
        return None
    found = f"season {listed(parsed.seasons)}" + (
        f" episode {listed(parsed.episodes)}" if parsed.episodes else ""
    )
    return refused(CODE, f"is {found}, not season {wanted.season} episode {wanted.episode}")


def _is_glued(wanted: Wanted, parsed: Parsed) -> bool:
    """Return True when the number as it was written is the wanted one: `S01E0102`, or a bare `804` of a long show."""
    if parsed.form == "glued" and wanted.absolute is not None:
        return parsed.glued == wanted.absolute
    return wanted.season in parsed.seasons and parsed.glued == wanted.episode


def is_absolute_in_season_one(wanted: Wanted, parsed: Parsed) -> bool:
    """Return True for `S01E1170` of a show whose first season is not that long: the number counts over the whole show."""
    if parsed.seasons != (1,) or not parsed.episodes or wanted.absolute is None:
        return False
    first = [episode.number for episode in regular(wanted) if episode.season == 1]
    return min(parsed.episodes) > max(first, default=0)


def _check_plain(wanted: Wanted, parsed: Parsed) -> Rejection | None:
    if wanted.absolute is not None and wanted.absolute in parsed.episodes:
        return None
    counts_from_one = wanted.season == 1 or season_count(wanted) <= 1
    if counts_from_one and wanted.season != 0 and wanted.episode in parsed.episodes:
        return None
    return refused(CODE, f"is episode {listed(parsed.episodes)}, not {wanted.absolute or wanted.episode}")
