"""A plugin's object, made from its class and its settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from program.clock import Clock
from program.errors import Final
from program.events import CATALOGUE, HOOKABLE
from program.http import DataSource
from program.plugins.discovery import AnyPlugin
from program.plugins.guard import Guard
from program.services.plugin import Hook
from program.settings.provider import ProviderSettings


class Misfit(Final):
    """A plugin's object says what cannot be."""


class MakeSource(Protocol):
    """Makes a plugin's way to its service, or to the one of its further services that is called `name`."""

    def __call__(self, plugin: type[AnyPlugin], settings: ProviderSettings, name: str = "", /) -> DataSource:
        """Return a new data source; raise a RivuletError when the settings do not lead to one."""


@dataclass(frozen=True, slots=True)
class Built:
    """A provider made from its settings, with what it answers, what stands before it and its ways to its services."""

    plugin: AnyPlugin
    hooks: Mapping[str, Hook]
    guard: Guard
    sources: tuple[DataSource, ...]


def make(
    kind: type[AnyPlugin],
    settings: ProviderSettings,
    guard: Guard,
    make_source: MakeSource,
    clock: Clock,
    made: list[DataSource],
) -> Built:
    """Return a provider; its ways to its services are put into `made`, also when it raises.

    Raises `Misfit` when it hooks what it cannot, a RivuletError for its settings, and whatever its code raises.
    """
    made.append(make_source(kind, settings))
    further: dict[str, DataSource] = {}
    for name in kind.services(settings):
        further[name] = make_source(kind, settings, name)
        made.append(further[name])
    more = {"further": further} if further else {}
    plugin = kind(settings, made[0], clock, **more)
    hooks = dict(plugin.hooks())
    for event, hook in hooks.items():
        if event not in CATALOGUE or not event.startswith(HOOKABLE):
            raise Misfit(f"it hooks {event!r}, which is no event for plugins")
        if not callable(hook):
            raise Misfit(f"its hook of {event} is no function")
    return Built(plugin, hooks, guard, tuple(made))
