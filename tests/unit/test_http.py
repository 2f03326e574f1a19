"""What a caller of a `DataSource` sees, over real sockets."""

import contextvars
import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import diskcache
import pytest
from loguru import logger
from pydantic import BaseModel, TypeAdapter
from pytest_httpserver import HTTPServer
from werkzeug import Request
from werkzeug import Response as Answer

from program import http
from program.clock import Clock, ManualClock, SystemClock
from program.errors import (
    BadAnswer,
    Cancelled,
    Misconfigured,
    NotFound,
    Refused,
    RetryLater,
    RivuletError,
    Transient,
    Unavailable,
)
from program.http import DataSource, Limits, Response
from tests.support.wait import until

NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
SECRET = "s3cr3t-k3y-of-demo"


class Row(BaseModel):
    id: int
    name: str


class Memory:
    """A status store that remembers in memory."""

    def __init__(self, until: datetime | None = None, level: int = 0) -> None:
        self.kept: dict[str, tuple[datetime | None, int]] = {"demo": (until, level)}

    def load(self, key: str) -> tuple[datetime | None, int]:
        return self.kept.get(key, (None, 0))

    def save(self, key: str, paused_until: datetime | None, level: int, reason: str) -> None:
        self.kept[key] = (paused_until, level)


def source(server: HTTPServer, clock: Clock | None = None, **options: object) -> DataSource:
    """Return a data source named `demo` for the test server."""
    options.setdefault("secrets", (SECRET,))
    return DataSource("demo", server.url_for(""), clock=clock or SystemClock(), **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def threaded_server() -> Iterator[HTTPServer]:
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture
def httpserver(threaded_server: HTTPServer) -> HTTPServer:
    """A server that answers several calls at a time, empty at the start of each test."""
    threaded_server.clear()
    return threaded_server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The program's log lines of the test; those of the server in the test are none of them."""
    written: list[str] = []
    sink = logger.add(
        lambda line: written.append(str(line)),
        format="{level} {message}",
        filter=lambda record: record["extra"].get("room") != "werkzeug",
    )
    yield written
    logger.remove(sink)


@contextmanager
def raw_server(answer: Callable[[socket.socket, bytes], None]) -> Iterator[tuple[str, list[bytes]]]:
    """Serve raw sockets: yields the address and the requests seen; `answer` writes what it likes."""
    seen: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(65536)
                seen.append(request)
                if request:
                    answer(connection, request)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def test_json_becomes_the_model(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/rows", query_string={"page": "1"}).respond_with_json(
        [{"id": 1, "name": "Sintel"}]
    )
    rows = source(httpserver).read("/rows", TypeAdapter(list[Row]), params={"page": 1, "skip": None})
    assert rows == [Row(id=1, name="Sintel")]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"<!doctype html><p>Just a moment", 200, "a web page where JSON is due"),
        (b'[{"id": 1, "na', 200, "JSON that breaks off"),
        (b"pong", 200, "an answer that is not JSON"),
        (b"", 204, "an empty answer (204)"),
        (b'[{"id": 1, "name": "a"}, {"id": "x"}]', 200, "1.id: Input should be a valid integer"),
        (b'{"id": 1}', 200, "the answer: Input should be a valid array"),
    ],
)
def test_an_answer_that_is_not_what_is_due_is_a_bad_answer_with_its_place(
    httpserver: HTTPServer, body: bytes, status: int, says: str
) -> None:
    httpserver.expect_request("/rows").respond_with_data(body, status)
    with pytest.raises(BadAnswer) as caught:
        source(httpserver).read("/rows", TypeAdapter(list[Row]))
    assert says in str(caught.value)
    assert str(caught.value).startswith("demo: ")
    assert str(caught.value).endswith("/rows")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, Refused),
        (401, Misconfigured),
        (403, Misconfigured),
        (404, NotFound),
        (408, Transient),
        (410, NotFound),
        (422, Refused),
        (425, Transient),
        (429, Unavailable),
        (451, Refused),
        (500, Transient),
        (502, Transient),
        (503, Transient),
        (504, Transient),
        (509, Transient),
    ],
)
def test_each_status_says_what_to_do(httpserver: HTTPServer, status: int, error: type[RivuletError]) -> None:
    body = {"message": f"said with {SECRET}"}
    httpserver.expect_request("/x").respond_with_json(body, status)
    with pytest.raises(error) as caught:
        source(httpserver).get("/x", params={"api_key": SECRET})
    assert type(caught.value) is error
    assert SECRET not in str(caught.value)


def test_a_status_that_the_caller_expects_is_an_answer(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("", 404)
    assert source(httpserver).delete("/x", ok=(404,)).status == 404


def test_the_providers_own_codes_are_read_before_the_status(httpserver: HTTPServer) -> None:
    def classify(answer: Response) -> Exception | None:
        data = answer.data()
        return (
            Refused("demo", answer.status, 35, "will not")
            if isinstance(data, dict) and data["code"] == 35
            else None
        )

    httpserver.expect_request("/x").respond_with_json({"code": 35}, 503)
    with pytest.raises(Refused) as caught:
        source(httpserver, classify=classify).get("/x")
    assert caught.value.code == 35


@pytest.mark.parametrize("header", ["120", format_datetime(NOW + timedelta(seconds=120), usegmt=True)])
def test_a_429_pauses_the_whole_source_as_long_as_it_says(
    httpserver: HTTPServer, clock: ManualClock, header: str
) -> None:
    httpserver.expect_ordered_request("/x").respond_with_data("", 429, headers={"Retry-After": header})
    httpserver.expect_ordered_request("/y").respond_with_data("ok")
    demo = source(httpserver, clock)
    with pytest.raises(Unavailable) as caught:
        demo.get("/x")
    assert caught.value.at == NOW + timedelta(seconds=120)
    with pytest.raises(Unavailable):
        demo.get("/y")
    assert len(httpserver.log) == 1
    clock.advance(120)
    assert demo.get("/y").text == "ok"


def test_a_429_without_a_time_waits_ten_seconds_and_each_further_one_longer(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/x").respond_with_data("", 429)
    demo = source(httpserver, clock)
    waits = []
    for _ in range(7):
        with pytest.raises(Unavailable) as caught:
            demo.get("/x")
        waits.append((caught.value.at - clock.now()).total_seconds())
        clock.advance(waits[-1])
    assert waits == [10, 20, 40, 80, 160, 300, 300]


def test_a_429_delays_only_its_own_source(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/x").respond_with_data("", 429, headers={"Retry-After": "3"})
    httpserver.expect_request("/y").respond_with_data("ok")
    limited, other = source(httpserver, clock), source(httpserver, clock)
    with pytest.raises(Unavailable):
        limited.get("/x")
    assert other.get("/y").text == "ok"


def test_a_503_that_names_a_time_is_a_pause(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/x").respond_with_data("", 503, headers={"Retry-After": "30"})
    with pytest.raises(Unavailable) as caught:
        source(httpserver, clock).get("/x")
    assert caught.value.at == NOW + timedelta(seconds=30)


def test_a_service_that_stays_down_is_left_alone_longer_each_time(httpserver: HTTPServer) -> None:
    clock = ManualClock(NOW)
    httpserver.expect_request("/x").respond_with_data("", 502)
    memory = Memory()
    demo = source(httpserver, clock, status=memory)
    clock.advance(timedelta(hours=1))
    rests = []
    for _ in range(5):
        with pytest.raises(Transient):
            demo.get("/x")
        paused_until, _level = memory.kept["demo"]
        rests.append((paused_until - clock.now()).total_seconds() if paused_until else 0)
        clock.advance(rests[-1])
    assert rests == [0, 60, 300, 900, 1800]


def test_a_resting_service_is_not_called_and_the_job_learns_when_to_come_back(httpserver: HTTPServer) -> None:
    clock = ManualClock(NOW)
    demo = source(httpserver, clock, status=Memory(NOW + timedelta(minutes=5), 3))
    with pytest.raises(Unavailable) as caught:
        demo.get("/x")
    assert caught.value.at == NOW + timedelta(minutes=5)
    assert httpserver.log == []


def test_after_a_rest_one_call_tests_the_service_while_the_others_wait(httpserver: HTTPServer) -> None:
    clock = ManualClock(NOW)
    entered, go = threading.Event(), threading.Event()

    def slow(_: Request) -> Answer:
        entered.set()
        go.wait(10)
        return Answer("ok")

    httpserver.expect_request("/slow").respond_with_handler(slow)
    httpserver.expect_request("/x").respond_with_data("ok")
    memory = Memory(NOW - timedelta(seconds=1), 3)
    demo = source(httpserver, clock, status=memory)
    with ThreadPoolExecutor(1) as pool:
        probe = pool.submit(demo.get, "/slow")
        assert entered.wait(10)
        with pytest.raises(Unavailable):
            demo.get("/x")
        go.set()
        assert probe.result(10).text == "ok"
    assert memory.kept["demo"] == (None, 2)
    assert demo.get("/x").text == "ok"
    assert memory.kept["demo"] == (None, 1)


def test_calls_that_fail_together_count_as_one_outage(httpserver: HTTPServer, clock: ManualClock) -> None:
    together = threading.Barrier(8)

    def fail(_: Request) -> Answer:
        together.wait(10)
        return Answer("", 500)

    httpserver.expect_request("/x").respond_with_handler(fail)
    memory = Memory()
    demo = source(httpserver, clock, status=memory)
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(demo.get, "/x", params={"n": n}) for n in range(8)]
        errors = [call.exception(10) for call in calls]
    assert {type(error) for error in errors} == {Transient}
    assert memory.kept["demo"] == (None, 1)


def test_a_person_who_waits_may_knock_at_a_resting_service(httpserver: HTTPServer) -> None:
    clock = ManualClock(NOW)
    httpserver.expect_request("/x").respond_with_data("ok")
    memory = Memory(NOW + timedelta(hours=6), 8)
    demo = source(httpserver, clock, status=memory)
    assert as_interactive(lambda: demo.get("/x")).text == "ok"
    assert memory.kept["demo"] == (None, 7)


def test_an_outage_is_logged_once_when_it_begins_and_once_when_it_ends(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_ordered_request("/x").respond_with_data("", 502)
    httpserver.expect_ordered_request("/x").respond_with_data("ok")
    httpserver.expect_ordered_request("/x").respond_with_data("ok")
    demo = source(httpserver, clock)
    with pytest.raises(Transient):
        demo.get("/x")
    demo.get("/x")
    demo.get("/x")
    shown = [line for line in lines if not line.startswith("DEBUG")]
    assert shown == ["WARNING demo: answers 502 (GET /x)\n", "INFO demo: answers again\n"]


def test_a_limited_service_does_not_flood_the_log(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_request("/short").respond_with_data("", 429, headers={"Retry-After": "2"})
    httpserver.expect_request("/long").respond_with_data("", 429, headers={"Retry-After": "600"})
    demo = source(httpserver, clock)
    for path in ("/short", "/short", "/long", "/long", "/long"):
        with pytest.raises(Unavailable) as caught:
            demo.get(path)
        clock.advance((caught.value.at - clock.now()).total_seconds())
    shown = [line for line in lines if not line.startswith("DEBUG")]
    assert shown == ["WARNING demo: asks to slow down (429); paused until 12:10:04 UTC\n"]


def test_a_burst_beyond_the_rate_is_parked_and_spread(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/x").respond_with_data("ok")
    demo = source(httpserver, clock, limits=Limits(requests=4, seconds=60))
    for n in range(4):
        demo.get("/x", params={"n": n})
    parked = []
    for n in range(3):
        with pytest.raises(RetryLater) as caught:
            demo.get("/x", params={"n": n})
        assert not isinstance(caught.value, Unavailable)
        parked.append((caught.value.at - NOW).total_seconds())
    assert parked == [60, 75, 90]
    clock.advance(60)
    assert demo.get("/x").text == "ok"


def test_a_wait_under_a_second_is_waited_out(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("ok")
    demo = source(httpserver, limits=Limits(requests=1, seconds=0.3))
    system = SystemClock()
    started = system.monotonic()
    demo.get("/x", fresh=True)
    demo.get("/x", fresh=True)
    assert 0.3 <= system.monotonic() - started < 3


def test_a_tenth_of_the_rate_is_kept_for_those_whom_a_person_waits_for(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/x").respond_with_data("ok")
    demo = source(httpserver, clock, limits=Limits(requests=10, seconds=60))
    for n in range(9):
        demo.get("/x", params={"n": n})
    with pytest.raises(RetryLater):
        demo.get("/x")
    assert as_interactive(lambda: demo.get("/x")).text == "ok"
    with pytest.raises(RetryLater):
        as_interactive(lambda: demo.get("/x"))


def test_four_threads_call_a_slow_service_at_the_same_time(httpserver: HTTPServer) -> None:
    together = threading.Barrier(4)

    def slow(_: Request) -> Answer:
        together.wait(10)
        return Answer("ok")

    httpserver.expect_request("/x").respond_with_handler(slow)
    demo = source(httpserver)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: demo.get("/x", params={"n": n}).text, range(4)))
    assert answers == ["ok"] * 4


def test_the_same_get_at_the_same_time_is_one_call(httpserver: HTTPServer) -> None:
    entered, go = threading.Event(), threading.Event()

    def slow(_: Request) -> Answer:
        entered.set()
        go.wait(10)
        return Answer("ok")

    httpserver.expect_request("/x").respond_with_handler(slow)
    demo = source(httpserver)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(demo.get, "/x")
        assert entered.wait(10)
        others = [pool.submit(demo.get, "/x") for _ in range(2)]
        until(lambda: demo.statistics().merged == 2)
        go.set()
        assert [call.result(10).text for call in (first, *others)] == ["ok"] * 3
    assert len(httpserver.log) == 1


def test_a_merged_call_shares_the_failure_too(httpserver: HTTPServer) -> None:
    entered, go = threading.Event(), threading.Event()

    def slow(_: Request) -> Answer:
        entered.set()
        go.wait(10)
        return Answer("", 404)

    httpserver.expect_request("/x").respond_with_handler(slow)
    demo = source(httpserver)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(demo.get, "/x")
        assert entered.wait(10)
        second = pool.submit(demo.get, "/x")
        until(lambda: demo.statistics().merged == 1)
        go.set()
        assert isinstance(first.exception(10), NotFound)
        assert isinstance(second.exception(10), NotFound)


def test_a_cached_answer_costs_no_call_until_it_expires_and_then_only_a_question(
    httpserver: HTTPServer, clock: ManualClock, tmp_path: Path
) -> None:
    def answer(request: Request) -> Answer:
        if request.headers.get("If-None-Match") == '"v1"':
            return Answer("", 304, headers={"ETag": '"v1"'})
        return Answer("body", 200, headers={"ETag": '"v1"', "Content-Type": "text/plain"})

    httpserver.expect_request("/x").respond_with_handler(answer)
    demo = source(httpserver, clock, cache_dir=tmp_path / "http")
    for _ in range(3):
        assert demo.get("/x", cache_seconds=600).text == "body"
    assert len(httpserver.log) == 1
    clock.advance(601)
    assert demo.get("/x", cache_seconds=600).text == "body"
    assert demo.get("/x", cache_seconds=600).text == "body"
    assert [answered.status_code for _, answered in httpserver.log] == [200, 304]
    demo.close()
    again = source(httpserver, clock, cache_dir=tmp_path / "http")
    assert again.get("/x", cache_seconds=600).text == "body"
    assert len(httpserver.log) == 2
    again.close()


def test_a_planted_pickle_in_the_cache_is_a_miss(
    httpserver: HTTPServer, clock: ManualClock, tmp_path: Path
) -> None:
    httpserver.expect_request("/x").respond_with_data("body")
    demo = source(httpserver, clock, cache_dir=tmp_path)
    demo.get("/x", cache_seconds=600)
    with diskcache.Cache(str(tmp_path), disk=diskcache.Disk) as planted:
        for key in list(planted.iterkeys()):
            planted[key] = {"a": "pickle"}
    assert demo.get("/x", cache_seconds=600).text == "body"
    assert len(httpserver.log) == 2
    demo.close()


@pytest.mark.parametrize("sound_bytes", [0, 4096])
def test_a_cache_that_broke_in_a_power_cut_is_begun_anew(
    httpserver: HTTPServer, clock: ManualClock, tmp_path: Path, sound_bytes: int
) -> None:
    httpserver.expect_request("/x").respond_with_data("body")
    demo = source(httpserver, clock, cache_dir=tmp_path / "http")
    demo.get("/x", cache_seconds=600)
    demo.close()
    file = tmp_path / "http" / "cache.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:sound_bytes] + b"\x5a" * (len(whole) - sound_bytes))
    again = source(httpserver, clock, cache_dir=tmp_path / "http")
    for _ in range(2):
        assert again.get("/x", cache_seconds=600).text == "body"
    assert len(httpserver.log) == 2, "the broken answer is asked for anew, and kept again"
    again.close()


def test_a_folder_that_cannot_hold_a_cache_costs_only_calls(
    httpserver: HTTPServer, clock: ManualClock, tmp_path: Path
) -> None:
    httpserver.expect_request("/x").respond_with_data("body")
    (tmp_path / "http").write_text("a file stands there")
    demo = source(httpserver, clock, cache_dir=tmp_path / "http")
    assert demo.get("/x", cache_seconds=600).text == "body"
    demo.close()


def test_a_job_that_runs_again_does_not_repeat_its_questions(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("ok")
    demo = source(httpserver)
    memo: dict[str, Response] = {}
    for _ in range(2):
        with_memo(memo, lambda: demo.get("/x"))
    assert len(httpserver.log) == 1
    with_memo(memo, lambda: demo.get("/x", fresh=True))
    assert len(httpserver.log) == 2


def test_a_write_makes_the_job_ask_again(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("ok")
    demo = source(httpserver)
    memo: dict[str, Response] = {}
    with_memo(memo, lambda: demo.get("/x"))
    with_memo(memo, lambda: demo.post("/x", form={"a": "b"}))
    with_memo(memo, lambda: demo.get("/x"))
    assert [asked.method for asked, _ in httpserver.log] == ["GET", "POST", "GET"]


def test_bodies_are_sent_as_asked(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/json", method="POST", json={"a": [1]}).respond_with_data("", 201)
    httpserver.expect_request(
        "/form", method="PUT", data="a=%26b", headers={"Content-Type": "application/x-www-form-urlencoded"}
    ).respond_with_data("", 204)
    demo = source(httpserver)
    assert demo.post("/json", json={"a": [1]}).status == 201
    assert demo.put("/form", form={"a": "&b"}).status == 204


@pytest.mark.parametrize(
    ("limits", "at_once"), [(Limits(requests=10_000), 200), (Limits(requests=10_000, concurrency=3), 3)]
)
def test_a_service_takes_200_calls_at_a_time_unless_its_plugin_says_otherwise(
    httpserver: HTTPServer, limits: Limits, at_once: int
) -> None:
    found = source(httpserver, limits=limits)
    with ExitStack() as under_way:
        for _ in range(at_once):
            under_way.enter_context(found._admitted())
        with pytest.raises(RetryLater, match="all its calls are under way"):
            under_way.enter_context(found._admitted())


def test_a_redirect_to_another_service_loses_the_credentials(httpserver: HTTPServer) -> None:
    with raw_server(lambda s, _: s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) as (
        elsewhere,
        seen,
    ):
        httpserver.expect_request("/x").respond_with_data("", 302, headers={"Location": f"{elsewhere}/y"})
        headers = {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET}
        assert source(httpserver, headers=headers).get("/x").text == "ok"
    assert SECRET.encode() not in seen[0]
    assert b"User-Agent: Rivulet" in seen[0]


def test_a_redirect_within_the_service_keeps_the_credentials(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("", 301, headers={"Location": "/y"})
    httpserver.expect_request("/y", headers={"X-Api-Key": SECRET}).respond_with_data("ok")
    assert source(httpserver, headers={"X-Api-Key": SECRET}).get("/x").text == "ok"


def test_redirects_in_a_circle_end(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("", 302, headers={"Location": "/x"})
    with pytest.raises(Refused):
        source(httpserver).get("/x")
    assert len(httpserver.log) <= 10


def test_a_redirected_post_is_not_sent_again(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("", 307, headers={"Location": "/y"})
    with pytest.raises(Refused):
        source(httpserver).post("/x", json={})
    assert len(httpserver.log) == 1


def test_cookies_are_refused(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data("ok", headers={"Set-Cookie": "sid=1; Path=/"})
    demo = source(httpserver)
    demo.get("/x")
    demo.get("/x")
    assert "Cookie" not in httpserver.log[1][0].headers


def test_an_answer_over_the_limit_is_refused_unread(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/x").respond_with_data(
        gzip.compress(b" " * 5_000_000), headers={"Content-Encoding": "gzip"}
    )
    with pytest.raises(BadAnswer, match="more than 100000 bytes"):
        source(httpserver, max_body=100_000).get("/x")


def test_a_post_whose_answer_is_lost_is_not_sent_again() -> None:
    with raw_server(lambda s, _: s.close()) as (address, seen):
        demo = DataSource("demo", address, clock=SystemClock())
        with pytest.raises(Transient, match="the connection broke off"):
            demo.post("/add", form={"magnet": "m"})
    assert len(seen) == 1


def test_a_get_on_a_connection_that_was_closed_is_asked_once_more() -> None:
    tries: list[int] = []

    def answer(connection: socket.socket, _: bytes) -> None:
        tries.append(1)
        if len(tries) > 1:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with raw_server(answer) as (address, _):
        assert DataSource("demo", address, clock=SystemClock()).get("/x").text == "ok"


def test_an_answer_that_breaks_off_is_transient() -> None:
    with (
        raw_server(lambda s, _: s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")) as (
            address,
            _,
        ),
        pytest.raises(Transient, match="the connection broke off"),
    ):
        DataSource("demo", address, clock=SystemClock()).get("/x")


def test_a_service_that_does_not_answer_is_given_up_in_time() -> None:
    hold = threading.Event()
    with raw_server(lambda _s, _r: wait_for(hold)) as (address, _):
        demo = DataSource("demo", address, clock=SystemClock(), timeout=(0.3, 0.3))
        with pytest.raises(Transient, match=r"no answer within 0.6 s"):
            demo.get("/x")
        hold.set()
    assert demo.statistics().requests == {"timeout": 1}


def test_an_answer_that_trickles_is_given_up_in_time() -> None:
    stop = threading.Event()

    def trickle(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not stop.wait(0.05):
            try:
                connection.sendall(b"x")
            except OSError:
                return

    with raw_server(trickle) as (address, _):
        demo = DataSource("demo", address, clock=SystemClock(), timeout=(0.3, 0.3))
        with pytest.raises(Transient, match="no answer within"):
            demo.get("/x")
        stop.set()


def test_a_service_that_is_not_there_is_transient() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    with pytest.raises(Transient, match="cannot be reached"):
        DataSource("demo", f"http://127.0.0.1:{port}", clock=SystemClock()).get("/x")


@pytest.mark.parametrize("address", ["", "localhost:8080", "ftp://localhost", "http://"])
def test_an_address_that_is_none_is_a_setting_to_mend(address: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        DataSource("demo", address, clock=SystemClock()).get("/x")
    assert caught.value.field == "url"


def test_stopping_ends_a_wait_at_once(httpserver: HTTPServer) -> None:
    demo = source(httpserver)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(demo.wait, 60)
        demo.close()
        assert isinstance(waiting.exception(5), Cancelled)


def test_no_error_and_no_log_line_holds_a_secret(lines: list[str]) -> None:
    odd = "pa&ss w/ord"
    address = f"http://user:{SECRET}@127.0.0.1:9/base"
    demo = DataSource("demo", address, clock=SystemClock(), secrets=(odd,), headers={"X-Api-Key": odd})
    with pytest.raises(Transient) as caught:
        demo.get(f"/debrid={SECRET}|x/stream", params={"token": odd})
    shown = f"{caught.value!r} {caught.value.__cause__!r} {''.join(lines)} {demo.statistics()}"
    for secret in (SECRET, odd, "pa%26ss"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@host/x", "https://host/x"),
        ("GET /x?api_key=0123456789&page=2", "GET /x?api_key=••••••&page=2"),
        ("/x?X-Plex-Token=abc", "/x?X-Plex-Token=••••••"),
        ("/sort=size|premium_key=ABCDEF/stream", "/sort=size|premium_key=••••••/stream"),
        ("/x?authToken=abc&apikey=def", "/x?authToken=••••••&apikey=••••••"),
        ("/x?monkey=1&keyword=2", "/x?monkey=1&keyword=2"),
    ],
)
def test_addresses_are_shown_without_credentials(text: str, shown: str) -> None:
    assert http.redact(text) == shown


def test_requests_are_counted_by_status(httpserver: HTTPServer) -> None:
    httpserver.expect_ordered_request("/x").respond_with_data("ok")
    httpserver.expect_ordered_request("/x").respond_with_data("", 404)
    demo = source(httpserver)
    demo.get("/x")
    with pytest.raises(NotFound):
        demo.get("/x")
    assert demo.statistics().requests == {"200": 1, "404": 1}


def test_a_store_that_fails_costs_no_call(httpserver: HTTPServer, clock: ManualClock) -> None:
    class Broken(Memory):
        def save(self, key: str, paused_until: datetime | None, level: int, reason: str) -> None:
            raise Transient("the database is busy")

    httpserver.expect_request("/x").respond_with_data("", 429)
    with pytest.raises(Unavailable):
        source(httpserver, clock, status=Broken()).get("/x")


def wait_for(event: threading.Event) -> None:
    event.wait(10)


def as_interactive(ask: Callable[[], Response]) -> Response:
    """Run `ask` as a job that a person waits for."""

    def run() -> Response:
        http.interactive.set(True)
        return ask()

    return contextvars.copy_context().run(run)


def with_memo(memo: dict[str, Response], ask: Callable[[], Response]) -> Response:
    """Run `ask` as a job that keeps its answers in `memo`."""

    def run() -> Response:
        http.job_memo.set(memo)
        return ask()

    return contextvars.copy_context().run(run)
