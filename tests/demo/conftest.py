"""The stand-ins, started once; each test begins with everything as at the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from program.demo.launch import Servers

SECONDS = 10


class Client:
    """Speaks to one stand-in with the key it asks for."""

    def __init__(self, base: str, headers: dict[str, str], params: dict[str, str] | None = None) -> None:
        self.base = base
        self.headers = headers
        self.params = params or {}

    def __call__(self, method: str, path: str, **more: Any) -> requests.Response:
        params = {**self.params, **more.pop("params", {})}
        headers = {**self.headers, **more.pop("headers", {})}
        return requests.request(
            method, self.base + path, params=params, headers=headers, timeout=SECONDS, **more
        )

    def get(self, path: str, **more: Any) -> requests.Response:
        return self("GET", path, **more)

    def post(self, path: str, **more: Any) -> requests.Response:
        return self("POST", path, **more)


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("stand-ins")
    servers = Servers(folder, folder / "library")
    yield servers
    servers.stop()


@pytest.fixture
def servers(started: Servers) -> Servers:
    started.control("/reset", {})
    return started


@pytest.fixture
def library(servers: Servers, tmp_path: Path) -> Path:
    """A folder in which the media servers look."""
    for kind in ("movies", "shows"):
        (tmp_path / "library" / kind).mkdir(parents=True)
    servers.control("/mount", {"path": str(tmp_path / "library")})
    return tmp_path / "library"


@pytest.fixture
def tmdb(servers: Servers) -> Client:
    about = servers.ready["tmdb"]
    return Client(about["url"], {}, {"api_key": about["key"]})


@pytest.fixture
def tvdb(servers: Servers) -> Client:
    about = servers.ready["tvdb"]
    login = requests.post(f"{about['url']}/login", json={"apikey": about["key"]}, timeout=SECONDS)
    return Client(about["url"], {"Authorization": f"Bearer {login.json()['data']['token']}"})


@pytest.fixture
def torrentio(servers: Servers) -> Client:
    return Client(servers.ready["torrentio"]["url"], {})


@pytest.fixture
def realdebrid(servers: Servers) -> Client:
    about = servers.ready["realdebrid"]
    return Client(about["url"], {"Authorization": f"Bearer {about['key']}"})


@pytest.fixture
def overseerr(servers: Servers) -> Client:
    about = servers.ready["overseerr"]
    return Client(f"{about['root']}/api/v1", {"X-Api-Key": about["key"]})


@pytest.fixture
def plex(servers: Servers) -> Client:
    about = servers.ready["plex"]
    return Client(about["root"], {"X-Plex-Token": about["key"], "Accept": "application/json"})


@pytest.fixture
def jellyfin(servers: Servers) -> Client:
    about = servers.ready["jellyfin"]
    return Client(about["root"], {"Authorization": f'MediaBrowser Token="{about["key"]}"'})
