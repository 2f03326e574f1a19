"""The release was filmed in a cinema or taken from a copy for critics."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "camera_copy"
_QUALITIES = frozenset({"CAM", "TeleSync", "TeleCine", "SCR", "R5", "PDTV"})


def check(look: Look) -> Rejection | None:
    """Refuse camera copies and the like as long as the user has trash removed."""
    if not look.options.remove_trash:
        return None
    if look.parsed.quality in _QUALITIES or look.parsed.flags & {"camera", "trash"}:
        return refused(
            CODE, f"is a copy from a cinema or for critics ({look.parsed.quality or 'by its name'})"
        )
    return None
