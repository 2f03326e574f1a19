"""How an enabled provider stands, and what its own check says of it."""

import traceback
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from program.errors import Cancelled, Final, RetryLater, Transient
from program.log import logger
from program.plugins.build import Built
from program.plugins.discovery import AnyPlugin
from program.plugins.guard import Health
from program.plugins.outside import origin_of
from program.settings.provider import ProviderSettings


class PluginState(StrEnum):
    """How a provider stands."""

    PENDING = "pending"
    VALID = "valid"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    # Its check may be well, but its hooks failed again and again.
    TRIPPED = "tripped"

    @property
    def is_usable(self) -> bool:
        """True when its hooks are called; a provider that was not checked yet has the benefit of the doubt."""
        return self is not PluginState.INVALID


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """What a person may want to know of an enabled provider. reason: why it is not valid; hooks: the events it answers."""

    key: str
    title: str
    section: str
    state: PluginState
    reason: str | None
    next_check_at: datetime | None
    version: str = ""
    origin: str = ""
    hooks: tuple[str, ...] = ()
    health: Health = Health()


@dataclass(frozen=True, slots=True)
class Enabled:
    """An enabled provider. built: None when it could not be."""

    kind: type[AnyPlugin]
    settings: ProviderSettings
    built: Built | None = None
    state: PluginState = PluginState.PENDING
    reason: str | None = None
    failures: int = 0
    next_check_at: datetime | None = None

    @property
    def usable(self) -> Built | None:
        """The provider when its hooks may be called, else None."""
        return self.built if self.state.is_usable else None


def status_of(one: Enabled) -> PluginStatus:
    """Return what a person may want to know of an enabled provider."""
    health = one.built.guard.health() if one.built else Health()
    is_tripped = health.rests_until is not None and one.state.is_usable
    reason = f"{health.failures} failures in a row" if is_tripped else one.reason
    if is_tripped and health.last_fault:
        reason = f"{reason}, the last at {health.last_fault.what}: {health.last_fault.sentence}"
    return PluginStatus(
        key=one.kind.key,
        title=one.kind.title,
        section=one.kind.section,
        state=PluginState.TRIPPED if is_tripped else one.state,
        reason=reason,
        next_check_at=health.rests_until if is_tripped else one.next_check_at,
        version=one.kind.version,
        origin=origin_of(one.kind),
        hooks=tuple(one.built.hooks) if one.built else (),
        health=health,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check found. not_before: when the provider said it may be asked again; is_final: asking again cannot change it."""

    state: PluginState
    reason: str | None = None
    not_before: datetime | None = None
    is_final: bool = True


def ask(built: Built) -> Verdict:
    """Return what a provider's own check says, within the deadline of its hooks."""
    plugin = built.plugin
    try:
        built.guard.bounded("check", plugin.check)
    except RetryLater as error:
        return Verdict(PluginState.UNREACHABLE, error.reason, error.at)
    except (Transient, OSError) as error:
        return Verdict(PluginState.UNREACHABLE, str(error), is_final=False)
    except Final as error:
        return Verdict(PluginState.INVALID, str(error))
    except Cancelled:
        return Verdict(PluginState.PENDING)
    except Exception as error:  # noqa: BLE001 - a broken plugin is reported and never stops the rest
        logger.error("plugin {} cannot be checked:\n{}", plugin.key, traceback.format_exc())
        return Verdict(PluginState.INVALID, f"its check failed: {type(error).__name__}", is_final=False)
    return Verdict(PluginState.VALID)


def report(old: Enabled, new: Enabled) -> None:
    """Write one line when a provider goes out of use and one when it is back, however often it is checked."""
    line = logger.bind(provider=new.kind.key)
    if new.state is PluginState.VALID and old.state is not PluginState.PENDING:
        line.info("{} works again", new.kind.title)
    elif (new.state, new.reason) == (old.state, old.reason):
        return
    elif new.state is PluginState.INVALID:
        line.error("{} is not used: {}", new.kind.title, new.reason)
    elif new.state is PluginState.UNREACHABLE:
        line.warning("{} cannot be reached: {}", new.kind.title, new.reason)
