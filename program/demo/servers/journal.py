"""The log of outside requests, and the plan to kill the program at the n-th of them."""

import contextlib
import os
import re
import signal
import threading
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from program.clock import Clock
from program.demo.servers.wire import Request

# More than any test makes; the oldest go first.
KEPT = 200_000
_SECRET_QUERY = re.compile(
    r"(?i)(?<=[?&])(api_key|apikey|auth_token|token|x-plex-token)=[^&]*",
)
_SECRET_PATH = re.compile(r"(?i)(realdebrid|alldebrid|premiumize|torbox)=[^|/%]+")
MOMENTS = ("before", "after", "lost")


@dataclass(slots=True)
class Entry:
    """One outside request. n counts all of them from 1; status is None while it runs, 0 when the connection was reset.

    span: its Range header.
    """

    n: int
    provider: str
    method: str
    path: str
    time: str
    span: str | None = None
    status: int | None = None
    fault: str | None = None
    kill: str | None = None

    def public(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "n": self.n,
            "provider": self.provider,
            "method": self.method,
            "path": self.path,
            "time": self.time,
            "range": self.span,
            "status": self.status,
            "fault": self.fault,
            "kill": self.kill,
        }


@dataclass(slots=True)
class KillPlan:
    """Kill a process at an outside request.

    at: which request, counted from when the plan was made (1 is the next). when: `before` its side effect, `after` the
    answer was sent, or `lost`: the side effect is done and the answer is not sent. The pid is read when it is needed.
    provider, method, path: count only requests like this; path is a regular expression.
    """

    at: int
    when: str
    pid: int | None = None
    pid_file: Path | None = None
    provider: str | None = None
    method: str | None = None
    path: str = ""
    seen: int = 0
    fired: Entry | None = None

    def is_about(self, provider: str, request: Request) -> bool:
        """Return whether a request counts."""
        alike = self.provider in (None, provider) and self.method in (None, request.method)
        return alike and re.search(self.path, request.target) is not None

    def kill(self) -> None:
        """Send SIGKILL; a process that has gone already is fine."""
        pid = self.pid
        if pid is None and self.pid_file is not None:
            with contextlib.suppress(OSError, ValueError):
                pid = int(self.pid_file.read_text(encoding="utf-8"))
        if pid is not None and pid > 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class Journal:
    """Counts and keeps every outside request; threads share it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._counts: Counter[str] = Counter()
        self._n = 0
        self._plan: KillPlan | None = None

    def arrive(self, provider: str, request: Request) -> Entry:
        """Write a request down and return its entry; `kill` is set when it is the one of the plan."""
        with self._lock:
            self._n += 1
            self._counts[provider] += 1
            now = self._clock.now().isoformat(timespec="milliseconds")
            path, span = without_secrets(request.target), request.headers.get("range")
            entry = Entry(self._n, provider, request.method, path, now, span)
            self._entries.append(entry)
            plan = self._plan
            if plan is not None and plan.fired is None and plan.is_about(provider, request):
                plan.seen += 1
                if plan.seen == plan.at:
                    plan.fired = entry
                    entry.kill = plan.when
            return entry

    def execute(self, entry: Entry, moment: str) -> bool:
        """Kill when this entry's plan says so at this moment; return whether it did."""
        if entry.kill != moment or self._plan is None:
            return False
        self._plan.kill()
        return True

    def plan(self, plan: KillPlan | None) -> None:
        """Set the plan, or clear it."""
        with self._lock:
            self._plan = plan

    def plan_state(self) -> dict[str, Any]:
        """Return how far the plan is: `{"planned", "fired", "seen", "request"}`."""
        with self._lock:
            plan = self._plan
            fired = plan.fired if plan else None
            return {
                "planned": plan is not None,
                "fired": fired is not None,
                "seen": plan.seen if plan else 0,
                "request": fired.public() if fired else None,
            }

    def entries(self, provider: str | None = None, since: int = 0) -> list[dict[str, Any]]:
        """Return the log in order, of one provider or all, after entry number `since`."""
        with self._lock:
            return [
                entry.public()
                for entry in self._entries
                if entry.n > since and (provider is None or entry.provider == provider)
            ]

    def counts(self) -> dict[str, int]:
        """Return how many requests each provider got."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    def clear(self) -> None:
        """Forget everything, the plan included; the next request is number 1."""
        with self._lock:
            self._entries.clear()
            self._counts.clear()
            self._n = 0
            self._plan = None


def without_secrets(target: str) -> str:
    """Return a path with query in which keys and tokens are starred out."""
    return _SECRET_PATH.sub(r"\1=***", _SECRET_QUERY.sub(r"\1=***", target))
