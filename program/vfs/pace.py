"""How quickly one reader goes on, and how many connections that is worth; pure.

A CDN gives each connection its share. A player is content with one; whoever waits for the bytes most of the time gets twice as
many, then twice as many again, as long as each step brings clearly more, and one once it no longer waits.
"""

from dataclasses import dataclass

# Bytes per second of one connection that more connections would not better: what is slow then is this machine.
FAST_CONNECTION = 64_000_000

# What each connection fetches at a time once there are several: long enough that its latency does not count.
SEGMENT = 4 * 1024 * 1024

# Seconds, and bytes for each connection, that are measured before the next decision: several connections bring their bytes in
# bursts of a segment.
INTERVAL = 0.25
SEGMENTS_MEASURED = 2

# Whoever waits for more than this part of the time is held up by the connection.
HELD_UP = 0.5

# Twice the connections have to bring so much more, else it is the line or the server that is full.
WORTH_IT = 1.2

# Seconds until more connections are tried once more after they brought nothing; doubled each time.
FIRST_PAUSE, LONGEST_PAUSE = 30.0, 600.0

# Whoever did not wait during so many measurements in a row needs one connection only.
CONTENT_INTERVALS = 8


@dataclass(slots=True)
class Pace:
    """One reader's measurements. since: monotonic seconds when the measurement began; widest: connections at most.

    width: how many it is worth now; rate, average: bytes per second lately and from the beginning, 0 until they are known.
    """

    widest: int
    since: float
    width: int = 1
    rate: float = 0.0
    average: float = 0.0
    _count: int = 0
    _waited: float = 0.0
    _total: int = 0
    _seconds: float = 0.0
    _content: int = 0
    # What one step fewer gave, and at how many connections; None while no step is being judged.
    _before: tuple[int, float] | None = None
    _is_settling: bool = True
    _pause: float = FIRST_PAUSE
    _not_before: float = 0.0

    def waited(self, seconds: float) -> None:
        """Note that a read waited for bytes."""
        self._waited += seconds

    def read(self, count: int, now: float) -> None:
        """Note that so many bytes were asked for, and decide once enough was measured. now: monotonic seconds."""
        self._count += count
        elapsed = now - self.since
        if elapsed < INTERVAL or (self.width > 1 and self._count < self._enough()):
            return
        self.rate, is_held_up = self._count / elapsed, self._waited > elapsed * HELD_UP
        self._seconds += elapsed
        self._total += self._count
        self.average = self._total / self._seconds
        self.since, self._count, self._waited = now, 0, 0.0
        if not is_held_up:
            self._rest()
        elif self._is_settling:
            # The requests after a change were just being made.
            self._is_settling = False
        else:
            self._content = 0
            self._widen(now)

    def _enough(self) -> int:
        """Return how many bytes tell something: fewer while readers only have to get used to a change."""
        return self.width * SEGMENT * (1 if self._is_settling else SEGMENTS_MEASURED)

    def _widen(self, now: float) -> None:
        """Judge the last step and take the next."""
        if self._before is not None:
            narrower, rate_before = self._before
            self._before = None
            if self.rate < rate_before * WORTH_IT:
                self._change(narrower)
                self._not_before, self._pause = now + self._pause, min(self._pause * 2, LONGEST_PAUSE)
                return
        wider = min(self.width * 2, self.widest)
        if wider > self.width and now >= self._not_before and self.rate < FAST_CONNECTION * self.width:
            self._before = (self.width, self.rate)
            self._change(wider)

    def _rest(self) -> None:
        """Go back to one connection when the reader has long been content."""
        self._content += 1
        if self._content >= CONTENT_INTERVALS and self.width > 1:
            self._change(1)

    def _change(self, width: int) -> None:
        self.width = width
        self._content = 0
        self._is_settling = True
