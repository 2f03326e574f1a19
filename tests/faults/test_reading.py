"""Reading through the real mount while links die and services go away: right bytes or an error, and soon bytes again."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from program.demo.inspect_mount import files_below, hash_of
from tests.faults.test_torrents import NO_SERVERS, read_error
from tests.support.stage import Stage

FILMS = {
    "Sintel": 45745,
    "Elephants": 9761,
    "Cosmos": 358332,
    "Sita": 20529,
    "Spring": 593048,
    "Sprite": 891761,
}
# Nothing is kept on disk, and a read that gets nothing fails soon.
SETTINGS = {**NO_SERVERS, "vfs.disk_mib": 0, "vfs.read_timeout_seconds": 6}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A library of six films that nobody has read yet."""
    with Stage(tmp_path, settings=SETTINGS) as stage:
        stage.start_program()
        films = [str(tmdb) for tmdb in FILMS.values()]
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": films})
        stage.wait_for(lambda: len(list(files_below(stage.mount))) == len(films), what="all films")
        yield stage


def film(stage: Stage, name: str) -> Path:
    return next(path for path in files_below(stage.mount) if name in path.name)


def is_right(stage: Stage, path: Path) -> bool:
    """Read a file to its end and return whether its bytes are those of its origin."""
    return hash_of(path) in {one["sha256"] for one in stage.origins() if one["right"]}


def new_links(stage: Stage) -> int:
    return len([row for row in stage.requests("realdebrid") if "/unrestrict/link" in row["path"]])


def start_again(stage: Stage) -> None:
    """Let the program forget the bytes it holds; what the database holds it still knows."""
    stage.stop_program()
    stage.start_program()


def test_a_link_that_expires_in_mid_file_is_replaced_without_the_reader_noticing(stage: Stage) -> None:
    for name, after in (("Sintel", 1), ("Elephants", 65_536), ("Spring", 300_001)):
        before, seen = new_links(stage), len(stage.requests("cdn"))
        stage.control("/expire", {"after_bytes": after})
        assert is_right(stage, film(stage, name))
        assert new_links(stage) == before + 2
        statuses = [row["status"] for row in stage.requests("cdn")[seen:]]
        assert [status for status in statuses if status not in (200, 206)], "the dead link was met"


def test_a_film_whose_link_is_known_can_be_read_while_the_debrid_service_is_down(stage: Stage) -> None:
    assert is_right(stage, film(stage, "Sintel"))
    asked = new_links(stage)
    start_again(stage)
    stage.fault("realdebrid", "status", status=503)
    assert is_right(stage, film(stage, "Sintel"))
    assert new_links(stage) == asked
    assert read_error(film(stage, "Elephants"), 0) == errno.EIO, "its link is not known yet"


def test_a_debrid_service_that_is_away_for_a_moment_costs_a_reader_only_time(stage: Stage) -> None:
    stage.fault("realdebrid", "reset", path="/unrestrict/link", count=1)
    assert is_right(stage, film(stage, "Sintel"))


def test_an_answer_of_the_cdn_that_is_none_is_never_shown_as_the_file(stage: Stage) -> None:
    for name, kind in zip(
        FILMS, ("cut", "reset", "wrong_length", "wrong_range", "html", "empty"), strict=True
    ):
        stage.fault("cdn", kind, count=1)
        assert is_right(stage, film(stage, name)), kind


def test_a_reader_gets_an_error_in_time_while_everything_is_gone_and_bytes_when_it_is_back(
    stage: Stage,
) -> None:
    stage.fault("cdn", "status", status=404)
    stage.fault("realdebrid", "status", status=503, path="/unrestrict/link")
    sintel = film(stage, "Sintel")
    assert read_error(sintel, 0) == errno.EIO
    assert stage.program.is_ready()
    states = {row["state"] for row in stage.api("GET", "/items?type=movie").data["items"]}
    assert states == {"Completed"}, "a passing failure resets nothing"
    stage.control("/faults", method="DELETE")
    # A service that rests is knocked at, for a reader, every ten seconds.
    stage.wait_for(lambda: read_error(sintel, 0) is None, 20.0, "bytes")
    assert is_right(stage, sintel)
