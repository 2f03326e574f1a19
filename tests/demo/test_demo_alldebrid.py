"""AllDebrid answers as its documentation and its clients say."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client

SINTEL = "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"
SLOW = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def add(alldebrid: Client, infohash: str) -> dict[str, Any]:
    answer = alldebrid.post("/v4/magnet/upload", data={"magnets[]": infohash}).json()
    return dict(answer["data"]["magnets"][0])


def leaves(tree: list[dict[str, Any]], folder: str = "") -> list[tuple[str, str]]:
    found = []
    for node in tree:
        path = f"{folder}/{node['n']}" if folder else node["n"]
        found += leaves(node["e"], path) if "e" in node else [(path, node["l"])]
    return found


def test_an_error_is_an_answer_of_200_but_for_the_key(servers: Servers, alldebrid: Client) -> None:
    wrong = alldebrid.post("/v4.1/magnet/status", data={"id": "9"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (200, "MAGNET_INVALID_ID")
    key = requests.get(
        f"{servers.ready['alldebrid']['url']}/v4/user", params={"apikey": "x"}, timeout=SECONDS
    )
    assert (key.status_code, key.json()["error"]["code"]) == (401, "AUTH_BAD_APIKEY")
    gone = alldebrid.get("/v4/magnet/instant")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "404")


def test_a_held_torrent_goes_from_magnet_to_bytes(servers: Servers, alldebrid: Client) -> None:
    added = add(alldebrid, hash_of(servers, SINTEL))
    assert (added["ready"], added["name"]) == (True, SINTEL)
    held = alldebrid.post("/v4/magnet/files", data={"id[]": added["id"]}).json()["data"]["magnets"][0]
    links = dict(leaves(held["files"]))
    assert held["id"] == str(added["id"])
    unlocked = alldebrid.post("/v4/link/unlock", data={"link": links[f"{SINTEL}/{SINTEL}.mkv"]}).json()[
        "data"
    ]
    assert unlocked["filename"] == f"{SINTEL}.mkv"
    head = requests.head(unlocked["link"], timeout=SECONDS)
    assert head.headers["Content-Length"] == str(unlocked["filesize"])


def test_adding_twice_is_one_entry_and_one_that_is_asked_for_is_an_object(
    servers: Servers, alldebrid: Client
) -> None:
    first, second = (add(alldebrid, hash_of(servers, SLOW)) for _ in range(2))
    assert (first["id"], first["ready"]) == (second["id"], False)
    listed = alldebrid.post("/v4.1/magnet/status").json()["data"]["magnets"]
    assert [row["statusCode"] for row in listed] == [1]
    one = alldebrid.post("/v4.1/magnet/status", data={"id": first["id"]}).json()["data"]["magnets"]
    assert (one["id"], one["files"]) == (first["id"], [])


def test_deleting_kills_the_links(servers: Servers, alldebrid: Client) -> None:
    added = add(alldebrid, hash_of(servers, SINTEL))
    held = alldebrid.post("/v4/magnet/files", data={"id[]": added["id"]}).json()["data"]["magnets"][0]
    link = leaves(held["files"])[0][1]
    assert alldebrid.post("/v4/magnet/delete", data={"id": added["id"]}).json()["status"] == "success"
    assert alldebrid.post("/v4/link/unlock", data={"link": link}).json()["error"]["code"] == "LINK_DOWN"
    [info] = alldebrid.post("/v4/link/infos", data={"link[]": link}).json()["data"]["infos"]
    assert info["error"]["code"] == "LINK_DOWN"


@pytest.mark.parametrize("magnet", ["", "magnet:?xt=urn:btih:short"])
def test_a_bad_magnet_is_an_error_of_its_entry(alldebrid: Client, magnet: str) -> None:
    assert add(alldebrid, magnet)["error"]["code"] == "MAGNET_INVALID_URI"


def test_a_provider_may_lack_what_another_holds(
    servers: Servers, alldebrid: Client, realdebrid: Client
) -> None:
    servers.control("/catalog", {"op": "lack", "provider": "alldebrid", "release": SINTEL})
    assert add(alldebrid, hash_of(servers, SINTEL))["ready"] is False
    servers.control("/catalog", {"op": "lack", "provider": "alldebrid", "release": SINTEL, "value": False})
    assert add(alldebrid, hash_of(servers, SINTEL))["ready"] is True
