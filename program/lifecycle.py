"""The life of the program as tables: which state follows which event. Small machines walk them, and are asked where they stand.

A state of *Bootstrap* has work to do; what becomes of the work is the event. *Initialising services* is a group of machines that
walk side by side. The others are told their events by the program.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from loguru import logger

from program.clock import Clock

Table = Mapping[str, Mapping[str, str]]
# Does what a state is for and returns the event; raising is the event `error`.
Work = Callable[[], str]

START, OK, ERROR, STOP = "start", "ok", "error", "stop"
# Clearing up is done, and a scenario is to be applied first.
SCENARIO = "scenario"

PROGRAM: Table = {
    "Idle": {START: "Bootstrapping", STOP: "Shutdown"},
    "Bootstrapping": {OK: "Running", ERROR: "Errored", STOP: "Shutdown"},
    "Running": {ERROR: "Errored", STOP: "Shutdown"},
    "Shutdown": {OK: "Exited"},
    "Exited": {},
    "Errored": {},
}

BOOTSTRAP: Table = {
    "Bootstrapping database connection": {OK: "Clearing previous instance state", ERROR: "Errored"},
    "Clearing previous instance state": {
        SCENARIO: "Applying mock scenario",
        OK: "Bootstrapping plugins",
        ERROR: "Errored",
    },
    "Applying mock scenario": {OK: "Bootstrapping plugins", ERROR: "Errored"},
    "Bootstrapping plugins": {OK: "Initialising services", ERROR: "Errored"},
    "Initialising services": {OK: "Bootstrapping VFS", ERROR: "Errored"},
    "Bootstrapping VFS": {OK: "Success", ERROR: "Errored"},
    "Success": {},
    "Errored": {},
}

# One of the services that are initialised side by side.
SERVICE: Table = {
    "Waiting": {START: "Starting"},
    "Starting": {OK: "Ready", ERROR: "Errored"},
    "Ready": {},
    "Errored": {},
}

PLUGIN_REGISTRAR: Table = {
    "Registering plugins": {OK: "Validating"},
    "Validating": {OK: "Validated"},
    "Validated": {},
}

MAIN_RUNNER: Table = {
    "Idle": {START: "Running"},
    "Running": {ERROR: "Errored", STOP: "Idle"},
    "Errored": {},
}


@dataclass(frozen=True, slots=True)
class Move:
    """One change of state."""

    at: datetime
    state: str


class Machine:
    """Walks one table, from its first state. Thread-safe."""

    def __init__(self, name: str, table: Table, clock: Clock) -> None:
        self.name = name
        self._table = table
        self._clock = clock
        self._lock = threading.Lock()
        self._moves = [Move(clock.now(), next(iter(table)))]

    @property
    def state(self) -> str:
        """The state it stands in."""
        with self._lock:
            return self._moves[-1].state

    def send(self, event: str) -> str:
        """Move by `event` and return the new state; an event that the state does not know changes nothing."""
        with self._lock:
            before = self._moves[-1].state
            state = self._table[before].get(event)
            if state is None:
                return before
            self._moves.append(Move(self._clock.now(), state))
        logger.debug("{}: {} → {}", self.name, before, state)
        return state

    def history(self) -> tuple[Move, ...]:
        """Return every state it stood in, oldest first."""
        with self._lock:
            return tuple(self._moves)


def walk(machine: Machine, work: Mapping[str, Work], is_stopped: Callable[[], bool]) -> bool:
    """Do the work of each state, until one has none; return False when stopped before.

    Raises what the work raises, with the machine in the state that follows `error`.
    """
    while (task := work.get(machine.state)) is not None:
        if is_stopped():
            return False
        _do(machine, task)
    return True


def together(group: Mapping[Machine, Work]) -> None:
    """Do the work of several machines side by side, each on a thread; return when all are ready, raise the first error."""
    errors: list[BaseException] = []

    def run(machine: Machine, task: Work) -> None:
        machine.send(START)
        try:
            _do(machine, task)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that waits
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=pair, name=f"start {pair[0].name}", daemon=True)
        for pair in group.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _do(machine: Machine, task: Work) -> None:
    try:
        event = task()
    except BaseException:
        machine.send(ERROR)
        raise
    machine.send(event)
