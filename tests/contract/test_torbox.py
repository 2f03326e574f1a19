"""TorBox: what is asked without adding, what is added, and what its envelopes mean."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from program.clock import ManualClock, SystemClock
from program.demo.launch import Servers
from program.errors import BadAnswer, Misconfigured, RetryLater, Transient
from program.events import StreamLinkRequested
from program.media.entry import FetchedTorrent, TorrentFile
from program.services.downloaders.torbox import ADDED_PER_HOUR, TorBox
from program.services.plugin import DownloadRefused
from tests.support.providers import SECRET, Make, make

HASH = "c08a9ee8ce3a5c2c08865e2b05406273cabc97e7"
SPRING = "Spring.2019.720p.WEB.x264-CC"
PACK = "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"
SLOW = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"


@pytest.fixture
def debrid(provider: Make) -> TorBox:
    made: TorBox = provider(TorBox)
    return made


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def on_account(servers: Servers) -> list[dict[str, Any]]:
    return list(servers.control("/magnets?provider=torbox")["magnets"])


def asked(servers: Servers) -> list[str]:
    rows = servers.control("/requests?provider=torbox")["requests"]
    return [str(row["path"]).partition("?")[0].rpartition("/")[2] for row in rows]


def wish(torrent: FetchedTorrent, file: TorrentFile) -> StreamLinkRequested:
    name = file.path.rpartition("/")[2]
    return StreamLinkRequested(torrent.torrent_id, file.file_id, file.link, name, file.size)


# --- against the stand-in


def test_a_held_film_is_asked_for_before_it_is_added_and_can_be_read(
    servers: Servers, debrid: TorBox
) -> None:
    infohash = hash_of(servers, SPRING)
    torrent = debrid.fetch(infohash, None)
    assert asked(servers) == ["mylist", "checkcached", "createtorrent", "mylist"]
    [row] = on_account(servers)
    assert (torrent.torrent_id, torrent.infohash, torrent.is_foreign) == (str(row["id"]), infohash, False)
    link = debrid.link(wish(torrent, torrent.files[0]))
    assert link.url.startswith(servers.ready["torbox-cdn"]["root"])
    assert link.expires_at is not None
    assert timedelta(minutes=30) < link.expires_at - SystemClock().now() <= timedelta(hours=1)


def test_of_a_pack_each_video_has_its_place_its_size_and_its_own_address(
    servers: Servers, debrid: TorBox
) -> None:
    torrent = debrid.fetch(hash_of(servers, PACK), None)
    sizes = {
        one["path"]: one["size"] for one in servers.control("/origins")["files"] if one["release"] == PACK
    }
    found = {file.path.removeprefix(f"{PACK}/"): file.size for file in torrent.files}
    assert found == {path: size for path, size in sizes.items() if path.endswith(".mkv")}
    file = next(file for file in torrent.files if "S01E03" in file.path)
    assert "S01E03" in debrid.link(wish(torrent, file)).url


def test_what_is_not_held_is_refused_without_being_added(servers: Servers, debrid: TorBox) -> None:
    for infohash in (hash_of(servers, SLOW), HASH):
        with pytest.raises(DownloadRefused) as refused:
            debrid.fetch(infohash, None)
        assert (refused.value.code, refused.value.torrent_id) == ("not_cached", None)
    assert "createtorrent" not in asked(servers)


def test_many_torrents_are_asked_for_at_once(servers: Servers, debrid: TorBox) -> None:
    held = debrid.cached((hash_of(servers, SPRING), hash_of(servers, SLOW), HASH))
    assert list(held) == [hash_of(servers, SPRING)]
    assert asked(servers) == ["checkcached"]
    assert debrid.cached((HASH,)) == {}
    assert on_account(servers) == []


def test_what_the_user_has_on_the_account_is_used_and_called_foreign(
    servers: Servers, debrid: TorBox
) -> None:
    infohash = hash_of(servers, SPRING)
    hand = make(TorBox, servers.ready["torbox"]["url"], api_key=servers.ready["torbox"]["key"])
    theirs = hand.fetch(infohash, None)
    torrent = debrid.fetch(infohash, None)
    assert (torrent.torrent_id, torrent.is_foreign) == (theirs.torrent_id, True)


def test_a_torrent_that_was_deleted_meanwhile_is_added_again(servers: Servers, debrid: TorBox) -> None:
    infohash = hash_of(servers, SPRING)
    first = debrid.fetch(infohash, None)
    make(TorBox, servers.ready["torbox"]["url"], api_key=servers.ready["torbox"]["key"]).remove(
        first.torrent_id
    )
    with pytest.raises(DownloadRefused) as refused:
        debrid.link(wish(first, first.files[0]))
    assert refused.value.code == "gone"
    again = debrid.fetch(infohash, first.torrent_id)
    assert (again.torrent_id != first.torrent_id, again.is_foreign) == (True, False)


def test_removing_twice_is_no_error(servers: Servers, debrid: TorBox) -> None:
    torrent = debrid.fetch(hash_of(servers, SPRING), None)
    assert [row.is_ready for row in debrid.torrents()] == [True]
    debrid.remove(torrent.torrent_id)
    debrid.remove(torrent.torrent_id)
    assert list(debrid.torrents()) == []


def test_a_lost_answer_to_adding_leads_to_a_torrent_of_our_own(servers: Servers, debrid: TorBox) -> None:
    infohash = hash_of(servers, SPRING)
    servers.control(
        "/faults", {"provider": "torbox", "path": "createtorrent", "kind": "cut", "bytes": 0, "count": 1}
    )
    with pytest.raises(Transient):
        debrid.fetch(infohash, None)
    torrent = debrid.fetch(infohash, None)
    assert [str(row["id"]) for row in on_account(servers)] == [torrent.torrent_id]
    assert not torrent.is_foreign


@pytest.mark.parametrize("code", ["BAD_TOKEN", "PLAN_RESTRICTED_FEATURE"])
def test_a_fault_of_the_account_is_a_setting_to_mend(servers: Servers, debrid: TorBox, code: str) -> None:
    servers.control("/faults", {"provider": "torbox", "kind": "status", "status": 403, "code": code})
    with pytest.raises(Misconfigured, match=code):
        debrid.account()


@pytest.mark.parametrize(
    ("status", "code"), [(200, "DATABASE_ERROR"), (500, None), (400, "DOWNLOAD_SERVER_ERROR")]
)
def test_a_fault_of_the_service_passes(
    servers: Servers, debrid: TorBox, status: int, code: str | None
) -> None:
    servers.control("/faults", {"provider": "torbox", "kind": "status", "status": status, "code": code})
    with pytest.raises(Transient):
        debrid.account()


# --- answers that the stand-in does not give


def refusing(odd: HTTPServer, status: int = 400, **told: Any) -> None:
    odd.expect_request("/torrents/mylist").respond_with_json({"success": True, "error": None, "data": []})
    held = {HASH: {"name": "Demo", "size": 1, "hash": HASH}}
    odd.expect_request("/torrents/checkcached").respond_with_json({"success": True, "data": held})
    refusal = {"success": False, "error": None, "detail": "no", "data": None, **told}
    odd.expect_request("/torrents/createtorrent").respond_with_json(refusal, status)


@pytest.mark.parametrize(
    "told",
    [
        {"error": "ACTIVE_LIMIT"},
        {"data": {"active_limit": 3, "current_active_downloads": 3}},
        {"error": "DIFF_ISSUE", "detail": "You have reached the maximum queued downloads."},
    ],
)
def test_full_slots_stop_all_adding_for_a_while(odd: HTTPServer, odd_url: str, told: dict[str, Any]) -> None:
    refusing(odd, 200, **told)
    debrid = make(TorBox, odd_url)
    for _ in range(2):
        with pytest.raises(RetryLater, match="slots"):
            debrid.fetch(HASH, None)
    assert sum(request.path == "/torrents/createtorrent" for request, _ in odd.log) == 1


@pytest.mark.parametrize(
    "told", [{"error": "MONTHLY_LIMIT"}, {"data": {"cooldown_until": "2031-01-01T00:00:00Z"}}]
)
def test_a_limit_of_adding_is_waited_out_and_reading_goes_on(
    odd: HTTPServer, odd_url: str, told: dict[str, Any]
) -> None:
    refusing(odd, **told)
    odd.expect_request("/torrents/requestdl").respond_with_json(
        {"success": True, "data": "http://cdn.test/f"}
    )
    debrid = make(TorBox, odd_url)
    with pytest.raises(RetryLater):
        debrid.fetch(HASH, None)
    assert debrid.link(StreamLinkRequested("1", "0", None, "f", 1)).url == "http://cdn.test/f"


def test_no_more_is_added_in_an_hour_than_the_vendor_allows(odd: HTTPServer, odd_url: str) -> None:
    refusing(odd, error="BOZO_TORRENT")
    clock = ManualClock(SystemClock().now())
    debrid = make(TorBox, odd_url, clock)
    for _ in range(ADDED_PER_HOUR):
        clock.advance(1)
        with pytest.raises(DownloadRefused):
            debrid.fetch(HASH, None)
    with pytest.raises(RetryLater, match="within an hour") as caught:
        debrid.fetch(HASH, None)
    assert timedelta(minutes=58) < caught.value.at - clock.now() <= timedelta(hours=1)


def test_a_file_whose_number_is_zero_is_a_file_and_an_archive_is_none(odd: HTTPServer, odd_url: str) -> None:
    files = [
        {"id": 0, "name": "Demo/Demo.mkv", "size": 7, "zipped": False},
        {"id": 1, "name": "Demo/More.mkv", "size": 8, "zipped": True},
    ]
    row = {"id": 5, "hash": HASH.upper(), "name": "Demo", "download_state": "cached", "files": files}
    row |= {"download_finished": True, "download_present": True, "created_at": "2031-01-01T00:00:00Z"}
    odd.expect_request(
        "/torrents/mylist", query_string={"id": "5", "bypass_cache": "true"}
    ).respond_with_json({"success": True, "error": False, "data": row})
    odd.expect_request("/torrents/mylist").respond_with_json(
        {"success": True, "error": "null", "data": [row]}
    )
    [file] = make(TorBox, odd_url).fetch(HASH, None).files
    assert (file.file_id, file.path, file.size) == ("0", "Demo/Demo.mkv", 7)


def test_the_key_in_an_address_is_told_to_nobody(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/torrents/requestdl").respond_with_data("<html>no</html>", content_type="text/html")
    with pytest.raises(BadAnswer) as caught:
        make(TorBox, odd_url).link(StreamLinkRequested("1", "0", None, "f", 1))
    assert SECRET not in str(caught.value)


def test_an_account_without_a_plan_is_a_setting_to_mend(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/user/me").respond_with_json({"success": True, "data": {"email": "u", "plan": 0}})
    with pytest.raises(Misconfigured, match="without a plan"):
        make(TorBox, odd_url).check()
