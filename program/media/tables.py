"""The tables of states and dates as Markdown, made from the code that runs, for `docs/pipeline.md`."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TypeVar

from program.media.facts import Policy
from program.media.item import States
from program.media.schedule import (
    CONFIRM_AFTER,
    COOLDOWN_FROM,
    ERROR_HOLDS,
    FIRST_COOLDOWN,
    INDEX_FAILURES_MAX,
    POST_FAILURES_MAX,
    REINDEX_GROWING,
    REINDEX_PAUSE,
    index_retry,
    search_cooldown,
    wants_scan,
)
from program.media.state import LEAF_RULES, PARENT_RULES, Rule

V = TypeVar("V")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def states_markdown() -> str:
    """Return the two tables of states: of films and episodes, and of seasons and shows."""
    head = ("rule", "when (the first that holds)", "state")
    return "\n\n".join(
        (
            "Films and episodes:",
            table(head, _rules(LEAF_RULES)),
            "Seasons (over their episodes) and shows (over their seasons):",
            table(head, _rules(PARENT_RULES)),
        )
    )


def dates_markdown() -> str:
    """Return the table of waits."""
    policy = Policy()
    growing = ", ".join(f"from {n}: {spoken(search_cooldown(n, policy))}" for n in COOLDOWN_FROM)
    doubling = ", ".join(spoken(index_retry(n)) for n in range(1, INDEX_FAILURES_MAX))
    scans = ", ".join(spoken(at) for n, at in enumerate(CONFIRM_AFTER) if wants_scan(n))
    rows = [
        (
            "release",
            f"its date + {spoken(policy.schedule_offset)}; cinema only: + {spoken(policy.theatrical_wait)}",
        ),
        (
            "a search in vain",
            f"1: {spoken(FIRST_COOLDOWN)}, {growing}; Failed after {policy.max_failed_attempts}",
        ),
        ("an error", f"{', '.join(spoken(hold) for hold in ERROR_HOLDS)}, and so on"),
        ("a title that is not found", f"{doubling}; Failed after {INDEX_FAILURES_MAX}"),
        ("an unknown release date", f"looked up every {spoken(policy.unknown_date)}"),
        ("a continuing show", f"looked up at its next air time, else every {spoken(REINDEX_GROWING)}"),
        ("any title", f"looked up at most once in {spoken(REINDEX_PAUSE)}"),
        (
            "a media server",
            f"asked after {', '.join(spoken(at) for at in CONFIRM_AFTER)}; told to scan at {scans}",
        ),
        ("post-processing", f"given up after {POST_FAILURES_MAX} failures"),
    ]
    return table(("what", "waits (defaults)"), rows)


def spoken(span: timedelta) -> str:
    """Return a span in its largest whole unit, e.g. `15 min`, `6 h`, `7 days`."""
    seconds = int(span.total_seconds())
    units = ((172_800, 86_400, "days"), (3_600, 3_600, "h"), (60, 60, "min"), (1, 1, "s"))
    for least, unit, name in units:
        if seconds >= least and seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return "0 s"


def _rules(rules: Iterable[Rule[V]]) -> Iterable[tuple[str, str, str]]:
    for rule in rules:
        state = rule.state.value if isinstance(rule.state, States) else rule.shown or ""
        yield rule.code, rule.when, state
