"""Whether the program can still do what it is for. A database or a mount that is gone for long means that it cannot."""

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta

from program.clock import Clock

# A restart of a database server, or a mount that is being made anew, takes less.
PATIENCE_SECONDS = 300.0
# So often within its patience it is to be called.
LOOKS = 30


class Vitals:
    """Remembers when each organ was last well. organs: a name to a function that says whether it is; it may hang."""

    def __init__(
        self, clock: Clock, organs: Mapping[str, Callable[[], bool]], patience: float = PATIENCE_SECONDS
    ) -> None:
        self._clock = clock
        self._organs = organs
        self._patience = patience
        self.interval = timedelta(seconds=patience / LOOKS)
        self._lock = threading.Lock()
        # Guarded by the lock: seconds of the monotonic clock. The last time that anybody called one of the functions below.
        self._well_at = dict.fromkeys(organs, clock.monotonic())
        self._awake_at: float | None = None

    def look(self) -> None:
        """Ask each organ; to be called each `interval`."""
        with self._lock:
            self._pass_over_sleep()
        for name, is_well in self._organs.items():
            if is_well():
                with self._lock:
                    self._well_at[name] = self._clock.monotonic()

    def trouble(self) -> str | None:
        """Return which organ has not been well for too long, None when none; also when nobody could look.

        To be called more often than `look`.
        """
        with self._lock:
            now = self._pass_over_sleep()
            lost = [name for name, at in self._well_at.items() if now - at > self._patience]
        return f"{lost[0]} has been gone for more than {self._patience:g} s" if lost else None

    def _pass_over_sleep(self) -> float:
        """Return the time; while the whole program was stopped, nothing can have been gone. Call with the lock held."""
        now = self._clock.monotonic()
        slept = now - self._awake_at if self._awake_at is not None else 0.0
        # Less than that is within the patience anyway.
        if slept > self._patience - 2 * self.interval.total_seconds():
            self._well_at = {name: at + slept for name, at in self._well_at.items()}
        self._awake_at = now
        return now
