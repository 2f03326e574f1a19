"""Bad input and strangers: each is told what is wrong and where, in JSON, and nothing happens."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from program.api.server import create_app
from program.clock import ManualClock
from program.db.engine import Database
from program.errors import Transient
from tests.api.home import KEY, Home
from tests.db.library import NOW
from tests.support.lines import log_lines

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)

OPEN = {"//health", "/health", "//openapi.json", "/docs"}
# Pages: the sign-in, the first visit, and what both look like.
OPEN_PAGES = {"//sign-in", "//welcome", "//static/1"}
SIGN_IN = {"/sign-in", "/welcome"}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home for the tests that leave it as it was: it stays empty and is shared."""
    folder, clock = tmp_path_factory.mktemp("quiet"), ManualClock(NOW)
    database = Database(f"sqlite:///{folder / 'rivulet.db'}", data_dir=folder, clock=clock)
    database.open()
    found = Home(database, clock, folder)
    yield found
    found.close()
    database.close()


# Who may call


def test_every_route_is_closed_but_those_on_the_open_list(quiet: Home) -> None:
    app = create_app(quiet.context)
    open_paths, open_pages = set(), set()
    for rule in app.url_map.iter_rules():
        path = "/" + re.sub("<[^>]+>", "1", rule.rule)
        is_page = rule.endpoint.startswith("web.")
        for method in sorted((rule.methods or set()) - {"HEAD"}):
            answer = quiet.call(method, path, key=None, allow_redirects=False)
            if is_page:
                is_sent_away = answer.status_code == 303 and answer.headers["Location"] in SIGN_IN
                open_pages |= set() if is_sent_away else {path}
            elif answer.status_code != 401:
                open_paths.add(path.replace("//api/v1", ""))
            else:
                assert list(answer.json()) == ["detail"]
    assert open_paths == OPEN
    assert open_pages == OPEN_PAGES


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Api-Key": ""},
        {"X-Api-Key": "wrong"},
        {"X-Api-Key": KEY[:-1]},
        {"X-Api-Key": "schl\u00fcssel"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {KEY}"},
    ],
)
def test_a_missing_or_wrong_key_is_401(quiet: Home, headers: dict[str, str]) -> None:
    sent = {name: value.encode() for name, value in headers.items()}
    assert quiet.refused("GET", "/items", key=None, headers=sent)[0] == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Api-Key": KEY},
        {"x-api-key": KEY},
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer {KEY}"},
        {"Authorization": KEY},
    ],
)
def test_the_key_is_taken_from_either_header(quiet: Home, headers: dict[str, str]) -> None:
    assert quiet.call("GET", "/items", key=None, headers=headers).status_code == 200


def test_a_key_in_the_address_opens_nothing(quiet: Home) -> None:
    assert quiet.refused("GET", f"/items?api_key={KEY}", key=None)[0] == 401


def test_the_origin_of_a_page_does_not_matter(quiet: Home) -> None:
    assert quiet.call("GET", "/items", headers={"Origin": "http://elsewhere"}).status_code == 200


@on_sqlite
def test_a_new_key_counts_at_once(home: Home) -> None:
    home.use(api_key="another-key-0002")
    assert home.call("GET", "/items").status_code == 401
    assert home.call("GET", "/items", key="another-key-0002").status_code == 200


# Bodies

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("content", "status", "detail"),
    [
        (b"ids=1", 400, "body: not valid JSON: expected value at line 1 column 1"),
        (b'{"ids": [1,]}', 400, "body: not valid JSON: trailing comma at line 1 column 12"),
        (b'{"ids": [1', 400, "body: not valid JSON: EOF while parsing a list at line 1 column 10"),
        (b'{"ids": ["\xff"]}', 400, None),
        (b"", 400, "body: it is empty; send a JSON object"),
        (b"[]", 422, "body: must be an object in braces"),
        (b"null", 422, "body: must be an object in braces, not null"),
        (b"{}", 422, "ids: is missing"),
        (b'{"ids": 1}', 422, "ids: must be a list, not 1"),
        (b'{"ids": []}', 422, "ids: must have 1 entries or more"),
        (b'{"ids": [1, "abc"]}', 422, 'ids[1]: must be a whole number, not "abc"'),
        (b'{"ids": ["1.5"]}', 422, 'ids[0]: must be a whole number, not "1.5"'),
        (b'{"ids": [1.5]}', 422, "ids[0]: must be a whole number, not 1.5"),
        (b'{"ids": [true]}', 422, "ids[0]: must be a whole number, not true"),
        (b'{"ids": [null]}', 422, "ids[0]: must be a whole number, not null"),
        (b'{"ids": [0]}', 422, "ids[0]: must be at least 1, not 0"),
        (b'{"ids": [-3]}', 422, "ids[0]: must be at least 1, not -3"),
        (b'{"ids": [9223372036854775808]}', 422, None),
        (b'{"ids": ["99999999999999999999999999"]}', 422, None),
        (b'{"ids": [9223372036854775807]}', 404, "no item has the id 9223372036854775807"),
        (b'{"ids": [1], "id": 2}', 422, "id: unknown key (did you mean ids?)"),
    ],
)
def test_a_bad_list_of_ids_is_named_with_its_place(
    quiet: Home, content: bytes, status: int, detail: str | None
) -> None:
    found = quiet.refused("POST", "/items/retry", data=content, headers=JSON)
    assert found[0] == status
    assert detail is None or found[1] == detail
    assert quiet.woken == 0


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"media_type": "movie"}, "body: name at least one id in tmdb_ids, tvdb_ids or imdb_ids"),
        (
            {"media_type": "film", "tmdb_ids": ["1"]},
            "media_type: must be one of 'movie' or 'tv', not \"film\"",
        ),
        ({"tmdb_ids": ["1"]}, "media_type: is missing"),
        (
            {"media_type": "movie", "tmdb_ids": ["x"]},
            'tmdb_ids[0]: must be a number of 1 or more, or its digits in quotes, not "x"',
        ),
        ({"media_type": "movie", "tmdb_ids": [True]}, "tmdb_ids[0]: must be text in quotes, not true"),
        (
            {"media_type": "movie", "tmdb_ids": ["0"]},
            'tmdb_ids[0]: must be a number of 1 or more, or its digits in quotes, not "0"',
        ),
        (
            {"media_type": "movie", "imdb_ids": ["1727587"]},
            'imdb_ids[0]: must be tt and digits, not "1727587"',
        ),
        (
            {"media_type": "movie", "tvdb_ids": ["1"]},
            "body: films are known by tmdb_ids or imdb_ids, not by tvdb_ids",
        ),
        ({"media_type": "movie", "tmdb_ids": ["1"], "seasons": [1]}, "body: a film has no seasons"),
        ({"media_type": "tv", "tvdb_ids": ["1"], "seasons": []}, "seasons: must have 1 entries or more"),
        (
            {"media_type": "tv", "tvdb_ids": ["1"], "season": [1]},
            "season: unknown key (did you mean seasons?)",
        ),
        ({"media_type": "tv", "tvdb_ids": ["1"], "seasons": [-1]}, "seasons[0]: must be at least 0, not -1"),
    ],
)
def test_a_bad_wish_is_named_with_its_place_and_adds_nothing(
    quiet: Home, body: dict[str, object], detail: str
) -> None:
    assert quiet.refused("POST", "/items/add", json=body) == (422, detail)
    assert quiet.get("/items")["total_items"] == 0


def test_a_body_that_is_no_json_by_its_own_account_is_415(quiet: Home) -> None:
    assert quiet.refused("POST", "/items/retry", data={"ids": "1"}) == (
        415,
        "body: send application/json, not application/x-www-form-urlencoded",
    )


def test_a_body_that_is_too_large_is_413(quiet: Home) -> None:
    large = b'{"ids": [' + b"1," * 600_000 + b"1]}"
    assert quiet.refused("POST", "/items/retry", data=large, headers=JSON) == (
        413,
        "the body is larger than 1024 KiB",
    )


MIB = 1024 * 1024
DEEP = 100_000


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"", {}, 400),
        (b" " * 10 * MIB, {}, 413),
        (b"[" * DEEP, {}, 400),
        (b'{"ids":' * DEEP, {}, 400),
        (b'{"ids": ' + b"[" * 5000 + b"1" + b"]" * 5000 + b"}", {}, 400),
        ('{"ids": [1]}'.encode("utf-16"), {"Content-Type": "application/json; charset=utf-16"}, 400),
        (b'{"ids": ["\xff\xfe"]}', {}, 400),
        (b'{"ids": [1]}', {"Content-Type": "application/json; charset=no-such"}, 404),
        (b'{"ids": ["9223372036854775808"]}', {}, 422),
        (b'{"ids": [1e400]}', {}, 422),
        (b'{"ids": [NaN]}', {}, 422),
        (b"\x00" * 100, {}, 400),
    ],
    ids=[
        "empty",
        "10 MB",
        "deep list",
        "deep object",
        "deep value",
        "utf-16",
        "no text",
        "strange charset",
        "overflow",
        "infinite",
        "NaN",
        "zeros",
    ],
)
def test_a_hostile_body_is_refused_in_json(
    quiet: Home, content: bytes, headers: dict[str, str], status: int
) -> None:
    sent = {"Content-Type": "application/json", **headers}
    assert quiet.refused("POST", "/items/retry", data=content, headers=sent)[0] == status


@pytest.mark.parametrize(
    "number", ["9223372036854775808", "1" * 400, "-1", "1.5", "0x10", "\u0661", "1\r\nX-Evil: 1"]
)
def test_a_number_that_no_database_takes_is_refused_wherever_it_stands(quiet: Home, number: str) -> None:
    for path in (
        "/items/{}",
        "/items/{}/streams",
        "/items/{}/timeline",
        "/stream/file/{}",
        "/stream/hls/{}/index.m3u8",
    ):
        answer = quiet.call("GET", path.format(quote(number, safe="")))
        assert answer.status_code == 422
        assert "X-Evil" not in answer.headers


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "a\r\nSet-Cookie: x=1", "\x00", "%s%n", "' or 1=1 --"]
)
def test_what_a_client_sends_is_never_more_than_text(quiet: Home, text: str) -> None:
    named = quote(text, safe="")
    for path in (f"/queues/{named}/jobs", f"/{named}", f"/items?search={named}"):
        answer = quiet.call("GET", path)
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.status_code < 500
        assert "Set-Cookie" not in answer.headers


@on_sqlite
def test_a_body_without_a_type_is_read(home: Home) -> None:
    film = home.library.film()
    assert home.call("POST", "/items/pause", data=f'{{"ids": [{film}]}}'.encode()).status_code == 200


# Queries and paths


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/items?page=0", 'page: must be at least 1, not "0"'),
        ("/items?limit=501", 'limit: must be at most 500, not "501"'),
        ("/items?limit=many", 'limit: must be a whole number, not "many"'),
        ("/items?page=1&page=2", "page: stands 2 times"),
        (
            "/items?sort=size",
            "sort[0]: must be one of 'title_asc', 'title_desc', 'date_asc' or 'date_desc', not \"size\"",
        ),
        ("/items?stat=Failed", "stat: unknown key (did you mean state?)"),
        ("/items/1?media_type=film", "media_type: must be one of 'movie', 'tv' or 'item', not \"film\""),
        ("/items/abc", 'id: must be a whole number of 1 or more, not "abc"'),
        ("/items/0", 'id: must be a whole number of 1 or more, not "0"'),
        ("/items/abc?media_type=movie", 'id: must be a whole number of 1 or more, not "abc"'),
        ("/items/abc/timeline", 'id: must be a whole number of 1 or more, not "abc"'),
        ("/calendar?start=yesterday", None),
        ("/calendar?start=2031-05-02&end=2031-05-01", "end: must not be before 2031-05-02"),
        ("/calendar?start=2000-01-01&end=2031-05-01", "end: must be at most 1098 days after start"),
    ],
)
def test_a_bad_query_or_path_is_422_with_its_place(quiet: Home, path: str, detail: str | None) -> None:
    status, found = quiet.refused("GET", path)
    assert status == 422
    assert detail is None or found == detail


def test_an_unknown_state_is_answered_with_the_twelve(quiet: Home) -> None:
    status, detail = quiet.refused("GET", "/items?state=Finished")
    assert status == 422
    assert detail.startswith("state[0]: must be one of ")
    twelve = (
        "Unknown Unreleased Ongoing Requested Indexed Scraped Downloaded Symlinked Completed "
        "PartiallyCompleted Failed Paused"
    )
    assert all(f"'{state}'" in detail for state in twelve.split())


def test_a_very_long_number_is_no_id(quiet: Home) -> None:
    assert quiet.refused("GET", f"/items/{'9' * 5000}")[0] in (414, 422)
    assert quiet.refused("GET", "/items/9223372036854775807")[0] == 404


def test_what_does_not_exist_and_what_is_not_possible_is_said_in_json(quiet: Home) -> None:
    assert quiet.refused("GET", "/nothing") == (404, "there is no /api/v1/nothing")
    assert quiet.refused("GET", "//favicon.ico") == (404, "there is no /favicon.ico")
    answer = quiet.call("PUT", "/items")
    assert (answer.status_code, answer.json()) == (405, {"detail": "PUT is not possible on /api/v1/items"})
    assert "GET" in answer.headers["Allow"]


def test_a_trailing_slash_changes_nothing(quiet: Home) -> None:
    assert quiet.call("GET", "/items/", allow_redirects=False).status_code == 200


@on_sqlite
def test_a_fault_inside_is_500_with_the_cause_in_the_log_only(home: Home) -> None:
    home.context.engine.counts = lambda: 1 / 0  # type: ignore[method-assign,return-value,assignment]
    with log_lines("ERROR") as lines:
        assert home.refused("GET", "/queues") == (500, "something went wrong inside; the log says what")
    assert any("ZeroDivisionError" in line for line in lines)


@on_sqlite
def test_a_busy_database_is_503_with_the_time_to_come_back(home: Home) -> None:
    def busy() -> None:
        raise Transient("the database is busy")

    home.context.engine.counts = busy  # type: ignore[method-assign,assignment]
    answer = home.call("GET", "/queues")
    assert (answer.status_code, answer.json()) == (503, {"detail": "the database is busy"})
    assert answer.headers["Retry-After"] == "5"


def test_no_refusal_repeats_a_known_secret(quiet: Home) -> None:
    assert KEY not in quiet.refused("GET", f"/items/{KEY}")[1]
    assert KEY not in quiet.refused("POST", "/items/retry", json={"ids": [KEY]})[1]


@on_sqlite
def test_while_the_program_stops_reading_works_and_writing_is_refused(home: Home) -> None:
    home.machine.send("stop")
    assert home.get("/items")["total_items"] == 0
    assert home.refused("POST", "/items/retry_library") == (503, "the program is stopping")


def test_a_client_that_hangs_up_in_the_middle_harms_nobody(quiet: Home) -> None:
    with socket.create_connection(("127.0.0.1", quiet.server.port)) as client:
        client.sendall(b"POST /api/v1/items/retry HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert quiet.get("/items")["total_items"] == 0
