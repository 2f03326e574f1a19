"""The release has a resolution that the user has switched off."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "resolution"
# Resolutions without a switch of their own.
_SWITCH = {"4320p": "2160p", "1440p": "1080p", "576p": "480p", "540p": "480p", "288p": "360p", "240p": "360p"}


def switch_of(resolution: str) -> str:
    """Return the name of the switch that a resolution hangs on."""
    return _SWITCH.get(resolution, resolution)


def check(look: Look) -> Rejection | None:
    """Refuse what the user does not take."""
    resolution = look.parsed.resolution
    if switch_of(resolution) in look.options.resolutions:
        return None
    return refused(
        CODE, f"{resolution} is switched off" if resolution != "unknown" else "does not say its resolution"
    )
