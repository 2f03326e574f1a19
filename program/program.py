"""The composition root: builds each object once, names every thread, and owns the order of start and stop."""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path

from loguru import logger

from program import actions, event_loop, housekeeping, http, lifecycle, log, plugins
from program.api.context import ApiContext
from program.api.server import ApiServer, create_app
from program.clock import Clock
from program.db.engine import Database
from program.db.status import ProviderStatusStore
from program.errors import RivuletError, SettingsError
from program.events import CoreShutdown, CoreStarted, Told
from program.folder_lock import alone_in
from program.library import Links, MountedLibrary, registered_files
from program.media.state import Policy
from program.metrics import Metrics
from program.plugins import AnyPlugin, Registry
from program.policy import policy_of
from program.queues import Job, JobSpec, JobView, Outcome, Priority, Sandbox
from program.queues.engine import Engine
from program.queues.meter import Meter
from program.scheduler import Scheduler
from program.services.flows import names
from program.services.flows.context import FlowContext
from program.services.flows.queues import define_flows, define_plugins
from program.services.flows.request_content_services import Poll
from program.services.plugin import ContentService
from program.settings.applies import Applies, applies, changed
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings
from program.settings.store import SettingsStore, config_folder
from program.settings.watch import Watcher
from program.vfs.vfs import Vfs

TURN = timedelta(seconds=1)
WATCH = timedelta(seconds=2)
REVALIDATE = timedelta(seconds=30)
HOUSEKEEPING = timedelta(hours=6)
# How long each part of a stop may take; together under the 30 s that a container manager is told.
DRAIN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
# What the names of the schedules of content services begin with.
CONTENT = "content-"


class Program:
    """One run of Rivulet, from its settings to its end."""

    def __init__(self, store: SettingsStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._failed = threading.Event()
        self._draining = threading.Event()
        self._stack = ExitStack()
        self.machine = lifecycle.Machine("Program", lifecycle.PROGRAM, clock)
        self.bootstrap_machine = lifecycle.Machine("Bootstrap", lifecycle.BOOTSTRAP, clock)
        self.runner = lifecycle.Machine("Main runner", lifecycle.MAIN_RUNNER, clock)

    def stop(self) -> None:
        """Ask the run to end; safe to call from a signal handler and from any thread."""
        self._stop.set()

    def run(self) -> int:
        """Start, work until stopped, stop; return the exit code. Raises StartupError with a sentence when it cannot start."""
        self.machine.send("start")
        with self._stack:
            try:
                self._stack.enter_context(alone_in(self._store.folder))
                self._bootstrap()
            except BaseException:
                self.bootstrap_machine.send("error")
                self.machine.send("error")
                raise
            if not self._stop.is_set():
                self.machine.send("ok")
                self.runner.send("start")
                self._begin()
                self._stop.wait()
                self._tell(CoreShutdown())
            self.runner.send("stop")
            self.machine.send("stop")
            logger.info("stopping")
        self.machine.send("ok")
        return 1 if self._failed.is_set() else 0

    def _bootstrap(self) -> None:
        steps: tuple[Callable[[], None], ...] = (
            self._open_database,
            self._clear_previous,
            self._build_plugins,
            self._start_services,
            self._start_vfs,
        )
        for step in steps:
            if self._stop.is_set():
                return
            step()
            self.bootstrap_machine.send("ok")

    @property
    def _settings(self) -> RootSettings:
        return self._store.current

    def _policy(self) -> Policy:
        return policy_of(self._settings, self._ctx.servers())

    def _open_database(self) -> None:
        folder = self._store.folder
        self._db = Database(database_url(self._store), data_dir=folder, clock=self._clock)
        self._stack.callback(self._db.close)
        self._db.open()

    def _clear_previous(self) -> None:
        housekeeping.clear_previous(self._db, self._settings.startup)

    def _build_plugins(self) -> None:
        self._registry = Registry(self._settings, plugins.discover(), self._make_source, self._clock)
        self._stack.callback(self._registry.close)

    def _make_source(
        self, plugin: type[AnyPlugin], settings: ProviderSettings, name: str = "", /
    ) -> http.DataSource:
        return plugins.make_source(
            plugin,
            settings,
            name,
            clock=self._clock,
            status=ProviderStatusStore(self._db),
            cache_dir=self._store.folder / "cache",
            stopping=self._draining,
        )

    def _start_services(self) -> None:
        settings = self._settings
        self._sandbox = Sandbox(
            threshold=settings.queue.sandbox_threshold, processes=settings.queue.sandbox_processes or None
        )
        self._stack.callback(self._sandbox.close)
        self._memos = Memos()
        self._metrics = Metrics()
        self._meter = Meter(self._metrics, self._clock, self._memos.around)
        self._engine = Engine(
            self._clock,
            workers=settings.queue.workers,
            reserved=settings.queue.reserved,
            sandbox=self._sandbox,
            around=self._meter.around,
        )
        cache = self._store.folder / settings.vfs.cache_dir
        vfs_settings = settings.vfs.model_copy(update={"cache_dir": cache})
        self._vfs = Vfs(vfs_settings, Links(self._engine).resolve, self._clock)
        self._ctx = FlowContext(
            db=self._db,
            engine=self._engine,
            registry=self._registry,
            clock=self._clock,
            settings=lambda: self._settings,
            policy=self._policy,
            library=MountedLibrary(self._vfs, str(settings.vfs.mount_path)),
            tell=self._tell,
        )
        define_flows(self._engine, self._ctx)
        define_plugins(self._engine, self._ctx, self._registry, settings.queue.provider_limits)
        self._loop = event_loop.EventLoop(self._ctx)
        self._actions = actions.Actions(self._ctx, self._loop.wake)
        self._scheduler = Scheduler()
        self._start_api()

    def _start_api(self) -> None:
        context = ApiContext(
            db=self._db,
            engine=self._engine,
            registry=self._registry,
            store=self._store,
            actions=self._actions,
            clock=self._clock,
            policy=self._policy,
            providers=self._ctx.providers,
            machines=(self.machine, self.bootstrap_machine, self.runner),
            vfs_healthy=self._vfs.healthy,
            vfs_statistics=lambda: asdict(self._vfs.statistics()),
            metrics=self._metrics,
            loop=self._loop.reading,
        )
        settings = self._settings.api
        server = ApiServer(create_app(context), settings.host, settings.port, threads=settings.threads)
        server.start()
        self._stack.callback(server.stop)

    def _start_vfs(self) -> None:
        self._stack.callback(self._engine.close, CLOSE_SECONDS)
        self._stack.callback(self._draining.set)
        self._engine.start()
        self._vfs.start(registered_files(self._db))
        self._stack.callback(self._vfs.stop)
        # Reads may still need a link while the workers drain, so the engine is closed only after the unmount.
        self._stack.callback(self._drain)

    def _drain(self) -> None:
        if not self._engine.drain(DRAIN_SECONDS):
            logger.warning(
                "some jobs did not end in time; what they were about is due again at the next start"
            )

    def _begin(self) -> None:
        """Enter Running: the loop, the clockwork, the content services, what is incomplete."""
        self._engine.on_finished(self._memos.forget)
        self._engine.on_finished(self._meter.ended)
        self._engine.on_finished(self._loop.finished)
        self._db.on_commit(self._loop.wake)
        thread = threading.Thread(target=self._run_loop, name="loop", daemon=True)
        thread.start()
        self._stack.callback(thread.join, DRAIN_SECONDS)
        self._stack.callback(self._loop.stop)
        self._schedule()
        self._scheduler.start()
        self._stack.callback(self._scheduler.stop)
        checks = threading.Thread(target=self._check_plugins, name="plugin-checks", daemon=True)
        checks.start()
        self._tell(CoreStarted())
        self._loop.wake()
        logger.info(
            "ready: http://{}:{}, library in {}",
            self._settings.api.host,
            self._settings.api.port,
            self._settings.vfs.mount_path,
        )

    def _run_loop(self) -> None:
        try:
            self._loop.run()
        except Exception:  # noqa: BLE001 - boundary: the loop's thread; without it nothing moves, so the program ends
            logger.exception("the loop ended")
            self._failed.set()
            self.runner.send("error")
            self._stop.set()

    def _schedule(self) -> None:
        watcher = Watcher(self._store)
        self._scheduler.every(TURN, "turn", self._loop.wake)
        self._scheduler.every(WATCH, "settings", partial(self._watch, watcher))
        self._scheduler.every(REVALIDATE, "plugins", self._check_plugins)
        self._scheduler.every(HOUSEKEEPING, "housekeeping", partial(housekeeping.tidy, self._ctx))
        self._in_force = self._settings
        self._store.on_change(self._changed)
        self._registry.on_change(self._use_plugins)
        self._schedule_content()
        housekeeping.tidy(self._ctx)

    def _schedule_content(self) -> None:
        for plugin in self._registry.of(ContentService):
            push = partial(self._poll, plugin.key)
            self._scheduler.every(
                timedelta(seconds=plugin.interval_seconds()), f"{CONTENT}{plugin.key}", push
            )
            push()

    def _poll(self, key: str) -> None:
        self._engine.add(
            JobSpec(
                queue=names.REQUEST_CONTENT_SERVICES,
                name=key,
                data=Poll(key),
                dedup_id=names.content_service_id(key),
                priority=Priority.NORMAL,
            )
        )

    def _check_plugins(self) -> None:
        self._registry.revalidate(self._clock.now())

    def _watch(self, watcher: Watcher) -> None:
        found = watcher.poll()
        if isinstance(found, SettingsError):
            logger.error("{}; the last good settings stay in force", found)
        elif found is not None:
            self._changed(found)

    def _changed(self, settings: RootSettings) -> None:
        """Apply new settings to the parts that changed; the mount stays."""
        log.hide(settings.secret_values())
        set_up_log(settings, self._store.folder)
        paths, self._in_force = changed(self._in_force, settings), settings
        self._registry.rebuild(settings)
        self._use_plugins()
        later = [path for path in paths if applies(path) is Applies.RESTART]
        logger.info("settings applied: {}", ", ".join(paths) or "nothing is new")
        if later:
            logger.warning("{} will count after a restart", ", ".join(later))

    def _use_plugins(self) -> None:
        """Give every usable provider its queues and its schedule; also when one became usable later."""
        define_plugins(self._engine, self._ctx, self._registry, self._settings.queue.provider_limits)
        for name in self._scheduler.names():
            if name.startswith(CONTENT):
                self._scheduler.forget(name)
        self._schedule_content()
        self._loop.wake()

    def _tell(self, event: Told) -> None:
        """Tell every plugin that hooks the event; an event without hooks is not enqueued."""
        for key in self._registry.hooks_for(event.type):
            queue = names.plugin_queue(event.type, key)
            try:
                self._engine.add(JobSpec(queue=queue, name=event.title or event.type, data=event))
            except RivuletError as error:
                logger.warning("{} was not told to {}: {}", event.type, key, error)


class Memos:
    """Gives each job its memo of answers and says whether somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memos: dict[str, dict[str, http.Response]] = {}

    def around(self, job: Job, call: Callable[[], Outcome]) -> Outcome:
        """Run `call` with the context of `job`."""
        with self._lock:
            memo = self._memos.setdefault(job.id, {})
        waits = http.interactive.set(job.priority is Priority.INTERACTIVE)
        kept = http.job_memo.set(memo)
        try:
            return call()
        finally:
            http.job_memo.reset(kept)
            http.interactive.reset(waits)

    def forget(self, job: JobView) -> None:
        """Drop the memo of a finished job."""
        with self._lock:
            self._memos.pop(job.id, None)


def open_store(environ: Mapping[str, str]) -> SettingsStore:
    """Return the settings of the config folder, loaded; raise SettingsError or StartupError."""
    store = SettingsStore(config_folder(environ), plugins.compose_settings(plugins.discover()), environ)
    log.hide(store.open().secret_values())
    return store


def set_up_log(settings: RootSettings, folder: Path) -> None:
    """Write the log as the settings say; its file stands in the config folder."""
    log.set_up(settings.log.level, folder / "logs" / "rivulet.log" if settings.log.to_file else None)


def database_url(store: SettingsStore) -> str:
    """Return the address of the database: the one set, or a SQLite file in the config folder."""
    return store.current.database.url or f"sqlite:///{store.folder / 'rivulet.db'}"
