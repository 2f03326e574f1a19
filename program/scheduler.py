"""The clockwork: APScheduler jobs that only push; the work is done by the loop and the workers."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from loguru import logger

from program.clock import Clock, JumpWatch

# A late job still runs, once: a machine that slept must not lose its schedule.
DEFAULTS = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}


class _Every(BaseTrigger):  # type: ignore[misc]
    """Fires each `interval`. What was missed is not gone through one by one: after a month of sleep that would be millions."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the next instant; APScheduler asks with the one before."""
        planned = (previous_fire_time or now) + self._interval
        return planned if planned > now else now + self._interval


class _Clockwork(BackgroundScheduler):  # type: ignore[misc]
    """APScheduler, which counts by the machine's clock; when that is set back, what is planned moves with it."""

    def __init__(self, clock: Clock, **options: object) -> None:
        self._jumps = JumpWatch(clock)
        super().__init__(**options)

    def _process_jobs(self) -> float | None:
        jump = self._jumps.look()
        if jump is not None and jump < timedelta(0):
            for job in self.get_jobs():
                job.modify(next_run_time=job.next_run_time + jump)
        wait: float | None = super()._process_jobs()
        return wait

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self._thread is not None and self._thread.is_alive()


class Scheduler:
    """Runs small functions at fixed intervals. clock: the machine's."""

    def __init__(self, clock: Clock) -> None:
        executors = {"default": ThreadPoolExecutor(2)}
        self._scheduler = _Clockwork(clock, timezone=UTC, executors=executors, job_defaults=DEFAULTS)
        self._scheduler.add_listener(_report, EVENT_JOB_ERROR | EVENT_JOB_MISSED)

    def every(self, interval: timedelta, name: str, push: Callable[[], object]) -> None:
        """Call `push` each `interval`; a job of the same name is replaced."""
        self._scheduler.add_job(push, _Every(interval), id=name, replace_existing=True)

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
