"""Times the jobs for the metrics."""

from collections.abc import Callable
from datetime import timedelta

from program.clock import Clock
from program.metrics import Metrics
from program.queues.job import Job, JobView, Outcome
from program.queues.worker import Around, directly


class Meter:
    """Tells the metrics of every run and every end of a job. around: what is to be around each run beside it."""

    def __init__(self, metrics: Metrics, clock: Clock, around: Around = directly) -> None:
        self._metrics = metrics
        self._clock = clock
        self._around = around

    def around(self, job: Job, run: Callable[[], Outcome]) -> Outcome:
        """Do one run of a job and note how long it took, however it ended."""
        began = self._clock.monotonic()
        try:
            return self._around(job, run)
        finally:
            self._metrics.job_ran(job.queue, timedelta(seconds=self._clock.monotonic() - began))

    def ended(self, job: JobView) -> None:
        """Note the end of a job."""
        finished = job.finished_at or job.created_at
        self._metrics.job_ended(job.queue, job.state.value, finished - job.created_at)
