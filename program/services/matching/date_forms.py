"""The form of daily shows: the date on which they were on air."""

import re
from dataclasses import replace
from datetime import date

from program.services.matching.counting import Numbering, episodes_from

_MONTHS = (
    ("jan", "ene", "gen"),
    ("feb", "fév", "fev"),
    ("mar", "mär"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mag"),
    ("jun", "juin", "giu"),
    ("jul", "juil", "lug"),
    ("aug", "aoû", "aou", "ago"),
    ("sep", "set"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "déc", "dez", "dic"),
)
_BY_NAME = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_NAMES = "|".join(sorted(_BY_NAME, key=len, reverse=True))
_OF = r"(?:[-. ,]+(?:of|de|del|di)[. ]|[-. ,]+)"
_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<sep>[-. /])(?P<m>[0-3]?\d)(?P=sep)(?P<d>[0-3]?\d)(?!\d)"
)
_DAY_FIRST = re.compile(
    r"(?<!\d)(?P<d>[0-3]?\d)(?P<sep>[-. /])(?P<m>[0-3]?\d)(?P=sep)(?P<y>(?:19|20)\d\d)(?!\d)"
)
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_SHORT_YEAR = re.compile(
    r"(?<![\w])(?<!\d\.)(?P<y>[012]\d)(?P<sep>[. -])(?P<m>[01]\d)(?P=sep)(?P<d>[0-3]\d)(?!\d|\.\d)"
)
_SHORT_YEAR_LAST = re.compile(
    r"(?<![\w])(?<!\d\.)(?P<d>[0-3]\d)(?P<sep>[.-])(?P<m>[01]\d)(?P=sep)(?P<y>[012]\d)(?!\d|\.\d)"
)
# American, with slashes.
_SHORT_SLASHES = re.compile(r"(?<![\w/])(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>[012]\d)(?![\d/])")
_SHORT_COMPACT = re.compile(
    r"(?<!\w)(?:(?<!\d\.)|(?<=[eE]\d\d\.)|(?<=[eE]\d\d\d\.))(?P<y>[012]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\w|\.\d)"
)
_MONTH_NAME = re.compile(
    rf"(?<!\d)(?:(?P<d>[0-3]?\d)(?:st|nd|rd|th)?{_OF}(?P<m>{_NAMES})[^\W\d_]*{_OF}(?P<y>(?:19|20)\d\d)"
    rf"|(?<![a-z])(?P<m2>{_NAMES})[^\W\d_]*[-. ,]+(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?[-. ,]+(?P<y2>(?:19|20)\d\d)"
    rf"|(?P<y3>(?:19|20)\d\d)[-. ](?P<m3>{_NAMES})[^\W\d_]*[-. ](?P<d3>[0-3]?\d)(?:st|nd|rd|th)?"
    rf"|(?P<d4>[0-3]?\d)-(?P<m4>{_NAMES})-(?P<y4>[012]\d))(?!\d)",
    re.IGNORECASE,
)
# A show may count its episodes beside the day.
_EPISODE = re.compile(r"(?<![^\W_])(?:ep?|episode)[. ]?(?P<e>\d{1,4})(?![^\W_])", re.IGNORECASE)
# A day of the week or a small word before the date belongs to it.
_WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day[-. ,(\[]+$|(?<=[. ])(?:mon|tue|wed|thu|fri|sat|sun|vom|du|del)[-. ,]+$",
    re.IGNORECASE,
)


def daily(text: str) -> Numbering | None:
    """Read the date of a daily show, in any order that is a date."""
    for pattern in (
        _YEAR_FIRST,
        _DAY_FIRST,
        _COMPACT,
        _MONTH_NAME,
        _SHORT_YEAR,
        _SHORT_YEAR_LAST,
        _SHORT_SLASHES,
        _SHORT_COMPACT,
    ):
        for match in pattern.finditer(text):
            found = _date_of(match)
            if found is not None:
                weekday = _WEEKDAY.search(text, 0, match.start())
                start = weekday.start() if weekday else match.start()
                return _with_episode(Numbering(air_date=found, start=start, end=match.end()), text)
    return None


def _with_episode(found: Numbering, text: str) -> Numbering:
    """Return the same with the number of the episode that stands beside the day: `E312 160427`."""
    match = _EPISODE.search(text)
    if match is None:
        return found
    episodes, last = episodes_from(match["e"], text, match.end())
    if match.start() < found.start:
        return replace(found, episodes=episodes, start=match.start())
    is_beside = not re.search(r"[^\W\d_]", text[found.end : match.start()])
    return replace(found, episodes=episodes, end=last if is_beside else found.end)


def _month(name: str) -> int:
    lower = name.lower()
    return _BY_NAME.get(lower[:4]) or _BY_NAME[lower[:3]]


def _date_of(match: re.Match[str]) -> date | None:
    parts = {name.rstrip("234"): value for name, value in match.groupdict().items() if value}
    year, month, day = parts["y"], parts["m"], int(parts["d"])
    number = int(month) if month.isdigit() else _month(month)
    full = int(year) if len(year) == len("2000") else 2000 + int(year)
    for one, other in ((number, day), (day, number)):
        # American names have the month first; only one order need be a date.
        try:
            return date(full, one, other)
        except ValueError:
            continue
    return None
