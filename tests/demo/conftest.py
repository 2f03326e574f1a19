"""Clients of the stand-ins, each with the key its service asks for."""

from __future__ import annotations

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
def alldebrid(servers: Servers) -> Client:
    about = servers.ready["alldebrid"]
    return Client(about["url"], {"Authorization": f"Bearer {about['key']}"})


@pytest.fixture
def torbox(servers: Servers) -> Client:
    about = servers.ready["torbox"]
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
