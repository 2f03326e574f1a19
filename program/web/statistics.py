"""What the library adds up to: states, files by week and by quality, why releases were refused, calls by provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from program.db import overview, tallies
from program.db.engine import Tx
from program.media.item import States
from program.plugins.discovery import AnyPlugin
from program.services.plugin import Plugin
from program.web import pages, times, words
from program.web.pages import Answer, Page, Web

WEEKS = 26
WEEK = timedelta(weeks=1)
REASONS_SHOWN = 12
# The plot's own units: the browser scales it to the width there is.
PLOT_HEIGHT, BAR, GAP = 120, 16, 4
# Statuses of calls that brought an answer.
ANSWERED = ("2", "3")
# A week with one file among weeks of hundreds is still to be seen.
LOWEST = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """One week in the plot. x, y, height: in the plot's units; word: what it says when pointed at."""

    x: int
    y: int
    height: int
    word: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Files that arrived, week by week, the present one last. most: in one week."""

    bars: tuple[Bar, ...]
    total: int
    most: int
    first: date

    width = WEEKS * (BAR + GAP) - GAP
    height = PLOT_HEIGHT
    bar = BAR


@dataclass(frozen=True, slots=True)
class Share:
    """A line of a list with its part of the whole. percent: of the longest line, at least one."""

    word: str
    count: int
    percent: int
    note: str = ""
    tone: str = "blue"


@dataclass(frozen=True, slots=True)
class Calls:
    """What a provider was asked since the start."""

    title: str
    calls: int
    failed: int
    saved: int


def statistics(web: Web) -> Answer:
    """Show what the library adds up to."""
    with web.api.db.read() as tx:
        counts = overview.title_counts(tx)
        plot = _plot(web, tx)
        kept, refusals, waits = tallies.held(tx), tallies.refusals(tx), tallies.waits(tx)
    states: dict[States, int] = {}
    for (_, state), number in counts.items():
        states[state] = states.get(state, 0) + number
    return pages.render(
        "statistics.html",
        titles=sum(states.values()),
        states=_states(states),
        plot=plot,
        files=sum(one.files for one in kept),
        size=sum(one.size for one in kept),
        qualities=_shares({one.version or "unknown": one.files for one in kept}, _sizes(kept)),
        seen=refusals.seen,
        reasons=_shares({_words(code): count for code, count in refusals.by_code.items()})[:REASONS_SHOWN],
        waits=waits,
        calls=_calls(web),
        today=web.now.astimezone(pages.zone()).date(),
    )


def _plot(web: Web, tx: Tx) -> Plot:
    zone = pages.zone()
    today = web.now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday())
    starts = [monday - WEEK * back for back in range(WEEKS - 1, -2, -1)]
    counts = tallies.arrivals(tx, [times.midnight(day, zone) for day in starts])
    most = max(counts)
    bars = tuple(_bar(index, count, most, starts[index], today) for index, count in enumerate(counts))
    return Plot(bars, sum(counts), most, starts[0])


def _bar(index: int, count: int, most: int, start: date, today: date) -> Bar:
    height = max(LOWEST, PLOT_HEIGHT * count // most) if count else 0
    word = f"{times.count(count, 'file')} in the week from {times.day(start, today)}"
    return Bar(index * (BAR + GAP), PLOT_HEIGHT - height, height, word)


def _states(states: Mapping[States, int]) -> list[Share]:
    most = max(states.values(), default=0)
    return [
        Share(word, states[state], _percent(states[state], most), state.value, tone)
        for state, (word, tone, _) in words.TONES.items()
        if states.get(state)
    ]


def _shares(counts: Mapping[str, int], notes: Mapping[str, str] | None = None) -> list[Share]:
    most = max(counts.values(), default=0)
    return [
        Share(word, count, _percent(count, most), (notes or {}).get(word, ""))
        for word, count in counts.items()
    ]


def _sizes(kept: tuple[tallies.Held, ...]) -> Mapping[str, str]:
    return {one.version or "unknown": times.size(one.size) for one in kept}


def _percent(count: int, most: int) -> int:
    return max(1, 100 * count // most) if most else 0


def _words(code: str) -> str:
    return code.replace("_", " ").capitalize()


def _calls(web: Web) -> list[Calls]:
    plugins: list[AnyPlugin] = list(web.api.registry.of(Plugin))
    found = [_called(plugin) for plugin in plugins]
    return sorted(found, key=lambda one: (-one.calls, one.title))


def _called(plugin: AnyPlugin) -> Calls:
    told = plugin.http.statistics()
    answered = sum(number for status, number in told.requests.items() if status.startswith(ANSWERED))
    calls = sum(told.requests.values())
    return Calls(plugin.title, calls, calls - answered, told.merged + told.cached)


PAGES = (Page(rule="/statistics", name="statistics", handle=statistics),)
