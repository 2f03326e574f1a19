"""Which providers are enabled, which of them can be used, and why the others cannot.

pending ──check() works──▶ valid ──hooks fail in a row──▶ tripped ──one works──▶ valid
   │  ╰──cannot be asked now──▶ unreachable (asked again)
   ╰──wrong key, wrong answer, broken──▶ invalid (asked again)

All but the invalid ones are used; what a tripped one is asked it refuses by itself (`program.plugins.guard`).
"""

import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, cast

from program.clock import Clock
from program.errors import NotFound, RivuletError
from program.events import Event
from program.http import DataSource
from program.log import logger
from program.plugins.answers import accepted
from program.plugins.build import Built, MakeSource, make
from program.plugins.check import Enabled, PluginState, PluginStatus, Verdict, ask, report, status_of
from program.plugins.compose import settings_of
from program.plugins.discovery import AnyPlugin
from program.plugins.guard import RESTS, Guard
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings

P = TypeVar("P", bound=AnyPlugin)
Pause = Callable[[float], object]
# Usable providers, each with the events that it answers.
Hooked = tuple[tuple[AnyPlugin, tuple[str, ...]], ...]

# Seconds before the second and third try of a check.
PAUSES = (1.0, 2.0)
# Making a plugin's object is to do no work; the others wait for it.
START_SECONDS = 10.0


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
        self._preparers: list[Callable[[Hooked], None]] = []
        # Replaced whole with the lock held, so that readers need none.
        self._enabled: Mapping[str, Enabled] = {}
        self._deadlines: Mapping[str, float] = {}
        self.rebuild(settings)

    def of(self, kind: type[P]) -> tuple[P, ...]:
        """Return the usable providers of a kind, in the user's order where the section has one."""
        return tuple(built.plugin for built in self._usable() if isinstance(built.plugin, kind))

    def get(self, key: str) -> AnyPlugin:
        """Return a usable provider; raise NotFound when it is not enabled or cannot be used."""
        return self._one(key).plugin

    def hooks_for(self, event_type: str) -> tuple[str, ...]:
        """Return the keys of the usable providers that answer an event."""
        return tuple(built.plugin.key for built in self._usable() if event_type in built.hooks)

    def hooked(self) -> Hooked:
        """Return every usable provider with the events that it answers."""
        return _hooked(self._enabled)

    def publishable(self) -> frozenset[str]:
        """Return the events that at least one usable provider answers; others are never enqueued."""
        return frozenset(event_type for built in self._usable() for event_type in built.hooks)

    def call(self, key: str, event: Event) -> object:
        """Return what a provider's hook answers, checked.

        Raises what the hook raised, `BadAnswer` when the answer is none, `Transient` when it did not come in time, `Tripped` when
        the provider rests after failures, NotFound when it cannot be used.
        """
        built = self._one(key)
        hook = built.hooks.get(event.type)
        if hook is None:
            raise NotFound(f"{key} does not answer {event.type}")
        return built.guard.run(event.type, lambda: accepted(key, event, hook(event)))

    @property
    def invalid(self) -> tuple[tuple[str, str], ...]:
        """Return (key, reason) of the enabled providers that cannot be used."""
        return tuple(
            (key, one.reason or "") for key, one in self._enabled.items() if one.state is PluginState.INVALID
        )

    @property
    def titles(self) -> Mapping[str, str]:
        """Return what every provider that there is, enabled or not, is called, by its key."""
        return {kind.key: kind.title for kind in self.classes}

    def statuses(self) -> tuple[PluginStatus, ...]:
        """Return how every enabled provider stands."""
        return tuple(status_of(one) for one in self._enabled.values())

    def before_use(self, prepare: Callable[[Hooked], None]) -> None:
        """Have `prepare` called with those usable now, and with all that will be each time before others can be asked."""
        with self._lock:
            self._preparers.append(prepare)
            prepare(_hooked(self._enabled))

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have `listener` called when other providers are usable than before."""
        self._listeners.append(listener)

    def rebuild(self, settings: RootSettings) -> None:
        """Take over new settings: providers whose section is the same stay as they are, the others are built anew, unchecked.

        Whoever is in trouble is checked again at the next `revalidate`: what was changed may have been the reason.
        """
        with self._lock:
            before = self._enabled
            self._deadlines = settings.plugins.deadlines
            wanted = {kind: settings_of(settings, kind) for kind in _in_order(self.classes, settings)}
            self._put(
                {
                    kind.key: self._kept(kind, section) or self._built(Enabled(kind, section))
                    for kind, section in wanted.items()
                    if section.enabled
                }
            )
            kept = {id(one.built) for one in self._enabled.values()}
            anew = [
                one
                for key, one in self._enabled.items()
                if key in before and one.built is not before[key].built
            ]
        for one in anew:
            _begin_anew(one)
        for one in before.values():
            if id(one.built) not in kept:
                _close(one)
        self._tell(before)

    def validate(self, now: datetime) -> None:
        """Check every provider that was not checked yet, all at the same time, up to three times each; never raises."""
        self._check([one for one in self._enabled.values() if one.state is PluginState.PENDING], now, PAUSES)

    def revalidate(self, now: datetime) -> None:
        """Check what was not checked yet, and once more each provider in trouble whose time has come; never raises."""
        self.validate(now)
        due = [one for one in self._enabled.values() if one.next_check_at and one.next_check_at <= now]
        self._check(due, now, ())

    def try_out(self, key: str, section: ProviderSettings) -> PluginStatus:
        """Return how a provider would stand with these settings; what is in use stays. Raises NotFound for a strange key."""
        kind = next((kind for kind in self.classes if kind.key == key), None)
        if kind is None:
            raise NotFound(f"no provider is called {key}")
        tried = self._built(Enabled(kind, section))
        _begin_anew(tried)
        tried = self._checked(tried, self._clock.now(), ())
        _close(tried)
        return status_of(tried)

    def clock_was_set(self, by: timedelta) -> None:
        """Let pauses, rests and waits for the next check last as long as they would have; `by`: negative when it was set back."""
        with self._lock:
            self._enabled = {
                key: replace(one, next_check_at=one.next_check_at + by) if one.next_check_at else one
                for key, one in self._enabled.items()
            }
            found = [one.built for one in self._enabled.values() if one.built is not None]
        for built in found:
            built.guard.clock_was_set(by)
            for source in built.sources:
                source.clock_was_set(by)

    def close(self) -> None:
        """Close every provider's connections; none is usable afterwards."""
        with self._lock:
            before, self._enabled = self._enabled, {}
        for one in before.values():
            _close(one)

    def _put(self, enabled: Mapping[str, Enabled]) -> None:
        # Call with the lock held.
        for prepare in self._preparers:
            prepare(_hooked(enabled))
        self._enabled = enabled

    def _usable(self) -> list[Built]:
        return _usable(self._enabled)

    def _one(self, key: str) -> Built:
        one = self._enabled.get(key)
        built = one.usable if one else None
        if built is None:
            raise NotFound(f"{key} is not in use{f': {one.reason}' if one and one.reason else ''}")
        return built

    def _kept(self, kind: type[AnyPlugin], section: ProviderSettings) -> Enabled | None:
        one = self._enabled.get(kind.key)
        if one is None or one.settings != section or one.built is None:
            return None
        if one.built.guard.deadline != self._deadline(kind):
            return None
        return replace(one, next_check_at=self._clock.now()) if one.next_check_at else one

    def _deadline(self, kind: type[AnyPlugin]) -> float:
        return self._deadlines.get(kind.key, kind.deadline_seconds)

    def _built(self, one: Enabled) -> Enabled:
        """Return the provider made from its settings; whatever its code does at that, the others are not harmed."""
        kind, guard = one.kind, Guard(one.kind.key, self._clock, self._deadline(one.kind))
        made: list[DataSource] = []
        try:
            built = guard.bounded(
                "start",
                lambda: make(kind, one.settings, guard, self._make_source, self._clock, made),
                START_SECONDS,
            )
        except RivuletError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - a broken plugin is reported and never stops the rest
            logger.error("plugin {} cannot be built:\n{}", kind.key, traceback.format_exc())
            reason = f"it cannot be built: {type(error).__name__}"
        else:
            return replace(one, built=built)
        for source in made:
            source.close()
        return replace(one, reason=reason)

    def _check(self, some: list[Enabled], now: datetime, pauses: tuple[float, ...]) -> None:
        """Check providers side by side; what is found of one counts at once, however long another takes."""
        checks = [
            threading.Thread(
                target=self._check_one, args=(one, now, pauses), name=f"check {one.kind.key}", daemon=True
            )
            for one in some
        ]
        for check in checks:
            check.start()
        for check in checks:
            check.join()

    def _check_one(self, old: Enabled, now: datetime, pauses: tuple[float, ...]) -> None:
        new = self._checked(old, now, pauses)
        with self._lock:
            before = self._enabled
            # Unless the settings were changed while it was asked.
            if before.get(old.kind.key) is not old:
                _close(new if new.built is not old.built else Enabled(old.kind, old.settings))
                return
            self._put({**before, old.kind.key: new})
        report(old, new)
        self._tell(before)

    def _checked(self, one: Enabled, now: datetime, pauses: tuple[float, ...]) -> Enabled:
        if one.built is None:
            one = self._built(one)
        verdict = self._verdict(one.built, pauses) if one.built else Verdict(PluginState.INVALID, one.reason)
        if verdict.state in (PluginState.VALID, PluginState.PENDING):
            return replace(one, state=verdict.state, reason=None, failures=0, next_check_at=None)
        at = now + RESTS[min(one.failures, len(RESTS) - 1)]
        return replace(
            one,
            state=verdict.state,
            reason=verdict.reason,
            failures=one.failures + 1,
            next_check_at=max(at, verdict.not_before or at),
        )

    def _verdict(self, built: Built, pauses: tuple[float, ...]) -> Verdict:
        """Return what the check says; a trouble that may pass gets another try after each pause, a fatal one none."""
        verdict = ask(built)
        for seconds in pauses:
            if verdict.is_final:
                break
            self._pause(seconds)
            verdict = ask(built)
        return verdict

    def _tell(self, before: Mapping[str, Enabled]) -> None:
        if _plugins_in_use(before) != _plugins_in_use(self._enabled):
            for listener in self._listeners:
                listener()


def _begin_anew(one: Enabled) -> None:
    """Let a provider with other settings be asked at once: what it was paused for may have been the old key's matter."""
    for source in one.built.sources if one.built else ():
        source.begin_anew()


def _close(one: Enabled) -> None:
    for source in one.built.sources if one.built else ():
        source.close()


def _usable(enabled: Mapping[str, Enabled]) -> list[Built]:
    return [built for one in enabled.values() if (built := one.usable)]


def _hooked(enabled: Mapping[str, Enabled]) -> Hooked:
    return tuple((built.plugin, tuple(built.hooks)) for built in _usable(enabled))


def _plugins_in_use(enabled: Mapping[str, Enabled]) -> set[int]:
    return {id(built) for built in _usable(enabled)}


def _in_order(classes: Iterable[type[AnyPlugin]], settings: RootSettings) -> list[type[AnyPlugin]]:
    """Return the classes with those first that their section's `order` names."""

    def place(kind: type[AnyPlugin]) -> int:
        order = cast("tuple[str, ...]", getattr(getattr(settings, kind.section), "order", ()))
        return order.index(kind.key) if kind.key in order else len(order)

    return sorted(classes, key=place)
