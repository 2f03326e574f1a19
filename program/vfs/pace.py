"""How quickly one reader goes on, and how many connections that is worth; pure.

A CDN gives each connection its share. A player is content with one; whoever waits for the bytes most of the time gets twice as
many, then twice as many again, as long as each step brings clearly more, and one once it no longer waits.
"""

from dataclasses import dataclass

# Bytes per second of one connection that more connections would not better: what is slow then is this machine.
FAST_CONNECTION = 64_000_000

# What each connection fetches at a time once there are several: long enough that its latency does not count.
SEGMENT = 4 * 1024 * 1024

# Seconds that are measured before the next decision, with one connection and with several.
INTERVAL, INTERVAL_OF_SEVERAL = 0.25, 0.4

# Until so many bytes were read they come in pieces, some of them on two connections.
SETTLED_AFTER = 8 * 1024 * 1024

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

    width: how many it is worth now; average: bytes read per second from the beginning, 0 until that is known.
    """

    widest: int
    since: float
    width: int = 1
    average: float = 0.0
    _count: int = 0
    _waited: float = 0.0
    _arrived: int = 0
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

    def read(self, count: int, now: float, arrived: int) -> None:
        """Note that so many bytes were asked for, and decide once enough was measured.

        now: monotonic seconds; arrived: the sum of bytes that have come for the file, which rises evenly where reads are served
        in bursts.
        """
        self._count += count
        elapsed = now - self.since
        if elapsed < (INTERVAL_OF_SEVERAL if self.width > 1 and not self._is_settling else INTERVAL):
            return
        rate, is_held_up = (arrived - self._arrived) / elapsed, self._waited > elapsed * HELD_UP
        self._seconds += elapsed
        self._total += self._count
        self.average = self._total / self._seconds
        self.since, self._count, self._waited, self._arrived = now, 0, 0.0, arrived
        if not is_held_up:
            self._rest()
        elif self._is_settling:
            # The requests after a change were just being made.
            self._is_settling = self._total < SETTLED_AFTER
        else:
            self._content = 0
            self._widen(rate, now)

    def refused(self) -> None:
        """Note that the server takes no more connections than the others: this reader never asks for so many again."""
        self.widest = max(self.width - 1, 1)
        self._before = None
        self._change(self.widest)

    def _widen(self, rate: float, now: float) -> None:
        """Judge the last step and take the next."""
        if self._before is not None:
            narrower, rate_before = self._before
            self._before = None
            if rate < rate_before * WORTH_IT:
                self._change(narrower)
                self._not_before, self._pause = now + self._pause, min(self._pause * 2, LONGEST_PAUSE)
                return
        wider = min(self.width * 2, self.widest)
        if wider > self.width and now >= self._not_before and rate < FAST_CONNECTION * self.width:
            self._before = (self.width, rate)
            self._change(wider)

    def _rest(self) -> None:
        """Go back to one connection when the reader has long been content."""
        self._content += 1
        if self._content >= CONTENT_INTERVALS and self.width > 1:
            self._before = None
            self._change(1)

    def _change(self, width: int) -> None:
        self.width = width
        self._content = 0
        self._is_settling = True
