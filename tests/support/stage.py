"""A stage for pipeline, kill and fault tests: the stand-ins in one process, the real program in another.

    with Stage(tmp_path) as stage:
        stage.start_program()
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": ["45745"]})
        stage.wait_for(lambda: stage.state_of("Sintel") == "Completed")

`stage.ready` is what the stand-ins print: per provider `{"url", "root", "key"}`. `stage.control(path, body)` speaks to their
control server; its calls and JSON shapes are listed in `program/demo/servers/control.py`, changes of what exists in
`changes.py`, faults in `faults.py` beside it. Short forms are below: `fault`, `kill_at`, `change`, `account`, `counts`.
Leaving the block ends both processes, whatever happened, and takes a mount away that was left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from program.demo.launch import Installation, Reply, Running, Servers, install, last_lines, unmount
from tests.support.wait import until

T = TypeVar("T")


class Stage:
    """The stand-ins, and on demand the program against them.

    faults: a mix (`none`, `mild`, `heavy`). database_url: empty for SQLite in the config folder. settings: changes of the
    settings file, as a path with dots to a value, e.g. `{"updaters.plex.enabled": False}`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        faults: str = "none",
        seed: int = 1,
        database_url: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = folder / "stage"
        self.mount = self.folder / "mount"
        self._servers = Servers(
            self.folder, self.mount, seed=seed, faults=faults, guard=self.folder / "program.pid"
        )
        changes = {**({"database.url": database_url} if database_url else {}), **(settings or {})}
        self.installation: Installation = install(
            self.folder, self._servers.ready, self.mount, changes=changes
        )
        self._program: Running | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ready(self) -> dict[str, Any]:
        """Return what the stand-ins printed when they were ready."""
        return self._servers.ready

    @property
    def program(self) -> Running:
        """Return the program that was started last."""
        assert self._program is not None, "start_program comes first"
        return self._program

    def start_program(self, *, wait: bool = True, env: Mapping[str, str] | None = None) -> Running:
        """Start the program and, unless told otherwise, wait until it is ready."""
        self._program = Running(self.installation, env)
        if wait:
            self._program.wait_ready()
        return self._program

    def kill_program(self) -> None:
        """End the program with SIGKILL; its mount stays behind."""
        self.program.kill()

    def stop_program(self) -> int:
        """End the program in order and return its exit code."""
        return self.program.stop()

    def wait_killed(self, timeout: float = 30.0) -> None:
        """Wait until a planned kill has ended the program."""
        until(lambda: self.program.child.code() is not None, timeout, "the planned kill")

    def api(self, method: str, path: str, body: object = None) -> Reply:
        """Call the program's API, a path below `/api/v1`; the reply has `status` and `data`."""
        return self.program.api(method, path, body)

    def control(self, path: str, body: object = None, *, method: str | None = None) -> Any:
        """Call the control server: GET without a body, else POST. Raises ValueError when it refuses."""
        return self._servers.control(path, body, method=method)

    def wait_for(self, predicate: Callable[[], T], timeout: float = 30.0, what: str = "the condition") -> T:
        """Return the first truthy value; on failure the message ends with the program's last log lines."""
        try:
            return until(predicate, timeout, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{last_lines(self.log_text(), 40)}") from None

    def fault(self, provider: str, kind: str, **facts: Any) -> int:
        """Program a fault and return its id, e.g. `fault("tmdb", "status", status=503, count=1)`."""
        return int(self.control("/faults", {"provider": provider, "kind": kind, **facts})["id"])

    def kill_at(self, at: int, when: str = "before", **alike: str) -> None:
        """Kill the program at the n-th outside request from now; call it before `start_program` to count from its first.

        when: `before` its side effect, `after` the answer was sent, or `lost`: done, but not answered. alike: count only
        requests of this `provider`, `method` or `path` (a regular expression).
        """
        self.control("/kill", {"at": at, "when": when, "pid_file": str(self.installation.pid_file), **alike})

    def kill_fired(self) -> bool:
        """Return whether the planned kill has happened."""
        return bool(self.control("/kill")["fired"])

    def change(self, op: str, **facts: Any) -> Any:
        """Change what exists, e.g. `change("withdraw", title="tt1727587")`."""
        return self.control("/catalog", {"op": op, **facts})

    def want(self, media_type: str, tmdb: int, **facts: Any) -> Any:
        """Let somebody ask for a title in the request app."""
        return self.change("request", media_type=media_type, tmdb=tmdb, **facts)

    def account(self) -> list[dict[str, Any]]:
        """Return the torrents on the debrid account, newest first."""
        return list(self.control("/account")["torrents"])

    def counts(self) -> dict[str, int]:
        """Return how many requests each provider got."""
        return dict(self.control("/counts"))

    def requests(self, provider: str | None = None) -> list[dict[str, Any]]:
        """Return the log of outside requests."""
        return list(self.control(f"/requests?provider={provider}" if provider else "/requests")["requests"])

    def origins(self) -> list[dict[str, Any]]:
        """Return every file that can be had, with its true size and SHA-256."""
        return list(self.control("/origins")["files"])

    def log_text(self) -> str:
        """Return what the program printed, over all its starts."""
        log = self.installation.log
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""

    def close(self) -> None:
        """End what was started and take the mount away; safe to call twice."""
        try:
            if self._program is not None:
                self._program.child.kill()
            self.installation.pid_file.unlink(missing_ok=True)
        finally:
            unmount(self.mount)
            self._servers.stop()
