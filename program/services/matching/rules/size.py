"""The release is too small to be what it says, or larger than the user wants."""

from program.media.item import MediaType
from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.services.matching.rules.resolution import switch_of

CODE = "size"
MEGABYTE = 1_000_000


def check(look: Look) -> Rejection | None:
    """Refuse by megabytes a minute. A pack's size may be told of one file, so it is measured by one episode."""
    runtime = _runtime(look)
    if not look.size or not runtime:
        return None
    per_minute = look.size / MEGABYTE / runtime
    limits = look.options.min_size
    least = limits.get(switch_of(look.parsed.resolution), limits.get("other", 0.0))
    if per_minute < least:
        return refused(CODE, f"has {per_minute:.1f} MB a minute, too little for {look.parsed.resolution}")
    most = limits.get("maximum", 0.0)
    if most and per_minute > most and _is_single(look):
        return refused(CODE, f"has {per_minute:.0f} MB a minute, more than {most:.0f}")
    return None


def _runtime(look: Look) -> int | None:
    wanted = look.wanted
    if wanted.is_movie:
        return wanted.runtime
    known = [e.runtime for e in wanted.episodes if e.runtime and (e.is_wanted or e.item_id == wanted.item_id)]
    return min(known, default=wanted.runtime)


def _is_single(look: Look) -> bool:
    return look.wanted.is_movie or (look.wanted.type is MediaType.EPISODE and len(look.parsed.episodes) == 1)
