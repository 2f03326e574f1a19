"""The release is older than the thing it claims to be."""

from datetime import timedelta

from program.media.item import MediaType
from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "not_released_yet"
# Previews and time zones may bring a title out a little earlier than its date.
EARLY = timedelta(days=2)


def check(look: Look) -> Rejection | None:
    """Refuse any release of a film or an episode that nobody can have seen yet."""
    wanted = look.wanted
    if wanted.released_at is None or wanted.type not in (MediaType.MOVIE, MediaType.EPISODE):
        return None
    if wanted.released_at - EARLY <= look.now:
        return None
    return refused(CODE, f"cannot be real before {wanted.released_at:%Y-%m-%d}", permanent=False)
