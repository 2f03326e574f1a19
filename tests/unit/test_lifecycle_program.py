"""One run of the program in this process: its states, what it begins with, and how it ends when it cannot go on."""

from __future__ import annotations

import gc
import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import urlsplit

import pytest

from program.clock import Clock, JumpWatch, ManualClock, SystemClock
from program.demo.launch import call, free_port, is_mounted, unmount
from program.errors import StartupError
from program.opening import open_all
from program.program import Program
from tests.support.lines import log_lines
from tests.support.wait import until
from tests.support.wire import Wire

pytestmark = [pytest.mark.fuse]
KEY = "key-of-the-owner-0001"

NOTES = """
    from pathlib import Path
    from program.services.plugin import Plugin
    from program.settings.provider import ProviderSettings
    from pydantic import Field

    class NotesSettings(ProviderSettings):
        "Notes what it is told."
        file: str = Field(default="", description="Where")

    class Notes(Plugin[NotesSettings]):
        key = "notes"
        title = "Notes"
        Settings = NotesSettings

        def check(self):
            pass

        def hooks(self):
            return dict.fromkeys(("riven.core.started", "riven.core.shutdown"), self.note)

        def note(self, event):
            with Path(self.settings.file).open("a") as file:
                file.write(event.type + "\\n")
"""


class Run:
    """The program in a thread of the test."""

    def __init__(
        self,
        folder: Path,
        *,
        patience: float = 300.0,
        scenario: Path | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> None:
        self.mount, self.port = folder / "mount", free_port()
        self.mount.mkdir(exist_ok=True)
        config = folder / "config"
        config.mkdir(exist_ok=True)
        document = {
            "api_key": KEY,
            "api": {"port": self.port},
            "vfs": {"mount_path": str(self.mount), "cache_dir": str(folder / "cache")},
            "log": {"to_file": False},
            **settings,
        }
        (config / "settings.json").write_text(json.dumps(document))
        opened = open_all({"RIVULET_CONFIG": str(config)})
        self.program = Program(opened, clock or SystemClock(), patience=patience, scenario=scenario)
        self.ended: list[int | StartupError] = []
        self._thread = threading.Thread(target=self._run, name="the program")

    def _run(self) -> None:
        try:
            self.ended.append(self.program.run())
        except StartupError as error:
            self.ended.append(error)

    def start(self, *, wait: bool = True) -> Run:
        self._thread.start()
        if wait:
            until(lambda: self.state() == "Running" or self.ended, 30.0, "the start")
            assert not self.ended, self.ended
        return self

    def state(self) -> str:
        return self.program.machines.program.state

    def history(self, machine: str = "Program") -> list[str]:
        (found,) = [one for one in self.program.machines.all() if one.name == machine]
        return [move.state for move in found.history()]

    def get(self, path: str) -> Any:
        return call("GET", f"http://127.0.0.1:{self.port}/api/v1{path}", None, {"X-Api-Key": KEY}).data

    def end(self) -> int | StartupError:
        """Wait for the end and return how it ended."""
        self._thread.join(40)
        assert not self._thread.is_alive(), "it does not end"
        return self.ended[0]

    def stop(self) -> int | StartupError:
        self.program.stop()
        return self.end()

    def close(self) -> None:
        self.program.stop()
        if self._thread.ident is not None:
            self._thread.join(40)
        unmount(self.mount)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    made: list[Run] = []

    def make(**how: Any) -> Run:
        made.append(Run(tmp_path, **how))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_what_a_start_has_made_does_not_hold_readers_up_when_memory_is_tidied(
    run: Callable[..., Run],
) -> None:
    found = run().start()
    until(lambda: gc.get_freeze_count() > 100_000, what="the end of the start")
    assert found.stop() == 0
    assert gc.get_freeze_count() == 0


def test_a_run_goes_through_every_state_and_ends_well(run: Callable[..., Run]) -> None:
    found = run().start()
    assert is_mounted(found.mount)
    machines = {one["name"]: one["state"] for one in found.get("/lifecycle")["machines"]}
    until(lambda: found.history("Plugin registrar")[-1] == "Validated", what="the plugins' checks")
    assert machines == {
        "Program": "Running",
        "Bootstrap": "Success",
        "Plugin registrar": "Validated",
        "Initialising services: API server": "Ready",
        "Initialising services: queues": "Ready",
        "Initialising services: library tree": "Ready",
        "Main runner": "Running",
    }
    assert found.stop() == 0
    assert not is_mounted(found.mount)
    assert found.history() == ["Idle", "Bootstrapping", "Running", "Shutdown", "Exited"]
    assert "Applying mock scenario" not in found.history("Bootstrap")
    assert found.history("Main runner") == ["Idle", "Running", "Idle"]


def test_a_stop_before_the_start_ends_in_order(run: Callable[..., Run]) -> None:
    found = run()
    found.program.stop()
    found.start(wait=False)
    assert found.end() == 0
    assert found.history() == ["Idle", "Bootstrapping", "Shutdown", "Exited"]
    assert not is_mounted(found.mount)


def test_a_start_that_fails_is_undone_and_may_be_tried_again(run: Callable[..., Run]) -> None:
    found = run()
    with socket.create_server(("127.0.0.1", found.port)):
        found.start(wait=False)
        error = found.end()
    assert isinstance(error, StartupError)
    assert "Address already in use" in str(error)
    assert found.history() == ["Idle", "Bootstrapping", "Errored"]
    assert found.history("Bootstrap")[-2:] == ["Initialising services", "Errored"]
    assert found.history("Initialising services: API server")[-1] == "Errored"
    again = run().start()
    assert again.stop() == 0


def test_the_program_ends_with_an_error_when_its_loop_ends(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_loop: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("program.event_loop.EventLoop.turn", broken)
    with log_lines() as lines:
        found = run()
        found.start(wait=False)
        assert found.end() == 1
    assert found.history() == ["Idle", "Bootstrapping", "Running", "Errored"]
    assert found.history("Main runner") == ["Idle", "Running", "Errored"]
    assert "CRITICAL the loop ended: the program ends; start it again" in lines
    assert not is_mounted(found.mount)


# The end of the thread is what the test is about.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_program_ends_with_an_error_when_its_clockwork_ends(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(_clockwork: object) -> None:
        raise SystemExit

    monkeypatch.setattr("program.scheduler._Clockwork._process_jobs", ends)
    found = run()
    with log_lines() as lines:
        found.start(wait=False)
        assert found.end() == 1
    assert "CRITICAL the clockwork ended: the program ends; start it again" in lines
    assert found.history("Main runner")[-1] == "Errored"


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_the_program_ends_with_an_error_when_its_database_is_gone_for_good(
    run: Callable[..., Run], database_url: str
) -> None:
    address = urlsplit(database_url)
    with Wire(address.hostname or "", address.port or 0) as wire:
        through = address._replace(netloc=address.netloc.rpartition(":")[0] + f":{wire.port}").geturl()
        found = run(patience=3.0, database={"url": through}).start()
        until(lambda: found.get("/health")["ready"], what="readiness")
        with log_lines() as lines:
            wire.cut()
            assert found.end() == 1
    assert "CRITICAL the database has been gone for more than 3 s: the program ends; start it again" in lines
    assert found.history()[-1] == "Errored"


def test_the_program_ends_with_an_error_when_its_mount_is_gone_for_good(run: Callable[..., Run]) -> None:
    found = run(patience=3.0).start()
    until(lambda: found.get("/health")["ready"], what="readiness")
    with log_lines() as lines:
        until(lambda: spoiled(found.mount), what="a mount path that cannot be used any more")
        assert found.end() == 1
    assert "CRITICAL the library has been gone for more than 3 s: the program ends; start it again" in lines
    assert found.history() == ["Idle", "Bootstrapping", "Running", "Errored"]
    assert found.history("Main runner")[-1] == "Errored"


def spoiled(mount: Path) -> bool:
    """Take the mount away and put a file in the place of its folder; False while the program was quicker to mount it again."""
    unmount(mount)
    try:
        mount.rmdir()
    except OSError:
        return False
    mount.write_text("not a folder")
    return True


class SetClock(SystemClock):
    """The machine's clock, which somebody sets."""

    off = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.off


PATIENT = """
    from datetime import timedelta
    from pathlib import Path
    from program.errors import RetryLater
    from program.services.plugin import Plugin
    from program.settings.provider import ProviderSettings
    from pydantic import Field

    class PatientSettings(ProviderSettings):
        "Notes what it is told, at the second time."
        file: str = Field(default="", description="Where")

    class Patient(Plugin[PatientSettings]):
        key = "patient"
        title = "Patient"
        Settings = PatientSettings

        def check(self):
            pass

        def hooks(self):
            return {"riven.core.started": self.note}

        def note(self, event):
            file = Path(self.settings.file)
            is_first = not file.exists()
            with file.open("a") as lines:
                lines.write("asked ")
            if is_first:
                raise RetryLater(self.clock.now() + timedelta(seconds=3), "in a moment")
"""


def test_a_clock_that_was_set_is_logged_and_what_waits_a_moment_waits_no_hours_for_it(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    clock, folder, notes = SetClock(), tmp_path / "config" / "plugins", tmp_path / "notes.txt"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "patient.py").write_text(dedent(PATIENT))
    (folder / "patient.py").chmod(0o600)
    found = run(clock=clock, plugins={"folder": True, "patient": {"enabled": True, "file": str(notes)}})
    found.start()
    until(notes.exists, what="the first note")
    with log_lines() as lines:
        clock.off = -timedelta(hours=1)
        until(lambda: any("the machine's clock went back by 3600 s" in line for line in lines))
        until(lambda: notes.read_text() == "asked asked ", 15.0, "the second note")
        clock.off = timedelta(0)
        until(lambda: any("the machine's clock went forward by 3600 s" in line for line in lines))
    assert found.state() == "Running"
    assert found.stop() == 0


def test_time_that_passes_is_no_jump_of_the_clock() -> None:
    clock = ManualClock(datetime(2031, 1, 1, tzinfo=UTC))
    watch = JumpWatch(clock)
    assert watch.look() is None
    clock.advance(timedelta(days=1))
    assert watch.look() is None


def test_plugins_hear_of_the_start_and_of_the_end(run: Callable[..., Run], tmp_path: Path) -> None:
    folder, notes = tmp_path / "config" / "plugins", tmp_path / "notes.txt"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "notes.py").write_text(dedent(NOTES))
    (folder / "notes.py").chmod(0o600)
    (folder / "torn.py").write_text("1 / 0")
    (folder / "torn.py").chmod(0o600)
    found = run(plugins={"folder": True, "notes": {"enabled": True, "file": str(notes)}}).start()
    until(notes.exists, what="the first note")
    answer = found.get("/plugins")
    (plugin,) = [one for one in answer["plugins"] if one["key"] == "notes"]
    assert (plugin["origin"], plugin["state"], plugin["version"]) == ("file notes.py", "valid", "1.0.0")
    assert plugin["hooks"] == ["riven.core.started", "riven.core.shutdown"]
    assert answer["broken"] == [
        {"name": "plugins/torn.py", "reason": "it cannot be loaded: ZeroDivisionError: division by zero"}
    ]
    assert answer["events"] == ["riven.core.shutdown", "riven.core.started"]
    assert {one["state"] for one in answer["plugins"] if one["key"] != "notes"} == {"disabled"}
    assert found.stop() == 0
    assert notes.read_text().split() == ["riven.core.started", "riven.core.shutdown"]


SCENARIO = {
    "titles": [
        {
            "movie": True,
            "ids": {"tmdb": "45745"},
            "metadata": {
                "ids": {"tmdb": "45745", "imdb": "tt1727587"},
                "title": "Sintel",
                "year": 2010,
                "releases": {"digital": "2010-09-30T00:00:00Z"},
            },
            "facts": {"": {"paused_at": "2031-01-01T00:00:00Z"}},
        }
    ]
}


def test_a_scenario_fills_an_empty_database_and_no_other(run: Callable[..., Run], tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    found = run(scenario=file).start()
    assert "Applying mock scenario" in found.history("Bootstrap")
    (row,) = found.get("/items")["items"]
    assert (row["title"], row["year"], row["state"]) == ("Sintel", 2010, "Paused")
    assert found.stop() == 0
    again = run(scenario=file)
    again.start(wait=False)
    error = again.end()
    assert str(error) == "--scenario is for an empty database only; this one has titles"
    assert again.history("Bootstrap")[-2:] == ["Applying mock scenario", "Errored"]
