"""Telling: an event reaches the program's own listeners at once, and every plugin that hooks it by a job of its own."""

import threading
from collections.abc import Callable

from program.clock import Clock
from program.errors import RivuletError
from program.events import Told
from program.log import logger
from program.plugins import Registry
from program.queues import JobSpec, Priority
from program.queues.engine import Engine
from program.services.flows import names

Listener = Callable[[Told], None]

# How often a wait for hooks looks.
LOOK_SECONDS = 0.05


class Bus:
    """Tells events. Safe to use from any thread; telling never raises."""

    def __init__(self, engine: Engine, registry: Registry, clock: Clock) -> None:
        self._engine = engine
        self._registry = registry
        self._clock = clock
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Have `listener` called with each event, in the thread that tells it; one that fails harms nobody else."""
        self._listeners.append(listener)

    def publish(self, event: Told) -> None:
        """Tell an event. One that no plugin hooks is not enqueued."""
        self._tell_listeners(event)
        self._tell_hooks(event)

    def publish_and_wait(self, event: Told, seconds: float) -> bool:
        """Tell an event; return whether every hook has ended within `seconds`."""
        self._tell_listeners(event)
        told = self._tell_hooks(event, priority=Priority.INTERACTIVE, dedup_id=event.type)
        end, pause = self._clock.monotonic() + seconds, threading.Event()
        while any(event.type in self._engine.held(queue) for queue in told):
            if self._clock.monotonic() >= end:
                return False
            pause.wait(LOOK_SECONDS)
        return True

    def _tell_listeners(self, event: Told) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # noqa: BLE001 - boundary: one listener must not keep the others from hearing
                logger.exception("{} could not be taken note of", event.type)

    def _tell_hooks(
        self, event: Told, *, priority: Priority = Priority.NORMAL, dedup_id: str | None = None
    ) -> list[str]:
        """Add a job for each plugin that hooks the event; return their queues."""
        queues = []
        for key in self._registry.hooks_for(event.type):
            queue = names.plugin_queue(event.type, key)
            name = event.title or event.type
            try:
                self._engine.add(
                    JobSpec(queue=queue, name=name, data=event, priority=priority, dedup_id=dedup_id)
                )
            except RivuletError as error:
                logger.warning("{} was not told to {}: {}", event.type, key, error)
            else:
                queues.append(queue)
        return queues
