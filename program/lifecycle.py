"""The life of the program as tables: which state follows which event. A small machine walks them.

Logs each move and tells where it stands.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from loguru import logger

from program.clock import Clock

Table = Mapping[str, Mapping[str, str]]

PROGRAM: Table = {
    "Idle": {"start": "Bootstrapping"},
    "Bootstrapping": {"ok": "Running", "error": "Errored", "stop": "Shutdown"},
    "Running": {"stop": "Shutdown", "error": "Errored"},
    "Errored": {"stop": "Shutdown"},
    "Shutdown": {"ok": "Exited"},
    "Exited": {},
}

BOOTSTRAP: Table = {
    "Bootstrapping database connection": {"ok": "Clearing previous instance state", "error": "Errored"},
    "Clearing previous instance state": {"ok": "Bootstrapping plugins", "error": "Errored"},
    "Bootstrapping plugins": {"ok": "Initialising services", "error": "Errored"},
    "Initialising services": {"ok": "Bootstrapping VFS", "error": "Errored"},
    "Bootstrapping VFS": {"ok": "Success", "error": "Errored"},
    "Success": {},
    "Errored": {},
}

MAIN_RUNNER: Table = {
    "Idle": {"start": "Running"},
    "Running": {"error": "Errored", "stop": "Idle"},
    "Errored": {},
}


@dataclass(frozen=True, slots=True)
class Move:
    """One change of state."""

    at: datetime
    state: str


class Machine:
    """Walks one table."""

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
