"""The release is the image of a whole disc, which media servers do not play."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "disc_image"


def check(look: Look) -> Rejection | None:
    """Refuse disc images and disc folders."""
    if "disc" in look.parsed.flags:
        return refused(CODE, "is a whole disc, not a file to be played")
    return None
