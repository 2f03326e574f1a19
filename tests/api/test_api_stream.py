"""Live streams: what happens arrives as it happens, there are only so many, and none keeps the program from ending."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests

from program.api import stream
from program.api.server import ApiServer, create_app
from program.api.streams import MOST, WAITING, Streams
from program.bootstrap import streams_for
from program.bus import Bus
from program.events import CoreStarted, DownloadSuccess, ItemCompleted, Told
from program.log import hide, logger
from tests.api.home import KEY, Home
from tests.db.library import film_metadata
from tests.support.wait import until

BEAT = 0.1


@pytest.fixture
def database_kind() -> str:
    """Streams have little to do with the database."""
    return "sqlite"


class Radio:
    """A home whose server has live streams, and listeners to them."""

    def __init__(self, home: Home) -> None:
        self.streams = Streams(beat_seconds=BEAT)
        self.context = replace(home.context, streams=self.streams)
        self.server = ApiServer(create_app(self.context), "127.0.0.1", 0, threads=16)
        self.server.start()
        self.bus = Bus(home.engine, home.registry, home.clock)
        self.bus.listen(self.streams.tell)
        self._open: list[requests.Response] = []

    def listen(self, path: str = "/stream/events", key: str = KEY) -> requests.Response:
        """Open a stream; return once its head has come."""
        answer = requests.get(
            f"http://127.0.0.1:{self.server.port}/api/v1{path}",
            headers={"X-Api-Key": key},
            stream=True,
            timeout=5,
        )
        self._open.append(answer)
        return answer

    def close(self) -> None:
        for answer in self._open:
            answer.close()
        self.streams.close()
        self.server.stop()


@pytest.fixture
def radio(home: Home) -> Iterator[Radio]:
    found = Radio(home)
    yield found
    found.close()


def said(answer: requests.Response, count: int = 1) -> list[Any]:
    """Return the next values of a stream, beats without a value left out."""
    found: list[Any] = []
    for line in answer.iter_lines(chunk_size=1):
        if line.startswith(b"data: ") and line != b"data: null":
            found.append(json.loads(line.removeprefix(b"data: ")))
        if len(found) == count:
            return found
    raise AssertionError(f"the stream ended after {found}")


def lines(answer: requests.Response, count: int) -> list[bytes]:
    """Return the next lines of a stream that are not empty."""
    found: list[bytes] = []
    for line in answer.iter_lines(chunk_size=1):
        found += [line] if line else []
        if len(found) == count:
            return found
    raise AssertionError(f"the stream ended after {found}")


# What is heard


def test_an_event_arrives_as_one_line_as_it_happens(radio: Radio, home: Home) -> None:
    answer = radio.listen()
    event = DownloadSuccess(
        item_id=7, title="Sintel", sentence="1080p\n“open”", provider="realdebrid", duration_ms=812
    )
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["Cache-Control"] == "no-store"
    radio.bus.publish(event)
    radio.bus.publish(CoreStarted())
    first, second = said(answer, 2)
    assert first == {
        "type": "riven.media-item.download.success",
        "at": home.clock.now().isoformat(),
        "item_id": 7,
        "title": "Sintel",
        "sentence": "1080p\n“open”",
        "provider": "realdebrid",
        "duration_ms": 812,
    }
    assert (second["type"], second["item_id"]) == ("riven.core.started", None)


def test_everybody_who_listens_hears_it(radio: Radio) -> None:
    answers = [radio.listen() for _ in range(3)]
    radio.bus.publish(CoreStarted())
    assert [said(answer)[0]["type"] for answer in answers] == ["riven.core.started"] * 3


def test_a_quiet_stream_beats(radio: Radio) -> None:
    assert lines(radio.listen("/stream/events"), 3) == [b": still here"] * 3
    assert lines(radio.listen("/stream/notifications"), 3)[1:] == [b"data: null"] * 2


def test_a_finished_title_is_a_notification_and_nothing_else_is(radio: Radio, home: Home) -> None:
    film = home.library.film()
    home.library.index(film, film_metadata())
    answer = radio.listen("/stream/notifications")
    for event in (CoreStarted(), DownloadSuccess(item_id=film), ItemCompleted(item_id=film, title="Sintel")):
        radio.bus.publish(event)
    (toast,) = said(answer)
    assert (toast["title"], toast["type"], toast["year"]) == ("Sintel", "movie", 2010)
    assert (toast["log_string"], toast["timestamp"]) == ("Sintel", home.clock.now().isoformat())
    assert toast["imdb_id"] == film_metadata().ids.imdb
    assert toast["duration"] >= 0


def test_a_finished_title_that_is_gone_is_no_notification(radio: Radio, home: Home) -> None:
    film = home.library.film()
    answer = radio.listen("/stream/notifications")
    radio.bus.publish(ItemCompleted(item_id=12345, title="Gone"))
    radio.bus.publish(ItemCompleted(item_id=film, title="There"))
    assert said(answer)[0]["type"] == "movie"


def test_the_log_arrives_with_its_secrets_masked(radio: Radio) -> None:
    hide(["hunter2hunter2"])
    radio.streams.follow_log("INFO")
    radio.streams.follow_log("INFO")
    answer = radio.listen("/stream/logging")
    logger.debug("too fine")
    logger.bind(provider="sample").warning("the key is {}", "hunter2hunter2")
    (line,) = said(answer)
    assert line["level"] == "WARNING"
    assert line["message"].startswith("the key is ••••••")
    assert line["time"]


def test_a_stream_asks_for_the_key(radio: Radio) -> None:
    assert radio.listen(key="wrong").status_code == 401
    assert radio.streams.count() == 0


# How many there may be


CROWD = 32


def test_of_thirty_two_listeners_six_are_served_and_all_are_forgotten_when_they_drop(radio: Radio) -> None:
    paths = ("/stream/events", "/stream/notifications", "/stream/logging")
    answers = [radio.listen(paths[turn % 3]) for turn in range(CROWD)]
    assert Counter(answer.status_code for answer in answers) == {200: MOST, 503: CROWD - MOST}
    assert {answer.headers["Retry-After"] for answer in answers if answer.status_code == 503} == {"5"}
    assert [radio.listen(path).status_code for path in ("/stats", "/items", "/calendar")] == [200] * 3
    for answer in answers:
        answer.close()
    until(lambda: radio.streams.count() == 0, what="no listener left")
    again = [radio.listen() for _ in range(MOST)]
    assert [answer.status_code for answer in again] == [200] * MOST


def test_six_may_listen_and_the_seventh_is_told_when_to_come_back(radio: Radio) -> None:
    answers = [radio.listen() for _ in range(6)]
    refused = radio.listen()
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "5"
    assert refused.json() == {"detail": "6 streams are open, and there is no thread for more"}
    begin = time.monotonic()
    assert radio.listen("/stats").status_code == 200
    assert time.monotonic() - begin < 3, "everything else is answered as ever"
    answers[0].close()
    until(lambda: radio.streams.count() < 6, what="a place that is free")
    assert radio.listen().status_code == 200


def test_of_few_threads_streams_take_only_a_share() -> None:
    assert [streams_for(threads) for threads in (2, 4, 8, 16, 32)] == [1, 1, 3, 6, 12]
    assert MOST == 6


def test_who_goes_away_gives_the_place_back(radio: Radio) -> None:
    answer = radio.listen()
    assert radio.streams.count() == 1
    answer.close()
    until(lambda: radio.streams.count() == 0, what="the end of the stream")


def test_a_stream_that_has_long_been_quiet_is_ended(radio: Radio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "QUIET_SECONDS", 5 * BEAT)
    answer = radio.listen()
    radio.bus.publish(CoreStarted())
    begin = time.monotonic()
    assert b"riven.core.started" in answer.content, "the body has come to its end"
    assert time.monotonic() - begin >= 4 * BEAT
    until(lambda: radio.streams.count() == 0, what="the place that is free")


def test_a_listener_that_is_slow_loses_the_oldest_and_keeps_nobody_waiting() -> None:
    streams = Streams(beat_seconds=0.01)
    listener = streams.open("events")
    for number in range(WAITING + 10):
        streams.tell(Told(title=str(number)))
    heard = listener.heard(0.02)
    first = next(heard)
    assert isinstance(first, Told)
    assert first.title == "10"
    listener.close()
    listener.close()


# The end


def test_a_stop_ends_every_stream_at_once(radio: Radio) -> None:
    answers = [radio.listen() for _ in range(6)]
    begin = time.monotonic()
    radio.streams.close()
    radio.server.stop()
    assert time.monotonic() - begin < 4
    assert [answer.content for answer in answers] == [b": still here\n\n"] * 6


def test_no_stream_begins_after_the_end(radio: Radio) -> None:
    radio.streams.close()
    refused = radio.listen()
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "30")


def test_streams_are_described_as_such(radio: Radio, home: Home) -> None:
    paths = home.call("GET", "//openapi.json", key=None).json()["paths"]
    content = paths["/api/v1/stream/events"]["get"]["responses"]["200"]["content"]
    assert list(content) == ["text/event-stream"]


def test_plugins_are_listed_with_how_they_stand(home: Home) -> None:
    home.use(scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}})
    home.registry.validate(home.clock.now())
    body = home.get("/plugins")
    plugins: dict[str, Any] = {plugin["key"]: plugin for plugin in body["plugins"]}
    assert plugins["vault"]["state"] == "disabled"
    sample = plugins["sample"]
    assert (sample["title"], sample["version"], sample["section"]) == ("Sample Index", "1.0.0", "scraping")
    assert (sample["state"], sample["hooks"]) == ("unreachable", ["riven.media-item.scrape.requested"])
    assert sample["reason"]
    assert sample["next_check_at"]
    assert (sample["failures"], sample["stuck"], sample["last_fault"]) == (0, 0, None)
    assert body["events"] == ["riven.media-item.scrape.requested"]
    assert body["broken"] == []
