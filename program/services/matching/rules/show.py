"""The release does not hold the wanted show as a whole."""

from program.media.item import MediaType
from program.media.release import Rejection
from program.services.matching.rules.base import Look, listed, refused, season_count

CODE = "incomplete_show"


def check(look: Look) -> Rejection | None:
    """Refuse what lacks a season that is wanted, and single episodes."""
    wanted, parsed = look.wanted, look.parsed
    if wanted.type is not MediaType.SHOW:
        return None
    if parsed.is_special:
        return refused(CODE, "is a special")
    asked = {e.season for e in wanted.episodes if e.is_wanted and e.season > 0}
    if parsed.episodes and not _covers_by_count(look):
        return refused(CODE, f"holds only episode {listed(parsed.episodes)}")
    if parsed.seasons:
        lacking = asked - set(parsed.seasons)
        return refused(CODE, f"lacks season {listed(lacking)}") if lacking else None
    if parsed.is_complete or parsed.episodes:
        return None
    return refused(CODE, "names no season")


def _covers_by_count(look: Look) -> bool:
    asked = [e for e in look.wanted.episodes if e.is_wanted and e.season > 0]
    found = set(look.parsed.episodes)
    if not asked:
        return len(found) > 1
    if season_count(look.wanted) <= 1 and {e.number for e in asked} <= found:
        return True
    return not look.parsed.seasons and {e.absolute for e in asked} <= found
