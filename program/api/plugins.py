"""What plugins there are, how they stand, and what could not be loaded."""

from program.api.answers.base import Body, Instant
from program.api.context import ApiContext
from program.api.routes import Route
from program.log import redact
from program.plugins import AnyPlugin, PluginStatus
from program.plugins.outside import origin_of

DISABLED = "disabled"


class FaultBody(Body):
    """What a call of a plugin last failed by. what: the event, or `check`."""

    at: Instant
    what: str
    sentence: str


class PluginBody(Body):
    """A plugin.

    state: `disabled`, `pending`, `valid`, `unreachable`, `invalid`, `tripped`. origin: `package`, `file NAME` or
    `installed MODULE`. failures: in a row; stuck: calls that never ended; worked_at: when a hook last worked.
    """

    key: str
    title: str
    version: str
    section: str
    origin: str
    state: str
    reason: str | None = None
    hooks: tuple[str, ...] = ()
    failures: int = 0
    stuck: int = 0
    last_fault: FaultBody | None = None
    worked_at: Instant | None = None
    next_check_at: Instant | None = None


class BrokenBody(Body):
    """What should have been a plugin."""

    name: str
    reason: str


class PluginsBody(Body):
    """All plugins; events: those that at least one of them answers, and that are therefore enqueued."""

    plugins: list[PluginBody]
    broken: list[BrokenBody]
    events: list[str]


def plugins(context: ApiContext) -> PluginsBody:
    """Return every plugin that was found, how it stands and why, and what is none."""
    registry = context.registry
    enabled = {status.key: _enabled(status) for status in registry.statuses()}
    return PluginsBody(
        plugins=[enabled.get(kind.key) or _disabled(kind) for kind in registry.classes],
        broken=[BrokenBody(name=one.name, reason=redact(one.reason)) for one in context.broken],
        events=sorted(registry.publishable()),
    )


def _enabled(status: PluginStatus) -> PluginBody:
    fault = status.health.last_fault
    return PluginBody(
        key=status.key,
        title=status.title,
        version=status.version,
        section=status.section,
        origin=status.origin,
        state=status.state.value,
        reason=redact(status.reason) if status.reason else None,
        hooks=status.hooks,
        failures=status.health.failures,
        stuck=status.health.stuck,
        last_fault=FaultBody(at=fault.at, what=fault.what, sentence=redact(fault.sentence))
        if fault
        else None,
        worked_at=status.health.worked_at,
        next_check_at=status.next_check_at,
    )


def _disabled(kind: type[AnyPlugin]) -> PluginBody:
    return PluginBody(
        key=kind.key,
        title=kind.title,
        version=kind.version,
        section=kind.section,
        origin=origin_of(kind),
        state=DISABLED,
    )


ROUTES = (
    Route(
        method="GET",
        rule="/plugins",
        handle=plugins,
        summary="Say which plugins there are, how they stand, and why",
        tag="plugins",
        answer=PluginsBody,
    ),
)
