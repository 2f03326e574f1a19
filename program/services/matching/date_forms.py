"""The form of daily shows: the date on which they were on air."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from program.services.matching.counting import Numbering, episodes_from
from program.services.matching.month_names import MONTHS
from program.services.matching.vocabulary import EPISODE, SEASON

_OF = r"(?:[-. ,]+(?:of|de|del|di)[. ]|[-. ,]+)"
# Any word, which is looked up afterwards.
_MONTH = r"[^\W\d_]{3,12}"
_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<sep>[-. /])(?P<m>[0-3]?\d)(?P=sep)(?P<d>[0-3]?\d)(?!\d)"
)
_DAY_FIRST = re.compile(
    r"(?<!\d)(?P<d>[0-3]?\d)(?P<sep>[-. /])(?P<m>[0-3]?\d)(?P=sep)(?P<y>(?:19|20)\d\d)(?!\d)"
)
_COMPACT_LAST = re.compile(r"(?<!\d)(?P<d>[0-3]\d)(?P<m>[01]\d)(?P<y>(?:19|20)\d\d)(?!\d)")
_COMPACT = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?:[0-2]\d[0-5]\d[0-5]\d)?(?!\d)"
)
_SHORT_YEAR = re.compile(
    r"(?<![\w])(?<!\d\.)(?P<y>[012]\d)(?P<sep>[. -])(?P<m>[01]\d)(?P=sep)(?P<d>[0-3]\d)(?!\d|\.\d)"
)
_SHORT_YEAR_LAST = re.compile(
    r"(?<![\w])(?<!\d\.)(?P<d>[0-3]\d)(?P<sep>[. -])(?P<m>[0-3]\d)(?P=sep)(?P<y>[012]\d)(?!\d|\.\d)"
    r"|(?<![\w])(?<!\d\.)(?:(?P<d2>[1-3]\d)\.(?P<m2>\d)\.(?P<y2>[012]\d)|(?P<m3>\d)-(?P<d3>[1-3]\d)-(?P<y3>[012]\d))(?!\d|\.\d)"
)
# American, with slashes.
_SHORT_SLASHES = re.compile(r"(?<![\w/])(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>[012]\d)(?![\d/])")
_SHORT_COMPACT = re.compile(
    r"(?<!\w)(?:(?<!\d\.)|(?<=[eEpP]\d\d\.)|(?<=[eEpP]\d\d\d\.))(?P<y>[012]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\w|\.\d)"
)
_MONTH_NAME = re.compile(
    rf"(?<!\d)(?:(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|º)?{_OF}?(?P<m>{_MONTH})(?![^\W\d_]){_OF}?(?P<y>(?:19|20)\d\d)"
    rf"|(?<![a-z])(?P<m2>{_MONTH})[-. ,]*(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?[-. ,]+(?P<y2>(?:19|20)\d\d)"
    rf"|(?P<y3>(?:19|20)\d\d)(?:[-. ]?|, )(?P<m3>{_MONTH})[-. ]?(?P<d3>[0-3]?\d)(?:st|nd|rd|th)?"
    rf"|(?P<d4>[0-3]?\d)[- ]?(?P<m4>{_MONTH})[- ]?(?P<y4>[012]\d)"
    rf"|(?<![a-z])(?P<m5>{_MONTH})-(?P<d5>[0-3]\d)-(?P<y5>[012]\d))(?!\d)",
    re.IGNORECASE,
)
# `2012年1月15日`, `2012년 1월 15일`.
_EAST_ASIAN = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日号일]?"
)
# A show may count its episodes beside the day.
_EPISODE = re.compile(
    r"(?:(?<![^\W_])(?:ep?|episode|выпуск)[. ]?|(?<!\S)#|第)(?P<e>\d{1,4})(?:[期回集话話]|(?![^\W_]))"
    r"|(?<!\d)(?P<k>\d{1,4})[회화](?![^\W_])",
    re.IGNORECASE,
)
# The time of day that recorders write behind the date.
_TIME = re.compile(
    r"(?:T|[ -]+(?:-[ ])?)(?:[01]\d|2[0-4])[-.:]?[0-5]\d(?:[-.:]?[0-5]\d)?Z?(?![\w\N{REPLACEMENT CHARACTER}]|\.\d)",
    re.IGNORECASE,
)
_DAYS = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
    r"|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)-feira)"
)
_AIRED = re.compile(r"(?<=[. (\[])(?:aired|air[. ]date|recorded|от|эфир|выпуск)[-. :,]+$", re.IGNORECASE)
# A day of the week or a small word before the date belongs to it.
_WEEKDAY = re.compile(
    rf"(?:(?:(?<=[. (])(?:vom|du|del)[. ])?{_DAYS}[-. ,(\[]+|(?<![^\s.(])(?:mon|tue|wed|thu|fri|sat|sun)[-. ,]+)$"
    r"|(?<=[. (])(?:(?:эфир|выпуск|puntata|programa|ausgabe|sendung|[eé]mission)[. ]+)?"
    r"(?:vom|du|del|of|for|recorded|aired|от|за|från|van|эфир|выпуск)[-. ,]+$",
    re.IGNORECASE,
)


# Names that have the day first, also in two digits.
_DAY_FIRST_HINT = re.compile(r"[\u0400-\u04ff]|(?<![^\W_])vom(?![^\W_])")
# `Seasons 01 02 03` are no date.
_COUNTED = re.compile(rf"(?:{SEASON}|{EPISODE})[. :]*$", re.IGNORECASE)
_SHORT = (_SHORT_YEAR, _SHORT_YEAR_LAST)
_PATTERNS = (
    _YEAR_FIRST,
    _DAY_FIRST,
    _COMPACT,
    _COMPACT_LAST,
    _MONTH_NAME,
    _EAST_ASIAN,
    _SHORT_YEAR,
    _SHORT_YEAR_LAST,
    _SHORT_SLASHES,
    _SHORT_COMPACT,
)
_PATTERNS_DAY_FIRST = (*_PATTERNS[:6], _SHORT_YEAR_LAST, _SHORT_YEAR, *_PATTERNS[8:])


def daily(text: str) -> Numbering | None:
    """Read the date of a daily show, in any order that is a date."""
    for pattern in _PATTERNS_DAY_FIRST if _DAY_FIRST_HINT.search(text) else _PATTERNS:
        for match in _overlapping(pattern, text):
            found = _date_of(match)
            if found is not None and not (pattern in _SHORT and _is_count(match)):
                # A date that begins with its year has no day of the week; the word is the title's.
                before = _AIRED if match.re is _YEAR_FIRST else _WEEKDAY
                weekday = before.search(text, 0, match.start())
                start = weekday.start() if weekday else match.start()
                time = _TIME.match(text, match.end())
                end = time.end() if time else match.end()
                return _with_episode(Numbering(air_date=found, start=start, end=end), text)
    return None


def _overlapping(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, also those that begin within another: `9 News 24 Nov 2020`."""
    match = pattern.search(text)
    while match is not None:
        yield match
        match = pattern.search(text, match.start() + 1)


def _is_count(match: re.Match[str]) -> bool:
    """Return True for three numbers that are no day: `Seasons 01 02 03`, a group's `07-08-09`."""
    first, second, third = (int(number) for number in re.findall(r"\d+", match[0]))
    is_row = (second, third) == (first + 1, first + 2) and match.string.startswith("[")
    return is_row or _COUNTED.search(match.string, 0, match.start()) is not None


def _with_episode(found: Numbering, text: str) -> Numbering:
    """Return the same with the number of the episode that stands beside the day: `E312 160427`."""
    match = _EPISODE.search(text)
    if match is None:
        return found
    episodes, last = episodes_from(match["e"] or match["k"], text, match.end())
    if match.start() == 0 and re.search(r"[^\W\d_]", text[match.end() : found.start]):
        # `E7 News 2019.03.21`: the title's.
        return found
    if match.start() < found.start:
        return replace(found, episodes=episodes, start=match.start())
    is_beside = not re.search(r"[^\W\d_]", text[found.end : match.start()])
    return replace(found, episodes=episodes, end=last if is_beside else found.end)


def _date_of(match: re.Match[str]) -> date | None:
    parts = {name.rstrip("2345"): value for name, value in match.groupdict().items() if value}
    year, month, day = parts["y"], parts["m"], int(parts["d"])
    number = int(month) if month.isdigit() else MONTHS.get(month.lower(), 0)
    full = int(year) if len(year) == len("2000") else 2000 + int(year)
    orders = ((number, day),) if match.re is _SHORT_YEAR else ((number, day), (day, number))
    for one, other in orders:
        # American names have the month first; only one order need be a date.
        try:
            return date(full, one, other)
        except ValueError:
            continue
    return None
