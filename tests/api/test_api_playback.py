"""Playing without the mount: which file, how many conversions, and that none outlives its listener."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from program.errors import RetryLater, Transient
from program.playback import hls
from program.playback.hls import MOST_PROCESSES, Form, arguments, count, playlist
from program.vfs.tree import TreeFile
from tests.api.home import Home
from tests.db.library import NOW, film_metadata, season, show_metadata
from tests.support.wait import until

SECONDS = 20
FILM, NO_FILM = "/movies/film.mkv", "/movies/broken.mkv"


@pytest.fixture
def database_kind() -> str:
    """Playing has little to do with the database."""
    return "sqlite"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A film of twenty seconds with next to nothing in it."""
    file = tmp_path_factory.mktemp("clip") / "clip.mkv"
    source = f"testsrc=duration={SECONDS}:size=64x48:rate=5"
    command = [
        "ffmpeg",
        "-nostdin",
        "-loglevel",
        "error",
        "-f",
        "lavfi",
        "-i",
        source,
        "-c:v",
        "libx264",
        str(file),
    ]
    subprocess.run(command, check=True, timeout=60)
    return file.read_bytes()


@pytest.fixture
def film(home: Home, clip: bytes) -> Iterator[int]:
    """A film whose file is the clip."""
    item = home.library.film()
    home.library.index(item, film_metadata())
    entry = home.library.complete(item, item, path=FILM)
    home.vfs.start([TreeFile(FILM, entry, len(clip), NOW, "clip", clip)])
    yield item
    assert home.converter.running() == 0


def test_the_list_names_as_many_segments_as_the_film_is_long(home: Home, film: int) -> None:
    answer = home.call("GET", f"/stream/hls/{film}/index.m3u8?level=4.0&resolution=480p")
    segments = [line for line in answer.text.splitlines() if line and not line.startswith("#")]
    assert segments == [
        f"segment/{number}.ts?pix_fmt=yuv420p&profile=high&level=4.0&resolution=480p" for number in range(4)
    ]
    assert home.refused("GET", f"/stream/hls/{film}/segment/4.ts")[0] == 404


def test_a_segment_is_a_transport_stream_and_its_process_ends_with_it(home: Home, film: int) -> None:
    answer = home.call("GET", f"/stream/hls/{film}/segment/3.ts")
    assert answer.status_code == 200
    assert set(answer.content[0 : 188 * 5 : 188]) == {0x47}
    until(lambda: home.converter.running() == 0, what="a process that has ended")


def test_a_conversion_ends_when_nobody_listens_any_more(home: Home, film: int) -> None:
    entry = home.context.files.path_of(1)
    assert entry == FILM
    made = home.converter.segment(1, 0, Form())
    assert next(made)
    assert home.converter.running() == 1
    made.close()
    assert home.converter.running() == 0


def test_there_are_only_so_many_conversions_and_the_next_is_told_when_to_come_back(
    home: Home, film: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hls, "TURN_SECONDS", 0.01)
    made = [home.converter.segment(1, 0, Form()) for _ in range(MOST_PROCESSES)]
    for one in made:
        next(one)
    assert home.converter.running() == MOST_PROCESSES
    with pytest.raises(RetryLater, match="conversions are under way"):
        next(home.converter.segment(1, 0, Form()))
    answer = home.call("GET", f"/stream/hls/{film}/segment/0.ts")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    for one in made:
        one.close()
    assert next(home.converter.segment(1, 0, Form()))


def test_what_is_no_film_is_told_and_leaves_no_process(home: Home, film: int) -> None:
    home.vfs.apply([TreeFile(NO_FILM, 99, 7, NOW, "broken", b"no film")])
    with pytest.raises(Transient, match="the log says why"):
        home.converter.duration(99)
    with pytest.raises(Transient, match="could not convert"):
        list(home.converter.segment(99, 0, Form()))


def test_an_address_for_ffmpeg_ends_with_its_conversion(home: Home, film: int) -> None:
    with home.converter.loopback.address_of(1) as address:
        token = address.rpartition("/")[2]
        opened = home.converter.loopback.open(token)
        assert opened is not None
        opened.close()
    assert home.converter.loopback.open(token) is None
    assert home.converter.loopback.open("../" + token) is None


def test_a_show_plays_its_first_episode_that_is_there_and_specials_last(home: Home, clip: bytes) -> None:
    show = home.library.show(season(0), season(1))
    home.library.index(show, show_metadata(season(0), season(1)))
    assert home.refused("GET", f"/stream/file/{show}") == (404, f"item {show} has no file in the library yet")
    for place, (number, part) in enumerate(((0, 1), (1, 2))):
        item = home.library.item(show, number, part)
        home.library.complete(show, item.id, path=f"/shows/{place}.mkv", name=f"{place}.mkv")
    home.vfs.start([TreeFile(f"/shows/{n}.mkv", n + 1, 1, NOW, str(n), str(n).encode()) for n in (0, 1)])
    assert home.call("GET", f"/stream/file/{show}").content == b"1"


def test_what_a_client_says_is_one_word_of_the_command_or_refused(tmp_path: Path) -> None:
    command = arguments("http://127.0.0.1:1/token", 2, Form(height="720p"))
    assert command[0] == "ffmpeg"
    assert command[command.index("-protocol_whitelist") + 1] == "http,tcp"
    assert command[command.index("-ss") + 1] == "12"
    assert command[command.index("-vf") + 1] == "scale=-2:720"
    assert command[-1] == "pipe:1"


@pytest.mark.parametrize(("seconds", "segments"), [(0.5, 1), (6, 1), (6.1, 2), (5400, 900)])
def test_the_last_segment_is_the_rest(seconds: float, segments: int) -> None:
    assert count(seconds) == segments
    lengths = [
        float(line[8:-1]) for line in playlist(seconds, Form()).splitlines() if line.startswith("#EXTINF")
    ]
    assert sum(lengths) == pytest.approx(seconds, abs=0.01)
