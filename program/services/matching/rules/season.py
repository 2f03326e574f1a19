"""The release does not hold the wanted season as a whole."""

from program.media.item import MediaType
from program.media.release import Rejection
from program.media.wanted import WantedEpisode
from program.services.matching.rules.base import Look, listed, refused, season_count

CODE = "wrong_season"


def check(look: Look) -> Rejection | None:
    """Refuse other seasons, and single episodes: they are searched for by themselves."""
    wanted, parsed = look.wanted, look.parsed
    if wanted.type is not MediaType.SEASON:
        return None
    if parsed.is_special and wanted.season != 0:
        return refused(CODE, "is a special")
    if parsed.seasons and wanted.season not in parsed.seasons:
        return refused(CODE, f"is season {listed(parsed.seasons)}, not {wanted.season}")
    asked = [e for e in wanted.episodes if e.season == wanted.season and e.is_wanted]
    if parsed.episodes:
        return None if _covers(look, asked) else refused(CODE, _sentence(look, asked))
    if parsed.seasons or (parsed.is_complete and wanted.season != 0):
        return None
    return refused(CODE, "names no season")


def _covers(look: Look, asked: list[WantedEpisode]) -> bool:
    parsed, wanted = look.parsed, look.wanted
    if not asked:
        return len(parsed.episodes) > 1
    found = set(parsed.episodes)
    by_number = {e.number for e in asked} <= found and (bool(parsed.seasons) or season_count(wanted) <= 1)
    absolute = {e.absolute for e in asked}
    return by_number or (not parsed.seasons and None not in absolute and absolute <= found)


def _sentence(look: Look, asked: list[WantedEpisode]) -> str:
    return f"holds episode {listed(look.parsed.episodes)} of the {len(asked)} that are wanted"
