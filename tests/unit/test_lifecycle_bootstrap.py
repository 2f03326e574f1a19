"""What a start makes and hands over, and what running begins with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from program.bootstrap import Bootstrap, Bootstrapped, Machines
from program.clock import SystemClock
from program.demo.launch import call, free_port, is_mounted, unmount
from program.events import ContentServicesDue, CoreStarted, RetryLibrary, Told
from program.opening import open_all
from program.runner import MainRunner
from program.settings.models import RootSettings
from program.vitals import Vitals
from tests.support.wait import until

pytestmark = [pytest.mark.fuse]
KEY = "key-of-the-owner-0001"

BELLS = """
    from program.errors import Final
    from program.services.plugin import Plugin
    from program.settings.provider import ProviderSettings

    class BellSettings(ProviderSettings):
        "Rings."

    class Bell(Plugin[BellSettings]):
        key = "bell"
        title = "Bell"
        Settings = BellSettings

        def check(self):
            pass

        def hooks(self):
            return dict.fromkeys(("riven.core.started", "riven.media-item.index.success"), lambda event: None)

    class BrokenBell(Bell):
        key = "brokenbell"
        title = "Broken bell"

        def check(self):
            raise Final("it has a crack")
"""
SCENARIO = {"titles": [{"movie": True, "ids": {"tmdb": "45745"}}]}


class Start:
    """A start in a folder of its own. machines: where it stands; made: what it handed over."""

    def __init__(self, folder: Path, stack: ExitStack, scenario: Path | None = None) -> None:
        self.mount, self.port = folder / "mount", free_port()
        self.mount.mkdir()
        plugins = folder / "config" / "plugins"
        plugins.mkdir(parents=True, mode=0o700)
        (plugins / "bells.py").write_text(dedent(BELLS))
        (plugins / "bells.py").chmod(0o600)
        document = {
            "api_key": KEY,
            "api": {"port": self.port},
            "vfs": {"mount_path": str(self.mount), "cache_dir": str(folder / "cache")},
            "log": {"to_file": False},
            "plugins": {"folder": True, "bell": {"enabled": True}, "brokenbell": {"enabled": True}},
        }
        (folder / "config" / "settings.json").write_text(json.dumps(document))
        opened = open_all({"RIVULET_CONFIG": str(folder / "config")})
        self.clock = SystemClock()
        self.machines = Machines(self.clock)
        stack.callback(unmount, self.mount)
        made = Bootstrap(opened, self.clock, self.machines, stack, scenario).run(lambda: False)
        assert made is not None
        self.made = made

    def get(self, path: str) -> Any:
        return call("GET", f"http://127.0.0.1:{self.port}/api/v1{path}", None, {"X-Api-Key": KEY}).data

    def history(self) -> list[str]:
        return [move.state for move in self.machines.bootstrap.history()]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Start]]:
    with ExitStack() as stack:
        yield lambda **how: Start(tmp_path, stack, **how)


def test_the_machines_have_names_and_begin_in_their_first_state() -> None:
    assert [(found.name, found.state) for found in Machines(SystemClock()).all()] == [
        ("Program", "Idle"),
        ("Bootstrap", "Bootstrapping database connection"),
        ("Plugin registrar", "Registering plugins"),
        ("Initialising services: API server", "Waiting"),
        ("Initialising services: queues", "Waiting"),
        ("Initialising services: library tree", "Waiting"),
        ("Main runner", "Idle"),
    ]


def test_a_start_hands_over_server_file_system_and_plugins_with_their_queues(
    start: Callable[..., Start],
) -> None:
    found = start()
    made = found.made
    assert found.history()[-1] == "Success"
    assert made.server.port == found.port
    assert is_mounted(found.mount)
    assert sorted(path.name for path in found.mount.iterdir()) == ["movies", "shows"]
    queues = ("riven.core.started.plugin[bell]", "riven.media-item.index.success.plugin[bell]")
    assert made.plugins == ("bell",)
    assert made.invalid_plugins == {"brokenbell": "it has a crack"}
    assert made.plugin_queues == {"bell": queues}
    assert made.plugin_workers == dict.fromkeys(queues, 1)
    assert made.publishable_events == {"riven.core.started", "riven.media-item.index.success"}
    assert set(queues) <= set(made.ctx.engine.counts())
    states = {one["key"]: one["state"] for one in found.get("/plugins")["plugins"]}
    assert (states["bell"], states["brokenbell"]) == ("valid", "invalid")
    assert made.ctx.db.healthy()
    assert "Applying mock scenario" not in found.history()


def test_a_scenario_is_in_the_database_before_anything_runs(
    start: Callable[..., Start], tmp_path: Path
) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    found = start(scenario=file)
    assert found.history()[1:4] == [
        "Clearing previous instance state",
        "Applying mock scenario",
        "Bootstrapping plugins",
    ]
    (item,) = found.get("/items")["items"]
    assert (item["tmdb_id"], item["state"]) == ("45745", "Requested")
    assert found.machines.runner.state == "Idle"


def test_running_begins_with_its_three_events_and_its_clockwork(start: Callable[..., Start]) -> None:
    found = start()
    told: list[Told] = []
    found.made.bus.listen(told.append)
    runner = MainRunner(found.made, found.machines.runner, found.clock, Vitals(found.clock, {}, 60.0))
    assert found.machines.runner.state == "Idle"
    with ExitStack() as running:
        runner.start(running)
        assert found.machines.runner.state == "Running"
        until(lambda: len(told) >= 3, what="the first events")
        assert {"turn", "plugins", "resume"} <= set(runner.scheduler.names())
        assert runner.trouble() is None
    assert [type(event) for event in told[:3]] == [CoreStarted, ContentServicesDue, RetryLibrary]


def test_of_two_saves_at_once_the_later_one_counts(start: Callable[..., Start]) -> None:
    found = start()
    store, registry = found.made.store, found.made.ctx.registry
    has_saved, may_tell = threading.Event(), threading.Event()

    def hold_up(settings: RootSettings) -> None:
        if settings.log.level == "WARNING" and not has_saved.is_set():
            has_saved.set()
            assert may_tell.wait(10)

    store.on_change(hold_up)
    runner = MainRunner(found.made, found.machines.runner, found.clock, Vitals(found.clock, {}, 60.0))
    with ExitStack() as running:
        runner.start(running)
        first = threading.Thread(target=store.save, args=({"log": {"level": "WARNING"}},))
        first.start()
        assert has_saved.wait(10)
        store.save({"plugins": {"bell": {"enabled": False}}})
        may_tell.set()
        first.join(10)
        assert "bell" not in {one.key for one in registry.statuses()}
    assert store.current.log.level == "WARNING"


def test_the_queues_are_worked_on_from_the_start(start: Callable[..., Start]) -> None:
    found = start()
    ended = threading.Event()
    found.made.ctx.engine.on_finished(lambda _view: ended.set())
    found.made.bus.publish(CoreStarted())
    assert ended.wait(10), "the plugin was told by a worker"


def test_nothing_is_handed_over_without_a_server_and_a_file_system() -> None:
    with pytest.raises(TypeError, match=r"missing .*'server', 'vfs'"):
        Bootstrapped()  # type: ignore[call-arg]
