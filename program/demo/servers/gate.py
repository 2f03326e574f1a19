"""What stands in front of every provider: the journal, the kill plan, the faults and the latency."""

import io
import threading
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from flask import Flask
from werkzeug.test import run_wsgi_app

from program.demo.servers.faults import FaultPlan, afflict
from program.demo.servers.journal import Entry, Journal
from program.demo.servers.wire import HANG_UP, Answer, Endpoint, Request


class Gate:
    """Lets requests of one provider through to its endpoint, unless they are to fare otherwise."""

    def __init__(
        self,
        provider: str,
        endpoint: Endpoint,
        journal: Journal,
        faults: FaultPlan,
        latency: Mapping[str, float],
    ) -> None:
        self._provider = provider
        self._endpoint = endpoint
        self._journal = journal
        self._faults = faults
        self._latency = latency
        self._here = threading.local()

    def answer(self, request: Request) -> Answer:
        """Return the provider's answer, or what a fault or a kill makes of it."""
        entry = self._journal.arrive(self._provider, request)
        self._here.entry = entry
        if self._journal.execute(entry, "before"):
            return HANG_UP
        if seconds := self._latency.get(self._provider, 0.0):
            self._faults.wait(seconds)
        answer = self._carried_out(entry, request)
        entry.status = answer.status
        if self._journal.execute(entry, "lost"):
            return HANG_UP
        return answer

    def sent(self, request: Request, answer: Answer) -> None:  # noqa: ARG002 (the wire tells every exchange)
        """Kill, if the plan is to do so once the answer has left."""
        self._journal.execute(self._here.entry, "after")

    def _carried_out(self, entry: Entry, request: Request) -> Answer:
        fault = self._faults.strike(self._provider, request)
        if fault is None:
            return self._endpoint(request)
        entry.fault = f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind
        return afflict(self._faults, fault, self._provider, lambda: self._endpoint(request))


class Open:
    """An exchange without a gate, for the control server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def answer(self, request: Request) -> Answer:
        """Return the endpoint's answer."""
        return self._endpoint(request)

    def sent(self, request: Request, answer: Answer) -> None:
        """Do nothing."""


def flask_endpoint(app: Flask) -> Endpoint:
    """Return an endpoint that hands requests to a Flask application."""

    def endpoint(request: Request) -> Answer:
        parts, status, headers = run_wsgi_app(app.wsgi_app, _environ(request), buffered=True)
        return Answer(status=int(status.split()[0]), headers=tuple(headers), body=b"".join(parts))

    return endpoint


def _environ(request: Request) -> dict[str, object]:
    parts = urlsplit(request.target)
    host, _, port = request.headers.get("host", "127.0.0.1:80").partition(":")
    environ: dict[str, object] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(parts.path, encoding="latin-1"),
        "QUERY_STRING": parts.query,
        "REQUEST_URI": request.target,
        "SERVER_NAME": host,
        "SERVER_PORT": port or "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        if name not in ("content-type", "content-length"):
            environ["HTTP_" + name.upper().replace("-", "_")] = value
    return environ
