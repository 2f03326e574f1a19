"""Indexers: they know titles, seasons, episodes and dates. One file per service.

What they share is here: codes of countries and languages in one form, and the instant that an air date stands for.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from zoneinfo import ZoneInfo

import langcodes
from langcodes.tag_parser import LanguageTagError

# ISO 3166-1 alpha-3, alpha-2, and where a country's air times are told: the capital or largest city, US Eastern for the US.
_COUNTRIES = """
are ae Asia/Dubai|arg ar America/Argentina/Buenos_Aires|aus au Australia/Sydney|aut at Europe/Vienna|bel be Europe/Brussels
bgr bg Europe/Sofia|bra br America/Sao_Paulo|can ca America/Toronto|che ch Europe/Zurich|chl cl America/Santiago
chn cn Asia/Shanghai|col co America/Bogota|cze cz Europe/Prague|deu de Europe/Berlin|dnk dk Europe/Copenhagen
egy eg Africa/Cairo|esp es Europe/Madrid|est ee Europe/Tallinn|fin fi Europe/Helsinki|fra fr Europe/Paris|gbr gb Europe/London
grc gr Europe/Athens|hkg hk Asia/Hong_Kong|hrv hr Europe/Zagreb|hun hu Europe/Budapest|idn id Asia/Jakarta|ind in Asia/Kolkata
irl ie Europe/Dublin|irn ir Asia/Tehran|isl is Atlantic/Reykjavik|isr il Asia/Jerusalem|ita it Europe/Rome|jpn jp Asia/Tokyo
kaz kz Asia/Almaty|kor kr Asia/Seoul|ltu lt Europe/Vilnius|lux lu Europe/Luxembourg|lva lv Europe/Riga|mex mx America/Mexico_City
mys my Asia/Kuala_Lumpur|nga ng Africa/Lagos|nld nl Europe/Amsterdam|nor no Europe/Oslo|nzl nz Pacific/Auckland
pak pk Asia/Karachi|per pe America/Lima|phl ph Asia/Manila|pol pl Europe/Warsaw|prt pt Europe/Lisbon|rou ro Europe/Bucharest
rus ru Europe/Moscow|sau sa Asia/Riyadh|sgp sg Asia/Singapore|srb rs Europe/Belgrade|svk sk Europe/Bratislava
svn si Europe/Ljubljana|swe se Europe/Stockholm|tha th Asia/Bangkok|tur tr Europe/Istanbul|twn tw Asia/Taipei|ukr ua Europe/Kyiv
usa us America/New_York|ven ve America/Caracas|vnm vn Asia/Ho_Chi_Minh|zaf za Africa/Johannesburg
"""
# Whose age ratings are taken where there are several.
RATING_COUNTRY = "us"

COUNTRIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        alpha3: (alpha2, zone)
        for alpha3, alpha2, zone in (
            entry.split() for entry in _COUNTRIES.strip().replace("\n", "|").split("|")
        )
    }
)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]m)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AirTimes:
    """Turns calendar dates of a show into instants. at: time of day since midnight, local to `zone`."""

    zone: ZoneInfo
    at: timedelta

    def instant(self, text: str | None) -> datetime | None:
        """Return when something listed for that date airs; without a time of day the date begins it."""
        try:
            day = date.fromisoformat((text or "")[:10])
        except ValueError:
            return None
        # Late-night slots are listed as the evening's date: 25:00 is one in the morning of the next day.
        return (datetime.combine(day, time(), self.zone) + self.at).astimezone(UTC)


def air_times(countries: Iterable[str | None], airs_time: str | None) -> AirTimes:
    """Return how dates are to be read of a show that is told in the time of the first country that is known, else UTC."""
    known = (COUNTRIES.get((code or "").lower()) for code in countries)
    zone = next((found[1] for found in known if found), "UTC")
    return AirTimes(ZoneInfo(zone), _time_of_day(airs_time))


def age_rating(rated: Iterable[tuple[str | None, str | None]]) -> str | None:
    """Return one of (country, age rating), that of the country whose ratings lists most use; None when nobody rated it."""
    named = [(country != RATING_COUNTRY, name) for country, name in rated if name]
    return min(named, key=lambda found: found[0])[1] if named else None


def country_code(code: str | None) -> str | None:
    """Return ISO 3166-1 alpha-2 in lower case for the service's alpha-3; None when it is not known."""
    known = COUNTRIES.get((code or "").lower())
    return known[0] if known else None


def language_code(code: str | None) -> str | None:
    """Return ISO 639-1 for the service's three-letter (now and then two-letter) code; None when there is none."""
    try:
        tag = langcodes.standardize_tag(code) if code else ""
    except LanguageTagError:
        return None
    language = str(tag).split("-", maxsplit=1)[0]
    return language if len(language) == 2 else None  # noqa: PLR2004 - ISO 639-1


def _time_of_day(text: str | None) -> timedelta:
    """Return `20:00`, `8:00 PM` or `25:30` as the time since midnight; nothing or nonsense is midnight."""
    found = _CLOCK.fullmatch((text or "").strip())
    if found is None:
        return timedelta()
    hours, minutes, half = int(found[1]), int(found[2]), (found[3] or "").lower()
    if half:
        hours = hours % 12 + (12 if half == "pm" else 0)
    return timedelta(hours=hours, minutes=minutes)
