"""Starting and ending the stand-ins and the real program, each as a process group of its own; the demo and the tests use it."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SERVERS_SECONDS = 90.0
CALL_SECONDS = 20.0
# A program that is starting may hold its port before it answers there.
HEALTH_SECONDS = 2.0
STOP_SECONDS = 35.0
POLL_SECONDS = 0.05
# Below the ports that the system uses for connections of its own choice.
PORTS = range(15_000, 32_000)
# Per provider: the section of the settings it stands in. Torrentio asks for no key.
SECTIONS: Mapping[str, str] = {
    "overseerr": "content",
    "tmdb": "indexing",
    "tvdb": "indexing",
    "torrentio": "scraping",
    "realdebrid": "downloaders",
    "alldebrid": "downloaders",
    "torbox": "downloaders",
    "plex": "updaters",
    "jellyfin": "updaters",
}

# Services that are set up but switched off: the demo shows the way of a film with one of each kind.
SWITCHED_OFF = frozenset({"alldebrid", "torbox"})

# How a service's own key is called where it is not an API key.
KEY_FIELDS: Mapping[str, str] = {"plex": "token"}


class LaunchError(Exception):
    """Something could not be started; the sentence says what and why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a JSON call got back. data: None when the body was empty or no JSON."""

    status: int
    data: Any


def call(
    method: str,
    url: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    seconds: float = CALL_SECONDS,
) -> Reply:
    """Make a JSON call and return the reply, whatever its status. Raises OSError when nothing answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers or {}))  # noqa: S310 (our own loopback)
    if data is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
            return Reply(response.status, _json_or_none(response.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _json_or_none(error.read()))


def wait_until(predicate: Callable[[], bool], seconds: float) -> bool:
    """Return whether the predicate came true in time."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not predicate():
        if time.monotonic() > end:
            return False
        pause.wait(POLL_SECONDS)
    return True


def free_port() -> int:
    """Return a loopback port that nobody listens on, and that the system gives to no outgoing connection meanwhile."""
    while True:
        port = PORTS.start + secrets.randbelow(len(PORTS))
        if is_free(port):
            return port


def is_free(port: int) -> bool:
    """Return whether nobody listens on a loopback port."""
    with socket.socket() as probe, contextlib.suppress(OSError):
        # A port whose last listener has just ended is free, as it is for the program.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return True
    return False


def is_mounted(path: Path) -> bool:
    """Return whether a file system is mounted there, without touching it: it may hang."""
    wanted = str(path).replace(" ", "\\040")
    return any(
        line.split()[4] == wanted
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    )


def unmount(path: Path) -> None:
    """Take a mount away, lazily, so that it works also when nobody serves it any more."""
    for command in (
        ["fusermount3", "-u", "-z", str(path)],
        ["fusermount", "-u", "-z", str(path)],
        ["umount", "-l", str(path)],
    ):
        if not is_mounted(path):
            return
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(command, check=False, capture_output=True, timeout=10)


class Child:
    """A process of ours in a group of its own, with its output in a file."""

    def __init__(self, arguments: list[str], log: Path, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Return its process id, which is its group's as well."""
        return self._process.pid

    def code(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, None when it still runs after so many seconds."""
        try:
            return self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, seconds: float = STOP_SECONDS) -> int:
        """End it in order, by force when that takes too long; return the exit code."""
        if self.code() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        code = self.wait(seconds)
        self.kill()
        return code if code is not None else -signal.SIGKILL

    def kill(self) -> None:
        """End the whole group at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def log_text(self) -> str:
        """Return what it printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


class Servers:
    """The stand-ins, in a process of their own. Starts them; raises LaunchError when they do not come up.

    ready: what `python -m program.demo.servers` prints.
    """

    def __init__(
        self,
        state: Path,
        mount: Path,
        *,
        seed: int = 1,
        faults: str = "none",
        clips: Path | None = None,
        guard: Path | None = None,
    ) -> None:
        state.mkdir(parents=True, exist_ok=True)
        ready_file = state / "servers.json"
        ready_file.unlink(missing_ok=True)
        arguments = [
            "-m",
            "program.demo.servers",
            "--state",
            str(state),
            "--mount-root",
            str(mount),
            "--seed",
            str(seed),
        ]
        arguments += ["--faults", faults, "--ready-file", str(ready_file)]
        arguments += ["--clips", str(clips)] if clips else []
        arguments += ["--also-end", str(guard)] if guard else []
        self.child = Child(arguments, state / "servers.log")
        came_up = wait_until(lambda: ready_file.exists() or self.child.code() is not None, SERVERS_SECONDS)
        if not came_up or not ready_file.exists():
            self.child.kill()
            raise LaunchError(f"the stand-ins did not start: {self.child.log_text().strip()}")
        self.ready: dict[str, Any] = json.loads(ready_file.read_text(encoding="utf-8"))

    def control(self, path: str, body: object = None, *, method: str | None = None) -> Any:
        """Call the control server (POST when there is a body, else GET) and return its JSON. Raises ValueError when it refuses."""
        reply = call(
            method or ("GET" if body is None else "POST"), f"{self.ready['control']['url']}{path}", body
        )
        if reply.status >= 400:  # noqa: PLR2004
            raise ValueError(f"{path}: {reply.data}")
        return reply.data

    def stop(self) -> None:
        """End them."""
        self.child.stop(5)


@dataclass(frozen=True, slots=True)
class Installation:
    """One config folder of the program, and where its mount and its API are."""

    folder: Path
    mount: Path
    port: int
    key: str

    @property
    def api(self) -> str:
        """Return the address of the API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def config(self) -> Path:
        """Return the folder of its settings file."""
        return self.folder / "config"

    @property
    def pid_file(self) -> Path:
        """Return the file that holds the process id while it runs."""
        return self.folder / "program.pid"

    @property
    def log(self) -> Path:
        """Return the file that holds what it printed."""
        return self.folder / "program.log"


def install(
    folder: Path,
    ready: Mapping[str, Any],
    mount: Path,
    *,
    port: int | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Installation:
    """Write a settings file that leads to the stand-ins, and return where things are. changes: path with dots to value."""
    made = Installation(folder, mount, port or free_port(), secrets.token_hex(16))
    made.config.mkdir(parents=True, exist_ok=True)
    mount.mkdir(parents=True, exist_ok=True)
    settings: dict[str, Any] = {
        "api_key": made.key,
        "api": {"host": "127.0.0.1", "port": made.port},
        # The stand-ins for services of the internet are on this machine.
        "network": {"allowed": ["127.0.0.0/8"]},
        "vfs": {"mount_path": str(mount), "cache_dir": str(folder / "vfs-cache")},
        "log": {"to_file": False},
        # The person of the demo wants no dubbed films, and some of the best-seeded releases are.
        "ranking": {"languages": {"exclude": ["common"]}},
    }
    for name, section in SECTIONS.items():
        key = {KEY_FIELDS.get(name, "api_key"): ready[name]["key"]} if "key" in ready[name] else {}
        settings.setdefault(section, {})[name] = {
            "enabled": name not in SWITCHED_OFF,
            "url": ready[name]["url"],
            **key,
        }
    for path, value in (changes or {}).items():
        _put(settings, path.split("."), value)
    (made.config / "settings.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return made


class Running:
    """The real program, started from an installation."""

    def __init__(self, installation: Installation, env: Mapping[str, str] | None = None) -> None:
        self.installation = installation
        outside = {name: "" for name in os.environ if name.startswith("RIVULET_")}
        own = {**outside, "RIVULET_CONFIG": str(installation.config), **(env or {})}
        self.child = Child(["main.py", "run"], installation.log, own)
        installation.pid_file.write_text(str(self.child.pid), encoding="utf-8")

    def wait_ready(self, seconds: float = 60.0) -> None:
        """Return when it answers that it is ready. Raises LaunchError when it ends before or takes too long."""
        if (
            not wait_until(lambda: self.is_ready() or self.child.code() is not None, seconds)
            or self.child.code() is not None
        ):
            raise LaunchError(
                f"the program did not become ready (exit code {self.child.code()}): {last_lines(self.child.log_text())}"
            )

    def is_ready(self) -> bool:
        """Return whether its health page says ready."""
        try:
            return call("GET", f"{self.installation.api}/health", seconds=HEALTH_SECONDS).status == 200  # noqa: PLR2004
        except OSError:
            return False

    def api(self, method: str, path: str, body: object = None) -> Reply:
        """Call the API (a path below `/api/v1`) and return the reply. Raises OSError when nothing answers."""
        return call(
            method, f"{self.installation.api}/api/v1{path}", body, {"X-Api-Key": self.installation.key}
        )

    def stop(self) -> int:
        """End it in order, take the mount away if it is left, and return the exit code."""
        code = self.child.stop()
        self.installation.pid_file.unlink(missing_ok=True)
        unmount(self.installation.mount)
        return code

    def kill(self) -> None:
        """End it at once, as a power cut would; its mount stays behind."""
        self.child.kill()


def last_lines(text: str, count: int = 15) -> str:
    """Return the end of a log."""
    return "\n".join(text.strip().splitlines()[-count:])


def _put(settings: dict[str, Any], keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        settings = settings.setdefault(key, {})
    settings[keys[-1]] = value


def _json_or_none(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None
