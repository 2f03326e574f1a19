"""`/metrics`: what the program counts and how it stands, in Prometheus' text form, behind the API key like everything else."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from flask import Response
from pydantic_core import to_jsonable_python

from program.api.context import ApiContext
from program.api.routes import Route
from program.db import items
from program.errors import RivuletError
from program.metrics import CONTENT_TYPE_LATEST, ProviderReading, QueueReading, Reading
from program.plugins import AnyPlugin, PluginStatus
from program.queues.job import JobState
from program.services.flows import names
from program.services.plugin import Plugin

TAG = "metrics"
# States in which a job is still in its queue; those that have ended are counted at their end.
LIVE = (JobState.WAITING, JobState.DELAYED, JobState.ACTIVE, JobState.WAITING_CHILDREN)
# The group of the file system's statistics whose numbers only grow.
SUMS = "counts"


def metrics(context: ApiContext) -> Response:
    """Return the page."""
    return Response(context.metrics.page(read(context)), content_type=CONTENT_TYPE_LATEST)


def read(context: ApiContext) -> Reading:
    """Return how everything stands now. What depends on the database is left out while that does not answer."""
    sums, levels = _vfs(context)
    queues, providers, loop = tuple(_queues(context)), tuple(_providers(context)), context.loop()
    try:
        rows, overdue = _library(context)
    except RivuletError:
        rows, overdue = None, None
    return Reading(
        queues=queues,
        providers=providers,
        items=rows,
        overdue=overdue,
        loop=loop,
        vfs_sums=sums,
        vfs_levels=levels,
    )


def _queues(context: ApiContext) -> Iterator[QueueReading]:
    late, paused, now = context.engine.late(), context.engine.paused(), context.clock.now()
    for name, counts in context.engine.counts().items():
        yield QueueReading(
            name=name,
            jobs={state.value: counts.get(state, 0) for state in LIVE},
            late=late.get(name, 0),
            paused=_left(paused.get(name), now),
        )


def _providers(context: ApiContext) -> Iterator[ProviderReading]:
    usable: Mapping[str, AnyPlugin] = {plugin.key: plugin for plugin in context.registry.of(Plugin)}
    for status in context.registry.statuses():
        yield _provider(status, usable.get(status.key), context.clock.now())


def _provider(status: PluginStatus, plugin: AnyPlugin | None, now: datetime) -> ProviderReading:
    if plugin is None:
        return ProviderReading(key=status.key, is_usable=False)
    told = plugin.http.statistics()
    return ProviderReading(
        key=status.key,
        is_usable=True,
        calls=told.requests,
        saved={"merged": told.merged, "cached": told.cached},
        paused=_left(told.paused_until, now),
    )


def _library(context: ApiContext) -> tuple[Mapping[tuple[str, str], int], float]:
    """Return the rows by type and state, and how long the oldest that nobody works on has been due."""
    now = context.clock.now()
    keys = (context.engine.held(queue) for queue in names.ITEM_QUEUES)
    in_flight = frozenset().union(*(names.item_ids(held) for held in keys))
    with context.db.read() as tx:
        counts, since = items.counts(tx), items.oldest_due(tx, now, exclude=in_flight)
    rows = {(kind.value, state.value): count for (kind, state), count in counts.items()}
    return rows, (now - since).total_seconds() if since is not None else 0.0


def _vfs(context: ApiContext) -> tuple[dict[str, int], dict[str, int]]:
    """Return the sums and the levels of the file system; `errors` are the reads that ended in EIO."""
    told = to_jsonable_python(context.vfs_statistics())
    numbers = told if isinstance(told, dict) else {}
    sums = numbers.get(SUMS, {})
    return _whole(sums), _whole({name: value for name, value in numbers.items() if name != SUMS})


def _whole(numbers: Mapping[str, object]) -> dict[str, int]:
    return {name: value for name, value in numbers.items() if isinstance(value, int)}


def _left(until: datetime | None, now: datetime) -> float:
    return max(0.0, (until - now).total_seconds()) if until is not None else 0.0


ROUTES = (
    Route(
        method="GET",
        rule="/metrics",
        handle=metrics,
        summary="Give every number in Prometheus' text form",
        media="text/plain",
        tag=TAG,
        is_bare=True,
    ),
)
