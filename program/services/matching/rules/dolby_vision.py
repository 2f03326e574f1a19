"""The release has Dolby Vision and nothing for screens without it."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "dolby_vision_alone"


def check(look: Look) -> Rejection | None:
    """Refuse Dolby Vision without HDR beside it unless the user takes it."""
    if look.options.dolby_vision_alone or set(look.parsed.hdr) != {"DV"}:
        return None
    return refused(CODE, "is Dolby Vision without HDR, which shows false colours on other screens")
