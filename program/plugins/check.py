"""How an enabled provider stands, and what its own check says of it."""

import traceback
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from program.errors import Cancelled, Final, RetryLater, Transient
from program.log import logger
from program.plugins.discovery import AnyPlugin
from program.settings.provider import ProviderSettings


class PluginState(StrEnum):
    """How a provider stands."""

    PENDING = "pending"
    VALID = "valid"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"

    @property
    def is_usable(self) -> bool:
        """True when its hooks are called; a provider that was not checked yet has the benefit of the doubt."""
        return self is not PluginState.INVALID


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """What a person may want to know of an enabled provider. reason: why it is not valid."""

    key: str
    title: str
    section: str
    state: PluginState
    reason: str | None
    next_check_at: datetime | None


@dataclass(frozen=True, slots=True)
class Enabled:
    """An enabled provider. plugin: None when it could not be built."""

    kind: type[AnyPlugin]
    settings: ProviderSettings
    plugin: AnyPlugin | None = None
    state: PluginState = PluginState.PENDING
    reason: str | None = None
    failures: int = 0
    next_check_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check found. not_before: when the provider said it may be asked again."""

    state: PluginState
    reason: str | None = None
    not_before: datetime | None = None


def ask(plugin: AnyPlugin) -> Verdict:
    """Return what a provider's own check says."""
    try:
        plugin.check()
    except RetryLater as error:
        return Verdict(PluginState.UNREACHABLE, error.reason, error.at)
    except (Transient, OSError) as error:
        return Verdict(PluginState.UNREACHABLE, str(error))
    except Final as error:
        return Verdict(PluginState.INVALID, str(error))
    except Cancelled:
        return Verdict(PluginState.PENDING)
    except Exception as error:  # noqa: BLE001 - a broken plugin is reported and never stops the rest
        logger.error("plugin {} cannot be checked:\n{}", plugin.key, traceback.format_exc())
        return Verdict(PluginState.INVALID, f"its check failed: {type(error).__name__}")
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
