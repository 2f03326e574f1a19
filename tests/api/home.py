"""A home with an API: a library in a real database, the real actions, providers that are made up, a server on a free port."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from pydantic import TypeAdapter, ValidationError

from program.actions import Actions
from program.api.context import ApiContext
from program.api.places import Places
from program.api.server import ApiServer, create_app
from program.clock import ManualClock
from program.db.engine import Database
from program.errors import BadAnswer, Transient
from program.events import StreamLinkRequested, Told
from program.lifecycle import PROGRAM, Machine
from program.manual.manual import Manual
from program.media.entry import AccountTorrent, Entry, FetchedTorrent, Link
from program.media.item import Ids
from program.media.metadata import ContentRequest
from program.metrics import LoopReading, Metrics
from program.playback.hls import Converter
from program.plugins import Registry, compose_settings
from program.queues.engine import Engine
from program.queues.meter import Meter
from program.services.flows.context import FlowContext
from program.services.flows.queues import define_flows
from program.services.plugin import Account, ContentService, Downloader
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings
from program.settings.store import SettingsStore
from program.settings.vfs import VfsSettings
from program.vfs.vfs import Vfs
from tests.db.library import Library
from tests.support.sample_plugin import Sample, SampleSettings, sources

KEY = "key-of-the-owner-0001"
PLACES = 2
# Long enough for an answer on a busy machine, short enough to wait for.
STALLED_SECONDS = 3.0


class LetterboxSettings(ProviderSettings):
    """A made-up request app."""


class Letterbox(ContentService[LetterboxSettings]):
    """Its webhook is a JSON list of TMDB ids."""

    key = "letterbox"
    title = "Letterbox"
    Settings = LetterboxSettings

    def check(self) -> None:
        """Work."""

    def wanted(self) -> Iterable[ContentRequest]:
        """Want nothing by itself."""
        return ()

    def webhook(self, headers: Mapping[str, str], body: bytes) -> tuple[ContentRequest, ...]:
        """Want the films of the list."""
        try:
            ids = TypeAdapter(list[str]).validate_json(body)
        except ValidationError as error:
            raise BadAnswer(f"letterbox: webhook: {error.errors()[0]['msg']}") from None
        return tuple(
            ContentRequest(source=self.key, is_movie=True, ids=Ids(tmdb=one), external_id=one) for one in ids
        )


class Vault(Downloader[SampleSettings]):
    """A made-up debrid service; its account is asked for at `per_page` days before the end."""

    key = "vault"
    title = "Vault"
    Settings = SampleSettings

    def check(self) -> None:
        """Work."""

    def fetch(self, infohash: str, known_torrent_id: str | None) -> FetchedTorrent:
        """Hold nothing."""
        raise Transient("vault: never asked in these tests")

    def remove(self, torrent_id: str) -> None:
        """Forget nothing."""

    def link(self, wanted: StreamLinkRequested) -> Link:
        """Give nothing."""
        raise Transient("vault: never asked in these tests")

    def torrents(self) -> Iterable[AccountTorrent]:
        """Hold nothing."""
        return ()

    def account(self) -> Account:
        """Return a paid account, or none when the settings ask for a page of one row."""
        if self.settings.per_page == 1:
            raise Transient("vault: no answer within 20 s")
        return Account(username="demo", is_premium=True, expires_at="2031-06-01T12:00:00Z", points=7)


CLASSES = (Letterbox, Sample, Vault)


@dataclass
class Folder:
    """What the file system was told, in place of a mount."""

    removed: list[int] = field(default_factory=list)

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Note what goes."""
        self.removed += removed

    def refresh(self, item_ids: Collection[int]) -> None:
        """Have no further folders."""

    def rearrange(self) -> None:
        """Have no further folders."""

    def places(self, entry: Entry) -> tuple[str, ...]:
        """Return the one path as it is."""
        return (entry.path,)


class Home:
    """Everything behind the API, and a client for it."""

    def __init__(self, db: Database, clock: ManualClock, folder: Path) -> None:
        self.clock = clock
        self.library = Library(db, clock)
        self.folder = Folder()
        self.told: list[Told] = []
        self.woken = 0
        self.links: dict[int, str] = {}
        self.mounted = True
        self.machine = Machine("Program", PROGRAM, clock)
        self.machine.send("start")
        self.machine.send("ok")
        (folder / "settings.json").write_text(f'{{"api_key": "{KEY}"}}')
        self.store = SettingsStore(folder, compose_settings(CLASSES), {"RIVULET_LOG__LEVEL": "INFO"})
        self.store.open()
        self.registry = Registry(self.store.current, CLASSES, sources(clock), clock, pause=lambda _: None)
        shown = VfsSettings(
            mode="webdav", mount_path=folder / "mnt", cache_dir=folder / "vfs", read_timeout_seconds=1
        )
        self.vfs = Vfs(shown, self.link, clock)
        self.metrics = Metrics()
        self.meter = Meter(self.metrics, clock)
        self.engine = Engine(clock, around=self.meter.around)
        self.engine.on_finished(self.meter.ended)
        self.flow = FlowContext(
            db=db,
            engine=self.engine,
            registry=self.registry,
            clock=clock,
            settings=lambda: self.store.current,
            policy=lambda: self.library.policy,
            library=self.folder,
            tell=self.told.append,
        )
        define_flows(self.engine, self.flow)
        actions = Actions(self.flow, self._wake)
        self.converter = Converter(self.vfs.open_entry, clock)
        self.context = ApiContext(
            db=db,
            engine=self.engine,
            registry=self.registry,
            store=self.store,
            actions=actions,
            manual=Manual(self.flow, actions),
            converter=self.converter,
            clock=clock,
            policy=lambda: self.library.policy,
            providers=self.flow.providers,
            machines=(self.machine,),
            vfs_healthy=lambda: self.mounted,
            vfs_statistics=lambda: {"counts": {"bytes_read": 4096, "errors": 2}, "files": 3},
            metrics=self.metrics,
            loop=lambda: LoopReading(turns=7, seconds=0.5, lag=0.25),
            files=self.vfs,
            places=Places(PLACES),
        )
        app = create_app(self.context)
        self.server = ApiServer(app, "127.0.0.1", 0, threads=4 + PLACES, stalled_seconds=STALLED_SECONDS)
        self.server.start()
        self._session = requests.Session()

    def link(self, entry_id: int, dead_url: str | None) -> Link:
        """Return where an entry's bytes are; most files of these tests are in memory and have no address."""
        if entry_id not in self.links:
            raise Transient(f"entry {entry_id} has no link, nor anything for {dead_url}")
        return Link(self.links[entry_id], None, "demo")

    def _wake(self) -> None:
        self.woken += 1

    def use(self, **sections: object) -> RootSettings:
        """Change settings and have the providers follow."""
        loaded = self.store.save(sections)  # type: ignore[arg-type]
        self.registry.rebuild(loaded.settings)
        return loaded.settings

    def call(self, method: str, path: str, *, key: str | None = KEY, **how: Any) -> requests.Response:
        """Call a path below /api/v1, or one that begins with `//` as it is."""
        headers = {**({"X-Api-Key": key} if key else {}), **how.pop("headers", {})}
        url = f"http://127.0.0.1:{self.server.port}{path[1:] if path.startswith('//') else f'/api/v1{path}'}"
        return self._session.request(method, url, headers=headers, timeout=10, **how)

    def get(self, path: str, **how: Any) -> Any:
        """Return the JSON of a GET that works."""
        answer = self.call("GET", path, **how)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: object = None, **how: Any) -> Any:
        """Return the JSON of a POST that works."""
        answer = self.call("POST", path, json=body, **how)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, method: str, path: str, **how: Any) -> tuple[int, str]:
        """Return status and sentence of a call that does not work; it must be JSON with nothing but `detail`."""
        answer = self.call(method, path, **how)
        assert answer.status_code >= 400, answer.text
        assert answer.headers["Content-Type"] == "application/json"
        assert list(answer.json()) == ["detail"]
        return answer.status_code, answer.json()["detail"]

    def close(self) -> None:
        """End the server and its clients."""
        self._session.close()
        self.server.stop()
        self.converter.close()
        self.vfs.stop()
        self.registry.close()
