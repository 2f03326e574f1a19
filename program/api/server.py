"""The Flask app, and the thread that serves it."""

import socket
import threading

import waitress
from flask import Flask, request
from waitress.server import BaseWSGIServer, MultiSocketServer

from program.api import auth, errors, items, openapi, settings, status, webhooks
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Route, add
from program.errors import StartupError
from program.log import logger

# States of the program in which nothing may be begun any more.
ENDING = frozenset({"Shutdown", "Exited"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Bodies up to the app's own limit are answered in JSON; far larger ones are cut off before they are read.
CUT_OFF = 16
KIB = 1024
STOP_SECONDS = 5.0

ROUTES: tuple[Route, ...] = (*items.ROUTES, *status.ROUTES, *settings.ROUTES, *webhooks.ROUTES)


def create_app(context: ApiContext) -> Flask:
    """Return the app with every route; each asks for the API key unless it is marked otherwise."""
    app = Flask("rivulet", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = context.store.current.api.max_body_kib * KIB
    routes = (*ROUTES, openapi.route(ROUTES))
    errors.install(app, context.clock)
    auth.install(app, {route.endpoint: route for route in routes}, context)
    _refuse_when_ending(app, context)
    for route in routes:
        add(app, route, context)
    return app


def _refuse_when_ending(app: Flask, context: ApiContext) -> None:
    @app.before_request
    def check() -> None:
        if request.method not in SAFE_METHODS and context.state in ENDING:
            raise ApiError(503, "the program is stopping", {"Retry-After": "30"})


class ApiServer:
    """Serves an app from a thread of its own. port 0: any free one."""

    def __init__(self, app: Flask, host: str, port: int, *, threads: int = 16) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._threads = threads
        self._server: BaseWSGIServer | MultiSocketServer | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Listen and serve; raise StartupError with a sentence when the address cannot be used."""
        try:
            self._server = waitress.create_server(
                self._app,
                host=self._host,
                port=self._port,
                threads=self._threads,
                ident=None,
                max_request_body_size=self._app.config["MAX_CONTENT_LENGTH"] * CUT_OFF,
            )
        except (OSError, ValueError) as error:
            raise StartupError(_why(error, self._host, self._port)) from error
        self._thread = threading.Thread(target=self._server.run, name="api", daemon=True)
        self._thread.start()
        logger.info("API on http://{}:{}", self._host, self.port)

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        listening = getattr(self._server, "effective_listen", None)
        return int(listening[0][1]) if listening else int(getattr(self._server, "effective_port", self._port))

    def stop(self) -> None:
        """Stop listening; answers under way get a moment. Stopping twice is fine."""
        server, self._server = self._server, None
        if server is None or self._thread is None:
            return
        server.close()
        self._thread.join(STOP_SECONDS)
        server.task_dispatcher.shutdown(timeout=STOP_SECONDS)


def _why(error: Exception, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror | ValueError):
        return f"settings.json: api.host: {host} is no address of this machine"
    reason = getattr(error, "strerror", None) or str(error)
    return f"the API cannot listen on {host}:{port}: {reason}; choose another api.port or end what uses it"
