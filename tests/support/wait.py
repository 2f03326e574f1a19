"""Waiting for something another thread or process does, with a bound."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Short enough not to slow a test, long enough not to occupy a core.
POLL_SECONDS = 0.02


def until(predicate: Callable[[], T], timeout: float = 10.0, what: str = "the condition") -> T:
    """Return the first truthy value of `predicate`; raise AssertionError after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {timeout} s")
        pause.wait(POLL_SECONDS)
