"""Bodies that are files: larger than any other, and only of somebody who has shown the key or the password.

A server keeps a body before the app sees it. So what is larger than a usual body is let in only on the paths of uploads, and only
after the app itself has said, for a small question with the same headers, that this client may see the backups.
"""

import collections
import copy
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from wsgiref.types import WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from flask import Flask, request
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser

from program.api import backups
from program.api.context import ApiContext
from program.api.routes import PREFIX

MIB = 1024 * 1024
# Around the file of a form stands a little more.
AROUND = 64 * 1024
# Where a file may be sent, and what is asked there to see who sends it.
PAGE = "/backups/upload"
QUESTIONS = {PAGE: "/backups", f"{PREFIX}{backups.UPLOAD}": f"{PREFIX}/database/backups"}
# Takes headers by their WSGI names, the path and the client's address; returns how large a body may be, None: as usual.
Admit = Callable[[dict[str, str], str, str], int | None]


def install(app: Flask, context: ApiContext) -> Admit:
    """Let the routes of uploads take larger bodies than others; return who may send one to the server."""

    @app.before_request
    def widen() -> None:
        if request.method == "POST" and request.path in QUESTIONS:
            request.max_content_length = _most(context)

    return partial(_admit, app, context)


def _most(context: ApiContext) -> int:
    return context.store.current.api.max_upload_mib * MIB + AROUND


def _admit(app: Flask, context: ApiContext, headers: dict[str, str], path: str, address: str) -> int | None:
    base = context.store.current.api.base_path
    ours = path.removeprefix(base) if base else path
    question = QUESTIONS.get(ours)
    if question is None:
        return None
    environ: WSGIEnvironment = {f"HTTP_{name}": value for name, value in headers.items()}
    environ |= {"REQUEST_METHOD": "GET", "PATH_INFO": question, "SCRIPT_NAME": "", "REMOTE_ADDR": address}
    setup_testing_defaults(environ)
    said: list[str] = []

    def start_response(status: str, *_: object) -> Callable[[bytes], object]:
        said.append(status)
        return said.append  # type: ignore[return-value]

    answer = app(environ, start_response)
    try:
        collections.deque(answer, maxlen=0)
    finally:
        getattr(answer, "close", lambda: None)()
    return _most(context) if said[0].startswith(str(HTTPStatus.OK.value)) else None


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads a request; one that brings a file may be longer when its sender may."""

    def __init__(self, adj: Adjustments, admit: Admit, address: str) -> None:
        super().__init__(adj)
        self.adj: Adjustments = adj
        self._admit = admit
        self._address = address

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers."""
        super().parse_header(header_plus)
        is_large = self.chunked or self.content_length >= self.adj.max_request_body_size
        most = (
            self._admit(self.headers, self.path, self._address)
            if is_large and self.command == "POST"
            else None
        )
        if most is not None:
            self.adj = copy.copy(self.adj)
            self.adj.max_request_body_size = most + 1


def channel_for(admit: Admit) -> type[HTTPChannel]:
    """Return a kind of connection whose requests are read so."""

    class Channel(HTTPChannel):  # type: ignore[misc]
        """A connection."""

        def parser_class(self, adj: Adjustments) -> HTTPRequestParser:
            """Return what reads the next request."""
            return Parser(adj, admit, str(self.addr[0]) if self.addr else "")

    return Channel
