"""The machine *Main runner*: what runs while the program runs, and what makes it end in *Errored*."""

import threading
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

from program import housekeeping, log
from program.bootstrap import Bootstrapped
from program.clock import Clock, JumpWatch
from program.errors import RivuletError, SettingsError
from program.events import ContentServicesDue, CoreStarted, RetryLibrary
from program.lifecycle import ERROR, START, STOP, Machine
from program.log import logger
from program.opening import set_up_log
from program.queues import JobSpec, Priority
from program.reactions import Reactions
from program.resume import forget_waits
from program.scheduler import Scheduler
from program.services.flows import names
from program.services.flows.request_content_services import Poll
from program.services.plugin import ContentService, Plugin
from program.settings.applies import Applies, applies, changed
from program.settings.models import RootSettings
from program.settings.watch import Watcher
from program.vitals import Vitals

TURN = timedelta(seconds=1)
WATCH = timedelta(seconds=2)
REVALIDATE = timedelta(seconds=30)
HOUSEKEEPING = timedelta(hours=6)
RESUME = timedelta(hours=6)
LOOK_AFTER_FILES = timedelta(minutes=5)
# What the names of the schedules of content services begin with.
CONTENT = "content-"
# Settings that say where a file appears.
ARRANGING = ("vfs.profiles", "vfs.naming", "vfs.subtitle_languages")
# A turn of the loop, or the title at hand of a resume, takes less.
JOIN_SECONDS = 3.0


class MainRunner:
    """Runs what *Bootstrap* made. vitals: what must not be gone for long."""

    def __init__(self, made: Bootstrapped, machine: Machine, clock: Clock, vitals: Vitals) -> None:
        self._made = made
        self._ctx = made.ctx
        self._machine = machine
        self._clock = clock
        self._vitals = vitals
        self._stopping = threading.Event()
        self.scheduler = Scheduler(clock)
        self.loop_thread = threading.Thread(target=self._run_loop, name="loop", daemon=True)
        # Held while settings are applied: two saves at once would else leave the parts with those of the first.
        self._applying = threading.Lock()
        self._in_force = made.store.current
        self._usable = frozenset(made.ctx.registry.of(Plugin))
        reactions = Reactions(
            made.ctx,
            wake=made.loop.wake,
            poll_content=self._poll_content,
            is_stopped=self._stopping.is_set,
        )
        made.bus.listen(reactions.react)

    def start(self, stack: ExitStack) -> None:
        """Enter Running: start the loop and the clockwork, then do what Running begins with. stack: takes how to end them."""
        made = self._made
        self._machine.send(START)
        self._ctx.engine.on_finished(made.memos.forget)
        self._ctx.engine.on_finished(made.meter.ended)
        self._ctx.engine.on_finished(made.loop.finished)
        self._ctx.db.on_commit(made.loop.wake)
        self.loop_thread.start()
        stack.callback(self._machine.send, STOP)
        stack.callback(self.loop_thread.join, JOIN_SECONDS)
        stack.callback(made.loop.stop)
        self._schedule()
        self.scheduler.start()
        stack.callback(self.scheduler.stop)
        entry = threading.Thread(target=self._entry_actions, name="entry", daemon=True)
        entry.start()
        stack.callback(entry.join, JOIN_SECONDS)
        stack.callback(self._stopping.set)

    def trouble(self) -> str | None:
        """Return why the program cannot go on, None while it can; the machine is in Errored then."""
        reason = self._vitals.trouble()
        if not self.loop_thread.is_alive():
            reason = "the loop ended"
        elif not self.scheduler.is_alive():
            reason = "the clockwork ended"
        if reason is not None:
            self._machine.send(ERROR)
        return reason

    def _entry_actions(self) -> None:
        """What Running begins with, in this order."""
        self._made.bus.publish(CoreStarted())
        self._made.bus.publish(ContentServicesDue())
        self._made.bus.publish(RetryLibrary())
        self._tidy()

    def _tidy(self) -> None:
        try:
            housekeeping.tidy(self._ctx)
        except RivuletError as error:
            logger.warning("tidying up comes later: {}", error)

    def _look_after_files(self) -> None:
        try:
            housekeeping.look_after_files(self._ctx)
        except RivuletError as error:
            logger.warning("looking after files comes later: {}", error)

    def _run_loop(self) -> None:
        try:
            self._made.loop.run()
        except Exception:  # noqa: BLE001 - boundary: the loop's thread; without it nothing moves, so the program ends
            logger.exception("the loop ended")

    def _schedule(self) -> None:
        made, every = self._made, self.scheduler.every
        every(TURN, "turn", made.loop.wake)
        every(TURN, "clock", partial(self._look_at_clock, JumpWatch(self._clock)))
        every(WATCH, "settings", partial(self._watch, Watcher(made.store)))
        every(self._vitals.interval, "vitals", self._vitals.look)
        every(REVALIDATE, "plugins", self._check_plugins)
        every(HOUSEKEEPING, "housekeeping", self._tidy)
        every(LOOK_AFTER_FILES, "files", self._look_after_files)
        every(RESUME, "resume", partial(made.bus.publish, RetryLibrary()))
        made.store.on_change(self._changed)
        self._ctx.registry.on_change(self._use_plugins)
        self._use_plugins()

    # Content services -------------------------------------------------------------------------------------------------------

    def _schedule_content(self) -> None:
        for name in self.scheduler.names():
            if name.startswith(CONTENT):
                self.scheduler.forget(name)
        for plugin in self._ctx.registry.of(ContentService):
            interval = timedelta(seconds=plugin.interval_seconds())
            self.scheduler.every(interval, f"{CONTENT}{plugin.key}", partial(self._poll, plugin.key))

    def _poll_content(self) -> None:
        for plugin in self._ctx.registry.of(ContentService):
            self._poll(plugin.key)

    def _poll(self, key: str) -> None:
        self._ctx.engine.add(
            JobSpec(
                queue=names.REQUEST_CONTENT_SERVICES,
                name=key,
                data=Poll(key),
                dedup_id=names.content_service_id(key),
                priority=Priority.NORMAL,
            )
        )

    # Changes ----------------------------------------------------------------------------------------------------------------

    def _look_at_clock(self, watch: JumpWatch) -> None:
        jump = watch.look()
        if jump is None:
            return
        seconds = jump.total_seconds()
        logger.warning(
            "the machine's clock went {} by {:.0f} s, or the machine slept; what is due follows the new time",
            "forward" if seconds > 0 else "back",
            abs(seconds),
        )
        if seconds < 0:
            # What waits for an instant would wait that much longer: a service that was to rest a minute, for hours.
            self._ctx.engine.clock_was_set(jump)
            self._ctx.registry.clock_was_set(jump)
            forget_waits(self._ctx.db)

    def _check_plugins(self) -> None:
        self._ctx.registry.revalidate(self._clock.now())

    def _watch(self, watcher: Watcher) -> None:
        found = watcher.poll()
        if isinstance(found, SettingsError):
            logger.error("{}; the last good settings stay in force", found)
        elif found is not None:
            self._changed(found)

    def _changed(self, _settings: RootSettings) -> None:
        """Apply the settings in force, which may be newer than those that were told of, to the parts that changed."""
        with self._applying:
            self._apply(self._made.store.current)

    def _apply(self, settings: RootSettings) -> None:
        """Apply settings; the mount stays. Call with the lock held."""
        log.hide(settings.secret_values())
        set_up_log(settings, self._made.store.folder)
        self._made.streams.follow_log(settings.log.level)
        paths, self._in_force = changed(self._in_force, settings), settings
        self._ctx.registry.rebuild(settings)
        self._use_plugins()
        self._made.bus.publish(ContentServicesDue())
        # This takes a while, and whoever saved the settings waits for this function.
        threading.Thread(target=self._after_change, name="settings-changed", daemon=True).start()
        if any(path.startswith(ARRANGING) for path in paths):
            threading.Thread(target=self._rearrange, name="rearranging", daemon=True).start()
        later = [path for path in paths if applies(path) is Applies.RESTART]
        logger.info("settings applied: {}", ", ".join(paths) or "nothing is new")
        if later:
            logger.warning("{} will count after a restart", ", ".join(later))

    def _rearrange(self) -> None:
        """Show the files where the new settings say that they belong."""
        try:
            self._made.library.rearrange()
        except RivuletError as error:
            logger.warning("the files get their new places later: {}", error)

    def _after_change(self) -> None:
        """Let states and dates follow from the new settings, and see whether the providers work with them."""
        self._made.bus.publish(RetryLibrary())
        self._check_plugins()

    def _use_plugins(self) -> None:
        """Give every usable content service its schedule; what waited for one that is usable now is due at once."""
        self._schedule_content()
        before, self._usable = self._usable, frozenset(self._ctx.registry.of(Plugin))
        if self._usable - before:
            forget_waits(self._ctx.db)
        self._made.loop.wake()
