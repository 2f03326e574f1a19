"""`doctor`: the program's own checks from outside, also when it does not run."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial

from program import plugins
from program.clock import Clock
from program.db.engine import Database
from program.doctor.check import Check, Finding, Level, Patient, Verdict, examine
from program.doctor.checks import CHECKS
from program.errors import RivuletError, StartupError
from program.opening import database_url, open_all

SIGNS = {Level.OK: "ok", Level.NOTE: "note", Level.WRONG: "WRONG"}
_SETTINGS = Check(
    name="settings-file",
    group="settings",
    what="The settings file",
    why="Without it nothing else can be looked at.",
    look=lambda _: (),
)


def run(environ: Mapping[str, str], clock: Clock, *, quick: bool) -> list[Finding]:
    """Return what was found; the settings come first, since without them nothing else can be looked at."""
    try:
        opened = open_all(environ)
    except RivuletError as error:
        verdict = Verdict(
            Level.WRONG, str(error), "Mend the place it names; docs/settings.md lists every setting."
        )
        return [Finding(_SETTINGS, verdict)]
    with ExitStack() as stack:
        registry = plugins.Registry(
            opened.store.current,
            opened.plugins.classes,
            partial(plugins.make_source, clock=clock, allowed=opened.store.current.network.networks),
            clock,
        )
        stack.callback(registry.close)
        if not quick:
            registry.validate(clock.now())
        database, trouble = None, ""
        try:
            database = Database(database_url(opened.store), data_dir=opened.store.folder, clock=clock)
            database.connect()
            stack.callback(database.close)
        except StartupError as error:
            database, trouble = None, str(error)
        patient = Patient(
            store=opened.store,
            clock=clock,
            registry=registry,
            db=database,
            database_trouble=trouble,
            broken=opened.plugins.broken,
        )
        good = Finding(_SETTINGS, Verdict(Level.OK, f"{opened.store.file} is good"))
        return [good, *examine(patient, CHECKS, quick=quick)]


def text(findings: list[Finding]) -> str:
    """Return the findings for reading: what is wrong first, with why it matters and how to mend it."""
    ranked = sorted(
        findings, key=lambda found: (Level.WRONG, Level.NOTE, Level.OK).index(found.verdict.level)
    )
    return "\n".join(line for found in ranked for line in _lines(found))


def _lines(found: Finding) -> Iterator[str]:
    yield f"{SIGNS[found.verdict.level]:<6} {found.name}: {found.verdict.said}"
    if found.verdict.level is not Level.OK:
        yield f"       why: {found.check.why}"
        yield f"       fix: {found.verdict.mend}"
