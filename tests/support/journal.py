"""What the stand-ins were asked and when, by the clock of the test: their own clock runs on while the test's is moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. at: by the test's clock."""

    at: datetime
    provider: str
    method: str
    path: str
    status: int | None


class Journal:
    """Requests since it was made; `look` takes down what came since the last look, at the instant the clock stands at."""

    def __init__(self, servers: Servers, pipeline: Pipeline) -> None:
        self._servers = servers
        self._clock = pipeline.clock
        self.began = pipeline.clock.now()
        self.seen: list[Asked] = []
        self._last = max((row["n"] for row in self._rows(0)), default=0)

    def look(self) -> None:
        """Take down the new requests."""
        at = self._clock.now()
        for row in self._rows(self._last):
            self._last = max(self._last, row["n"])
            self.seen.append(Asked(at, row["provider"], row["method"], row["path"], row["status"]))

    def of(self, provider: str, path: str = "") -> list[Asked]:
        """Return the requests to a provider whose path holds a text."""
        return [one for one in self.seen if one.provider == provider and path in one.path]

    def times(self, provider: str, path: str = "") -> list[int]:
        """Return the minutes since the beginning at which a provider was asked, one for each request."""
        return [round((one.at - self.began) / timedelta(minutes=1)) for one in self.of(provider, path)]

    def _rows(self, since: int) -> Iterator[dict[str, object]]:
        yield from self._servers.control(f"/requests?since={since}")["requests"]
