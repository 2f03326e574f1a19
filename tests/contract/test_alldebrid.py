"""AllDebrid: what is asked in which order, what is kept on the account, and what its answers of 200 mean."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request
from werkzeug import Response as Answer

from program.clock import SystemClock
from program.demo.launch import Servers
from program.errors import BadAnswer, Misconfigured, RetryLater, Transient, Unavailable
from program.events import StreamLinkRequested
from program.media.entry import FetchedTorrent, TorrentFile
from program.services.downloaders.alldebrid import AllDebrid
from program.services.plugin import DownloadRefused
from tests.support.providers import Make, make

HASH = "c08a9ee8ce3a5c2c08865e2b05406273cabc97e7"
SPRING = "Spring.2019.720p.WEB.x264-CC"
PACK = "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"


@pytest.fixture
def debrid(provider: Make) -> AllDebrid:
    made: AllDebrid = provider(AllDebrid)
    return made


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def on_account(servers: Servers) -> list[dict[str, Any]]:
    return list(servers.control("/magnets")["magnets"])


def asked(servers: Servers) -> list[str]:
    """Return what AllDebrid was asked, as `magnet/upload`."""
    rows = servers.control("/requests?provider=alldebrid")["requests"]
    return [str(row["path"]).partition("/v4")[2].partition("/")[2].partition("?")[0] for row in rows]


def add_by_hand(servers: Servers, infohash: str) -> str:
    """Add a torrent as the account's user does, and return its id."""
    hand = make(AllDebrid, servers.ready["alldebrid"]["url"], api_key=servers.ready["alldebrid"]["key"])
    hand.http.post("/v4/magnet/upload", form={"magnets[]": infohash})
    return str(on_account(servers)[0]["id"])


def wish(torrent: FetchedTorrent, file: TorrentFile, **changes: Any) -> StreamLinkRequested:
    name = file.path.rpartition("/")[2]
    facts = {"file_id": file.file_id, "link": file.link, "file_name": name, "size": file.size, **changes}
    return StreamLinkRequested(torrent_id=torrent.torrent_id, **facts)


# --- against the stand-in


def test_a_held_film_costs_three_questions_and_can_be_read(servers: Servers, debrid: AllDebrid) -> None:
    infohash = hash_of(servers, SPRING)
    torrent = debrid.fetch(infohash, None)
    assert asked(servers) == ["magnet/status", "magnet/upload", "magnet/files"]
    [row] = on_account(servers)
    assert (torrent.torrent_id, torrent.infohash, torrent.is_foreign) == (str(row["id"]), infohash, False)
    [file] = torrent.files
    link = debrid.link(wish(torrent, file))
    assert link.url.startswith(servers.ready["alldebrid-cdn"]["root"])
    assert link.expires_at is not None
    assert link.expires_at > SystemClock().now() + timedelta(hours=1)


def test_of_a_pack_each_video_has_its_place_its_size_and_its_own_link(
    servers: Servers, debrid: AllDebrid
) -> None:
    torrent = debrid.fetch(hash_of(servers, PACK), None)
    sizes = {
        one["path"]: one["size"] for one in servers.control("/origins")["files"] if one["release"] == PACK
    }
    found = {file.path.removeprefix(f"{PACK}/"): file.size for file in torrent.files}
    assert found == {path: size for path, size in sizes.items() if path.endswith(".mkv")}
    assert len({file.link for file in torrent.files}) == len(torrent.files) > 6


def test_the_account_is_listed_once_for_many_films(servers: Servers, debrid: AllDebrid) -> None:
    for name in (SPRING, "Sprite.Fright.2021.720p.WEB.x264-CC"):
        debrid.fetch(hash_of(servers, name), None)
    assert asked(servers).count("magnet/status") == 1


def test_what_is_not_held_is_refused_and_taken_off_the_account(servers: Servers, debrid: AllDebrid) -> None:
    for infohash in (hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"), HASH):
        with pytest.raises(DownloadRefused) as refused:
            debrid.fetch(infohash, None)
        assert (refused.value.code, refused.value.torrent_id) == ("not_cached", None)
    assert on_account(servers) == []


def test_a_torrent_without_video_is_refused(servers: Servers, debrid: AllDebrid) -> None:
    infohash = hash_of(servers, "Tears.of.Steel.2012.1080p.BluRay.x264.TrueHD.5.1-PACKED")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert refused.value.code == "no_video"
    assert on_account(servers) == []


def test_what_the_user_has_on_the_account_is_used_and_called_foreign(
    servers: Servers, debrid: AllDebrid
) -> None:
    infohash = hash_of(servers, SPRING)
    theirs = add_by_hand(servers, infohash)
    torrent = debrid.fetch(infohash, None)
    assert (torrent.torrent_id, torrent.is_foreign) == (theirs, True)
    assert len(on_account(servers)) == 1


def test_what_the_user_is_downloading_is_never_deleted(servers: Servers, debrid: AllDebrid) -> None:
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW")
    theirs = add_by_hand(servers, infohash)
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert refused.value.code == "not_cached"
    assert [str(row["id"]) for row in on_account(servers)] == [theirs]


def test_a_torrent_that_was_deleted_meanwhile_is_added_again(servers: Servers, debrid: AllDebrid) -> None:
    infohash = hash_of(servers, SPRING)
    first = debrid.fetch(infohash, None)
    other = make(AllDebrid, servers.ready["alldebrid"]["url"], api_key=servers.ready["alldebrid"]["key"])
    other.remove(first.torrent_id)
    again = debrid.fetch(infohash, first.torrent_id)
    assert [str(row["id"]) for row in on_account(servers)] == [again.torrent_id]
    assert (again.torrent_id != first.torrent_id, again.is_foreign) == (True, False)


def test_a_lost_answer_to_adding_leads_to_a_torrent_of_our_own(servers: Servers, debrid: AllDebrid) -> None:
    infohash = hash_of(servers, SPRING)
    servers.control(
        "/faults", {"provider": "alldebrid", "path": "upload", "kind": "cut", "bytes": 0, "count": 1}
    )
    with pytest.raises(Transient):
        debrid.fetch(infohash, None)
    torrent = debrid.fetch(infohash, None)
    assert [str(row["id"]) for row in on_account(servers)] == [torrent.torrent_id]
    assert not torrent.is_foreign


def test_a_torrent_that_cannot_be_deleted_now_is_reported(servers: Servers, debrid: AllDebrid) -> None:
    servers.control("/faults", {"provider": "alldebrid", "path": "delete", "kind": "status", "status": 502})
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    [row] = on_account(servers)
    assert refused.value.torrent_id == str(row["id"])


def test_removing_twice_is_no_error(servers: Servers, debrid: AllDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, SPRING), None)
    debrid.remove(torrent.torrent_id)
    debrid.remove(torrent.torrent_id)
    assert on_account(servers) == []


def test_the_list_of_the_account_says_what_is_ready_and_since_when(
    servers: Servers, debrid: AllDebrid
) -> None:
    assert list(debrid.torrents()) == []
    torrent = debrid.fetch(hash_of(servers, SPRING), None)
    [row] = debrid.torrents()
    assert (row.torrent_id, row.infohash, row.is_ready) == (torrent.torrent_id, torrent.infohash, True)
    assert row.added_at is not None
    assert abs(row.added_at - SystemClock().now()) < timedelta(minutes=1)


def test_a_fresh_address_is_had_after_the_old_one_has_expired(servers: Servers, debrid: AllDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, SPRING), None)
    first = debrid.link(wish(torrent, torrent.files[0]))
    servers.control("/expire", {})
    assert debrid.link(wish(torrent, torrent.files[0])).url != first.url


def test_a_link_that_is_not_known_is_found_by_the_file(servers: Servers, debrid: AllDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, PACK), None)
    file = next(file for file in torrent.files if "S01E03" in file.path)
    assert "S01E03" in debrid.link(wish(torrent, file, link=None)).url


def test_a_file_of_a_deleted_torrent_is_gone(servers: Servers, debrid: AllDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, SPRING), None)
    debrid.remove(torrent.torrent_id)
    with pytest.raises(DownloadRefused) as refused:
        debrid.link(wish(torrent, torrent.files[0]))
    assert refused.value.code == "gone"


def test_a_wrong_key_is_a_setting_to_mend(servers: Servers) -> None:
    with pytest.raises(Misconfigured, match="AUTH_BAD_APIKEY"):
        make(AllDebrid, servers.ready["alldebrid"]["url"], api_key="not-the-key").check()


# --- answers that the stand-in does not give


def refusing(odd: HTTPServer, code: str, status: int = 200) -> None:
    error = {"code": code, "message": "so it is"}
    odd.expect_request("/v4.1/magnet/status").respond_with_json(success({"magnets": []}))
    odd.expect_request("/v4/magnet/upload").respond_with_json({"status": "error", "error": error}, status)


def success(data: object) -> dict[str, object]:
    return {"status": "success", "data": data}


@pytest.mark.parametrize("status", [200, 401, 503])
@pytest.mark.parametrize("code", ["AUTH_USER_BANNED", "NO_SERVER", "MAGNET_MUST_BE_PREMIUM"])
def test_a_fault_of_the_account_is_a_setting_to_mend_whatever_its_status(
    odd: HTTPServer, odd_url: str, code: str, status: int
) -> None:
    refusing(odd, code, status)
    with pytest.raises(Misconfigured, match=code):
        make(AllDebrid, odd_url).fetch(HASH, None)


def test_a_call_too_many_pauses_the_service_and_is_no_failure_of_it(odd: HTTPServer, odd_url: str) -> None:
    refusing(odd, "GENERIC", 429)
    debrid = make(AllDebrid, odd_url)
    with pytest.raises(Unavailable, match="asks to slow down"):
        debrid.fetch(HASH, None)
    assert debrid.http.statistics().level == 0
    assert debrid.http.statistics().paused_until is not None


def test_maintenance_pauses_the_service(odd: HTTPServer, odd_url: str) -> None:
    refusing(odd, "MAINTENANCE")
    with pytest.raises(Unavailable, match="MAINTENANCE"):
        make(AllDebrid, odd_url).fetch(HASH, None)


@pytest.mark.parametrize("place", ["entry", "envelope"])
@pytest.mark.parametrize("code", ["MAGNET_TOO_MANY_ACTIVE", "MAGNET_TOO_MANY"])
def test_full_slots_stop_all_adding_for_a_while(odd: HTTPServer, odd_url: str, code: str, place: str) -> None:
    if place == "entry":
        odd.expect_request("/v4.1/magnet/status").respond_with_json(success({"magnets": []}))
        entry = {"magnet": HASH, "error": {"code": code, "message": "full"}}
        odd.expect_request("/v4/magnet/upload").respond_with_json(success({"magnets": [entry]}))
    else:
        refusing(odd, code)
    debrid = make(AllDebrid, odd_url)
    for infohash in (HASH, HASH[::-1]):
        with pytest.raises(RetryLater, match="slots"):
            debrid.fetch(infohash, None)
    assert sum(request.path == "/v4/magnet/upload" for request, _ in odd.log) == 1


def test_a_magnet_that_is_being_worked_on_is_asked_for_again(odd: HTTPServer, odd_url: str) -> None:
    refusing(odd, "MAGNET_PROCESSING")
    with pytest.raises(RetryLater, match="at work"):
        make(AllDebrid, odd_url).fetch(HASH, None)


@pytest.mark.parametrize("code", ["MAGNET_INVALID_URI", "MAGNET_TOO_LARGE", "A_NEW_CODE"])
def test_a_magnet_that_is_refused_is_dead_there(odd: HTTPServer, odd_url: str, code: str) -> None:
    refusing(odd, code)
    with pytest.raises(DownloadRefused) as refused:
        make(AllDebrid, odd_url).fetch(HASH, None)
    assert refused.value.code == "dead"
    assert code in str(refused.value)


TREE: list[dict[str, Any]] = [
    {"n": "Season 1", "e": [{"n": "Demo - S01E01 - The World.mkv", "s": 489401205, "l": "L1"}]},
    {"n": "poster.jpg", "s": 494325, "l": "L2"},
]


def holding(odd: HTTPServer, files: list[dict[str, Any]]) -> None:
    """An account with one torrent that holds these files."""
    row = {"id": 12, "filename": "Demo", "hash": HASH.upper(), "status": "Ready", "statusCode": 4}
    odd.expect_request("/v4.1/magnet/status").respond_with_json(success({"magnets": [row]}))
    odd.expect_request("/v4/magnet/files").respond_with_json(
        success({"magnets": [{"id": "12", "files": files}]})
    )


def test_folders_are_read_at_any_depth(odd: HTTPServer, odd_url: str) -> None:
    holding(odd, [{"n": "Demo", "e": [{"n": "Disc 1", "e": TREE}]}])
    [file] = make(AllDebrid, odd_url).fetch(HASH, None).files
    path = "Demo/Disc 1/Season 1/Demo - S01E01 - The World.mkv"
    assert (file.path, file.link, file.size) == (path, "L1", 489401205)


def test_a_lone_file_needs_no_folder(odd: HTTPServer, odd_url: str) -> None:
    holding(odd, [{"n": "Single.Movie.2020.mkv", "s": 4000000000, "l": "L3"}])
    [file] = make(AllDebrid, odd_url).fetch(HASH, None).files
    assert (file.path, file.link) == ("Single.Movie.2020.mkv", "L3")


def test_a_folder_that_is_named_like_a_video_is_a_folder(odd: HTTPServer, odd_url: str) -> None:
    name = "Demo - 2031.mkv"
    holding(odd, [{"n": name, "e": [{"n": name, "s": 7, "l": "L1"}]}])
    [file] = make(AllDebrid, odd_url).fetch(HASH, None).files
    assert (file.path, file.size) == (f"{name}/{name}", 7)


def test_folders_without_end_are_no_answer(odd: HTTPServer, odd_url: str) -> None:
    tree: dict[str, Any] = {"n": "a.mkv", "s": 1, "l": "L1"}
    for _ in range(40):
        tree = {"n": "more", "e": [tree]}
    holding(odd, [tree])
    with pytest.raises(BadAnswer, match="without end"):
        make(AllDebrid, odd_url).fetch(HASH, None)


WANTED = StreamLinkRequested(
    torrent_id="12",
    file_id="Season 1/Demo - S01E01 - The World.mkv",
    link="L0",
    file_name="Demo - S01E01 - The World.mkv",
    size=489401205,
)
DOWN = {"status": "error", "error": {"code": "LINK_DOWN", "message": "not available"}}


def leads_to(name: str, size: int, link: str = "http://cdn.test/file") -> dict[str, object]:
    return success({"link": link, "filename": name, "filesize": size, "host": "magnet", "id": "x"})


def unlocking(odd: HTTPServer, answers: dict[str, dict[str, object]]) -> None:
    """Answer an unlocking by the link that is to be unlocked."""

    def answer(request: Request) -> Answer:
        link = parse_qs(request.get_data(as_text=True))["link"][0]
        return Answer(json.dumps(answers[link]), content_type="application/json")

    odd.expect_request("/v4/link/unlock").respond_with_handler(answer)


@pytest.mark.parametrize("first", [DOWN, leads_to("Other.mkv", 489401205), leads_to(WANTED.file_name, 7)])
def test_a_link_that_does_not_lead_to_the_file_is_replaced_by_the_one_that_does(
    odd: HTTPServer, odd_url: str, first: dict[str, object]
) -> None:
    holding(odd, TREE)
    right = leads_to(WANTED.file_name, WANTED.size, "http://cdn.test/right")
    unlocking(odd, {"L0": first, "L1": right})
    assert make(AllDebrid, odd_url).link(WANTED).url == "http://cdn.test/right"


def test_a_file_whose_links_are_all_dead_is_gone(odd: HTTPServer, odd_url: str) -> None:
    holding(odd, TREE)
    unlocking(odd, {"L0": DOWN, "L1": DOWN})
    with pytest.raises(DownloadRefused) as refused:
        make(AllDebrid, odd_url).link(WANTED)
    assert refused.value.code == "gone"


def test_a_file_that_is_being_made_ready_is_asked_for_again(odd: HTTPServer, odd_url: str) -> None:
    waiting = success({"link": "", "filename": WANTED.file_name, "filesize": WANTED.size, "delayed": 77})
    unlocking(odd, {"L0": waiting})
    with pytest.raises(Transient, match="made ready"):
        make(AllDebrid, odd_url).link(WANTED)


def test_a_torrent_whose_links_were_taken_away_is_dead_and_deleted(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/v4.1/magnet/status").respond_with_json(success({"magnets": []}))
    sent = {"magnet": HASH, "hash": HASH, "name": "Demo", "size": 1, "ready": True, "id": 12}
    odd.expect_request("/v4/magnet/upload").respond_with_json(success({"magnets": [sent]}))
    error = {"code": "MAGNET_LINKS_REMOVED", "message": "gone"}
    odd.expect_request("/v4/magnet/files").respond_with_json(
        success({"magnets": [{"id": 12, "error": error}]})
    )
    odd.expect_request("/v4/magnet/delete").respond_with_json(success({"message": "deleted"}))
    with pytest.raises(DownloadRefused) as refused:
        make(AllDebrid, odd_url).fetch(HASH, None)
    assert (refused.value.code, refused.value.torrent_id) == ("dead", None)


@pytest.mark.parametrize(
    "answer",
    [{"data": {"user": {"username": "u"}}}, {"status": "success"}, [], {"status": "success", "data": 5}],
)
def test_an_answer_without_its_envelope_is_none(odd: HTTPServer, odd_url: str, answer: object) -> None:
    odd.expect_request("/v4/user").respond_with_json(answer)
    with pytest.raises(BadAnswer):
        make(AllDebrid, odd_url).account()


def test_a_free_account_is_a_setting_to_mend(odd: HTTPServer, odd_url: str) -> None:
    user = {"username": "u", "isPremium": False, "premiumUntil": 0}
    odd.expect_request("/v4/user").respond_with_json(success({"user": user}))
    with pytest.raises(Misconfigured, match="not premium"):
        make(AllDebrid, odd_url).check()
