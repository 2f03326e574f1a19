"""The clockwork: APScheduler jobs that only push; the work is done by the loop and the workers."""

from collections.abc import Callable
from datetime import UTC, timedelta

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from loguru import logger

# A late job still runs, once: a machine that slept must not lose its schedule.
DEFAULTS = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}


class _Clockwork(BackgroundScheduler):  # type: ignore[misc]
    """APScheduler, asked whether its thread runs."""

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._thread is not None and self._thread.is_alive()


class Scheduler:
    """Runs small functions at fixed intervals."""

    def __init__(self) -> None:
        executors = {"default": ThreadPoolExecutor(2)}
        self._scheduler = _Clockwork(timezone=UTC, executors=executors, job_defaults=DEFAULTS)
        self._scheduler.add_listener(_report, EVENT_JOB_ERROR | EVENT_JOB_MISSED)

    def every(self, interval: timedelta, name: str, push: Callable[[], object]) -> None:
        """Call `push` each `interval`; a job of the same name is replaced."""
        self._scheduler.add_job(
            push, "interval", seconds=interval.total_seconds(), id=name, replace_existing=True
        )

    def forget(self, name: str) -> None:
        """Drop the job `name` when there is one."""
        if self._scheduler.get_job(name) is not None:
            self._scheduler.remove_job(name)

    def names(self) -> tuple[str, ...]:
        """Return the names of the jobs."""
        return tuple(job.id for job in self._scheduler.get_jobs())

    def start(self) -> None:
        """Start the clockwork in a thread of its own."""
        self._scheduler.start()

    def is_alive(self) -> bool:
        """Return whether it runs: jobs are called when their time comes."""
        return bool(self._scheduler.is_alive())

    def stop(self) -> None:
        """Stop it; a job that runs ends by itself."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)


def _report(event: JobExecutionEvent) -> None:
    if event.code == EVENT_JOB_MISSED:
        logger.warning("the scheduled job {} was missed", event.job_id)
    else:
        logger.error("the scheduled job {} failed: {!r}", event.job_id, event.exception)
