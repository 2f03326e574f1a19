"""Which file of a torrent is the wanted film."""

import re
from collections.abc import Sequence

from program.media.entry import FileMatch
from program.media.wanted import Wanted
from program.services.matching.files import FileLook, Role
from program.services.matching.names import Names
from program.services.matching.parse import Outline, outline
from program.services.matching.parts import Film, films_in_parts, is_half_of_film, is_part
from program.services.matching.rules.year import SLACK, years_of
from program.services.matching.titles import TitleReading

# How alike a file's title and the film's must be.
_ALIKE = 0.85
_NUMBER_ONE = re.compile(r"\s(?:1|i)$", re.IGNORECASE)
_NUMBER_TWO = re.compile(r"(?<![^\W_])(?:2|ii)(?![^\W_])", re.IGNORECASE)
# Without a fitting name, the largest file must stand out so far from the next one.
_STANDS_OUT = 1.5
# The place in a collection: `3. Title (2010)`.
_PLACE = re.compile(r"^\d{1,2}[.)]?[\s_\-]+(?=\S)")


def map_film(wanted: Wanted, names: Names, looks: Sequence[FileLook]) -> tuple[FileMatch, ...]:
    """Return the largest file that is the film, or all of its parts; nothing when one of those lacks or when nobody can tell."""
    films = [
        look
        for look in looks
        if look.role is Role.MAIN and not (_is_vob(look) or is_part(look, looks) or is_half_of_film(look))
    ]
    split = films_in_parts([look for look in looks if not _is_vob(look)])
    fitting = [look for look in films if _fits(wanted, names, look, films)]
    fitting_split = [film for film in split if _fits(wanted, names, film.whole, [])]
    if not fitting and not fitting_split:
        fitting = _standing_out([look for look in films if not _is_another(wanted, names, look)])
        nameless = [film for film in split if not _is_another(wanted, names, film.whole)]
        if len(nameless) == 1 and nameless[0].size > sum(look.file.size for look in fitting):
            return _in_parts(wanted, nameless[0])
    if fitting:
        best = max(fitting, key=lambda look: look.file.size)
        return (FileMatch(best.file, (wanted.item_id,)),)
    return _in_parts(wanted, max(fitting_split, key=lambda film: film.size)) if fitting_split else ()


def _in_parts(wanted: Wanted, film: Film) -> tuple[FileMatch, ...]:
    first, *further = film.parts
    return (FileMatch(first.file, (wanted.item_id,), tuple(look.file for look in further)),)


def _first_of_many(parsed: Outline, look: FileLook, looks: Sequence[FileLook]) -> tuple[TitleReading, ...]:
    """Return `Title 1` without its number where the second part stands beside it."""
    shorter = _NUMBER_ONE.sub("", parsed.title)
    has_second = any(other is not look and _NUMBER_TWO.search(other.stem) for other in looks)
    return (TitleReading(shorter, parsed.year),) if has_second and shorter != parsed.title else ()


def _fits(wanted: Wanted, names: Names, look: FileLook, looks: Sequence[FileLook]) -> bool:
    """Return True when the file's name, or that of its folder, is the film's."""
    own = tuple(dict.fromkeys((look.stem, _PLACE.sub("", look.stem))))
    for text in (*own, *look.folders[-1:]):
        parsed = outline(text, of_film=True)
        if parsed.has_numbers:
            return False
        years = years_of(wanted, parsed)
        for reading in (*parsed.readings, *_first_of_many(parsed, look, looks)):
            fits_year = (
                reading.year is None or not years or any(abs(reading.year - y) <= SLACK for y in years)
            )
            if fits_year and names.closest(reading).similarity >= _ALIKE:
                return True
        if parsed.readings and text == own[-1] and parsed.year is not None:
            # A full name of another film; its folder cannot make it ours.
            return False
    return False


def _is_another(wanted: Wanted, names: Names, look: FileLook) -> bool:
    """Return True for a file that says of itself to be something else: an episode, or a film of another year."""
    parsed = outline(look.stem, of_film=True)
    years = years_of(wanted, parsed)
    if parsed.has_numbers:
        return True
    is_ours = any(names.closest(reading).similarity >= _ALIKE for reading in parsed.readings)
    if parsed.year is None:
        return False
    return not is_ours or (bool(years) and all(abs(parsed.year - year) > SLACK for year in years))


def _standing_out(films: list[FileLook]) -> list[FileLook]:
    by_size = sorted(films, key=lambda look: look.file.size, reverse=True)
    if len(by_size) > 1 and by_size[0].file.size < by_size[1].file.size * _STANDS_OUT:
        return []
    return by_size[:1]


def _is_vob(look: FileLook) -> bool:
    return look.file.path.lower().endswith((".vob", ".iso"))
