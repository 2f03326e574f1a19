"""What to do after a failed request: try again, ask for another link, or give up; pure."""

from dataclasses import dataclass
from datetime import datetime

from program.errors import Cancelled, Final, RetryLater, RivuletError
from program.vfs.answers import DeadLink, Passing, SourceError

# Seconds to wait before the n-th attempt in a row; the last one for all that follow.
DELAYS = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0)

# So many dead links in a row mean that no source has these bytes; waiting brings nothing.
MAX_DEAD_LINKS = 4

# A link that failed so often in passing is not waited for any longer.
PASSING_PER_LINK = 2

# A server that asks for a longer wait than this is not waited for: a player has given up by then.
LONGEST_WAIT = 8.0

# A failure is forgotten once so many bytes came after it.
PROGRESS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after `delay` seconds, with another link when `replace`."""

    delay: float
    replace: bool


@dataclass(slots=True)
class Patience:
    """The failures of one lane since bytes last came. limit: seconds after the first of them when it gives up."""

    limit: float
    failures: int = 0
    dead_links: int = 0
    passing: int = 0
    progress: int = 0
    since: float = 0.0

    def came(self, count: int) -> None:
        """Note that bytes came."""
        self.progress += count
        if self.progress >= PROGRESS:
            self.failures = self.dead_links = self.passing = 0

    def after(self, error: SourceError | RivuletError, now: datetime, moment: float) -> Retry | None:
        """Return what to do after the error, None to give up. moment: monotonic seconds."""
        if self.failures == 0:
            self.since = moment
        delay = DELAYS[min(self.failures, len(DELAYS) - 1)]
        self.failures += 1
        self.progress = 0
        retry = self._judge(error, now, delay)
        return retry if retry and moment - self.since + retry.delay < self.limit else None

    def _judge(self, error: SourceError | RivuletError, now: datetime, delay: float) -> Retry | None:
        """Return what the error asks for, whatever the time."""
        if isinstance(error, Final | Cancelled):
            return None
        if isinstance(error, DeadLink):
            self.dead_links += 1
            self.passing = 0
            return Retry(delay, replace=True) if self.dead_links < MAX_DEAD_LINKS else None
        if isinstance(error, Passing):
            return self._after_passing(error, delay)
        if isinstance(error, RetryLater):
            return Retry(max((error.at - now).total_seconds(), delay, DELAYS[1]), replace=False)
        return Retry(max(delay, DELAYS[1]), replace=False)

    def _after_passing(self, error: Passing, delay: float) -> Retry:
        if error.wait is not None and error.wait <= LONGEST_WAIT:
            return Retry(max(error.wait, delay, DELAYS[1]), replace=False)
        self.passing += 1
        if error.stalled or error.wait is not None or self.passing >= PASSING_PER_LINK:
            self.passing = 0
            return Retry(delay, replace=True)
        return Retry(delay, replace=False)
