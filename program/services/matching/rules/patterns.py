"""The release's name has, or lacks, what the user's own expressions say."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.settings.ranking import compiled

CODE = "pattern"


def check(look: Look) -> Rejection | None:
    """Refuse a name with an excluded expression, and one without any of the required ones."""
    name = look.parsed.raw
    for pattern in look.options.exclude:
        if compiled(pattern).search(name):
            return refused(CODE, f"its name has {pattern}, which is excluded")
    if look.options.require and not any(compiled(pattern).search(name) for pattern in look.options.require):
        return refused(CODE, "its name has none of the required expressions")
    return None
