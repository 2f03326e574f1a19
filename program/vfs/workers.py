"""Threads of our own for the network: made when needed, gone when idle, never in the way of the process's end."""

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from loguru import logger

from program.clock import Clock

Task: TypeAlias = Callable[[], None]

# A thread that had nothing to do for so long ends.
IDLE_SECONDS = 20.0


class Workers:
    """A pool of at most `limit` threads. A task that raises is logged and harms no other."""

    def __init__(self, name: str, limit: int, clock: Clock) -> None:
        self._name = name
        self._limit = limit
        self._clock = clock
        self._changed = threading.Condition()
        # Guarded by the condition.
        self._tasks: deque[Task] = deque()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._made = 0
        self._stopped = False

    def submit(self, task: Task) -> bool:
        """Run the task on a thread soon; return False when the pool was stopped."""
        with self._changed:
            if self._stopped:
                return False
            self._tasks.append(task)
            if self._idle < len(self._tasks) and len(self._threads) < self._limit:
                self._made += 1
                thread = threading.Thread(target=self._run, name=f"{self._name}-{self._made}", daemon=True)
                self._threads.add(thread)
                thread.start()
            else:
                self._changed.notify()
        return True

    def stop(self, timeout: float) -> bool:
        """Take no more tasks, finish those there are; return whether all threads ended within the time."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            threads = list(self._threads)
        deadline = self._clock.monotonic() + timeout
        for thread in threads:
            thread.join(max(deadline - self._clock.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in threads)

    def _run(self) -> None:
        """Work until told to end or idle for long."""
        while (task := self._next()) is not None:
            try:
                task()
            except BaseException:  # noqa: BLE001 - the thread outlives whatever one task does
                logger.exception("a task of the file system failed")

    def _next(self) -> Task | None:
        """Return the next task, or None when this thread should end."""
        with self._changed:
            while not self._tasks:
                self._idle += 1
                notified = not self._stopped and self._changed.wait(IDLE_SECONDS)
                self._idle -= 1
                if not self._tasks and (self._stopped or not notified):
                    self._threads.discard(threading.current_thread())
                    return None
            return self._tasks.popleft()
