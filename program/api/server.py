"""The Flask app, and the thread that serves it."""

import socket
import threading

import waitress
from flask import Flask, request
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher

from program.api import (
    auth,
    backups,
    dav,
    doctor,
    errors,
    feeds,
    files,
    items,
    log_files,
    match,
    metrics,
    naming,
    openapi,
    playback,
    plugins,
    queues,
    ranking_preview,
    reference,
    releases,
    scrape,
    settings,
    status,
    stream,
    strm,
    support,
    titles,
    uploads,
    webhooks,
)
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.proxy import BehindProxy
from program.api.routes import Route, add
from program.clock import SystemClock
from program.errors import StartupError
from program.log import logger
from program.web import app as web

# States of the program in which nothing may be begun any more.
ENDING = frozenset({"Shutdown", "Exited", "Errored"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Bodies up to the app's own limit are answered in JSON; far larger ones are cut off before they are read.
CUT_OFF = 16
KIB = 1024
# Where the app keeps who may send a file.
UPLOADS = "rivulet uploads"
# How long running requests may take after a stop, and how long their answers may take to leave.
STOP_SECONDS = 5.0
FLUSH_SECONDS, FLUSH_TURN_SECONDS = 1.0, 0.05
# What waits to be sent stays in memory: the server would write more than a mebibyte of it to a temporary file.
MOST_UNSENT = 512 * 1024
# A client that has taken nothing for so long while something waits for it is gone; a paused player asks again.
STALLED_SECONDS = 600.0
# The server wakes up by itself this often; everything else wakes it at once.
POLL_SECONDS = 1.0

ROUTES: tuple[Route, ...] = (
    *items.ROUTES,
    *releases.ROUTES,
    *scrape.ROUTES,
    *titles.ROUTES,
    *match.ROUTES,
    *ranking_preview.ROUTES,
    *status.ROUTES,
    *log_files.ROUTES,
    *doctor.ROUTES,
    *support.ROUTES,
    *feeds.ROUTES,
    *playback.ROUTES,
    *plugins.ROUTES,
    *stream.ROUTES,
    *queues.ROUTES,
    *metrics.ROUTES,
    *settings.ROUTES,
    *backups.ROUTES,
    *naming.ROUTES,
    *webhooks.ROUTES,
)


def create_app(context: ApiContext) -> Flask:
    """Return the app with every route; each asks for the API key unless it is marked otherwise."""
    app = Flask("rivulet", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = context.store.current.api.max_body_kib * KIB
    described = (*ROUTES, reference.route(ROUTES))
    routes = (*described, *files.ROUTES, *dav.ROUTES, *strm.ROUTES, openapi.route(described))
    app.wsgi_app = BehindProxy(app.wsgi_app, context.store.current.api)  # type: ignore[method-assign]
    app.extensions[UPLOADS] = uploads.install(app, context)
    errors.install(app, context.clock)
    web.install(app, context)
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
    """Serves an app from a thread of its own. port 0: any free one. stalled_seconds: when a client that takes nothing is let go."""

    def __init__(
        self,
        app: Flask,
        host: str,
        port: int,
        *,
        threads: int = 16,
        stalled_seconds: float = STALLED_SECONDS,
    ) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._threads = threads
        self._stalled_seconds = stalled_seconds
        # The one that the server notes its clients' activity by.
        self._clock = SystemClock()
        # Held while the serving thread is woken, so that it does not close what wakes it meanwhile. Guards what follows.
        self._waking = threading.Lock()
        self._stopping = False
        self._thread: threading.Thread | None = None
        # Everything the server listens to: its sockets, its clients, and what wakes it.
        self._map: dict[int, wasyncore.dispatcher] = {}

    def start(self) -> None:
        """Listen and serve; raise StartupError with a sentence when the address cannot be used."""
        try:
            server = waitress.create_server(
                self._app,
                map=self._map,
                host=self._host,
                port=self._port,
                threads=self._threads,
                ident=None,
                outbuf_high_watermark=MOST_UNSENT,
                # Whom to believe is decided by `BehindProxy`.
                clear_untrusted_proxy_headers=False,
                max_request_body_size=self._app.config["MAX_CONTENT_LENGTH"] * CUT_OFF,
            )
        except (OSError, ValueError) as error:
            wasyncore.close_all(self._map, ignore_all=True)
            raise StartupError(_why(error, self._host, self._port)) from error
        if UPLOADS in self._app.extensions:
            for one in self._listeners():
                one.channel_class = uploads.channel_for(self._app.extensions[UPLOADS])
        self._thread = threading.Thread(
            target=self._serve, args=(server.task_dispatcher,), name="api", daemon=True
        )
        self._thread.start()
        logger.info("API on http://{}:{}", self._host, self.port)

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return next((int(one.effective_port) for one in self._listeners()), self._port)

    def stop(self) -> None:
        """Stop listening; answers under way get a moment. Stopping twice is fine."""
        with self._waking:
            if not self._stopping:
                self._stopping = True
                for one in self._listeners()[:1]:
                    one.pull_trigger()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS + FLUSH_SECONDS + 1)

    def _listeners(self) -> list[BaseWSGIServer]:
        return [one for one in tuple(self._map.values()) if isinstance(one, BaseWSGIServer)]

    def _serve(self, dispatcher: ThreadedTaskDispatcher) -> None:
        """Serve until stopped. Only this thread touches the sockets, so that none is closed under another's hands."""
        while not self._is_stopping():
            self._turn(POLL_SECONDS)
            self._let_go_of_stalled()
        dispatcher.shutdown(timeout=STOP_SECONDS)
        turns = round(FLUSH_SECONDS / FLUSH_TURN_SECONDS)
        while turns and any(getattr(one, "total_outbufs_len", 0) for one in self._map.values()):
            self._turn(FLUSH_TURN_SECONDS)
            turns -= 1
        wasyncore.close_all(self._map, ignore_all=True)

    def _let_go_of_stalled(self) -> None:
        """Close connections whose client has taken nothing for long: each may hold a thread."""
        oldest = self._clock.now().timestamp() - self._stalled_seconds
        for one in tuple(self._map.values()):
            if isinstance(one, HTTPChannel) and one.total_outbufs_len and one.last_activity < oldest:
                one.handle_close()

    def _is_stopping(self) -> bool:
        with self._waking:
            return self._stopping

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)


def _why(error: Exception, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror | ValueError):
        return f"settings.json: api.host: {host} is no address of this machine"
    reason = getattr(error, "strerror", None) or str(error)
    return f"the API cannot listen on {host}:{port}: {reason}; choose another api.port or end what uses it"
