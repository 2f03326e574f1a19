"""Every call to an outside service goes through a `DataSource`: pacing, retries, classification, caching, redaction.

(Signatures first; the behaviour follows `engine.md`, "Outside HTTP".)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """What a vendor allows: `requests` within `seconds`; concurrency: calls at a time."""

    requests: int = 200
    seconds: float = 60.0
    concurrency: int = 200


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer. headers: names in lower case. body: at most the data source's limit, decoded by `json()`."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""


class StatusStore(Protocol):
    """Where pauses and failures of data sources are kept, so that a restart does not hammer a site."""

    def load(self, key: str) -> tuple[datetime | None, int]:
        """Return until when the source is paused and its failure level."""

    def save(self, key: str, paused_until: datetime | None, level: int, reason: str) -> None:
        """Keep the pause and the level."""


class DataSource:
    """A session of one plugin with one service."""
