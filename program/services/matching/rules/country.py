"""The release is of the version of another country."""

from program.media.release import Rejection
from program.services.matching.rules.base import Look, refused

CODE = "wrong_country"


def check(look: Look) -> Rejection | None:
    """Refuse a country behind the title that is not the wanted one's."""
    reading, country = look.match.reading, look.wanted.country
    if reading.country is None or country is None or look.wanted.is_anime:
        return None
    last_word = reading.text.rsplit(" ", 1)[-1].lower()
    if reading.country == country or _says_country(last_word, look):
        return None
    return refused(CODE, f"is the version from {reading.country.upper()}, not from {country.upper()}")


def _says_country(last_word: str, look: Look) -> bool:
    """Return True when the known name that fits ends with the country itself."""
    return look.match.name.lower().rstrip(") ").endswith(last_word) and len(last_word) <= len("USA")
