"""The release is of a series where a film is wanted."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "series_for_film"


def check(look: Look) -> Rejection | None:
    """Refuse a name with seasons, episodes or an air date for a film."""
    if look.wanted.is_movie and look.parsed.has_numbers:
        return refused(CODE, "names a season or an episode, and a film is wanted")
    return None
