"""What a job is given beside its data: the answers it has had, and whether somebody waits for it."""

import threading
from collections.abc import Callable

from program import http
from program.queues import Job, JobView, Outcome, Priority


class Memos:
    """Gives each job its memo of answers and says whether somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memos: dict[str, dict[str, http.Response]] = {}

    def around(self, job: Job, call: Callable[[], Outcome]) -> Outcome:
        """Run `call` with the context of `job`."""
        with self._lock:
            memo = self._memos.setdefault(job.id, {})
        waits = http.interactive.set(job.priority is Priority.INTERACTIVE)
        kept = http.job_memo.set(memo)
        try:
            return call()
        finally:
            http.job_memo.reset(kept)
            http.interactive.reset(waits)

    def forget(self, job: JobView) -> None:
        """Drop the memo of a finished job."""
        with self._lock:
            self._memos.pop(job.id, None)
