"""Where the bytes of a case's files come from: sparse files on a loopback server that can be made to fail."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from program.demo.servers.cdn import byte_span
from program.demo.servers.wire import HANG_UP, Answer, FileSlice, Request, WireServer
from program.media.entry import Link

# A prime, so that bytes from a wrong place never look right.
PERIOD = 1_000_003
_TILE = random.Random(20310601).randbytes(PERIOD) * 3  # noqa: S311 - the same in every run

Fault = Callable[[Answer], Answer]


def refusing(status: int) -> Fault:
    """Return the fault of a server that answers with a status."""
    return lambda _: Answer(status=status)


FAULTS: dict[str, Fault] = {
    **{str(status): refusing(status) for status in (401, 403, 404, 410, 429, 451, 500, 502, 503)},
    "reset": lambda _: HANG_UP,
    "fewer bytes": lambda answer: replace(answer, stop_after=max(answer.length // 2, 1)),
    "html": lambda _: Answer(
        status=200, headers=(("Content-Type", "text/html"),), body=b"<!DOCTYPE html><html></html>"
    ),
}


def content(start: int, stop: int) -> bytes:
    """Return the bytes [start, stop) of every file."""
    parts = []
    while start < stop:
        first = start % PERIOD
        parts.append(_TILE[first : first + min(stop - start, 2 * PERIOD)])
        start += len(parts[-1])
    return b"".join(parts)


@dataclass(slots=True)
class Origin:
    """The server. faults: for the next requests, one each; requests: how many came; links: how many were given out."""

    folder: Path
    faults: list[Fault] = field(default_factory=list)
    requests: int = 0
    links: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _names: dict[int, str] = field(default_factory=dict)
    _root: str = ""

    def start(self) -> WireServer:
        """Start it; return the server, to be stopped."""
        server = WireServer(self)
        server.start("case")
        self._root = server.root
        return server

    def add(self, entry_id: int, size: int, windows: tuple[tuple[int, int], ...] = ()) -> None:
        """Serve a file of that size whose bytes in these windows, [start, stop) each, are `content`; the others are zero."""
        name = f"{entry_id}.mkv"
        with (self.folder / name).open("wb") as file:
            file.truncate(size)
            for start, stop in windows:
                file.seek(start)
                file.write(content(start, min(stop, size)))
        self._names[entry_id] = name

    def link(self, entry_id: int, dead_url: str | None) -> Link:
        """Return an address of a file, another one when the last is dead."""
        self.links += 1
        number = int((dead_url or "/-1/").rsplit("/", 2)[1]) + 1
        return Link(f"{self._root}/{number}/{self._names[entry_id]}", None, "case")

    def answer(self, request: Request) -> Answer:
        """Return the range that is asked for, or what the next fault makes of it."""
        path = self.folder / request.path.rpartition("/")[2]
        with self._lock:
            self.requests += 1
            fault = self.faults.pop(0) if self.faults else None
        if not path.is_file():
            return Answer(status=404)
        answer = _part(path, request.headers.get("range", "bytes=0-"))
        return fault(answer) if fault else answer

    def sent(self, request: Request, answer: Answer) -> None:
        """Need not be told."""


def _part(path: Path, asked: str) -> Answer:
    size = path.stat().st_size
    span = byte_span(asked, size)
    if span is None:
        return Answer(status=416, headers=(("Content-Range", f"bytes */{size}"),))
    start, end = span
    headers = (("Content-Type", "video/x-matroska"), ("Content-Range", f"bytes {start}-{end}/{size}"))
    return Answer(status=206, headers=headers, file=FileSlice(path, start, end - start + 1))
