"""The release is of a series where a film is wanted."""

import re

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "series_for_film"
_SEASON = re.compile(
    r"(?<![a-z0-9])(?:s\d{1,2}|(?:season|saison|staffel|temporada|stagione)[ ._]\d{1,2})(?![a-z0-9])",
    re.IGNORECASE,
)


def check(look: Look) -> Rejection | None:
    """Refuse a name with seasons, episodes or an air date for a film."""
    if not look.wanted.is_movie:
        return None
    # A season behind the title; one in the title is part of it.
    behind = f" {look.parsed.between} {look.parsed.behind} "
    if look.parsed.has_numbers or (_SEASON.search(behind) and not look.names.says("season")):
        return refused(CODE, "names a season or an episode, and a film is wanted")
    return None
