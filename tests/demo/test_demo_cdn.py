"""The CDN serves ranges as RFC 9110 says, and its links expire."""

from __future__ import annotations

import hashlib
import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client
from tests.demo.test_demo_realdebrid import SINTEL, add, hash_of, info


@pytest.fixture
def file(servers: Servers, realdebrid: Client) -> dict[str, Any]:
    """A file on the CDN: its `url`, and what it is: `size`, `sha256`."""
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "3"})
    url = realdebrid.post("/unrestrict/link", data={"link": info(realdebrid, torrent_id)["links"][0]}).json()[
        "download"
    ]
    origin = next(one for one in servers.control("/origins")["files"] if one["path"] == f"{SINTEL}.mkv")
    return {"url": url, **origin}


def read(file: dict[str, Any], span: str) -> requests.Response:
    return requests.get(file["url"], headers={"Range": f"bytes={span}"}, timeout=SECONDS)


def test_the_whole_file_is_the_one_of_the_catalog(file: dict[str, Any]) -> None:
    answer = requests.get(file["url"], timeout=SECONDS)
    assert (answer.status_code, len(answer.content)) == (200, file["size"])
    assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
    assert answer.headers["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    ("span", "start", "length"),
    [("0-0", 0, 1), ("100-199", 100, 100), ("1000-", 1000, None), ("-500", -500, 500)],
)
def test_a_range_is_exactly_what_was_asked_for(
    file: dict[str, Any], span: str, start: int, length: int | None
) -> None:
    whole = requests.get(file["url"], timeout=SECONDS).content
    first = start if start >= 0 else file["size"] + start
    expected = whole[first : first + length] if length else whole[first:]
    answer = read(file, span)
    assert answer.status_code == 206
    assert answer.content == expected
    assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(expected) - 1}/{file['size']}"


def test_a_range_beyond_the_end_is_cut_to_it(file: dict[str, Any]) -> None:
    answer = read(file, f"{file['size'] - 10}-{file['size'] + 1000}")
    assert (answer.status_code, len(answer.content)) == (206, 10)


def test_a_range_behind_the_end_is_416_with_the_total(file: dict[str, Any]) -> None:
    answer = read(file, f"{file['size']}-")
    assert (answer.status_code, answer.headers["Content-Range"]) == (416, f"bytes */{file['size']}")


def test_connections_are_kept(file: dict[str, Any]) -> None:
    parts = urlsplit(file["url"])
    connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
    ports = set()
    for _ in range(3):
        connection.request("GET", parts.path, headers={"Range": "bytes=0-9"})
        assert len(connection.getresponse().read()) == 10
        ports.add(connection.sock.getsockname()[1])
    connection.close()
    assert len(ports) == 1


def test_the_log_says_which_part_was_read(servers: Servers, file: dict[str, Any]) -> None:
    read(file, "100-199")
    assert [one["range"] for one in servers.control("/requests?provider=cdn")["requests"]] == [
        "bytes=100-199"
    ]


def test_an_unknown_link_is_not_found(servers: Servers) -> None:
    answer = requests.get(f"{servers.ready['cdn']['url']}/d/AAAAAAAAAAAAA/x.mkv", timeout=SECONDS)
    assert (answer.status_code, answer.headers["X-Error"]) == (404, "link_not_found")


@pytest.mark.parametrize("status", [403, 404, 410, 503])
def test_an_expired_link_says_so_and_a_fresh_one_works(
    servers: Servers, realdebrid: Client, file: dict[str, Any], status: int
) -> None:
    servers.control("/options", {"cdn_expired_status": status})
    assert servers.control("/expire", {}) == {"expired": 1}
    answer = read(file, "0-9")
    assert (answer.status_code, answer.headers["X-Error"]) == (status, "link_expired")
    torrent = realdebrid.get("/torrents").json()[0]
    fresh = realdebrid.post("/unrestrict/link", data={"link": torrent["links"][0]}).json()["download"]
    assert fresh != file["url"]
    assert requests.get(fresh, timeout=SECONDS).status_code == 200


def test_a_link_lives_as_long_as_it_is_set(
    servers: Servers, realdebrid: Client, file: dict[str, Any]
) -> None:
    servers.control("/options", {"link_seconds": 0})
    torrent = realdebrid.get("/torrents").json()[0]
    dead = realdebrid.post("/unrestrict/link", data={"link": torrent["links"][0]}).json()["download"]
    assert requests.get(dead, timeout=SECONDS).status_code == 404
    assert requests.get(file["url"], timeout=SECONDS).status_code == 200


def test_links_can_expire_in_the_middle_of_a_read(servers: Servers, file: dict[str, Any]) -> None:
    servers.control("/expire", {"after_bytes": 5000})
    with (
        requests.get(file["url"], stream=True, timeout=SECONDS) as answer,
        pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)),
    ):
        b"".join(answer.iter_content(1000))
    assert read(file, "0-9").status_code == 404


def test_the_cdn_can_be_slow_to_answer_and_slow_to_send(servers: Servers, file: dict[str, Any]) -> None:
    servers.control("/options", {"latency": {"cdn": 0.2}})
    assert read(file, "0-9").elapsed.total_seconds() >= 0.2
    servers.control("/options", {"latency": {"cdn": 0}, "cdn_bytes_per_second": 500_000})
    assert read(file, "0-99999").status_code == 206
