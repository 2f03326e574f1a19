"""Seasons, episodes and dates of a name, read by a list of forms; the first form that fits decides.

Numbers without a season stay without one: whether they count over the whole show is for those who know the show.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from program.services.matching.absolute_forms import absolute, beside, outside
from program.services.matching.bare_forms import alone, glued, says_television
from program.services.matching.count_forms import counted, episode_only, part, within_season
from program.services.matching.counting import Numbering
from program.services.matching.date_forms import daily
from program.services.matching.episode_forms import cross, standard, words
from program.services.matching.pack_forms import season_pack
from program.services.matching.season_forms import anime_season, season_and_count, spanish

_YEAR_FIRST = re.compile(r"(?:19|20)\d\d")
_YEAR_BEHIND = re.compile(r"[ .]+[(\[]?(?:19\d\d|20[0-3]\d)(?!\d)")
_YEAR_ANYWHERE = re.compile(r"[ .(\[](?:19\d\d|20[0-3]\d)(?![\d\w])")
Reader = Callable[[str], Numbering | None]
FORMS: tuple[tuple[str, Reader], ...] = (
    ("standard", standard),
    ("words", words),
    ("cross", cross),
    ("daily", daily),
    ("spanish", spanish),
    ("season_count", season_and_count),
    ("anime_season", anime_season),
    ("season", season_pack),
    ("counted", counted),
    ("outside", outside),
    ("episode", episode_only),
    ("absolute", absolute),
    ("part", part),
)


# The forms that no film's title has.
UNMISTAKABLE = frozenset({"standard", "words", "cross", "daily"})
# The forms that name one season and its episodes.
_WITHIN_SEASON = frozenset({"standard", "cross", "words", "anime_season"})
# Forms of a lone number, which may be the title's own.
WEAK = frozenset({"glued", "alone"})


def read_numbering(text: str, raw: str = "", *, of_film: bool = False) -> Numbering | None:
    """Return what the name counts, None when it counts nothing. text: with its technical words covered; raw: with them.

    of_film: only what no title has, so that a part stays in it.
    """
    for form, reader in FORMS:
        if of_film and form not in UNMISTAKABLE:
            continue
        found = reader(text)
        if found is None or (of_film and form == "daily" and not _YEAR_FIRST.match(text, found.start)):
            # `11.9.2018` may be a title and a year.
            continue
        if not _is_of_film(found, form, text, raw):
            if form == "season" and len(found.seasons) == 1 and not found.is_special:
                found = within_season(found, text)
            return _with_absolute(replace(found, form=form), text)
    if of_film:
        return None
    bare = glued(text, raw or text)
    if bare is not None:
        return replace(bare, form="glued")
    single = alone(text)
    return replace(single, form="alone") if single is not None else None


def _is_of_film(found: Numbering, form: str, text: str, raw: str) -> bool:
    """Return True for the part of a film: `Part II` and `Episode IV` before a year, with nothing of television."""
    is_spelt = not text[: found.end].rstrip()[-1:].isdigit()
    if len(found.episodes) > 1 or not (form == "part" or (form == "episode" and is_spelt)):
        return False
    year = _YEAR_ANYWHERE.search(text, found.end) if is_spelt else _YEAR_BEHIND.match(text, found.end)
    return year is not None and not says_television(raw or text, found.end)


def _with_absolute(found: Numbering, text: str) -> Numbering:
    if found.form not in _WITHIN_SEASON or not found.episodes:
        return found
    numbers, start, end = beside(text, found)
    return replace(found, absolute=numbers or found.absolute, start=start, end=end)
