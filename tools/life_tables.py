"""The tables of `docs/plugins.md` and `docs/lifecycle.md`, made from the code that runs."""

from collections.abc import Iterator, Mapping

from program import lifecycle
from program.events import CATALOGUE, HOOKABLE, Told
from program.media.tables import table
from program.plugins.guard import FAILURES, RESTS, STUCK
from program.plugins.registry import PAUSES
from program.reactions import GUARDS, REACTIONS
from program.services.plugin import ContentService, Downloader, Indexer, Plugin, Scraper, Updater

MACHINES: Mapping[str, lifecycle.Table] = {
    "Program": lifecycle.PROGRAM,
    "Bootstrap": lifecycle.BOOTSTRAP,
    "Each of the services that are initialised side by side": lifecycle.SERVICE,
    "Plugin registrar": lifecycle.PLUGIN_REGISTRAR,
    "Main runner": lifecycle.MAIN_RUNNER,
}
KINDS: tuple[type[Plugin], ...] = (ContentService, Indexer, Scraper, Downloader, Updater)  # type: ignore[type-arg]


def machines_markdown() -> str:
    """Return a table of states and moves for each machine."""
    parts = []
    for name, machine in MACHINES.items():
        rows = [
            (state, ", ".join(f"{event} → {after}" for event, after in moves.items()) or "(its end)")
            for state, moves in machine.items()
        ]
        parts.append(f"### {name}\n\n{table(('state', 'event → next state'), rows)}")
    return "\n\n".join(parts)


def reactions_markdown() -> str:
    """Return the table of what the program does about each event."""
    rows = [
        (f"`{event.type}`", f"`{case.guard}`" if case.guard else "-", ", ".join(case.actions))
        for event, cases in REACTIONS.items()
        for case in cases
    ]
    guards = [(f"`{name}`", _first_line(guard)) for name, guard in GUARDS.items()]
    return f"{table(('event', 'when', 'what is done'), rows)}\n\n{table(('guard', 'holds for'), guards)}"


def events_markdown() -> str:
    """Return the catalogue of events."""
    return "\n\n".join(
        f"{title}\n\n{table(('event', 'class', 'what it says'), rows)}"
        for title, rows in (
            ("Asked of one plugin, with an answer:", list(_events(is_told=False))),
            ("Told to every hook; what a hook returns is dropped:", list(_events(is_told=True))),
        )
    )


def _events(*, is_told: bool) -> Iterator[tuple[str, str, str]]:
    for name, event in CATALOGUE.items():
        if issubclass(event, Told) is is_told and name.startswith(HOOKABLE):
            yield f"`{name}`", f"`{event.__name__}`", _first_line(event)


def kinds_markdown() -> str:
    """Return the table of the kinds of plugins."""
    rows = [
        (f"`{kind.__name__}`", f"`{kind.section}`", str(kind.concurrency), _first_line(kind), _to_write(kind))
        for kind in KINDS
    ]
    rows.append(("`Plugin`", f"`{Plugin.section}`, or any", "1", "Hooks whatever it likes.", "`hooks`"))
    return table(
        ("base", "its settings", "jobs at a time", "what it does", "what it has to have beside `check`"), rows
    )


def _to_write(kind: type[Plugin]) -> str:  # type: ignore[type-arg]
    return ", ".join(f"`{name}`" for name in sorted(kind.__abstractmethods__ - {"check"})) or "-"


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


def limits_markdown() -> str:
    """Return the table of what stands between the program and a plugin."""
    rests = ", ".join(_spell(rest.total_seconds()) for rest in RESTS)
    return table(
        ("what", "how much"),
        [
            (
                "tries of a check, with pauses between",
                f"{len(PAUSES) + 1}: {' s, '.join(f'{p:g}' for p in PAUSES)} s",
            ),
            ("checked again after", f"{rests}, and so on"),
            (
                "one call of a hook or a check",
                f"{Plugin.deadline_seconds:g} s (`deadline_seconds`, `plugins.deadlines`)",
            ),
            ("failures in a row until it rests", str(FAILURES)),
            ("its rests", f"{rests}, and so on; one success ends them"),
            ("calls that never ended, until no more are begun", str(STUCK)),
        ],
    )


def _spell(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
