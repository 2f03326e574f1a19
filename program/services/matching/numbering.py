"""Seasons, episodes and dates of a name, read by a list of forms; the first form that fits decides.

Numbers without a season stay without one: whether they count over the whole show is for those who know the show.
"""

from collections.abc import Callable
from dataclasses import replace

from program.services.matching.absolute_forms import absolute
from program.services.matching.counting import Numbering
from program.services.matching.date_forms import daily
from program.services.matching.episode_forms import (
    anime_season,
    counted,
    cross,
    episode_only,
    part,
    spanish,
    standard,
    words,
)
from program.services.matching.pack_forms import season_pack

Reader = Callable[[str], Numbering | None]
FORMS: tuple[tuple[str, Reader], ...] = (
    ("standard", standard),
    ("words", words),
    ("cross", cross),
    ("daily", daily),
    ("spanish", spanish),
    ("anime_season", anime_season),
    ("season", season_pack),
    ("counted", counted),
    ("episode", episode_only),
    ("absolute", absolute),
    ("part", part),
)


# The forms that no film's title has.
UNMISTAKABLE = frozenset({"standard", "words", "cross", "daily"})


def read_numbering(text: str, *, of_film: bool = False) -> Numbering | None:
    """Return what the name counts, None when it counts nothing. of_film: only what no title has, so that a part stays in it."""
    for form, reader in FORMS:
        if of_film and form not in UNMISTAKABLE:
            continue
        found = reader(text)
        if found is not None:
            return replace(found, form=form)
    return None
