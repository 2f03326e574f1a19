"""Who listens to what happens, live: a few open answers, each fed by a short queue.

An open answer holds one of the server's threads, so there are only so many, and one that has had nothing to say for long is ended:
the other side may be gone without our knowing, and a page that is still there asks again.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from program.api.errors import ApiError
from program.events import ItemCompleted, Told
from program.log import logger, redact

if TYPE_CHECKING:
    from loguru import Message

EVENTS = "events"
FINISHED = "finished"
LOG = "log"

# Of the sixteen threads of the server; fewer threads, fewer listeners.
MOST = 6
# When to come back while all places are taken.
RETRY_SECONDS = 5
# Lines that wait for a listener that is slow; older ones are dropped.
WAITING = 500
# How often a listener hears that we are there, so that its end is noticed.
BEAT_SECONDS = 15.0


class Listener:
    """One open answer: what is waiting for it. To be closed."""

    def __init__(self, topic: str, streams: "Streams") -> None:
        self.topic = topic
        self._streams = streams
        # Guarded by the condition of the streams.
        self.waiting: deque[object] = deque(maxlen=WAITING)

    def heard(self, quiet_seconds: float) -> Iterator[object | None]:
        """Yield what happens, None now and then while nothing does; end after `quiet_seconds` of silence, or when all end."""
        beats = 0
        while beats * self._streams.beat_seconds < quiet_seconds:
            found, is_over = self._streams.next_for(self)
            if is_over:
                return
            beats = 0 if found is not None else beats + 1
            yield found

    def close(self) -> None:
        """Give the place back; closing twice is fine."""
        self._streams.leave(self)


class Streams:
    """All open answers. Thread-safe; whoever pushes never waits.

    most: how many there may be at a time.
    """

    def __init__(self, most: int = MOST, *, beat_seconds: float = BEAT_SECONDS) -> None:
        self.beat_seconds = beat_seconds
        self._most = most
        self._sink: int | None = None
        self._changed = threading.Condition()
        # Guarded by the condition.
        self._listeners: set[Listener] = set()
        self._is_closed = False

    def open(self, topic: str) -> Listener:
        """Return a new listener; raise ApiError 503 with a time to come back when every place is taken or the program stops."""
        with self._changed:
            if self._is_closed:
                raise ApiError(503, "the program is stopping", {"Retry-After": "30"})
            if len(self._listeners) >= self._most:
                raise ApiError(
                    503,
                    f"{self._most} streams are open, and there is no thread for more",
                    {"Retry-After": str(RETRY_SECONDS)},
                )
            listener = Listener(topic, self)
            self._listeners.add(listener)
            return listener

    def leave(self, listener: Listener) -> None:
        """Take a listener away."""
        with self._changed:
            self._listeners.discard(listener)

    def count(self) -> int:
        """Return how many listeners there are."""
        with self._changed:
            return len(self._listeners)

    def push(self, topic: str, what: object) -> None:
        """Give every listener to `topic` something to hear."""
        with self._changed:
            heard = [listener for listener in self._listeners if listener.topic == topic]
            for listener in heard:
                listener.waiting.append(what)
            if heard:
                self._changed.notify_all()

    def tell(self, event: Told) -> None:
        """Let listeners hear an event of the program."""
        self.push(EVENTS, event)
        if isinstance(event, ItemCompleted):
            self.push(FINISHED, event)

    def follow_log(self, level: str) -> None:
        """Let listeners hear the log from now on; to be called again after the log was set up anew, which forgets us."""
        if self._sink is not None:
            with suppress(ValueError):
                logger.remove(self._sink)
        self._sink = logger.add(self._hear, level=level, format="{message}", catch=True)

    def next_for(self, listener: Listener) -> tuple[object | None, bool]:
        """Wait for what `listener` is to hear next; return it, None after a beat, and whether all is over."""
        with self._changed:
            if not listener.waiting and not self._is_closed:
                self._changed.wait_for(lambda: listener.waiting or self._is_closed, self.beat_seconds)
            if listener.waiting:
                return listener.waiting.popleft(), False
            return None, self._is_closed

    def close(self) -> None:
        """End every open answer, and let none begin."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._sink is not None:
            with suppress(ValueError):
                logger.remove(self._sink)

    def _hear(self, line: "Message") -> None:
        record = line.record
        text = redact(f"{record['message']}{record['extra'].get('fields', '')}")
        self.push(LOG, {"time": record["time"].isoformat(), "level": record["level"].name, "message": text})
