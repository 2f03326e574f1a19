"""Where the program connects to: by nature, by name, by redirect, by setting; on loopback, with names that lead home."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from pytest_httpserver import HTTPServer

from program.clock import ManualClock, SystemClock
from program.errors import BadAnswer, Misconfigured
from program.http import DataSource
from program.network import LOOPBACK, Forbidden, Gate, Network, Reach
from program.plugins import make_source
from program.services.plugin import ContentService, Downloader, Indexer, Scraper, Updater
from program.settings.models import NetworkSettings
from program.vfs.answers import DeadLink
from program.vfs.counters import Counters
from program.vfs.sources import Sources, Transfer
from tests.db.library import NOW
from tests.support.sample_plugin import Sample, SampleSettings


@pytest.fixture
def open_networks() -> list[Network]:
    """The networks that the setting opens; empty at first."""
    return []


@pytest.fixture
def server(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/ping").respond_with_data("pong")
    return httpserver


@contextmanager
def source(server: HTTPServer, gate: Gate, host: str = "127.0.0.1") -> Iterator[DataSource]:
    made = DataSource("demo", f"http://{host}:{server.port}", clock=SystemClock(), gate=gate)
    yield made
    made.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0.0.0.0"])
def test_a_service_of_the_internet_is_not_looked_for_at_home_however_the_address_is_written(
    server: HTTPServer, host: str
) -> None:
    with (
        source(server, Gate(Reach.INTERNET, host), host) as demo,
        pytest.raises(Misconfigured, match=r"demo: url: leads to .* which network.allowed does not name"),
    ):
        demo.get("/ping")
    assert server.log == []


def test_a_service_that_may_be_at_home_is_reached_there(server: HTTPServer) -> None:
    with source(server, Gate(Reach.HOME, "localhost"), "localhost") as demo:
        assert demo.get("/ping").text == "pong"


def test_a_setting_opens_a_network_at_once(server: HTTPServer, open_networks: list[Network]) -> None:
    with source(server, Gate(Reach.INTERNET, "127.0.0.1", lambda: open_networks)) as demo:
        with pytest.raises(Misconfigured):
            demo.get("/ping")
        open_networks += NetworkSettings(allowed=["127.0.0.1"]).networks()
        assert demo.get("/ping").text == "pong"


def test_a_redirect_to_another_machine_at_home_is_not_followed(httpserver: HTTPServer) -> None:
    there = f"http://127.0.0.2:{httpserver.port}/ping"
    httpserver.expect_request("/moved").respond_with_data("", 302, {"Location": there})
    refused = pytest.raises(BadAnswer, match=r"demo: leads to 127\.0\.0\.2, in this home's own network")
    with source(httpserver, Gate(Reach.HOME, "127.0.0.1")) as demo, refused:
        demo.get("/moved")
    assert len(httpserver.log) == 1


def test_a_name_counts_by_what_it_resolves_to_when_it_is_connected_to(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    asked: list[str] = []

    def resolve(host: str, port: int, **_how: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]

    gate = Gate(Reach.INTERNET, "rebinds.example")
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert gate.resolve("rebinds.example", 80) == ("93.184.215.14",)
    with pytest.raises(Forbidden, match=r"rebinds\.example \(127\.0\.0\.1\), in this home's own network"):
        gate.resolve("rebinds.example", 80)
    assert asked == ["rebinds.example"] * 2


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "fe80::1",
        "224.0.0.1",
        "0.0.0.0",
    ],
)
def test_metadata_and_link_local_addresses_are_closed_also_to_what_may_be_at_home(address: str) -> None:
    home = Gate(Reach.HOME, "nas.home")
    assert not home.lets_pass("nas.home", address)
    opened = Gate(Reach.INTERNET, "", NetworkSettings(allowed=[address]).networks)
    assert opened.lets_pass("nas.home", address)


@pytest.mark.parametrize(
    "address", ["192.168.1.10", "10.0.0.5", "172.20.0.3", "100.101.1.1", "127.0.0.1", "::1", "fd12::7"]
)
def test_what_may_be_at_home_is_let_in_under_its_own_name_only(address: str) -> None:
    home = Gate(Reach.HOME, "nas.home")
    assert home.lets_pass("nas.home", address)
    assert home.lets_pass("NAS.home", address)
    assert not home.lets_pass("other.home", address)
    assert not Gate(Reach.INTERNET, "nas.home").lets_pass("nas.home", address)


def test_the_kinds_of_providers_are_at_home_or_not() -> None:
    assert (Updater.reach, Scraper.reach) == (Reach.HOME, Reach.HOME)
    assert (Indexer.reach, Downloader.reach, ContentService.reach) == (Reach.INTERNET,) * 3


def test_a_provider_is_made_with_its_gate(server: HTTPServer) -> None:
    class Public(Sample):
        """One that is not at home."""

        reach = Reach.INTERNET

    settings = SampleSettings.model_validate({"enabled": True, "url": server.url_for("/")})
    make = partial(make_source, clock=ManualClock(NOW), allowed=lambda: ())
    at_home, public = make(Sample, settings), make(Public, settings)
    assert at_home.get("/ping").text == "pong"
    with pytest.raises(Misconfigured):
        public.get("/ping")
    at_home.close()
    public.close()


def test_the_link_of_a_file_leads_nowhere_at_home(server: HTTPServer) -> None:
    url = server.url_for("/ping")
    for gate, is_open in ((Gate(), False), (Gate(allowed=lambda: LOOPBACK), True)):
        sources = Sources(SystemClock(), Counters(), 2.0, gate.connect)
        if is_open:
            sources.open(url, 0, 4, 4, Transfer()).close()
        else:
            with pytest.raises(DeadLink, match="the link leads to localhost"):
                sources.open(url, 0, 4, 4, Transfer())
        sources.close_idle(0)
    assert len(server.log) == 1
