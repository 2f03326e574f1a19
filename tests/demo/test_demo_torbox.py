"""TorBox answers as its documentation and its clients say."""

from __future__ import annotations

import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client

SINTEL = "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"
SLOW = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def test_what_is_held_can_be_asked_for_without_adding(servers: Servers, torbox: Client) -> None:
    hashes = f"{hash_of(servers, SINTEL)},{hash_of(servers, SLOW)}"
    held = torbox.get("/torrents/checkcached", params={"hash": hashes, "list_files": "true"}).json()["data"]
    assert list(held) == [hash_of(servers, SINTEL)]
    assert torbox.get("/torrents/checkcached", params={"hash": hash_of(servers, SLOW)}).json()["data"] is None
    assert torbox.get("/torrents/mylist").json()["data"] is None


def test_a_held_torrent_goes_from_magnet_to_bytes(servers: Servers, torbox: Client) -> None:
    magnet = f"magnet:?xt=urn:btih:{hash_of(servers, SINTEL)}"
    made = torbox.post("/torrents/createtorrent", data={"magnet": magnet}).json()["data"]
    row = torbox.get("/torrents/mylist", params={"id": made["torrent_id"]}).json()["data"]
    assert (row["download_finished"], row["files"][0]["id"]) == (True, 0)
    film = next(file for file in row["files"] if file["short_name"] == f"{SINTEL}.mkv")
    key = servers.ready["torbox"]["key"]
    asked = {"token": key, "torrent_id": made["torrent_id"], "file_id": film["id"]}
    url = torbox.get("/torrents/requestdl", params=asked).json()["data"]
    assert requests.head(url, timeout=SECONDS).headers["Content-Length"] == str(film["size"])


def test_a_refusal_is_told_in_the_envelope_whatever_its_status(servers: Servers, torbox: Client) -> None:
    magnet = f"magnet:?xt=urn:btih:{hash_of(servers, SLOW)}"
    refused = torbox.post("/torrents/createtorrent", data={"magnet": magnet, "add_only_if_cached": "true"})
    assert (refused.status_code, refused.json()["success"], refused.json()["error"]) == (200, False, None)
    gone = torbox.get("/torrents/mylist", params={"id": "1"})
    assert (gone.status_code, gone.json()["error"]) == (404, "ITEM_NOT_FOUND")
    wrong = requests.get(
        f"{servers.ready['torbox']['url']}/user/me", headers={"Authorization": "Bearer x"}, timeout=SECONDS
    )
    assert (wrong.status_code, wrong.json()["error"]) == (403, "BAD_TOKEN")
