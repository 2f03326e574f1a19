"""Real-Debrid answers as its documentation and four clients say."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client

SINTEL = "Sintel.2010.1080p.BluRay.x264.DTS-OPEN"
SLOW = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"
TAKEN = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.7.1-TAKEN"


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def add(realdebrid: Client, infohash: str) -> requests.Response:
    return realdebrid.post("/torrents/addMagnet", data={"magnet": f"magnet:?xt=urn:btih:{infohash}"})


def info(realdebrid: Client, torrent_id: str) -> dict[str, Any]:
    return dict(realdebrid.get(f"/torrents/info/{torrent_id}").json())


def test_an_empty_account_answers_204_without_a_body(realdebrid: Client) -> None:
    for path in ("/torrents", "/downloads"):
        answer = realdebrid.get(path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert "Content-Type" not in answer.headers


def test_a_wrong_token_is_code_8(servers: Servers) -> None:
    answer = requests.get(
        f"{servers.ready['realdebrid']['url']}/user",
        headers={"Authorization": "Bearer wrong"},
        timeout=SECONDS,
    )
    assert (answer.status_code, answer.json()) == (401, {"error": "bad_token", "error_code": 8})


def test_the_token_may_stand_in_the_query(servers: Servers) -> None:
    about = servers.ready["realdebrid"]
    answer = requests.get(f"{about['url']}/user", params={"auth_token": about["key"]}, timeout=SECONDS)
    assert answer.json()["type"] == "premium"


def test_a_cached_torrent_goes_from_magnet_to_links_in_the_order_of_its_files(
    servers: Servers, realdebrid: Client
) -> None:
    added = add(realdebrid, hash_of(servers, "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"))
    assert added.status_code == 201
    assert added.json()["uri"].endswith(added.json()["id"])
    torrent_id = added.json()["id"]
    before = info(realdebrid, torrent_id)
    assert (before["status"], before["links"]) == ("waiting_files_selection", [])
    chosen = [one for one in before["files"] if "/Pioneer.One.S01E" in one["path"]]
    numbers = ",".join(str(one["id"]) for one in chosen)
    selected = realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": numbers})
    assert (selected.status_code, selected.content) == (204, b"")
    after = info(realdebrid, torrent_id)
    assert (after["status"], after["progress"], len(after["links"])) == ("downloaded", 100, 6)
    assert after["bytes"] == sum(one["bytes"] for one in chosen) < after["original_bytes"]
    for link, file in zip(after["links"], chosen, strict=True):
        found = realdebrid.post("/unrestrict/link", data={"link": link}).json()
        assert (found["filename"], found["filesize"]) == (file["path"].removeprefix("/"), file["bytes"])
        assert requests.head(found["download"], timeout=SECONDS).headers["Content-Length"] == str(
            file["bytes"]
        )


def test_files_are_numbered_from_one_and_begin_with_a_slash(servers: Servers, realdebrid: Client) -> None:
    files = info(realdebrid, add(realdebrid, hash_of(servers, SINTEL)).json()["id"])["files"]
    assert [one["id"] for one in files] == [1, 2, 3, 4, 5]
    assert files[2]["path"] == f"/{SINTEL}.mkv"
    assert {one["selected"] for one in files} == {0}


def test_selecting_again_is_202_and_a_wrong_number_404(servers: Servers, realdebrid: Client) -> None:
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    assert realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "9"}).status_code == 404
    assert realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "3"}).status_code == 204
    assert realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "1,2"}).status_code == 202
    assert len(info(realdebrid, torrent_id)["links"]) == 1


def test_adding_twice_makes_two_entries(servers: Servers, realdebrid: Client) -> None:
    ids = [add(realdebrid, hash_of(servers, SINTEL)).json()["id"] for _ in range(2)]
    listed = realdebrid.get("/torrents")
    assert [one["id"] for one in listed.json()] == ids[::-1]
    assert listed.headers["X-Total-Count"] == "2"
    assert not {"files", "original_filename"} & set(listed.json()[0])


def test_the_list_is_paged_and_a_page_behind_the_end_is_204(servers: Servers, realdebrid: Client) -> None:
    for name in (SINTEL, SLOW):
        add(realdebrid, hash_of(servers, name))
    assert len(realdebrid.get("/torrents", params={"limit": "1", "page": "2"}).json()) == 1
    assert realdebrid.get("/torrents", params={"limit": "1", "page": "3"}).status_code == 204
    assert len(realdebrid.get("/torrents", params={"offset": "1"}).json()) == 1


def test_what_is_not_cached_is_queued_then_downloading_then_there(
    servers: Servers, realdebrid: Client
) -> None:
    torrent_id = add(realdebrid, hash_of(servers, SLOW)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "1"})
    assert info(realdebrid, torrent_id)["status"] == "queued"
    assert realdebrid.get("/torrents/activeCount").json() == {
        "nb": 1,
        "limit": 30,
        "list": [hash_of(servers, SLOW)],
    }
    servers.control("/options", {"realdebrid_download_seconds": 0})
    assert info(realdebrid, torrent_id)["status"] == "downloaded"


def test_a_magnet_may_take_some_looks_to_be_read(servers: Servers, realdebrid: Client) -> None:
    servers.control("/options", {"realdebrid_conversion_polls": 2})
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    looks = [info(realdebrid, torrent_id) for _ in range(3)]
    assert [one["status"] for one in looks] == [
        "magnet_conversion",
        "magnet_conversion",
        "waiting_files_selection",
    ]
    assert [len(one["files"]) for one in looks] == [0, 0, 5]


def test_an_unknown_hash_stays_in_conversion(realdebrid: Client) -> None:
    assert info(realdebrid, add(realdebrid, "ab" * 20).json()["id"])["status"] == "magnet_conversion"


def test_an_infringing_torrent_is_451_with_code_35(servers: Servers, realdebrid: Client) -> None:
    answer = add(realdebrid, hash_of(servers, TAKEN))
    assert (answer.status_code, answer.json()) == (451, {"error": "infringing_file", "error_code": 35})


def test_a_torrent_that_becomes_infringing_cannot_be_unrestricted(
    servers: Servers, realdebrid: Client
) -> None:
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "3"})
    link = info(realdebrid, torrent_id)["links"][0]
    servers.control("/catalog", {"op": "availability", "release": SINTEL, "value": "infringing"})
    answer = realdebrid.post("/unrestrict/link", data={"link": link})
    assert (answer.status_code, answer.json()["error_code"]) == (503, 35)


@pytest.mark.parametrize(
    ("form", "code"), [({}, 1), ({"magnet": "magnet:?xt=urn:btih:short"}, 2), ({"magnet": "ab" * 20}, 2)]
)
def test_a_bad_magnet_is_400(realdebrid: Client, form: dict[str, str], code: int) -> None:
    answer = realdebrid.post("/torrents/addMagnet", data=form)
    assert (answer.status_code, answer.json()["error_code"]) == (400, code)


def test_deleting_is_204_and_kills_the_links(servers: Servers, realdebrid: Client) -> None:
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "3"})
    link = info(realdebrid, torrent_id)["links"][0]
    assert realdebrid("DELETE", f"/torrents/delete/{torrent_id}").status_code == 204
    assert realdebrid("DELETE", f"/torrents/delete/{torrent_id}").json() == {
        "error": "unknown_ressource",
        "error_code": 7,
    }
    answer = realdebrid.post("/unrestrict/link", data={"link": link})
    assert (answer.status_code, answer.json()["error_code"]) == (503, 24)


def test_the_bulk_check_is_switched_off(realdebrid: Client) -> None:
    answer = realdebrid.get(f"/torrents/instantAvailability/{'ab' * 20}")
    assert (answer.status_code, answer.json()) == (403, {"error": "disabled_endpoint", "error_code": 37})


def test_the_limit_per_minute_answers_429_and_counts_what_it_refuses(
    servers: Servers, realdebrid: Client
) -> None:
    servers.control("/options", {"realdebrid_rate_per_minute": 3})
    codes = [realdebrid.get("/user").status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert realdebrid.get("/user").json() == {"error": "too_many_requests", "error_code": 34}


def test_too_many_active_torrents_are_509(servers: Servers, realdebrid: Client) -> None:
    servers.control("/options", {"realdebrid_active_limit": 1})
    add(realdebrid, hash_of(servers, SLOW))
    answer = add(realdebrid, hash_of(servers, SINTEL))
    assert (answer.status_code, answer.json()["error_code"]) == (509, 21)


def test_a_choice_with_other_files_can_become_one_archive(servers: Servers, realdebrid: Client) -> None:
    servers.control("/options", {"realdebrid_archive_when_mixed": True})
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "all"})
    links = info(realdebrid, torrent_id)["links"]
    assert len(links) == 1
    assert realdebrid.post("/unrestrict/link", data={"link": links[0]}).json()["filename"] == f"{SINTEL}.rar"


def test_an_etag_saves_the_second_answer(servers: Servers, realdebrid: Client) -> None:
    add(realdebrid, hash_of(servers, SINTEL))
    first = realdebrid.get("/torrents")
    again = realdebrid.get("/torrents", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_pack_that_lacks_files_has_them_neither_here_nor_in_a_search(
    servers: Servers, realdebrid: Client, torrentio: Client
) -> None:
    pack = "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"
    for episode in (2, 5):
        servers.control("/catalog", {"op": "drop_file", "release": pack, "season": 1, "episode": episode})
    files = info(realdebrid, add(realdebrid, hash_of(servers, pack)).json()["id"])["files"]
    assert sum("S01E" in one["path"] for one in files) == 4
    streams = torrentio.get("/stream/series/tt1748166:1:2.json").json()["streams"]
    assert hash_of(servers, pack) not in [stream["infoHash"] for stream in streams]


def test_a_file_can_be_announced_longer_than_it_is(servers: Servers, realdebrid: Client) -> None:
    before = info(realdebrid, add(realdebrid, hash_of(servers, SINTEL)).json()["id"])["files"][2]["bytes"]
    servers.control("/catalog", {"op": "announce", "release": SINTEL, "extra": 1000})
    torrent_id = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent_id}", data={"files": "3"})
    assert info(realdebrid, torrent_id)["bytes"] == before + 1000
    found = realdebrid.post(
        "/unrestrict/link", data={"link": info(realdebrid, torrent_id)["links"][0]}
    ).json()
    assert found["filesize"] == before + 1000
    assert requests.head(found["download"], timeout=SECONDS).headers["Content-Length"] == str(before)
