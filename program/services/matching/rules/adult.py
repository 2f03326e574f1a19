"""The release is pornography."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "adult"


def check(look: Look) -> Rejection | None:
    """Refuse what the words behind the title say to be indecent; the title itself is never held against it."""
    titles = [episode.title for episode in look.wanted.episodes if episode.item_id == look.wanted.item_id]
    is_called_so = look.names.says("xxx") or any("xxx" in title.casefold() for title in titles)
    if look.options.remove_adult and "adult" in look.parsed.flags and not is_called_so:
        return refused(CODE, "is pornography by its name")
    return None
