"""The release is pornography."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "adult"


def check(look: Look) -> Rejection | None:
    """Refuse what the words behind the title say to be indecent; the title itself is never held against it."""
    if look.options.remove_adult and "adult" in look.parsed.flags:
        return refused(CODE, "is pornography by its name")
    return None
