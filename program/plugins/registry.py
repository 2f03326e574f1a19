"""Which providers are enabled, which of them can be used, and why the others cannot.

pending ──check() works──▶ valid
   │  ╰──cannot be asked now──▶ unreachable (asked again)
   ╰──wrong key, wrong answer, broken──▶ invalid (asked again)

All but the invalid ones are used.
"""

import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, cast

from program.clock import Clock
from program.errors import NotFound, RivuletError
from program.http import DataSource
from program.log import logger
from program.plugins.check import Enabled, PluginState, PluginStatus, Verdict, ask, report
from program.plugins.compose import settings_of
from program.plugins.discovery import AnyPlugin
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings

P = TypeVar("P", bound=AnyPlugin)
MakeSource = Callable[[type[AnyPlugin], ProviderSettings], DataSource]
Pause = Callable[[float], object]

# Seconds before the second and third try of a check.
PAUSES = (1.0, 2.0)
# Until a provider that cannot be used is checked again, by checks that failed; then always the last.
BACK_OFF = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300, 900, 1800, 3600))


class Registry:
    """The enabled providers. Thread-safe; questions are answered from what the last check found.

    make_source: gives a provider its way to its service. pause: waits between the tries of a check.
    """

    def __init__(
        self,
        settings: RootSettings,
        classes: Iterable[type[AnyPlugin]],
        make_source: MakeSource,
        clock: Clock,
        *,
        pause: Pause | None = None,
    ) -> None:
        self.classes = tuple(classes)
        self._make_source = make_source
        self._clock = clock
        self._pause = pause or threading.Event().wait
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        # Replaced whole with the lock held, so that readers need none.
        self._enabled: Mapping[str, Enabled] = {}
        self.rebuild(settings)

    def of(self, kind: type[P]) -> tuple[P, ...]:
        """Return the usable providers of a kind, in the user's order where the section has one."""
        usable = (one.plugin for one in self._enabled.values() if one.state.is_usable)
        return tuple(plugin for plugin in usable if isinstance(plugin, kind))

    def get(self, key: str) -> AnyPlugin:
        """Return a usable provider; raise NotFound when it is not enabled or cannot be used."""
        one = self._enabled.get(key)
        if one is None or one.plugin is None or not one.state.is_usable:
            raise NotFound(f"{key} is not in use{f': {one.reason}' if one and one.reason else ''}")
        return one.plugin

    def hooks_for(self, event_type: str) -> tuple[str, ...]:
        """Return the keys of the usable providers that answer an event."""
        usable = (one for one in self._enabled.values() if one.state.is_usable)
        return tuple(one.kind.key for one in usable if one.plugin and event_type in one.plugin.hooks())

    @staticmethod
    def queue_name(event_type: str, key: str) -> str:
        """Return the name of the queue of one event of one provider."""
        return f"{event_type}.plugin[{key}]"

    @property
    def invalid(self) -> tuple[tuple[str, str], ...]:
        """Return (key, reason) of the enabled providers that cannot be used."""
        return tuple(
            (key, one.reason or "") for key, one in self._enabled.items() if one.state is PluginState.INVALID
        )

    def statuses(self) -> tuple[PluginStatus, ...]:
        """Return how every enabled provider stands."""
        return tuple(
            PluginStatus(key, one.kind.title, one.kind.section, one.state, one.reason, one.next_check_at)
            for key, one in self._enabled.items()
        )

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have `listener` called when other providers are usable than before."""
        self._listeners.append(listener)

    def rebuild(self, settings: RootSettings) -> None:
        """Take over new settings: providers whose section is the same stay as they are, the others are built anew, unchecked."""
        with self._lock:
            before = self._enabled
            wanted = {kind: settings_of(settings, kind) for kind in _in_order(self.classes, settings)}
            self._enabled = {
                kind.key: self._kept(kind, section) or self._built(Enabled(kind, section))
                for kind, section in wanted.items()
                if section.enabled
            }
            kept = {id(one.plugin) for one in self._enabled.values()}
        for one in before.values():
            if one.plugin is not None and id(one.plugin) not in kept:
                one.plugin.http.close()
        self._tell(before)

    def validate(self, now: datetime) -> None:
        """Check every provider that was not checked yet, all at the same time, up to three times each; never raises."""
        self._check([one for one in self._enabled.values() if one.state is PluginState.PENDING], now, PAUSES)

    def revalidate(self, now: datetime) -> None:
        """Check what was not checked yet, and once more each provider in trouble whose time has come; never raises."""
        self.validate(now)
        due = [one for one in self._enabled.values() if one.next_check_at and one.next_check_at <= now]
        self._check(due, now, ())

    def close(self) -> None:
        """Close every provider's connections; none is usable afterwards."""
        with self._lock:
            before, self._enabled = self._enabled, {}
        for one in before.values():
            if one.plugin is not None:
                one.plugin.http.close()

    def _kept(self, kind: type[AnyPlugin], section: ProviderSettings) -> Enabled | None:
        one = self._enabled.get(kind.key)
        return one if one and one.settings == section and one.plugin is not None else None

    def _built(self, one: Enabled) -> Enabled:
        try:
            http = self._make_source(one.kind, one.settings)
            return replace(one, plugin=one.kind(one.settings, http, self._clock))
        except RivuletError as error:
            return replace(one, reason=str(error))
        except Exception as error:  # noqa: BLE001 - a broken plugin is reported and never stops the rest
            logger.error("plugin {} cannot be built:\n{}", one.kind.key, traceback.format_exc())
            return replace(one, reason=f"it cannot be built: {type(error).__name__}")

    def _check(self, some: list[Enabled], now: datetime, pauses: tuple[float, ...]) -> None:
        if not some:
            return
        before = self._enabled
        with ThreadPoolExecutor(len(some), thread_name_prefix="check") as threads:
            checked = list(threads.map(lambda one: self._checked(one, now, pauses), some))
        with self._lock:
            current = dict(self._enabled)
            for old, new in zip(some, checked, strict=True):
                # Unless the settings were changed while it was asked.
                if current.get(old.kind.key) is old:
                    current[old.kind.key] = new
                    report(old, new)
            self._enabled = current
        self._tell(before)

    def _checked(self, one: Enabled, now: datetime, pauses: tuple[float, ...]) -> Enabled:
        if one.plugin is None:
            one = self._built(one)
        verdict = (
            self._verdict(one.plugin, pauses) if one.plugin else Verdict(PluginState.INVALID, one.reason)
        )
        if verdict.state in (PluginState.VALID, PluginState.PENDING):
            return replace(one, state=verdict.state, reason=None, failures=0, next_check_at=None)
        at = now + BACK_OFF[min(one.failures, len(BACK_OFF) - 1)]
        return replace(
            one,
            state=verdict.state,
            reason=verdict.reason,
            failures=one.failures + 1,
            next_check_at=max(at, verdict.not_before or at),
        )

    def _verdict(self, plugin: AnyPlugin, pauses: tuple[float, ...]) -> Verdict:
        """Return what the check says; a passing trouble gets another try after each pause."""
        verdict = ask(plugin)
        for seconds in pauses:
            if verdict.state is not PluginState.UNREACHABLE or verdict.not_before:
                break
            self._pause(seconds)
            verdict = ask(plugin)
        return verdict

    def _tell(self, before: Mapping[str, Enabled]) -> None:
        if _usable(before) != _usable(self._enabled):
            for listener in self._listeners:
                listener()


def _usable(enabled: Mapping[str, Enabled]) -> set[int]:
    return {id(one.plugin) for one in enabled.values() if one.state.is_usable}


def _in_order(classes: Iterable[type[AnyPlugin]], settings: RootSettings) -> list[type[AnyPlugin]]:
    """Return the classes with those first that their section's `order` names."""

    def place(kind: type[AnyPlugin]) -> int:
        order = cast("tuple[str, ...]", getattr(getattr(settings, kind.section), "order", ()))
        return order.index(kind.key) if kind.key in order else len(order)

    return sorted(classes, key=place)
