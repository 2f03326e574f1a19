"""The plugin queues: one job is one question to one plugin (or one thing told to it).

A provider that asks to wait a little is asked again by the same job; one that asks to wait long answers `Paused`, so
that the flow can write
the date down, go on with another provider, and let the job end.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.errors import RetryLater
from program.events import DownloadRequested, Event
from program.queues import Done, Job, Outcome
from program.services.flows.context import FlowContext

# A wait up to this long is spent parked; a longer one is given back to the flow.
PARK = timedelta(seconds=30)
# How soon a second wish for a torrent that is just being added looks again.
SAME_TORRENT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Paused:
    """Answer of a plugin that cannot be asked before `until`."""

    until: datetime
    reason: str


def said_by(key: str, trouble: object) -> str:
    """Return a trouble as a sentence that begins with the plugin's key, as most of them do already."""
    sentence = str(trouble).removesuffix(".")
    return sentence if sentence.startswith(f"{key}: ") else f"{key}: {sentence}"


class Adding:
    """Lets only one job at a time add the same torrent to the same provider."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[tuple[str, str]] = set()

    @contextmanager
    def alone(self, provider: str, infohash: str, now: datetime) -> Iterator[None]:
        """Hold the torrent for the block; raise RetryLater when another job holds it."""
        pair = (provider, infohash)
        with self._lock:
            if pair in self._busy:
                raise RetryLater(now + SAME_TORRENT, f"{provider}: the same torrent is just being added")
            self._busy.add(pair)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(pair)


def handle(ctx: FlowContext, adding: Adding, key: str, job: Job) -> Outcome:
    """Ask the plugin `key` what the job's event asks."""
    event = job.data_as(Event)
    hook = ctx.registry.get(key).hooks()[event.type]
    try:
        if isinstance(event, DownloadRequested):
            with adding.alone(key, event.infohash, ctx.clock.now()):
                return Done(hook(event))
        return Done(hook(event))
    except RetryLater as wait:
        if wait.at - ctx.clock.now() <= PARK:
            raise
        return Done(Paused(wait.at, wait.reason))
