"""What the contract tests of every provider share: the stand-ins, and providers made as the program makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from program.clock import Clock
from program.demo.launch import Servers
from program.services.plugin import Plugin
from tests.support.providers import Make, make


@pytest.fixture
def provider(servers: Servers) -> Make:
    """Make a provider that speaks to its stand-in with the right key: `provider(Tmdb)`."""

    def build(kind: type[Plugin[Any]], clock: Clock | None = None, **settings: object) -> Any:
        ready = servers.ready[kind.key]
        field = next((name for name in ("api_key", "token") if name in kind.Settings.model_fields), None)
        if field and "key" in ready:
            settings.setdefault(field, ready["key"])
        url = ready["root"] if kind.key == "overseerr" else ready["url"]
        return make(kind, url, clock, **settings)

    return build


@pytest.fixture(scope="session")
def odd_server() -> Iterator[HTTPServer]:
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture
def odd(odd_server: HTTPServer) -> HTTPServer:
    """A server for answers that the stand-ins do not give; empty at the start of each test."""
    odd_server.clear()
    return odd_server


@pytest.fixture
def odd_url(odd: HTTPServer) -> str:
    return odd.url_for("").rstrip("/")
