"""What the program says of itself in Prometheus' text form: a registry of our own, every label from a short list.

Two kinds of numbers: what is counted while it happens (jobs and how long they took), and what is read when asked (`Reading`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

__all__ = [
    "CONTENT_TYPE_LATEST",
    "LoopReading",
    "Metrics",
    "ProviderReading",
    "QueueReading",
    "Reading",
    "status_label",
]

# From a local look-up to a scrape that waits for its slowest answer; a flow may take its cooldown in hours, which is one bucket.
RUN_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 30.0, 120.0)
WHOLE_BUCKETS = (0.05, 0.5, 2.0, 10.0, 60.0, 300.0, 3600.0)
# Statuses that mean something of their own; any other is counted with its hundred.
STATUSES = frozenset(
    {200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 408, 410, 416, 425, 429, 451, 500, 502, 503, 504}
)
# Outcomes of a call that had no status.
NO_STATUS = frozenset({"timeout", "connection"})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReading:
    """A queue. jobs: how many stand in which state; late: children that their parents went on without; paused: seconds left."""

    name: str
    jobs: Mapping[str, int]
    late: int = 0
    paused: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderReading:
    """A provider. calls: by status; saved: calls that were not needed, by why; paused: seconds until it may be called again."""

    key: str
    is_usable: bool
    calls: Mapping[str, int] = field(default_factory=dict)
    saved: Mapping[str, int] = field(default_factory=dict)
    paused: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopReading:
    """The loop. turns, seconds: since the start; lag: how long the last call for a turn waited, or the present one if longer."""

    turns: int = 0
    seconds: float = 0.0
    lag: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is read when somebody asks.

    items: rows that are asked for, by type and state; None while the database does not answer. overdue: how long the oldest row
    that nobody works on has been due, in seconds. vfs: sums and levels of the file system, by name.
    """

    queues: tuple[QueueReading, ...] = ()
    providers: tuple[ProviderReading, ...] = ()
    items: Mapping[tuple[str, str], int] | None = None
    overdue: float | None = None
    loop: LoopReading = LoopReading()
    vfs_sums: Mapping[str, int] = field(default_factory=dict)
    vfs_levels: Mapping[str, int] = field(default_factory=dict)


class Metrics:
    """Counts, and writes the page. Thread-safe."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._ended = Counter(
            "rivulet_jobs", "Jobs that have ended", ("queue", "state"), registry=self._registry
        )
        self._runs = Histogram(
            "rivulet_job_run_seconds",
            "How long one run of a job took",
            ("queue",),
            buckets=RUN_BUCKETS,
            registry=self._registry,
        )
        self._whole = Histogram(
            "rivulet_job_seconds",
            "How long a job took from being added to its end, with all its waiting",
            ("queue",),
            buckets=WHOLE_BUCKETS,
            registry=self._registry,
        )

    def job_ran(self, queue: str, took: timedelta) -> None:
        """Note one run of a job."""
        self._runs.labels(queue).observe(took.total_seconds())

    def job_ended(self, queue: str, state: str, took: timedelta) -> None:
        """Note the end of a job: `completed`, `failed` or `removed`, and how long it had been there."""
        self._ended.labels(queue, state).inc()
        self._whole.labels(queue).observe(took.total_seconds())

    def page(self, reading: Reading) -> bytes:
        """Return the page: what was counted, and what was read just now."""
        fresh = CollectorRegistry()
        fresh.register(_Fresh(reading))
        return generate_latest(self._registry) + generate_latest(fresh)


def status_label(status: str) -> str:
    """Return the label of a call's outcome: a status with a meaning of its own, the hundred of another, or why there is none."""
    if status in NO_STATUS:
        return status
    if not status.isdecimal():
        return "other"
    return status if int(status) in STATUSES else f"{status[0]}xx"


class _Fresh(Collector):
    """Turns a reading into families, once."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        reading = self._reading
        yield from _queues(reading.queues)
        yield from _providers(reading.providers)
        yield from _library(reading)
        yield from _loop(reading.loop)
        for name, value in reading.vfs_sums.items():
            yield CounterMetricFamily(f"rivulet_vfs_{name}", f"File system, since the start: {name}", value)
        for name, value in reading.vfs_levels.items():
            yield GaugeMetricFamily(f"rivulet_vfs_{name}", f"File system, now: {name}", value)


def _queues(queues: tuple[QueueReading, ...]) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("rivulet_queue_jobs", "Jobs in a queue, by state", labels=("queue", "state"))
    late = CounterMetricFamily(
        "rivulet_late_children", "Jobs that their parents went on without", labels=("queue",)
    )
    paused = GaugeMetricFamily(
        "rivulet_queue_paused_seconds", "How much longer a queue starts no job", labels=("queue",)
    )
    for queue in queues:
        for state, count in queue.jobs.items():
            jobs.add_metric((queue.name, state), count)
        late.add_metric((queue.name,), queue.late)
        paused.add_metric((queue.name,), queue.paused)
    yield from (jobs, late, paused)


def _providers(providers: tuple[ProviderReading, ...]) -> Iterator[Metric]:
    calls = CounterMetricFamily(
        "rivulet_provider_calls", "Calls to a provider, by status", labels=("provider", "status")
    )
    saved = CounterMetricFamily(
        "rivulet_provider_calls_saved", "Calls that were not needed", labels=("provider", "how")
    )
    paused = GaugeMetricFamily(
        "rivulet_provider_paused_seconds", "How much longer a provider is left alone", labels=("provider",)
    )
    usable = GaugeMetricFamily("rivulet_provider_usable", "Whether a provider is used", labels=("provider",))
    for provider in providers:
        for status, count in _summed(provider.calls).items():
            calls.add_metric((provider.key, status), count)
        for how, count in provider.saved.items():
            saved.add_metric((provider.key, how), count)
        paused.add_metric((provider.key,), provider.paused)
        usable.add_metric((provider.key,), float(provider.is_usable))
    yield from (calls, saved, paused, usable)


def _summed(calls: Mapping[str, int]) -> dict[str, int]:
    """Return the calls by label; several statuses may have the same."""
    sums: dict[str, int] = {}
    for status, count in calls.items():
        label = status_label(status)
        sums[label] = sums.get(label, 0) + count
    return sums


def _library(reading: Reading) -> Iterator[Metric]:
    up = GaugeMetricFamily(
        "rivulet_database_up", "Whether the database answers", float(reading.items is not None)
    )
    items = GaugeMetricFamily(
        "rivulet_items", "Rows of the library that are asked for", labels=("type", "state")
    )
    for (kind, state), count in (reading.items or {}).items():
        items.add_metric((kind, state), count)
    yield from (up, items)
    if reading.overdue is not None:
        yield GaugeMetricFamily(
            "rivulet_oldest_overdue_seconds",
            "How long the oldest row that is due and not worked on has been due",
            reading.overdue,
        )


def _loop(loop: LoopReading) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "rivulet_loop_lag_seconds", "How long a call for a turn of the loop waits", loop.lag
    )
    yield CounterMetricFamily("rivulet_loop_turns", "Turns of the loop", loop.turns)
    yield CounterMetricFamily("rivulet_loop_turn_seconds", "Time that the turns took in all", loop.seconds)
