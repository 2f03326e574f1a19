"""Is the database fit, and is the work that stands in it getting done."""

from collections.abc import Iterator
from datetime import timedelta

from program.db import backup, items, lists, migrate, providers
from program.db import check as consistency
from program.db.engine import Database
from program.doctor.check import Check, Patient, Verdict, note, ok, wrong
from program.errors import RivuletError
from program.media.item import States

GROUP = "database"
WORK = "work"
MIB = 1024**2
LARGEST_LOG = 512 * MIB
OLDEST_BACKUP = timedelta(days=14)
OVERDUE = timedelta(hours=1)
LONGEST_LAG = 30.0
MOST_FAILED = 100
MOST_WAITING = 1000


def _db(patient: Patient) -> Database:
    if patient.db is None:
        raise RivuletError("the database is not open")
    return patient.db


def answers(patient: Patient) -> Verdict:
    """Look whether the database answers."""
    if patient.db is None:
        return wrong(patient.database_trouble, "Do what the sentence says.")
    if not patient.db.healthy():
        return wrong(
            "the database does not answer", "Is its server running, its disk full? The log says more."
        )
    return ok("it answers")


def schema(patient: Patient) -> Verdict:
    """Look at the version of the tables."""
    with _db(patient).read() as tx:
        current, newest = migrate.revision(tx.connection)
    if current == newest:
        return ok(f"the tables are at revision {current}")
    return wrong(
        f"the tables are at revision {current}, this program knows {newest}", "python main.py migrate"
    )


def consistent(patient: Patient) -> Verdict:
    """Look for rows that contradict each other."""
    with _db(patient).read() as tx:
        found = consistency.inconsistencies(tx)
    if found:
        return wrong("; ".join(found[:5]), "Restore a backup, and report it with a support bundle.")
    return ok("no row contradicts another")


def write_ahead(patient: Patient) -> Verdict:
    """Look at the log that SQLite writes before its file."""
    file = _db(patient).file
    if file is None:
        return ok("PostgreSQL looks after that itself")
    log = file.with_name(f"{file.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > LARGEST_LOG:
        return note(f"its write-ahead log takes {size // MIB} MiB", "Restart the program, which folds it in.")
    return ok(f"its write-ahead log takes {size // MIB} MiB")


def backups(patient: Patient) -> Verdict:
    """Look how old the newest backup is."""
    found = backup.all_in(backup.folder_in(patient.store.folder))
    if not found:
        return note("there is no backup", "python main.py backup, once in a while.")
    age = patient.clock.now() - found[0].made_at
    if age > OLDEST_BACKUP:
        return note(f"the newest backup is {age.days} days old", "python main.py backup")
    return ok(f"the newest backup is {max(age.days, 0)} days old")


def overdue(patient: Patient) -> Verdict:
    """Look for titles that should have been looked at long ago."""
    now = patient.clock.now()
    with _db(patient).read() as tx:
        since = items.oldest_due(tx, now)
    if since is None or now - since < OVERDUE:
        return ok("nothing waits longer than it should")
    hours = (now - since).total_seconds() / 3600
    said = f"a title has been due for {hours:.0f} hours"
    if patient.work is None:
        return note(said, "Start the program; it catches up.")
    return wrong(said, "Restart the program, and report it with a support bundle.")


def given_up(patient: Patient) -> Verdict:
    """Look for titles that wait for a person."""
    with _db(patient).read() as tx:
        counts = lists.counts(tx)
    failed = sum(count for (_, state), count in counts.items() if state is States.Failed)
    if failed:
        return note(
            f"{failed} titles or episodes were given up", "Each says why on its page; retry them there."
        )
    return ok("nothing was given up")


def resting(patient: Patient) -> Iterator[Verdict]:
    """Look which providers are left alone after failures."""
    now = patient.clock.now()
    with _db(patient).read() as tx:
        found = [one for one in providers.resting(tx) if one.until is not None and one.until > now]
    for one in found:
        yield note(
            f"left alone until {one.until:%H:%M} UTC: {one.reason}", "It is asked again by itself.", one.key
        )
    if not found:
        yield ok("none is left alone")


def machine(patient: Patient) -> Verdict:
    """Look where the program stands."""
    if patient.work is None:
        return ok("looked at from outside")
    state = patient.work().state
    return (
        ok(f"it is {state}")
        if state == "Running"
        else wrong(f"it is {state}", "Wait a moment; the log says more.")
    )


def failures(patient: Patient) -> Verdict:
    """Look for jobs that failed."""
    failed = (
        {}
        if patient.work is None
        else {queue: count for queue, count in patient.work().failed.items() if count}
    )
    total = sum(failed.values())
    if total > MOST_FAILED:
        worst = max(failed, key=lambda queue: failed[queue])
        return note(
            f"{total} jobs failed lately, most of them in {worst}", "See Activity, or /api/v1/queues."
        )
    return ok(f"{total} jobs failed lately")


def backlog(patient: Patient) -> Verdict:
    """Look how much waits."""
    waiting = 0 if patient.work is None else sum(patient.work().waiting.values())
    if waiting > MOST_WAITING:
        return note(f"{waiting} jobs wait", "Raise queue.workers, or leave it some time.")
    return ok(f"{waiting} jobs wait")


def loop(patient: Patient) -> Verdict:
    """Look how quickly the loop turns."""
    lag = 0.0 if patient.work is None else patient.work().lag
    if lag > LONGEST_LAG:
        return wrong(f"the loop is {lag:.0f} s late", "Is the machine out of memory or its disk very slow?")
    return ok(f"the loop is {lag:.1f} s late")


CHECKS = (
    Check(
        name="database",
        group=GROUP,
        what="The database",
        why="Everything that is known stands there.",
        look=answers,
    ),
    Check(
        name="schema",
        needs_db=True,
        group=GROUP,
        what="Version of the tables",
        why="A program and its tables belong together.",
        look=schema,
    ),
    Check(
        name="consistency",
        needs_db=True,
        group=GROUP,
        what="Rows that contradict each other",
        why="They would show as wrong states.",
        look=consistent,
        is_quick=False,
    ),
    Check(
        name="write-ahead-log",
        needs_db=True,
        group=GROUP,
        what="SQLite's write-ahead log",
        why="One that grows makes reading slow.",
        look=write_ahead,
    ),
    Check(name="backups", group=GROUP, what="Age of the newest backup", why="A disk may die.", look=backups),
    Check(
        name="program",
        group=WORK,
        what="Where the program stands",
        why="Only a running one does anything.",
        look=machine,
    ),
    Check(
        name="loop", group=WORK, what="The loop", why="It decides what comes next for each title.", look=loop
    ),
    Check(
        name="overdue",
        needs_db=True,
        group=WORK,
        what="Titles that are due",
        why="A title that stays due is not being worked on.",
        look=overdue,
    ),
    Check(
        name="failed-jobs",
        group=WORK,
        what="Jobs that failed",
        why="Many failures have one cause.",
        look=failures,
    ),
    Check(name="backlog", group=WORK, what="Jobs that wait", why="What waits long comes late.", look=backlog),
    Check(
        name="given-up",
        needs_db=True,
        group=WORK,
        what="Titles that were given up",
        why="They wait for a person.",
        look=given_up,
    ),
    Check(
        name="resting",
        needs_db=True,
        group=WORK,
        what="Providers that are left alone",
        why="What they bring comes later.",
        look=resting,
    ),
)
