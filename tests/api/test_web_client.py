"""The calls of the existing web client, made as it makes them, against the whole program and the stand-ins of its providers.

`facts/web_client_calls.json` holds paths, names and types of its 27 calls; the shapes below, what it reads of each answer.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from tests.api.shapes import (
    Answer,
    Shape,
    boolean,
    by_key,
    day,
    distinct,
    every,
    fields,
    filled,
    integer,
    moment,
    null_or,
    number,
    one_of,
    text,
    type_fits,
    url,
    wrong_with,
)
from tests.support.stage import Stage

FACTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "facts/web_client_calls.json").read_text())
STATES = (
    *("Unknown", "Unreleased", "Ongoing", "Requested", "Indexed", "Scraped", "Downloaded", "Symlinked"),
    *("Completed", "PartiallyCompleted", "Failed", "Paused"),
)
SINTEL, PIONEER_ONE = "45745", "170551"

DONE = fields(message=filled, ids=every(integer))
STATS = fields(
    total_items=integer,
    total_movies=integer,
    total_shows=integer,
    total_seasons=integer,
    total_episodes=integer,
    incomplete_items=integer,
    states=by_key(integer, one_of(*STATES)),
    activity=by_key(integer, day),
    media_year_releases=every(fields(year=null_or(integer), count=integer)),
)
SERVICES = by_key(null_or(boolean))
ACCOUNTS = fields(
    services=every(
        fields(
            service=filled,
            premium_status=filled,
            username=null_or(text),
            email=null_or(text),
            premium_expires_at=null_or(text),
            premium_days_left=null_or(integer),
            points=null_or(integer),
            total_downloaded_bytes=null_or(integer),
            cooldown_until=null_or(moment),
        )
    )
)
ITEMS = fields(
    page=integer,
    limit=integer,
    total_pages=integer,
    total_items=integer,
    items=every(
        fields(
            id=integer,
            type=one_of("movie", "show", "season", "episode"),
            title=text,
            tmdb_id=null_or(filled),
            tvdb_id=null_or(filled),
            parent_ids=fields(tvdb_id=null_or(filled)),
            poster_path=null_or(url),
            aired_at=null_or(moment),
            year=null_or(integer),
        ),
        least=1,
    ),
)
FILE = fields(file_size=integer)
MEDIA = fields(
    filename=filled,
    audio_tracks=every(fields(codec=null_or(text), channels=null_or(integer), language=null_or(text))),
    subtitle_tracks=every(fields(language=null_or(text))),
    is_remux=boolean,
    is_proper=boolean,
    is_repack=boolean,
    bitrate=null_or(number),
    quality_source=null_or(text),
    video=null_or(fields(resolution_width=null_or(integer), resolution_height=null_or(integer))),
)
MOVIE = fields(id=integer, state=one_of(*STATES), media_metadata=MEDIA, filesystem_entry=FILE)
SHOW = fields(
    id=integer,
    state=one_of(*STATES),
    seasons=every(
        fields(
            season_number=integer,
            state=one_of(*STATES),
            episodes=every(
                fields(
                    episode_number=integer,
                    state=one_of(*STATES),
                    media_metadata=null_or(MEDIA),
                    filesystem_entry=null_or(FILE),
                )
            ),
        ),
        least=1,
    ),
)
CALENDAR = fields(
    data=by_key(
        fields(
            item_id=integer,
            tvdb_id=null_or(filled),
            tmdb_id=null_or(filled),
            show_title=filled,
            item_type=one_of("movie", "show", "season", "episode"),
            aired_at=moment,
            season=null_or(integer),
            episode=null_or(integer),
            last_state=one_of(*STATES),
        )
    )
)
PARSED = fields(
    resolution=text,
    quality=null_or(text),
    codec=null_or(text),
    hdr=distinct(text),
    audio=distinct(text),
    languages=distinct(text),
    seasons=every(integer),
    episodes=every(integer),
    complete=boolean,
)
FOUND = by_key(fields(raw_title=filled, rank=integer, is_cached=boolean, parsed_data=PARSED))
SEARCHED = fields(
    event=one_of("start", "streams", "error", "complete"),
    message=filled,
    total_services=integer,
    services_completed=integer,
    total_streams=integer,
    streams=FOUND,
)
SESSION = fields(
    session_id=filled,
    parsed_files=every(
        fields(
            file_id=integer,
            filename=filled,
            filesize=integer,
            parsed_metadata=fields(seasons=every(integer), episodes=every(integer)),
        ),
        least=1,
    ),
    containers=fields(files=every(fields(file_id=integer, filename=filled, filesize=integer), least=1)),
)
TOAST = fields(
    title=filled,
    type=one_of("movie", "show", "season", "episode"),
    log_string=filled,
    timestamp=moment,
    year=null_or(integer),
    duration=number,
    imdb_id=null_or(filled),
)
NAMES = fields(data=every(fields(seasons=every(integer), episodes=every(integer))))
SETTINGS = fields(
    ranking=fields(
        resolutions=by_key(boolean, least=1),
        custom_ranks=by_key(
            by_key(fields(fetch=boolean), least=1),
            one_of("quality", "rips", "hdr", "audio", "extras", "trash"),
        ),
    )
)


class Client:
    """The relay of the web client: the key in a header, JSON whatever is sent, its own address as the origin."""

    def __init__(self, stage: Stage) -> None:
        self.base = stage.installation.api
        self._session = requests.Session()
        self._session.headers["x-api-key"] = stage.installation.key

    def send(self, method: str, path: str, body: Any = None, **how: Any) -> requests.Response:
        content = None if body is None else json.dumps(body)
        headers = {
            "Content-Type": "application/json",
            "Origin": "http://localhost:3000",
            **how.pop("headers", {}),
        }
        return self._session.request(
            method, f"{self.base}/api/v1{path}", data=content, headers=headers, timeout=60, **how
        )

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        answer = self.send(method, path, body)
        kind = answer.headers.get("Content-Type", "")
        return Answer(answer.status_code, kind, answer.json() if "json" in kind else answer.text)

    def events(self, path: str) -> Iterator[Any]:
        """Yield what stands behind `data: `, which is all that the relay passes on."""
        with self.send("GET", path, stream=True) as answer:
            assert answer.status_code == 200, answer.text
            for line in answer.iter_lines():
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A program with a finished film."""
    with Stage(tmp_path_factory.mktemp("client"), settings={"log.to_file": True}) as found:
        found.start_program()
        found.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [SINTEL], "tvdb_ids": []})
        found.wait_for(lambda: _state(found) == "Completed", what="a film that is complete")
        yield found


def _state(stage: Stage) -> str:
    return str((stage.api("GET", f"/items/{SINTEL}?media_type=movie").data or {}).get("state"))


@pytest.fixture(scope="module")
def client(stage: Stage) -> Client:
    return Client(stage)


def good(client: Client, method: str, path: str, shape: Shape, body: Any = None) -> Any:
    """Return the body of an answer that the client can use."""
    answer = client.call(method, path, body)
    assert not wrong_with(answer, shape)
    return answer.body


# Names and types


@pytest.fixture(scope="module")
def described(client: Client) -> dict[str, Any]:
    return dict(requests.get(f"{client.base}/openapi.json", timeout=30).json())


@pytest.mark.parametrize(
    "fact", FACTS, ids=lambda fact: f"{fact['method']} {fact['path'].removeprefix('/api/v1')}"
)
def test_each_call_has_the_path_the_names_and_the_types_it_is_made_with(
    described: dict[str, Any], fact: dict[str, Any]
) -> None:
    operation = described["paths"][_path_in(described, fact)][fact["method"].lower()]
    taken = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
    assert set(fact["query"]) <= taken
    if isinstance(fact.get("body"), dict):
        body = _resolved(described, operation["requestBody"]["content"]["application/json"]["schema"])
        assert set(fact["body"]) <= set(body["properties"])
    content = operation["responses"]["200"]["content"]
    schema = _resolved(described, content.get("application/json", {}).get("schema", {}))
    for name, kind in fact["answer"].items() if schema.get("properties") else ():
        kinds = {kind} if isinstance(kind, str) else set(kind)
        assert _types(described, schema["properties"][name]) & kinds, name


def _path_in(described: dict[str, Any], fact: dict[str, Any]) -> str:
    def plain(path: str) -> list[str]:
        return ["{}" if part.startswith("{") else part for part in path.replace(".ts", "").split("/")]

    found = [path for path in described["paths"] if plain(path) == plain(fact["path"])]
    assert found, f"there is no {fact['path']}"
    return str(found[0])


def _resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return dict(described["components"]["schemas"][name]) if name else schema


def _types(described: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    if "anyOf" in schema:
        return {kind for part in schema["anyOf"] for kind in _types(described, part)}
    return {str(_resolved(described, schema).get("type", "any"))}


def test_every_answer_has_the_types_of_the_facts(client: Client) -> None:
    for fact in FACTS:
        if fact["method"] != "GET" or not fact["answer"] or "{" in fact["path"]:
            continue
        body = client.call("GET", fact["path"].removeprefix("/api/v1")).body
        wrong = {
            name: body.get(name)
            for name, kind in fact["answer"].items()
            if not type_fits(body.get(name), kind)
        }
        assert not wrong, fact["path"]


# Its pages


def test_the_dashboard_opens(client: Client) -> None:
    stats = good(client, "GET", "/stats", STATS)
    assert stats["states"]["Completed"] >= 1
    assert good(client, "GET", "/services", SERVICES)["realdebrid"] is True
    accounts = good(client, "GET", "/downloader_user_info", ACCOUNTS)["services"]
    assert [one["service"] for one in accounts] == ["realdebrid"]


def test_the_library_lists_filters_and_sorts(client: Client) -> None:
    good(client, "GET", "/items?sort=date_desc&limit=15&page=1&type=movie&type=show", ITEMS)
    page = good(
        client,
        "GET",
        "/items?limit=24&page=1&type=movie&type=show&states=All&sort=title_asc&search=sin",
        ITEMS,
    )
    assert [(one["title"], one["tmdb_id"]) for one in page["items"]] == [("Sintel", SINTEL)]
    assert (
        client.call("GET", "/items?states=Completed&states=Failed&search=sin&limit=100&page=1").body[
            "total_items"
        ]
        == 1
    )


def test_the_page_of_a_film_has_its_file(client: Client) -> None:
    film = good(client, "GET", f"/items/{SINTEL}?media_type=movie&extended=true", MOVIE)
    assert film["state"] == "Completed"
    assert film["filesystem_entry"]["file_size"] > 0
    assert client.call("GET", f"/items/{film['id']}").body["tmdb_id"] == SINTEL


def test_a_title_that_is_not_in_the_library_is_404_with_a_sentence(client: Client) -> None:
    answer = client.call("GET", "/items/999999?media_type=tv&extended=true")
    assert (answer.status, answer.kind) == (404, "application/json")
    assert answer.body["detail"]


def test_the_calendar_opens(client: Client) -> None:
    good(client, "GET", "/calendar", CALENDAR)


def test_the_buttons_of_a_title_work_with_ids_as_text(client: Client) -> None:
    added = good(
        client, "POST", "/items/add", DONE, {"media_type": "movie", "tmdb_ids": ["133701"], "tvdb_ids": []}
    )
    ids = {"ids": [str(added["ids"][0])]}
    for path in ("/items/pause", "/items/unpause", "/items/retry", "/items/reset"):
        assert good(client, "POST", path, DONE, ids)["ids"] == added["ids"]
    assert good(client, "DELETE", "/items/remove", DONE, ids)["ids"] == added["ids"]


def test_the_settings_come_back_as_they_were_sent(client: Client) -> None:
    schema = good(client, "GET", "/settings/schema", fields(properties=by_key(by_key(lambda *_: []))))
    settings = good(client, "GET", "/settings/get/all", SETTINGS)
    assert set(settings) <= set(schema["properties"]), "values have the spelling of the schema"
    good(client, "POST", "/settings/set/all", fields(message=filled), settings)
    assert client.call("GET", "/settings/get/all").body == settings


def test_the_logs_are_listed_and_get_an_address(client: Client) -> None:
    assert good(client, "GET", "/logs", fields(logs=every(text, least=1)))["logs"]
    shared = good(client, "POST", "/upload_logs", fields(success=one_of(True), url=url))
    opened = requests.get(shared["url"], timeout=30)
    assert (opened.status_code, opened.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert "ready" in opened.text


# Its dialog of a search by hand


def test_a_search_tells_how_far_it_is_and_ends_with_complete(client: Client) -> None:
    overrides = quote(json.dumps({"resolutions": ["r1080p"], "exclude": ["NOGROUP"]}))
    steps = list(
        client.events(f"/scrape?stream=true&media_type=movie&tmdb_id={SINTEL}&ranking_overrides={overrides}")
    )
    assert not [wrong for step in steps for wrong in SEARCHED(step, "event")]
    assert (steps[0]["event"], steps[-1]["event"]) == ("start", "complete")
    found = steps[-1]["streams"].values()
    assert {one["parsed_data"]["resolution"] for one in found} == {"1080p"}


def _torrent(client: Client) -> tuple[str, str]:
    """Return hash and name of a pack of the show, which is not in the library."""
    *_, last = client.events(f"/scrape?stream=true&media_type=tv&tvdb_id={PIONEER_ONE}")
    return next(
        (infohash, one["raw_title"])
        for infohash, one in last["streams"].items()
        if one["parsed_data"]["seasons"] == [1] and "WEB-DL" in one["raw_title"]
    )


def test_files_that_a_person_chose_come_into_the_library(client: Client, stage: Stage) -> None:
    infohash, name = _torrent(client)
    magnet = quote(f"magnet:?xt=urn:btih:{infohash}&dn={name}")
    title = f"media_type=tv&tvdb_id={PIONEER_ONE}"
    session = good(client, "POST", f"/scrape/start_session?{title}&magnet={magnet}", SESSION)
    files = {
        str(file["file_id"]): {
            "file_id": file["file_id"],
            "filename": file["filename"],
            "filesize": file["filesize"],
        }
        for file in session["parsed_files"]
        if file["parsed_metadata"]["episodes"] in ([1], [2]) and "Sample" not in file["filename"]
    }
    assert len(files) == 2
    path = f"/scrape/session/{session['session_id']}"
    good(client, "POST", path, fields(message=filled), {"action": "select_files", "files": files})
    good(client, "POST", path, fields(message=filled), {"action": "complete"})
    show = f"/items/{PIONEER_ONE}?media_type=tv&extended=true"

    def chosen() -> set[str]:
        season = next(one for one in client.call("GET", show).body["seasons"] if one["season_number"] == 1)
        return {one["state"] for one in season["episodes"] if one["episode_number"] in (1, 2)}

    stage.wait_for(lambda: chosen() <= {"Symlinked", "Completed"}, what="the chosen episodes in the library")
    body = good(client, "GET", show, SHOW)
    paths = [one["filesystem_entry"] for season in body["seasons"] for one in season["episodes"][:2]]
    assert sum(path is not None for path in paths) >= 2
    assert client.call("POST", path, {"action": "complete"}).status == 404, "a session ends with it"


def test_a_search_of_seasons_works_for_a_show_that_is_not_in_the_library_yet(client: Client) -> None:
    body = {"media_type": "tv", "tvdb_id": "81189", "season_numbers": [1]}
    body |= {"min_filesize_override": None, "max_filesize_override": None}
    good(client, "POST", "/scrape/auto", DONE, body)


def test_file_names_are_read_in_their_order(client: Client) -> None:
    names = ["Pioneer.One.S01E02.720p.mkv", "Sintel.2010.mkv", "Pioneer.One.S02E01E02.mkv"]
    read = good(client, "POST", "/scrape/parse", NAMES, names)["data"]
    assert [(one["seasons"], one["episodes"]) for one in read] == [([1], [2]), ([], []), ([2], [1, 2])]


# Its streams and its player


def test_the_log_and_the_notifications_are_one_line_of_json_each(client: Client) -> None:
    with (
        client.send("GET", "/stream/notifications", stream=True) as notifications,
        client.send("GET", "/stream/logging", stream=True) as lines,
    ):
        for answer in (notifications, lines):
            assert answer.headers["Content-Type"].startswith("text/event-stream")
        good(
            client, "POST", "/items/add", DONE, {"media_type": "movie", "tmdb_ids": ["10378"], "tvdb_ids": []}
        )
        line, toast = _first(lines), _first(notifications)
    assert not fields(message=filled, time=moment, level=filled)(line, "line")
    assert not TOAST(toast, "toast")


def _first(answer: requests.Response) -> Any:
    """Return the first value of a stream that is not null."""
    lines = (line for line in answer.iter_lines(chunk_size=1) if line.startswith(b"data: {"))
    return json.loads(next(lines).removeprefix(b"data: "))


def film_id(client: Client) -> int:
    return int(client.call("GET", f"/items/{SINTEL}?media_type=movie").body["id"])


def test_a_film_is_played_by_ranges(client: Client, stage: Stage) -> None:
    path = f"/stream/file/{film_id(client)}"
    whole = client.send("GET", path).content
    assert (
        len(whole)
        == client.call("GET", f"/items/{SINTEL}?media_type=movie&extended=true").body["filesystem_entry"][
            "file_size"
        ]
    )
    part = client.send("GET", path, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, whole[100:200])
    assert part.headers["Content-Range"] == f"bytes 100-199/{len(whole)}"
    assert part.headers["Accept-Ranges"] == "bytes"
    tail = client.send("GET", path, headers={"Range": "bytes=-50"})
    assert (tail.status_code, tail.content) == (206, whole[-50:])
    beyond = client.send("GET", path, headers={"Range": f"bytes={len(whole)}-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{len(whole)}")


def test_a_film_is_played_in_segments(client: Client) -> None:
    path, form = f"/stream/hls/{film_id(client)}", "pix_fmt=yuv420p&profile=high&level=4.1"
    answer = client.send("GET", f"{path}/index.m3u8?{form}")
    assert answer.status_code == 200, answer.text
    first = next(line for line in answer.text.splitlines() if line and not line.startswith("#"))
    assert first == f"segment/0.ts?{form}", "the address is relative"
    segment = client.send("GET", f"{path}/{first}")
    assert (segment.status_code, segment.headers["Content-Type"]) == (200, "video/mp2t")
    assert set(segment.content[0 : 188 * 20 : 188]) == {0x47}, "MPEG-TS begins each packet with its mark"


# The check itself


def broken(value: Any, path: str, change: Any) -> Any:
    """Return a copy of an answer with one place of it changed, or left out."""
    made = copy.deepcopy(value)
    *above, last = path.split(".")
    here = made
    for name in above:
        here = here[int(name)] if isinstance(here, list) else here[name]
    if change is KeyError:
        del here[last]
    else:
        here[last] = change
    return made


@pytest.mark.parametrize(
    ("path", "change", "said"),
    [
        ("total_items", None, "answer.total_items: None is no integer"),
        ("incomplete_items", "3", "answer.incomplete_items: '3' is no integer"),
        ("states", KeyError, "answer.states is missing"),
        ("states.Completed", None, "answer.states.Completed: None is no integer"),
        ("activity", [], "answer.activity: [] is no object"),
    ],
)
def test_an_answer_that_the_client_cannot_use_is_noticed(
    client: Client, path: str, change: Any, said: str
) -> None:
    stats = client.call("GET", "/stats").body
    assert wrong_with(Answer(200, "application/json", broken(stats, path, change)), STATS) == [said]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Answer(200, "text/html; charset=utf-8", "<html></html>"),
            "the answer is text/html; charset=utf-8, not JSON",
        ),
        (Answer(204, "application/json", None), "the answer is empty"),
        (Answer(500, "application/json", {"detail": "no"}), "status 500: {'detail': 'no'}"),
    ],
)
def test_what_is_no_json_or_nothing_is_noticed(answer: Answer, said: str) -> None:
    assert wrong_with(answer, STATS) == [said]


def test_a_list_that_has_something_twice_is_noticed() -> None:
    shapes: Mapping[str, Shape] = {"hdr": distinct(text)}
    assert fields(**shapes)({"hdr": ["HDR", "HDR"]}, "answer") == [
        "answer.hdr: ['HDR', 'HDR'] has something twice"
    ]
