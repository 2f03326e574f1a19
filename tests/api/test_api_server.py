"""The server's life, and the document that describes the API."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask

from program.api.openapi import document
from program.api.routes import Access
from program.api.server import ROUTES, ApiServer
from program.errors import StartupError
from tests.api.home import Home
from tests.support.wait import until


def app(**routes: Any) -> Flask:
    """Return an app that answers each path with what a function gives."""
    found = Flask("small")
    found.config["MAX_CONTENT_LENGTH"] = 1024
    for name, answer in routes.items():
        found.add_url_rule(f"/{name}", name, answer)
    return found


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StartupError) as error:
            ApiServer(app(), "127.0.0.1", port).start()
    assert str(error.value) == (
        f"the API cannot listen on 127.0.0.1:{port}: Address already in use; "
        "choose another api.port or end what uses it"
    )


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_that_is_not_ours_is_one_sentence(host: str) -> None:
    with pytest.raises(StartupError, match=host):
        ApiServer(app(), host, 0).start()


def test_a_stop_waits_for_answers_under_way_and_frees_the_port() -> None:
    entered, go = threading.Event(), threading.Event()

    def slow() -> str:
        entered.set()
        go.wait(5)
        return "done"

    server = ApiServer(app(slow=slow), "127.0.0.1", 0, threads=2)
    server.start()
    port = server.port
    answers: list[str] = []
    url = f"http://127.0.0.1:{port}/slow"
    client = threading.Thread(target=lambda: answers.append(requests.get(url, timeout=5).text))
    client.start()
    assert entered.wait(5)
    stopper = threading.Thread(target=server.stop)
    stopper.start()
    go.set()
    stopper.join(10)
    client.join(10)
    assert answers == ["done"]
    with socket.create_server(("127.0.0.1", port)):
        pass
    server.stop()


def test_no_thread_is_left_after_a_stop() -> None:
    before = threading.active_count()
    for _ in range(3):
        server = ApiServer(app(hello=lambda: "hello"), "127.0.0.1", 0, threads=3)
        server.start()
        assert requests.get(f"http://127.0.0.1:{server.port}/hello", timeout=5).text == "hello"
        server.stop()
    until(lambda: threading.active_count() <= before, what="the end of the server's threads")


def test_the_document_lists_every_route_and_says_which_are_open() -> None:
    found: dict[str, Any] = json.loads(json.dumps(document(ROUTES)))
    assert found["openapi"] == "3.1.0"
    operations = {(path, method) for path, methods in found["paths"].items() for method in methods}
    assert len(operations) == len(ROUTES)
    assert ("/api/v1/items/{item_id}", "get") in operations
    assert found["paths"]["/health"]["get"]["security"] == []
    assert "security" not in found["paths"]["/api/v1/items"]["get"]


def test_what_is_not_closed_is_marked_so_on_purpose() -> None:
    marked = {route.path for route in ROUTES if route.access is not Access.KEY}
    assert marked == {
        "/health",
        "/api/v1/health",
        "/api/v1/webhook/<key>/<token>",
        "/api/v1/feeds/<token>/calendar.ics",
        "/api/v1/feeds/<token>/arrivals.rss",
        "/api/v1/logs/shared/<until>/<token>",
    }


def test_every_reference_in_the_document_leads_somewhere() -> None:
    found = document(ROUTES)
    text = json.dumps(found)
    schemas: Any = found["components"]
    for part in text.split('"#/components/schemas/')[1:]:
        assert part.partition('"')[0] in schemas["schemas"]


def test_every_route_has_a_sentence_and_a_name_of_its_own() -> None:
    found: Any = document(ROUTES)
    operations = [operation for methods in found["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(operation["summary"] and operation["description"] for operation in operations)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_document_is_served_to_everybody(home: Home, tmp_path: Path) -> None:
    body = home.get("//openapi.json", key=None)
    assert "/openapi.json" in body["paths"]
    assert body["components"]["schemas"]["ErrorBody"]["properties"]["detail"]["type"] == "string"
