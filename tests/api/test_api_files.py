"""The library over HTTP: `/files` and `/dav`, from the same tree and readers as the mount."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import requests

from program.api import strm
from program.vfs.tree import TreeFile
from tests.api.home import KEY, PLACES, Home
from tests.support.cdn import Cdn, content
from tests.support.wait import until


@pytest.fixture
def cdn() -> Iterator[Cdn]:
    with Cdn() as server:
        yield server


pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)

JUNE = datetime(2031, 6, 1, 12, 0, 0, 500_000, tzinfo=UTC)
WRITTEN = "Sun, 01 Jun 2031 12:00:00 GMT"
FOLDER = "/movies/Demo & Söhne (2031)"
FILM = f"{FOLDER}/Demo & Söhne (2031) - 1080p.mkv"
BYTES = bytes(range(256)) * 40
LARGE = 48 * 1024 * 1024


@pytest.fixture
def shared(home: Home) -> Home:
    home.vfs.start(
        [
            TreeFile(FILM, 1, len(BYTES), JUNE, "film", BYTES),
            TreeFile("/shows/Demo Show/Season 01/Demo Show - s01e01.srt", -2, 5, JUNE, "text", b"words"),
            TreeFile("/movies/Large/Large.mkv", 3, LARGE, JUNE, "large", bytes(LARGE)),
            TreeFile("/movies/Empty/Empty.mkv", 4, 0, JUNE, "none", b""),
        ]
    )
    return home


def get(home: Home, path: str = f"/files{FILM}", method: str = "GET", **headers: str) -> requests.Response:
    return home.call(
        method, f"/{path}", headers={name.replace("_", "-"): text for name, text in headers.items()}
    )


# Files


def test_a_subtitle_beside_a_film_is_listed_and_read_like_any_file(home: Home) -> None:
    subtitle = TreeFile(".en.forced.srt", 2, 5, JUNE, "text", b"words", owner=1)
    home.vfs.start([TreeFile(FILM, 1, len(BYTES), JUNE, "film", BYTES, beside=(subtitle,))])
    path = FILM.replace(".mkv", ".en.forced.srt")
    assert path.rpartition("/")[2].replace("&", "&amp;") in get(home, f"/files{FOLDER}/").text
    answer = get(home, f"/files{path}")
    assert (answer.content, answer.headers["Content-Type"]) == (b"words", "application/x-subrip")
    assert get(home, f"/dav{path}").content == b"words"
    assert home.vfs.open_handles(1) == 0


def test_a_file_comes_whole_with_what_a_player_needs_to_know(shared: Home) -> None:
    answer = get(shared)
    assert (answer.status_code, answer.content) == (200, BYTES)
    assert answer.headers["Content-Type"] == "video/x-matroska"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Last-Modified"] == WRITTEN
    assert re.fullmatch(r'"[0-9a-f]{32}"', answer.headers["ETag"])


@pytest.mark.parametrize("root", ["/files", "/dav"])
def test_head_says_the_same_without_the_bytes(shared: Home, root: str) -> None:
    whole, head = get(shared, f"{root}{FILM}"), get(shared, f"{root}{FILM}", "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag", "Last-Modified", "Accept-Ranges"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=257-300", 257, 301),
        ("bytes=10239-10239", 10239, 10240),
        ("bytes=10000-", 10000, 10240),
        ("bytes=10000-999999", 10000, 10240),
        ("bytes=-1", 10239, 10240),
        ("bytes=-999999", 0, 10240),
    ],
)
def test_a_range_comes_exactly(shared: Home, asked: str, start: int, stop: int) -> None:
    answer = get(shared, Range=asked)
    assert (answer.status_code, answer.content) == (206, BYTES[start:stop])
    assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{len(BYTES)}"


@pytest.mark.parametrize("asked", ["bytes=10240-", "bytes=99999-100000"])
def test_a_range_behind_the_end_is_told_the_size(shared: Home, asked: str) -> None:
    answer = get(shared, Range=asked)
    assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */10240")


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "pages=1-2", "bytes=9-1", "bytes=x-y", "nonsense"])
def test_a_range_that_is_not_understood_gives_the_whole_file(shared: Home, asked: str) -> None:
    answer = get(shared, Range=asked)
    assert (answer.status_code, answer.content) == (200, BYTES)


def test_an_empty_file_is_answered_empty(shared: Home) -> None:
    answer = get(shared, "/files/movies/Empty/Empty.mkv")
    assert (answer.status_code, answer.content, answer.headers["Content-Length"]) == (200, b"", "0")


def test_what_a_client_has_already_is_not_sent_again(shared: Home) -> None:
    tag = get(shared, method="HEAD").headers["ETag"]
    assert get(shared, If_None_Match=tag).status_code == 304
    assert get(shared, If_None_Match=f'"other", {tag}').status_code == 304
    assert get(shared, If_None_Match='"other"').status_code == 200
    assert get(shared, If_Modified_Since=WRITTEN).status_code == 304
    assert get(shared, If_Modified_Since="Sun, 01 Jun 2031 11:59:59 GMT").status_code == 200
    assert get(shared, If_None_Match='"other"', If_Modified_Since=WRITTEN).status_code == 200


def test_a_download_goes_on_only_with_the_file_it_began_with(shared: Home) -> None:
    tag = get(shared, method="HEAD").headers["ETag"]
    assert get(shared, Range="bytes=5-9", If_Range=tag).content == BYTES[5:10]
    assert get(shared, Range="bytes=5-9", If_Range=WRITTEN).content == BYTES[5:10]
    for other in ('"other"', f"W/{tag}", "Sun, 01 Jun 2031 11:59:59 GMT"):
        assert get(shared, Range="bytes=5-9", If_Range=other).content == BYTES
    assert get(shared, If_Match=tag).status_code == 200
    assert get(shared, If_Match='"other"').status_code == 412
    assert get(shared, If_Unmodified_Since="Sun, 01 Jun 2031 11:59:59 GMT").status_code == 412


def test_a_replaced_file_has_another_tag_and_a_moved_one_the_same(shared: Home) -> None:
    before = get(shared, method="HEAD").headers["ETag"]
    shared.vfs.apply([TreeFile(FILM, 1, len(BYTES), JUNE, "better", BYTES[::-1])])
    after = get(shared)
    assert after.headers["ETag"] != before
    assert after.content == BYTES[::-1]
    shared.vfs.apply([TreeFile("/movies/Moved.mkv", 1, len(BYTES), JUNE, "better", BYTES[::-1])])
    assert get(shared).status_code == 404
    assert get(shared, "/files/movies/Moved.mkv").headers["ETag"] == after.headers["ETag"]


def test_a_folder_is_a_page_of_links_that_lead_to_its_files(shared: Home) -> None:
    assert get(shared, f"/files{FOLDER}").url.endswith("/")
    page = get(shared, f"/files{FOLDER}/")
    assert page.headers["Content-Type"].startswith("text/html")
    [link] = re.findall(r'<a href="([^"]+)">', page.text)
    assert "Demo &amp; Söhne (2031) - 1080p.mkv" in page.text
    assert get(shared, link).content == BYTES
    top = get(shared, "/files/").text
    assert re.findall(r'<a href="([^"]+)">', top) == ["/files/movies/", "/files/shows/"]


def test_what_is_not_there_and_what_would_write_is_refused(shared: Home) -> None:
    assert shared.refused("GET", "//files/movies/None") == (404, "the library has no movies/None")
    for method in ("PUT", "POST", "DELETE", "PATCH", "MKCOL", "MOVE", "COPY", "PROPPATCH", "LOCK", "UNLOCK"):
        status, said = shared.refused(method, f"//dav{FILM}")
        assert (status, said.split()[0]) == (405, method)
    assert get(shared).content == BYTES


def test_a_source_that_does_not_answer_is_told_before_anything_is_sent(shared: Home) -> None:
    shared.vfs.apply([TreeFile("/movies/Far.mkv", 9, 1000, JUNE, "far")])
    answer = get(shared, "/files/movies/Far.mkv")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "cannot be read now" in answer.json()["detail"]


# Who may read


@pytest.mark.parametrize("path", [f"/files{FILM}", f"/dav{FILM}", "/dav", "/files"])
def test_the_key_is_the_password_whatever_the_name(shared: Home, path: str) -> None:
    url = f"/{path}"
    assert shared.call("GET", url, key=None, auth=("anybody", KEY)).status_code == 200
    refused = shared.call("GET", url, key=None, auth=("anybody", "wrong"))
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic ")
    assert shared.call("GET", url, key=None).status_code == 401


def test_basic_auth_opens_nothing_but_the_files(shared: Home) -> None:
    for path in ("/items", "//filesystem", "//openapi.jsonx"):
        assert shared.call("GET", path, key=None, auth=("anybody", KEY)).status_code == 401


def test_rclone_finds_no_difference_over_webdav_nor_over_plain_http(
    shared: Home, cdn: Cdn, tmp_path: Path
) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    for number in range(4):
        name = f"Ä & ü {number} #%2F+.mkv"
        size = number * 700_001
        shared.links[10 + number] = cdn.add(f"{number}.mkv", size)
        shared.vfs.apply([TreeFile(f"/movies/Far/{name}", 10 + number, size, JUNE, name)])
        (origin / name).write_bytes(content(f"{number}.mkv", 0, size))
    address = f"http://127.0.0.1:{shared.server.port}"
    hidden = rclone("obscure", KEY).strip()
    key = ["--http-headers", f"X-Api-Key,{KEY}"]
    rclone(
        "check",
        "--download",
        origin,
        f":webdav,vendor=other,user=me,pass={hidden},url='{address}/dav':movies/Far",
    )
    rclone("check", "--download", *key, origin, f":http,url='{address}/files/':movies/Far")
    listed = rclone("lsf", "-R", f":webdav,vendor=other,user=me,pass={hidden},url='{address}/dav':shows")
    assert listed.splitlines()[-1] == "Demo Show/Season 01/Demo Show - s01e01.srt"


def rclone(*words: str | Path) -> str:
    """Run rclone without any configuration and return what it prints."""
    # One file at a time, since the home has few places.
    command = ["rclone", "--config", "/dev/null", "--checkers", "1", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_so_many_files_are_sent_at_a_time_and_the_rest_of_the_api_answers(shared: Home) -> None:
    url = f"http://127.0.0.1:{shared.server.port}/files/movies/Large/Large.mkv"
    open_ones = [
        requests.get(url, headers={"X-Api-Key": KEY}, stream=True, timeout=10) for _ in range(PLACES)
    ]
    refused = get(shared)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert get(shared, method="HEAD").status_code == 200
    assert shared.call("GET", "//health").status_code == 200
    open_ones[0].close()
    until(lambda: get(shared).status_code == 200, what="the place given back")
    assert sum(map(len, open_ones[1].iter_content(1 << 20))) == LARGE
    open_ones[1].close()


def test_a_client_that_takes_nothing_for_long_loses_its_place(shared: Home) -> None:
    url = f"http://127.0.0.1:{shared.server.port}/files/movies/Large/Large.mkv"
    stalled = [requests.get(url, headers={"X-Api-Key": KEY}, stream=True, timeout=10) for _ in range(PLACES)]
    assert get(shared).status_code == 503
    until(lambda: get(shared).status_code == 200, what="the end of the stalled answers")
    for one in stalled:
        one.close()


# STRM


def test_the_address_in_a_strm_file_needs_no_key_and_follows_the_file(shared: Home) -> None:
    given = strm.token(shared.context)
    path = f"//strm/{given}/1/whatever.mkv"
    answer = shared.call("GET", path, key=None, headers={"Range": "bytes=5-9"})
    assert (answer.status_code, answer.content) == (206, BYTES[5:10])
    shared.vfs.apply([TreeFile("/movies/Moved.mkv", 1, len(BYTES), JUNE, "film", BYTES)])
    assert shared.call("GET", path, key=None).content == BYTES
    assert shared.refused("GET", f"//strm/{given}/99/x.mkv", key=None)[0] == 404
    assert shared.refused("GET", f"//strm/{given}/x/x.mkv", key=None)[0] == 404
    assert shared.refused("GET", f"//strm/{given[::-1]}/1/x.mkv", key=None)[0] == 401


# WebDAV


def dav(home: Home, path: str, depth: str | None, body: str = "") -> requests.Response:
    headers = {"Depth": depth} if depth is not None else {}
    return home.call("PROPFIND", f"//dav{path}", headers=headers, data=body.encode())


def parsed(answer: requests.Response) -> ET.Element:
    return ET.fromstring(answer.text)  # noqa: S314 - our own answer


def found(answer: requests.Response) -> dict[str, dict[str, ET.Element]]:
    """Return by address the properties that there are."""
    assert answer.status_code == 207, answer.text
    return {
        response.findtext("{DAV:}href", ""): {
            prop.tag.removeprefix("{DAV:}"): prop
            for stat in response.findall("{DAV:}propstat")
            if stat.findtext("{DAV:}status") == "HTTP/1.1 200 OK"
            for prop in stat.findall("{DAV:}prop/*")
        }
        for response in parsed(answer)
    }


def test_a_folder_is_told_at_depth_0_and_with_what_is_in_it_at_depth_1(shared: Home) -> None:
    assert list(found(dav(shared, "/", "0"))) == ["/dav/"]
    assert list(found(dav(shared, "", "1"))) == ["/dav/", "/dav/movies/", "/dav/shows/"]
    film = found(dav(shared, FOLDER, "1"))
    folder, file = film.values()
    assert folder["resourcetype"].find("{DAV:}collection") is not None
    assert "getcontentlength" not in folder
    assert folder["displayname"].text == "Demo & Söhne (2031)"
    assert file["getcontentlength"].text == str(len(BYTES))
    assert file["getlastmodified"].text == WRITTEN
    assert file["getcontenttype"].text == "video/x-matroska"
    assert list(file["resourcetype"]) == []
    assert get(shared, list(film)[1]).headers["ETag"] == file["getetag"].text


def test_only_what_is_asked_for_is_told_and_what_there_is_not_is_named(shared: Home) -> None:
    asked = '<propfind xmlns="DAV:" xmlns:x="urn:x"><prop><getetag/><x:colour/><getcontentlength/></prop></propfind>'
    answer = dav(shared, "/movies", "0", asked)
    assert found(answer) == {"/dav/movies/": {}}
    lacking = parsed(answer).findall(".//{DAV:}prop/*")
    assert [prop.tag for prop in lacking] == ["{DAV:}getetag", "{urn:x}colour", "{DAV:}getcontentlength"]
    names = found(dav(shared, FILM, "0", '<a:propfind xmlns:a="DAV:"><a:propname/></a:propfind>'))
    assert all(prop.text is None for prop in names[next(iter(names))].values())


@pytest.mark.parametrize(
    ("depth", "body", "status"),
    [
        (None, "", 403),
        ("infinity", "", 403),
        ("2", "", 400),
        ("0", "<propfind", 400),
        ("0", "<other/>", 400),
        ("0", '<!DOCTYPE a [<!ENTITY e "x">]><propfind xmlns="DAV:"/>', 400),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(
    shared: Home, depth: str | None, body: str, status: int
) -> None:
    assert dav(shared, "/", depth, body).status_code == status


def test_options_says_what_can_be_done(shared: Home) -> None:
    answer = get(shared, f"/dav{FILM}", "OPTIONS")
    assert (answer.status_code, answer.headers["DAV"]) == (200, "1")
    assert answer.headers["Allow"] == "OPTIONS, GET, HEAD, PROPFIND"
