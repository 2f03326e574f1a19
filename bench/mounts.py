"""Our mount and rclone's of the same files, each a process of its own, and the servers behind them."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from bench.stage import Stage, end
from bench.timing import rss_mib
from program.demo.launch import free_port

READY_SECONDS = 60.0
PAUSE = 0.05
# A server that was asked sends something within this time.
SETTLE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Origin:
    """A server that has the same file under many names. size: bytes of each."""

    port: int
    names: int
    size: int

    def url(self, name: str) -> str:
        """Return the address of a file."""
        return f"http://127.0.0.1:{self.port}/films/{name}"

    def counts(self) -> tuple[int, int]:
        """Return the requests and the bytes that our CDN has served so far."""
        with urlopen(f"http://127.0.0.1:{self.port}/counts") as answer:
            told = json.load(answer)
        return told["requests"], told["bytes"]

    def settled(self) -> tuple[int, int]:
        """Return the counts once they no longer change."""
        before, now = (-1, -1), self.counts()
        while now != before:
            time.sleep(SETTLE_SECONDS)
            before, now = now, self.counts()
        return now


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted folder and the process behind it."""

    folder: Path
    pid: int

    def film(self, number: int) -> Path:
        """Return the path of a film."""
        return self.folder / f"{number}.mkv"


def cdn(stage: Stage, source: Path, names: int) -> Origin:
    """Return a CDN of ours: 40 ms before every answer, 20 MB/s on each connection; it ends with the family."""
    command = [sys.executable, "-m", "bench.cdn", str(source), str(names)]
    server = stage.enter(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    stage.enter(contextlib.closing(_Ending(server)))
    line = server.stdout.readline() if server.stdout else ""
    return Origin(int(line), names, source.stat().st_size)


@dataclass(frozen=True, slots=True)
class _Ending:
    process: subprocess.Popen[str]

    def close(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(10)


NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    sendfile on;
    default_type video/x-matroska;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {root}; autoindex on; }}
}}
"""


def nginx(stage: Stage, source: Path, names: int) -> Origin:
    """Return an nginx that serves the file under many names as fast as it can; it ends with the family."""
    films = stage.folder / "root" / "films"
    films.mkdir(parents=True)
    for number in range(names):
        (films / f"{number}.mkv").hardlink_to(source)
    port = free_port()
    # Its workers may run as another user, who has to be able to come to the file.
    stage.folder.chmod(0o755)
    source.chmod(0o644)
    settings = stage.folder / "nginx.conf"
    settings.write_text(NGINX.format(folder=stage.folder, port=port, root=films.parent), encoding="utf-8")
    stage.start(["nginx", "-c", str(settings), "-p", str(stage.folder)])
    origin = Origin(port, names, source.stat().st_size)
    _until(lambda: _answers(origin), "nginx")
    return origin


def _answers(origin: Origin) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{origin.port}/films/") as answer:
            return bool(answer.status == 200)  # noqa: PLR2004 - OK
    except OSError:
        return False


def ours(stage: Stage, origin: Origin, name: str) -> Mount:
    """Return our mount of the server's films, with the defaults of the settings."""
    names = (f"{number}.mkv" for number in range(origin.names))
    films = ((f"/{film}", origin.size, [origin.url(film)]) for film in names)
    return mounted(stage, name, manifest(stage, name, films))


def manifest(stage: Stage, name: str, films: Iterable[tuple[str, int, list[str]]]) -> list[str]:
    """Return the command that mounts films (path, bytes, addresses) with us; it lacks the folder."""
    path = stage.folder / f"{name}.json"
    described = [{"path": film, "size": size, "urls": urls} for film, size, urls in films]
    path.write_text(json.dumps(described), encoding="utf-8")
    return [sys.executable, "main.py", "mount", str(path)]


def rclone(stage: Stage, origin: Origin, name: str) -> Mount:
    """Return rclone's mount of the same films."""
    return mounted(stage, name, [*rclone_mount(":http:"), "--http-url", origin.url("")])


def rclone_mount(remote: str) -> list[str]:
    """Return the command that mounts something with rclone, its cache off as it comes; it lacks the folder."""
    return ["rclone", "--config", "/dev/null", "mount", remote, "--vfs-cache-mode", "off", "--read-only"]


def mounted(stage: Stage, name: str, command: list[str]) -> Mount:
    """Return the mount that a command makes at the folder it gets as last argument; it is left with the family."""
    folder = stage.folder / name
    folder.mkdir()
    process = stage.start([*command, str(folder)], log=f"{name}.log")
    stage.enter(_unmounted(folder, process))
    _until(lambda: os.path.ismount(folder) and any(folder.iterdir()), " ".join(command[:3]))
    return Mount(folder, process.pid)


@contextlib.contextmanager
def _unmounted(folder: Path, process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        end(process)
        if os.path.ismount(folder):
            subprocess.run(["fusermount", "-uz", str(folder)], check=False, capture_output=True)


def _until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for something to be ready. Raises TimeoutError."""
    deadline = time.monotonic() + READY_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} was not ready within {READY_SECONDS:g} s")
        time.sleep(PAUSE)


def most_memory(pid: int, work: Callable[[], object]) -> float:
    """Return the most memory in MiB that a process held while `work` went on."""
    seen, stop = [rss_mib(pid)], threading.Event()

    def watch() -> None:
        while not stop.wait(PAUSE):
            seen.append(rss_mib(pid))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        work()
    finally:
        stop.set()
        watcher.join()
    return max(seen)
