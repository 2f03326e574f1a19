"""The release is from another year: a remake, a namesake, an earlier series."""

from program.media.release import Rejection
from program.media.wanted import Wanted
from program.services.matching.parse import Outline
from program.services.matching.rules.base import Look, listed, refused

CODE = "wrong_year"
# Services and release groups often differ by one.
SLACK = 1


def check(look: Look) -> Rejection | None:
    """Refuse a year that is more than one off; a series may carry its first year or that of its season."""
    year = look.match.reading.year
    allowed = years_of(look.wanted, look.parsed)
    if year is None or not allowed or any(abs(year - known) <= SLACK for known in allowed):
        return None
    if not look.wanted.is_movie and _is_later_season(look, year):
        return None
    return refused(CODE, f"is from {year}, not {listed(allowed)}")


def years_of(wanted: Wanted, parsed: Outline) -> set[int]:
    """Return the years that a release of the title may name."""
    years = {wanted.year} if wanted.year else set()
    if wanted.is_movie:
        return years | ({wanted.released_at.year} if wanted.released_at and years else set())
    seasons = set(parsed.seasons) or ({wanted.season} if wanted.season is not None else set())
    return years | {year for number, year in wanted.season_years if number in seasons and years}


def _is_later_season(look: Look, year: int) -> bool:
    """Return True for a plausible year of a season whose years are not known."""
    known = {number for number, _ in look.wanted.season_years}
    unknown = bool(look.parsed.seasons) and not known & set(look.parsed.seasons)
    if not look.match.reading.is_year_behind:
        # Before the season it is the year of the show, which tells namesakes apart.
        return False
    return unknown and look.wanted.year is not None and look.wanted.year <= year <= look.now.year
