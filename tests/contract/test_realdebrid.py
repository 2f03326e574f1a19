"""Real-Debrid: what is asked in which order, what is kept on the account, and which link belongs to which file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request
from werkzeug import Response as Answer

from program.clock import SystemClock
from program.demo.launch import Servers
from program.errors import Misconfigured, NotFound, RetryLater, Transient, Unavailable
from program.events import StreamLinkRequested
from program.media.entry import FetchedTorrent, TorrentFile
from program.services.downloaders.realdebrid import RealDebrid
from program.services.plugin import DownloadRefused
from tests.support.providers import Make, make

HASH = "c08a9ee8ce3a5c2c08865e2b05406273cabc97e7"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at a torrent without the real pauses."""
    monkeypatch.setattr("program.services.downloaders.realdebrid.LOOKS", (0.0, 0.01, 0.01, 0.01))


@pytest.fixture
def debrid(provider: Make) -> RealDebrid:
    made: RealDebrid = provider(RealDebrid)
    return made


def hash_of(servers: Servers, name: str) -> str:
    return str(
        next(one["infohash"] for one in servers.control("/catalog")["releases"] if one["name"] == name)
    )


def on_account(servers: Servers) -> list[dict[str, Any]]:
    return list(servers.control("/account")["torrents"])


def asked(servers: Servers) -> list[str]:
    """Return what Real-Debrid was asked, as `GET /torrents/info`."""
    rows = servers.control("/requests?provider=realdebrid")["requests"]
    return [f"{row['method']} {row['path'].partition('/1.0')[2].partition('?')[0]}" for row in rows]


def add_by_hand(servers: Servers, infohash: str, files: str | None = None) -> str:
    """Add a torrent as the account's user does, and return its id."""
    hand = make(RealDebrid, servers.ready["realdebrid"]["url"], api_key=servers.ready["realdebrid"]["key"])
    form = {"magnet": f"magnet:?xt=urn:btih:{infohash}"}
    torrent_id = str(hand.http.post("/torrents/addMagnet", form=form).data()["id"])  # type: ignore[index]
    if files:
        hand.http.post(f"/torrents/selectFiles/{torrent_id}", form={"files": files})
    return torrent_id


def wish(torrent: FetchedTorrent, file: TorrentFile, **changes: Any) -> StreamLinkRequested:
    name = file.path.rpartition("/")[2]
    facts = {"file_id": file.file_id, "link": file.link, "file_name": name, "size": file.size, **changes}
    return StreamLinkRequested(torrent_id=torrent.torrent_id, **facts)


# --- against the stand-in


def test_a_held_film_costs_five_questions_and_can_be_read(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.WEB-DL.AAC2.0.H.264-OPEN")
    torrent = debrid.fetch(infohash, None)
    [row] = on_account(servers)
    info = f"GET /torrents/info/{row['id']}"
    select = f"POST /torrents/selectFiles/{row['id']}"
    assert asked(servers) == ["GET /torrents", "POST /torrents/addMagnet", info, select, info]
    assert (torrent.torrent_id, torrent.infohash, torrent.is_foreign) == (row["id"], infohash, False)
    [file] = torrent.files
    link = debrid.link(wish(torrent, file))
    assert link.url.startswith(servers.ready["cdn"]["root"])
    assert link.expires_at is not None
    assert link.expires_at > SystemClock().now() + timedelta(hours=1)


def test_the_account_is_listed_once_for_many_films(servers: Servers, debrid: RealDebrid) -> None:
    for name in ("Spring.2019.720p.WEB.x264-CC", "Sprite.Fright.2021.720p.WEB.x264-CC"):
        debrid.fetch(hash_of(servers, name), None)
    assert asked(servers).count("GET /torrents") == 1


@pytest.mark.usefixtures("quick")
def test_of_a_pack_the_videos_are_selected_and_each_has_its_own_link(
    servers: Servers, debrid: RealDebrid
) -> None:
    torrent = debrid.fetch(hash_of(servers, "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"), None)
    [row] = on_account(servers)
    assert [file.path for file in torrent.files] == row["selected"]
    assert all(path.endswith(".mkv") for path in row["selected"])
    assert len({file.link for file in torrent.files}) == len(torrent.files) > 6
    sizes = {one["path"]: one["size"] for one in servers.control("/origins")["files"]}
    assert all(sizes[file.path] == file.size for file in torrent.files)


@pytest.mark.usefixtures("quick")
def test_what_is_not_held_is_refused_and_taken_off_the_account(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert (refused.value.code, refused.value.torrent_id) == ("not_cached", None)
    assert on_account(servers) == []
    assert len([one for one in asked(servers) if one.startswith("GET /torrents/info")]) == 5


@pytest.mark.usefixtures("quick")
def test_what_nobody_has_is_refused_and_taken_off_the_account(servers: Servers, debrid: RealDebrid) -> None:
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(HASH, None)
    assert refused.value.code == "not_cached"
    assert on_account(servers) == []


def test_a_magnet_that_takes_a_moment_is_waited_for(
    servers: Servers, debrid: RealDebrid, quick: None
) -> None:
    servers.control("/options", {"realdebrid_conversion_polls": 3})
    torrent = debrid.fetch(hash_of(servers, "Spring.2019.720p.WEB.x264-CC"), None)
    assert len(torrent.files) == 1


def test_a_torrent_without_video_is_refused(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Tears.of.Steel.2012.1080p.BluRay.x264.TrueHD.5.1-PACKED")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert refused.value.code == "no_video"
    assert on_account(servers) == []


def test_an_infringing_torrent_is_refused_for_good(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.7.1-TAKEN")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert (refused.value.code, refused.value.retry_at) == ("infringing", None)


def test_a_refusal_as_infringing_right_after_a_429_is_in_doubt(servers: Servers, debrid: RealDebrid) -> None:
    servers.control(
        "/faults",
        {"provider": "realdebrid", "kind": "status", "status": 429, "retry_after": 0.4, "count": 1},
    )
    with pytest.raises(Unavailable):
        debrid.account()
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.7.1-TAKEN")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    assert refused.value.code == "infringing"
    assert refused.value.retry_at is not None
    assert timedelta(minutes=9) < refused.value.retry_at - SystemClock().now() <= timedelta(minutes=10)


def test_what_the_user_has_on_the_account_is_used_and_called_foreign(
    servers: Servers, debrid: RealDebrid
) -> None:
    infohash = hash_of(servers, "Spring.2019.720p.WEB.x264-CC")
    theirs = add_by_hand(servers, infohash, "all")
    torrent = debrid.fetch(infohash, None)
    assert (torrent.torrent_id, torrent.is_foreign) == (theirs, True)
    assert len(on_account(servers)) == 1


@pytest.mark.usefixtures("quick")
def test_what_the_user_is_downloading_is_never_deleted(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW")
    theirs = add_by_hand(servers, infohash, "all")
    with pytest.raises(DownloadRefused):
        debrid.fetch(infohash, None)
    assert [row["id"] for row in on_account(servers)] == [theirs]


def test_a_selection_of_the_user_that_leaves_videos_out_gets_a_torrent_beside_it(
    servers: Servers, debrid: RealDebrid
) -> None:
    infohash = hash_of(servers, "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN")
    theirs = add_by_hand(servers, infohash, "2")
    torrent = debrid.fetch(infohash, None)
    assert torrent.torrent_id != theirs
    assert not torrent.is_foreign
    assert len(torrent.files) > 6
    assert theirs in [row["id"] for row in on_account(servers)]


def test_a_torrent_left_before_its_files_were_selected_is_gone_on_with(
    servers: Servers, debrid: RealDebrid
) -> None:
    infohash = hash_of(servers, "Spring.2019.720p.WEB.x264-CC")
    left = add_by_hand(servers, infohash)
    torrent = debrid.fetch(infohash, left)
    assert (torrent.torrent_id, torrent.is_foreign) == (left, False)
    assert "GET /torrents" not in asked(servers)[1:]


def test_a_known_torrent_that_is_gone_is_added_again(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Spring.2019.720p.WEB.x264-CC")
    torrent = debrid.fetch(infohash, "NOSUCHTORRENT")
    assert [row["id"] for row in on_account(servers)] == [torrent.torrent_id]


def test_a_lost_answer_to_adding_leads_to_no_second_torrent(servers: Servers, debrid: RealDebrid) -> None:
    infohash = hash_of(servers, "Spring.2019.720p.WEB.x264-CC")
    servers.control(
        "/faults", {"provider": "realdebrid", "path": "addMagnet", "kind": "cut", "bytes": 0, "count": 1}
    )
    with pytest.raises(Transient):
        debrid.fetch(infohash, None)
    torrent = debrid.fetch(infohash, None)
    assert [row["id"] for row in on_account(servers)] == [torrent.torrent_id]
    assert not torrent.is_foreign


def test_full_slots_stop_all_adding_for_a_while(servers: Servers, debrid: RealDebrid) -> None:
    servers.control("/options", {"realdebrid_active_limit": 0})
    for name in ("Spring.2019.720p.WEB.x264-CC", "Sprite.Fright.2021.720p.WEB.x264-CC"):
        with pytest.raises(RetryLater, match="slots") as caught:
            debrid.fetch(hash_of(servers, name), None)
        assert type(caught.value) is RetryLater
    assert asked(servers).count("POST /torrents/addMagnet") == 1


@pytest.mark.usefixtures("quick")
def test_a_torrent_that_cannot_be_deleted_now_is_reported(servers: Servers, debrid: RealDebrid) -> None:
    servers.control("/faults", {"provider": "realdebrid", "path": "delete", "kind": "status", "status": 502})
    infohash = hash_of(servers, "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW")
    with pytest.raises(DownloadRefused) as refused:
        debrid.fetch(infohash, None)
    [row] = on_account(servers)
    assert refused.value.torrent_id == row["id"]


def test_removing_twice_is_no_error(servers: Servers, debrid: RealDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, "Spring.2019.720p.WEB.x264-CC"), None)
    debrid.remove(torrent.torrent_id)
    debrid.remove(torrent.torrent_id)
    assert on_account(servers) == []


def test_an_empty_account_is_an_empty_list(debrid: RealDebrid) -> None:
    assert list(debrid.torrents()) == []


def test_a_fresh_address_is_had_after_the_old_one_has_expired(servers: Servers, debrid: RealDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, "Spring.2019.720p.WEB.x264-CC"), None)
    first = debrid.link(wish(torrent, torrent.files[0]))
    servers.control("/expire", {})
    assert debrid.link(wish(torrent, torrent.files[0])).url != first.url


def test_a_link_that_is_not_known_is_found_by_the_file(servers: Servers, debrid: RealDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, "Pioneer.One.S01.1080p.WEB-DL.AAC2.0.H.264-OPEN"), None)
    file = next(file for file in torrent.files if "S01E03" in file.path)
    assert "S01E03" in debrid.link(wish(torrent, file, link=None)).url


def test_a_file_of_a_deleted_torrent_is_gone(servers: Servers, debrid: RealDebrid) -> None:
    torrent = debrid.fetch(hash_of(servers, "Spring.2019.720p.WEB.x264-CC"), None)
    debrid.remove(torrent.torrent_id)
    with pytest.raises(DownloadRefused) as refused:
        debrid.link(wish(torrent, torrent.files[0]))
    assert refused.value.code == "gone"


@pytest.mark.parametrize("code", [23, 36])
def test_used_up_traffic_pauses_the_account_for_an_hour(
    servers: Servers, debrid: RealDebrid, code: int
) -> None:
    servers.control(
        "/faults", {"provider": "realdebrid", "kind": "status", "status": 503, "code": code, "count": 1}
    )
    with pytest.raises(Unavailable, match="traffic is used up") as caught:
        debrid.account()
    assert timedelta(minutes=59) < caught.value.at - SystemClock().now() <= timedelta(hours=1)


@pytest.mark.parametrize("code", [8, 9, 14, 20, 22])
def test_a_fault_of_the_account_is_a_setting_to_mend(servers: Servers, debrid: RealDebrid, code: int) -> None:
    servers.control("/faults", {"provider": "realdebrid", "kind": "status", "status": 403, "code": code})
    with pytest.raises(Misconfigured):
        debrid.account()


@pytest.mark.parametrize("code", [5, 34])
def test_a_wish_to_slow_down_is_heard_whatever_its_status(
    servers: Servers, debrid: RealDebrid, code: int
) -> None:
    servers.control("/faults", {"provider": "realdebrid", "kind": "status", "status": 503, "code": code})
    with pytest.raises(Unavailable):
        debrid.account()


# --- answers that the stand-in does not give


@dataclass
class Script:
    """A Real-Debrid whose one torrent and links a test makes up. links: link to the answer of unrestricting it."""

    files: list[dict[str, Any]]
    links: dict[str, dict[str, Any] | tuple[int, int]]
    status_after: str = "downloaded"
    selected: set[str] = field(default_factory=set)
    deleted: list[str] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)

    def serve(self, server: HTTPServer) -> None:
        routes: dict[tuple[str, str], Callable[[Request], Answer]] = {
            ("GET", "/torrents"): self._list,
            ("POST", "/torrents/addMagnet"): lambda _: json_answer({"id": 77, "uri": ""}, 201),
            ("GET", "/torrents/info/77"): self._info,
            ("POST", "/torrents/selectFiles/77"): self._select,
            ("DELETE", "/torrents/delete/77"): self._delete,
            ("POST", "/unrestrict/link"): self._unrestrict,
        }
        for (method, path), handler in routes.items():
            server.expect_request(path, method=method).respond_with_handler(handler)

    def _list(self, request: Request) -> Answer:
        page, limit = int(request.args["page"]), int(request.args["limit"])
        part = self.listed[(page - 1) * limit : page * limit]
        return json_answer(part) if part else Answer("", 204)

    def _info(self, _: Request) -> Answer:
        chosen = bool(self.selected)
        return json_answer(
            {
                "id": 77,
                "hash": HASH,
                "filename": "Demo.S01",
                "status": self.status_after if chosen else "waiting_files_selection",
                "files": [{**file, "selected": int(str(file["id"]) in self.selected)} for file in self.files],
                "links": list(self.links) if chosen else [],
            }
        )

    def _select(self, request: Request) -> Answer:
        self.selected = set(form(request)["files"].split(","))
        return Answer("", 202)

    def _delete(self, _: Request) -> Answer:
        self.deleted.append("77")
        return Answer("", 204)

    def _unrestrict(self, request: Request) -> Answer:
        told = self.links.get(form(request)["link"], (503, 24))
        if isinstance(told, tuple):
            return json_answer({"error": "no", "error_code": told[1]}, told[0])
        return json_answer({"download": f"http://cdn.test/{told['filename']}", **told})


def json_answer(data: object, status: int = 200) -> Answer:
    return Answer(json.dumps(data), status, content_type="application/json")


def form(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(request.get_data(as_text=True)).items()}


def episodes(*numbers: int, size: int = 0) -> list[dict[str, Any]]:
    return [
        {"id": n, "path": f"/S01/Demo.S01E0{n}.mkv", "bytes": size or 1000 + n, "selected": 0}
        for n in numbers
    ]


def leads_to(number: int, size: int = 0) -> dict[str, Any]:
    return {"filename": f"Demo.S01E0{number}.mkv", "filesize": size or 1000 + number}


@pytest.fixture
def scripted(odd: HTTPServer, odd_url: str, quick: None) -> Callable[..., RealDebrid]:
    def build(script: Script) -> RealDebrid:
        script.serve(odd)
        return make(RealDebrid, odd_url)

    return build


def test_fewer_links_than_files_are_joined_by_name(scripted: Callable[..., RealDebrid]) -> None:
    links: dict[str, Any] = {
        "L1": {"filename": "Demo.S01E03.mkv"},
        "L2": {"filename": "Demo.S01E01.mkv"},
    }
    torrent = scripted(Script(episodes(1, 2, 3), links)).fetch(HASH, None)
    assert {file.path: file.link for file in torrent.files} == {
        "S01/Demo.S01E01.mkv": "L2",
        "S01/Demo.S01E03.mkv": "L1",
    }


def test_fewer_links_whose_names_were_changed_are_joined_by_a_size_that_is_unique(
    scripted: Callable[..., RealDebrid],
) -> None:
    links: dict[str, Any] = {"L1": {"filename": "renamed.mkv", "filesize": 1003}}
    torrent = scripted(Script(episodes(1, 2, 3), links)).fetch(HASH, None)
    assert [(file.path, file.link) for file in torrent.files] == [("S01/Demo.S01E03.mkv", "L1")]


def test_a_size_that_several_files_have_proves_nothing(scripted: Callable[..., RealDebrid]) -> None:
    links: dict[str, Any] = {"L1": {"filename": "renamed.mkv", "filesize": 5000}}
    script = Script(episodes(1, 2, size=5000), links)
    with pytest.raises(DownloadRefused):
        scripted(script).fetch(HASH, None)
    assert script.deleted == ["77"]


@pytest.mark.parametrize(
    "answer",
    [
        {"filename": "Demo.S01.rar", "filesize": 2003},
        {"filename": "Demo.S01", "mimeType": "application/x-rar-compressed"},
    ],
)
def test_one_link_for_several_files_is_an_archive_and_refused(
    scripted: Callable[..., RealDebrid], answer: dict[str, Any]
) -> None:
    script = Script(episodes(1, 2), {"L1": answer})
    with pytest.raises(DownloadRefused) as refused:
        scripted(script).fetch(HASH, None)
    assert refused.value.code == "no_video"
    assert "archive" in str(refused.value)
    assert script.deleted == ["77"]


def test_links_in_another_order_than_the_files_never_serve_the_wrong_file(
    scripted: Callable[..., RealDebrid],
) -> None:
    debrid = scripted(Script(episodes(1, 2), {"L1": leads_to(2), "L2": leads_to(1)}))
    torrent = debrid.fetch(HASH, None)
    for file in torrent.files:
        assert debrid.link(wish(torrent, file)).url.endswith(file.path.rpartition("/")[2])


def test_files_of_one_size_are_told_by_their_names(scripted: Callable[..., RealDebrid]) -> None:
    links: dict[str, Any] = {"L1": leads_to(2, size=5000), "L2": leads_to(1, size=5000)}
    debrid = scripted(Script(episodes(1, 2, size=5000), links))
    torrent = debrid.fetch(HASH, None)
    assert debrid.link(wish(torrent, torrent.files[0])).url == "http://cdn.test/Demo.S01E01.mkv"


def test_a_link_to_a_file_of_another_size_is_gone(scripted: Callable[..., RealDebrid]) -> None:
    debrid = scripted(Script(episodes(1), {"L1": leads_to(1, size=999)}))
    torrent = debrid.fetch(HASH, None)
    with pytest.raises(DownloadRefused) as refused:
        debrid.link(wish(torrent, torrent.files[0]))
    assert refused.value.code == "gone"


@pytest.mark.parametrize(
    ("status", "code", "word"),
    [(503, 19, "gone"), (503, 24, "gone"), (503, 35, "infringing"), (404, 7, "gone")],
)
def test_a_dead_link_is_gone_and_one_that_is_refused_as_infringing_is_that(
    scripted: Callable[..., RealDebrid], status: int, code: int, word: str
) -> None:
    script = Script(episodes(1), {"L1": leads_to(1)})
    debrid = scripted(script)
    torrent = debrid.fetch(HASH, None)
    script.links = {"L1": (status, code)}
    with pytest.raises(DownloadRefused) as refused:
        debrid.link(wish(torrent, torrent.files[0]))
    assert refused.value.code == word


@pytest.mark.parametrize("state", ["error", "magnet_error", "virus", "dead"])
def test_a_broken_torrent_is_refused_as_dead(scripted: Callable[..., RealDebrid], state: str) -> None:
    script = Script(episodes(1), {}, status_after=state)
    with pytest.raises(DownloadRefused) as refused:
        scripted(script).fetch(HASH, None)
    assert refused.value.code == "dead"
    assert script.deleted == ["77"]


def test_a_folder_that_is_named_like_a_video_is_read_as_a_folder(scripted: Callable[..., RealDebrid]) -> None:
    name = "Demo - 2031.mkv"
    files = [{"id": 1, "path": f"/{name}/{name}", "bytes": 7, "selected": 0}]
    debrid = scripted(Script(files, {"L1": {"filename": name, "filesize": 7}}))
    torrent = debrid.fetch(HASH, None)
    assert [file.path for file in torrent.files] == [f"{name}/{name}"]


def test_the_list_of_the_account_is_read_to_its_end(odd: HTTPServer, odd_url: str) -> None:
    rows = [{"id": n, "hash": f"{n:040X}", "filename": "x", "status": "downloaded"} for n in range(5001)]
    Script([], {}, listed=rows).serve(odd)
    torrents = list(make(RealDebrid, odd_url).torrents())
    assert len(torrents) == 5001
    assert torrents[-1].infohash == f"{5000:040x}"
    assert torrents[-1].torrent_id == "5000"


def test_a_list_that_never_ends_is_left(odd: HTTPServer, odd_url: str) -> None:
    rows = [{"id": n, "hash": HASH, "filename": "x", "status": "downloaded"} for n in range(2500)]
    odd.expect_request("/torrents").respond_with_json(rows)
    assert len(list(make(RealDebrid, odd_url).torrents())) == 2500
    assert len(odd.log) == 2


def test_a_list_that_is_no_list_is_empty(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/torrents").respond_with_json({"error": None})
    assert list(make(RealDebrid, odd_url).torrents()) == []


def test_a_free_account_is_a_setting_to_mend(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/user").respond_with_json({"username": "u", "type": "free"})
    with pytest.raises(Misconfigured, match="not premium"):
        make(RealDebrid, odd_url).check()


def test_a_torrent_that_vanishes_while_it_is_worked_on_is_gone(
    odd: HTTPServer, odd_url: str, quick: None
) -> None:
    script = Script(episodes(1), {"L1": leads_to(1)})
    odd.expect_ordered_request("/torrents").respond_with_data("", 204)
    odd.expect_ordered_request("/torrents/addMagnet").respond_with_json({"id": "77"}, 201)
    odd.expect_ordered_request("/torrents/info/77").respond_with_handler(script._info)
    odd.expect_ordered_request("/torrents/selectFiles/77").respond_with_json(
        {"error": "unknown_ressource", "error_code": 7}, 404
    )
    with pytest.raises(DownloadRefused) as refused:
        make(RealDebrid, odd_url).fetch(HASH, None)
    assert refused.value.code == "gone"
    assert isinstance(refused.value.__cause__, NotFound)
