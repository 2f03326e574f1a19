"""The release is of the version of another country."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused
from program.services.matching.titles import COUNTRIES

CODE = "wrong_country"


def check(look: Look) -> Rejection | None:
    """Refuse a country behind the title that is not the wanted one's."""
    reading, country = look.match.reading, look.wanted.country
    if reading.country is None or country is None or look.wanted.is_anime:
        return None
    if reading.country == country or _belongs_to_title(look):
        return None
    return refused(CODE, f"is the version from {reading.country.upper()}, not from {country.upper()}")


def _belongs_to_title(look: Look) -> bool:
    """Return True when the known name that fits ends with the country itself."""
    last_word = look.match.name.rstrip(") ").rsplit(" ", 1)[-1].lstrip("(").lower()
    return COUNTRIES.get(last_word) == look.match.reading.country
