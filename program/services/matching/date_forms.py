"""The form of daily shows: the date on which they were on air."""

import re
from datetime import date

from program.services.matching.counting import Numbering

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = "|".join(_MONTHS)
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
_SHORT_COMPACT = re.compile(r"(?<!\w)(?<!\d\.)(?P<y>[012]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\w|\.\d)")
_MONTH_NAME = re.compile(
    rf"(?<!\d)(?:(?P<d>[0-3]?\d)(?:st|nd|rd|th)?[-. ,]+(?P<m>{_NAMES})[a-z]*[-. ,]+(?P<y>(?:19|20)\d\d)"
    rf"|(?<![a-z])(?P<m2>{_NAMES})[a-z]*[-. ,]+(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?[-. ,]+(?P<y2>(?:19|20)\d\d)"
    rf"|(?P<y3>(?:19|20)\d\d)[-. ](?P<m3>{_NAMES})[a-z]*[-. ](?P<d3>[0-3]?\d)(?:st|nd|rd|th)?)(?!\d)",
    re.IGNORECASE,
)
# A day of the week before the date belongs to it.
_WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day[-. ,(\[]+$|(?<=[. ])(?:mon|tue|wed|thu|fri|sat|sun)[-. ,]+$",
    re.IGNORECASE,
)


def daily(text: str) -> Numbering | None:
    """Read the date of a daily show, in any order that is a date."""
    for pattern in (_YEAR_FIRST, _DAY_FIRST, _COMPACT, _MONTH_NAME, _SHORT_YEAR, _SHORT_COMPACT):
        for match in pattern.finditer(text):
            found = _date_of(match)
            if found is not None:
                weekday = _WEEKDAY.search(text, 0, match.start())
                start = weekday.start() if weekday else match.start()
                return Numbering(air_date=found, start=start, end=match.end())
    return None


def _date_of(match: re.Match[str]) -> date | None:
    parts = {name.rstrip("23"): value for name, value in match.groupdict().items() if value}
    year, month, day = parts["y"], parts["m"], int(parts["d"])
    number = int(month) if month.isdigit() else _MONTHS.index(month.lower()[:3]) + 1
    full = int(year) if len(year) == len("2000") else 2000 + int(year)
    for one, other in ((number, day), (day, number)):
        # American names have the month first; only one order need be a date.
        try:
            return date(full, one, other)
        except ValueError:
            continue
    return None
