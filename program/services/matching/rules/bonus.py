"""The release is a trailer, a sample or bonus material."""

from program.media.item import MediaType
from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.services.matching.text import simplified

CODE = "bonus_material"


def check(look: Look) -> Rejection | None:
    """Refuse a name that says so behind the title, unless the film or the wanted episode is called so."""
    wanted, parsed = look.wanted, look.parsed
    if wanted.type in (MediaType.SEASON, MediaType.SHOW) or not parsed.extras:
        return None
    titles = [simplified(e.title) for e in wanted.episodes if e.item_id == wanted.item_id]
    if wanted.type is MediaType.EPISODE and (not any(titles) or not parsed.episodes):
        # The words may be an episode's title; a pack may have extras beside its episodes.
        return None
    for extra in parsed.extras:
        if not look.names.says(extra) and not any(simplified(extra) in title for title in titles):
            return refused(CODE, f"says of itself: {extra}")
    return None
