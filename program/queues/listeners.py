"""Who is told when a job has ended; never with the engine's lock held."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import InvalidStateError
from contextlib import suppress
from typing import TypeAlias

from loguru import logger

from program.queues.flow import Ended
from program.queues.job import JobView

Listener: TypeAlias = Callable[[JobView], None]


class Listeners:
    """The functions that are called with each job that has ended."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Tell a listener too, from now on."""
        self._listeners = (*self._listeners, listener)

    def tell(self, ended: Iterable[Ended]) -> None:
        """Give the values to those who wait for them, then call every listener; a failing one stops nobody."""
        views = []
        for end in ended:
            views.append(end.view)
            for waiter in end.waiters:
                # A closing engine may have answered it at this very moment.
                with suppress(InvalidStateError):
                    waiter.set_result(end.view)
        for view in views:
            for listener in self._listeners:
                _call(listener, view)


def _call(listener: Listener, view: JobView) -> None:
    try:
        listener(view)
    except Exception:  # noqa: BLE001 - one listener's fault must not stop the others, nor the worker
        logger.bind(queue=view.queue, job=view.name).exception("a listener failed")
