"""A CDN as providers have them, on loopback: a wait before every answer, and so many bytes a second on each connection.

`python -m bench.cdn FILE NAMES` serves the bytes of one file under as many names as are wanted, in a process of its own; the first
line that it prints is its port. `/counts` tells how often it was asked and how many bytes it sent; names below `/dead/` are gone.
"""

import argparse
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

RANGE = re.compile(r"bytes=(\d+)-(\d*)")
# A connection's share is given out in so many parts a second.
PARTS = 100


class Server(ThreadingHTTPServer):
    """The server, what it serves and what it counts."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, file: Path, names: int, latency: float, rate: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.file, self.size, self.names = file, file.stat().st_size, names
        self.latency, self.rate = latency, rate
        self.lock = threading.Lock()
        # Guarded by the lock.
        self.requests = 0
        self.bytes = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: readers who have had enough go away."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Tell a file's size."""
        self._begin(200, self.server.size)

    def do_GET(self) -> None:
        """Answer with a range of the file, the list of names, or the counts."""
        if self.path == "/counts":
            self._plain(200, json.dumps({"requests": self.server.requests, "bytes": self.server.bytes}))
        elif self.path.endswith("/"):
            self._plain(200, "".join(f'<a href="{n}.mkv">{n}.mkv</a>\n' for n in range(self.server.names)))
        else:
            with self.server.lock:
                self.server.requests += 1
            time.sleep(self.server.latency)
            if self.path.startswith("/dead/"):
                self._plain(410, "gone")
            else:
                self._range()

    def _plain(self, status: int, text: str) -> None:
        self._begin(status, len(text), kind="text/html")
        self.wfile.write(text.encode())

    def _range(self) -> None:
        size = self.server.size
        found = RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        stop = min(int(found[2]) + 1, size) if found and found[2] else size
        self._begin(206 if found else 200, stop - start, span=f"bytes {start}-{stop - 1}/{size}")
        with self.server.file.open("rb") as file:
            self._send(file, start, stop)

    def _begin(self, status: int, length: int, *, kind: str = "video/x-matroska", span: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()

    def _send(self, file: BinaryIO, start: int, stop: int) -> None:
        """Send the range, never faster than a connection may."""
        part = max(int(self.server.rate / PARTS), 1)
        begun, sent = time.monotonic(), 0
        while start + sent < stop:
            count = os.sendfile(
                self.connection.fileno(), file.fileno(), start + sent, min(part, stop - start - sent)
            )
            if not count:
                return
            sent += count
            with self.server.lock:
                self.server.bytes += count
            time.sleep(max(begun + sent / self.server.rate - time.monotonic(), 0.0))


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="bench.cdn", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("names", type=int)
    parser.add_argument("--latency", type=float, default=0.04)
    parser.add_argument("--rate", type=float, default=20e6)
    options = parser.parse_args()
    server = Server(options.file, options.names, options.latency, options.rate)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever(0.1)


if __name__ == "__main__":
    main()
