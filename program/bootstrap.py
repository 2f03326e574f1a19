"""From settings to a program that is ready to run: the work of each state of the machine *Bootstrap*, and what it hands over.

What is opened goes onto the program's stack at once, so that a start which fails or is called off half-way is undone as well.
"""

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from program import actions, event_loop, housekeeping, http, lifecycle, plugins, scenario
from program.api import strm
from program.api.context import ApiContext
from program.api.places import Places
from program.api.server import ApiServer, create_app
from program.api.streams import Streams
from program.bus import Bus
from program.clock import Clock
from program.db.engine import Database
from program.db.status import ProviderStatusStore
from program.library import Links, MountedLibrary, standing_folders
from program.lifecycle import OK, SCENARIO, Machine
from program.log import logger
from program.manual.manual import Manual
from program.media.state import Policy
from program.memos import Memos
from program.metrics import Metrics
from program.network import Gate, Network
from program.opening import Opened, database_url
from program.playback.hls import Converter
from program.plugins import AnyPlugin, Registry
from program.policy import policy_of
from program.queues import Sandbox
from program.queues.engine import Engine
from program.queues.meter import Meter
from program.services.flows import moved_files, names
from program.services.flows.context import NAMES, FlowContext
from program.services.flows.queues import define_flows, define_plugins
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings
from program.settings.store import SettingsStore
from program.vfs.strm import StrmExport
from program.vfs.tree import TreeFile
from program.vfs.vfs import Vfs

# Addresses to listen on that are none to call.
ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, never listened on
# How long a start waits for the plugins' checks; who has not answered by then is used until it has.
VALIDATE_SECONDS = 2.0
# How long each part of a stop may take; together about the 30 s that a container manager is told.
DRAIN_SECONDS = 10.0
CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """What *Bootstrap* hands over: the server, the file system, the plugins with their queues, and what the runner works with.

    plugins, invalid_plugins: keys of those that can be used, and why the others cannot. plugin_queues: by key; plugin_workers: jobs
    at a time by queue. publishable_events: those that at least one plugin answers.
    """

    server: ApiServer
    vfs: Vfs
    library: MountedLibrary
    plugins: tuple[str, ...]
    invalid_plugins: Mapping[str, str]
    plugin_queues: Mapping[str, tuple[str, ...]]
    plugin_workers: Mapping[str, int]
    publishable_events: frozenset[str]
    store: SettingsStore
    ctx: FlowContext
    bus: Bus
    loop: event_loop.EventLoop
    memos: Memos
    meter: Meter
    streams: Streams


class Machines:
    """Every machine of the program, for whoever asks where it stands."""

    def __init__(self, clock: Clock) -> None:
        self.program = Machine("Program", lifecycle.PROGRAM, clock)
        self.bootstrap = Machine("Bootstrap", lifecycle.BOOTSTRAP, clock)
        self.registrar = Machine("Plugin registrar", lifecycle.PLUGIN_REGISTRAR, clock)
        self.api = Machine("Initialising services: API server", lifecycle.SERVICE, clock)
        self.engine = Machine("Initialising services: queues", lifecycle.SERVICE, clock)
        self.tree = Machine("Initialising services: library tree", lifecycle.SERVICE, clock)
        self.runner = Machine("Main runner", lifecycle.MAIN_RUNNER, clock)

    def all(self) -> tuple[Machine, ...]:
        """Return them in the order in which they begin."""
        services = (self.api, self.engine, self.tree)
        return (self.program, self.bootstrap, self.registrar, *services, self.runner)


class Bootstrap:
    """One start. stack: takes what is to be undone at the end; scenario: a file to fill an empty database from, for tests."""

    def __init__(
        self,
        opened: Opened,
        clock: Clock,
        machines: Machines,
        stack: ExitStack,
        scenario_file: Path | None = None,
    ) -> None:
        self._store = opened.store
        self._found = opened.plugins
        self._clock = clock
        self._machines = machines
        self._stack = stack
        self._scenario_file = scenario_file
        self._draining = threading.Event()
        self._files: list[TreeFile] = []
        self._strm: StrmExport | None = None

    def run(self, is_stopped: Callable[[], bool]) -> Bootstrapped | None:
        """Walk the machine to its end; return what was made, None when stopped before. Raises StartupError with a sentence."""
        work = {
            "Bootstrapping database connection": self._open_database,
            "Clearing previous instance state": self._clear_previous,
            "Applying mock scenario": self._apply_scenario,
            "Bootstrapping plugins": self._bootstrap_plugins,
            "Initialising services": self._initialise_services,
            "Bootstrapping VFS": self._bootstrap_vfs,
        }
        return self._made() if lifecycle.walk(self._machines.bootstrap, work, is_stopped) else None

    def _made(self) -> Bootstrapped:
        hooked = self._registry.hooked()
        queues = {
            plugin.key: tuple(names.plugin_queue(event, plugin.key) for event in events)
            for plugin, events in hooked
        }
        limits = self._settings.queue.provider_limits
        workers = {
            queue: limits.get(plugin.key, plugin.concurrency)
            for plugin, _ in hooked
            for queue in queues[plugin.key]
        }
        return Bootstrapped(
            server=self._server,
            vfs=self._vfs,
            library=self._library,
            plugins=tuple(queues),
            invalid_plugins=dict(self._registry.invalid),
            plugin_queues=queues,
            plugin_workers=workers,
            publishable_events=self._registry.publishable(),
            store=self._store,
            ctx=self._ctx,
            bus=self._bus,
            loop=self._loop,
            memos=self._memos,
            meter=self._meter,
            streams=self._streams,
        )

    @property
    def _settings(self) -> RootSettings:
        return self._store.current

    def _policy(self) -> Policy:
        return policy_of(self._settings, self._ctx.servers(), self._registry.titles)

    # The work of the states -------------------------------------------------------------------------------------------------

    def _open_database(self) -> str:
        folder = self._store.folder
        self._db = Database(database_url(self._store), data_dir=folder, clock=self._clock)
        self._stack.callback(self._db.close)
        self._db.restore_pending()
        self._db.open()
        return OK

    def _clear_previous(self) -> str:
        housekeeping.clear_previous(self._db, self._settings.startup)
        return SCENARIO if self._scenario_file is not None else OK

    def _apply_scenario(self) -> str:
        if self._scenario_file is not None:
            policy = policy_of(self._settings, ())
            count = scenario.apply(scenario.load(self._scenario_file), self._db, self._clock.now(), policy)
            logger.warning("a scenario was applied: {} titles", count)
        return OK

    def _bootstrap_plugins(self) -> str:
        self._registry = Registry(self._settings, self._found.classes, self._make_source, self._clock)
        self._stack.callback(self._registry.close)
        self._machines.registrar.send(OK)
        checks = threading.Thread(target=self._validate, name="plugin-checks", daemon=True)
        checks.start()
        checks.join(VALIDATE_SECONDS)
        return OK

    def _validate(self) -> None:
        self._registry.validate(self._clock.now())
        self._machines.registrar.send(OK)
        if self._registry.invalid:
            logger.warning("not used: {}", ", ".join(key for key, _ in self._registry.invalid))

    def _initialise_services(self) -> str:
        self._build_engine()
        self._build_context()
        self._build_api()
        lifecycle.together(
            {
                self._machines.api: self._start_api,
                self._machines.engine: self._start_engine,
                self._machines.tree: self._load_tree,
            }
        )
        return OK

    def _bootstrap_vfs(self) -> str:
        self._vfs.start(self._files)
        self._files = []
        self._stack.callback(self._vfs.stop)
        if self._strm is not None:
            self._strm.start()
            self._stack.callback(self._strm.stop)
        self._stack.callback(self._sandbox.close)
        # Reads may still need a link while the workers drain, so the engine is closed only after the unmount.
        self._stack.callback(self._drain)
        return OK

    # Its parts --------------------------------------------------------------------------------------------------------------

    def _make_source(
        self, plugin: type[AnyPlugin], settings: ProviderSettings, name: str = "", /
    ) -> http.DataSource:
        return plugins.make_source(
            plugin,
            settings,
            name,
            clock=self._clock,
            allowed=self._allowed,
            status=ProviderStatusStore(self._db),
            cache_dir=self._store.folder / "cache",
            stopping=self._draining,
        )

    def _allowed(self) -> Sequence[Network]:
        return self._store.current.network.networks()

    def _build_engine(self) -> None:
        queue = self._settings.queue
        self._sandbox = Sandbox(threshold=queue.sandbox_threshold, processes=queue.sandbox_processes or None)
        self._stack.callback(self._sandbox.close)
        self._memos = Memos()
        self._metrics = Metrics()
        self._meter = Meter(self._metrics, self._clock, self._memos.around)
        self._engine = Engine(
            self._clock,
            workers=queue.workers,
            reserved=queue.reserved,
            sandbox=self._sandbox,
            around=self._meter.around,
        )

    def _build_context(self) -> None:
        vfs = self._settings.vfs
        cache = self._store.folder / vfs.cache_dir
        self._vfs = Vfs(
            vfs.model_copy(update={"cache_dir": cache}),
            Links(self._engine).resolve,
            self._clock,
            standing_folders(vfs),
            Gate(allowed=self._allowed).connect,
        )
        self._library = MountedLibrary(self._vfs, self._db, lambda: self._settings.vfs, self._store.folder)
        self._bus = Bus(self._engine, self._registry, self._clock)
        self._ctx = FlowContext(
            db=self._db,
            engine=self._engine,
            registry=self._registry,
            clock=self._clock,
            settings=lambda: self._settings,
            policy=self._policy,
            library=self._library,
            tell=self._bus.publish,
            names_kept_in=self._store.folder / NAMES,
        )
        self._library.tell_moves(partial(moved_files.scan, self._ctx))
        define_flows(self._engine, self._ctx)
        # A plugin has its queues before anybody can ask it, also one that is enabled later.
        self._registry.before_use(self._define_plugins)
        self._loop = event_loop.EventLoop(self._ctx)

    def _define_plugins(self, hooked: plugins.Hooked) -> None:
        define_plugins(self._engine, self._ctx, hooked, self._settings.queue.provider_limits)

    def _build_api(self) -> None:
        settings = self._settings.api
        self._streams = Streams(streams_for(settings.threads))
        self._bus.listen(self._streams.tell)
        converter = Converter(self._vfs.open_entry, self._clock)
        by_person = actions.Actions(self._ctx, self._loop.wake)
        context = ApiContext(
            db=self._db,
            engine=self._engine,
            registry=self._registry,
            store=self._store,
            actions=by_person,
            manual=Manual(self._ctx, by_person),
            converter=converter,
            clock=self._clock,
            policy=self._policy,
            providers=self._ctx.providers,
            machines=self._machines.all(),
            vfs_healthy=self._vfs.healthy,
            vfs_statistics=lambda: asdict(self._vfs.statistics()),
            metrics=self._metrics,
            loop=self._loop.reading,
            files=self._vfs,
            places=Places(settings.file_streams),
            streams=self._streams,
            broken=self._found.broken,
        )
        threads = settings.threads + settings.file_streams
        if self._settings.vfs.strm_path is not None:
            self._strm = self._strm_export(context, self._settings.vfs.strm_path)
        self._server = ApiServer(create_app(context), settings.host, settings.port, threads=threads)
        self._stack.callback(self._server.stop)
        self._stack.callback(self._streams.close)
        self._stack.callback(converter.close)

    def _strm_export(self, context: ApiContext, folder: Path) -> StrmExport:
        """Return what writes STRM files into the folder."""

        def prefix() -> str:
            api, base = self._settings.api, self._settings.vfs.strm_url
            host = socket.gethostname() if api.host in ANY_HOST else api.host
            return f"{base or f'http://{host}:{api.port}'}{strm.ROOT}/{strm.token(context)}"

        vfs = self._settings.vfs
        return StrmExport(folder, lambda: self._vfs.tree.root, prefix, vfs.file_mode & ~vfs.umask)

    def _start_api(self) -> str:
        self._server.start()
        self._streams.follow_log(self._settings.log.level)
        return OK

    def _start_engine(self) -> str:
        self._stack.callback(self._engine.close, CLOSE_SECONDS)
        self._stack.callback(self._draining.set)
        self._engine.start()
        return OK

    def _load_tree(self) -> str:
        self._files = self._library.load()
        return OK

    def _drain(self) -> None:
        if not self._engine.drain(DRAIN_SECONDS):
            logger.warning(
                "some jobs did not end in time; what they were about is due again at the next start"
            )


def streams_for(threads: int) -> int:
    """Return how many of the server's threads open streams may hold: 6 of 16."""
    return max(1, threads * 6 // 16)
