"""A debrid service dies while a film is read through the real mount: another one takes over, or the error comes in time."""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from program.demo.inspect_mount import files_below, hash_of
from tests.faults.test_torrents import NO_SERVERS, read_error
from tests.support.stage import Stage

SINTEL = "45745"
# Nothing is kept on disk.
ALONE = {**NO_SERVERS, "vfs.disk_mib": 0, "vfs.played_mib": 0, "vfs.read_timeout_seconds": 6}
BOTH = {
    **NO_SERVERS,
    "vfs.disk_mib": 0,
    "vfs.played_mib": 0,
    "downloaders.alldebrid.enabled": True,
    "downloaders.order": ["realdebrid", "alldebrid"],
}
PATIENT = 60.0

pytestmark = pytest.mark.slow


@contextmanager
def staged(folder: Path, settings: dict[str, Any]) -> Iterator[Stage]:
    """A library with one film that nobody has read yet."""
    with Stage(folder, settings=settings) as stage:
        stage.start_program()
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [SINTEL]})
        stage.wait_for(lambda: state_of(stage) == "Completed", timeout=PATIENT, what="the film")
        yield stage


def detail(stage: Stage) -> dict[str, Any]:
    return dict(stage.api("GET", "/items/1?extended=true").data or {})


def state_of(stage: Stage) -> str:
    return str(detail(stage).get("state"))


def sources(stage: Stage) -> list[str]:
    return [source["provider"] for source in detail(stage)["files"][0]["sources"]]


def film(stage: Stage) -> Path:
    return next(files_below(stage.mount))


def is_right(stage: Stage, path: Path) -> bool:
    return hash_of(path) in {one["sha256"] for one in stage.origins() if one["right"]}


def dies(stage: Stage, kind: str, **facts: Any) -> None:
    """Let the first service and everything that belongs to it be gone."""
    for provider in ("cdn", "realdebrid"):
        stage.fault(provider, kind, **facts)


def read_while_it_dies(stage: Stage, kind: str, **facts: Any) -> str:
    """Read the film, of which the first service gives the beginning slowly and then dies; return the hash of what came."""
    stage.control("/options", {"cdn_bytes_per_second": 100_000})
    stage.fault("cdn", "cut", bytes=150_000, count=1)
    found = hashlib.sha256()
    with film(stage).open("rb", buffering=0) as file:
        found.update(file.read(32_768))
        dies(stage, kind, **facts)
        stage.control("/options", {"cdn_bytes_per_second": 0})
        while piece := file.read(131_072):
            found.update(piece)
    return found.hexdigest()


@pytest.mark.parametrize(
    ("kind", "facts"),
    [("reset", {}), ("status", {"status": 503}), ("status", {"status": 404}), ("timeout", {"seconds": 60})],
)
def test_a_service_that_dies_in_mid_film_is_followed_by_the_other_at_that_place(
    tmp_path: Path, kind: str, facts: dict[str, Any]
) -> None:
    with staged(tmp_path, BOTH) as stage:
        stage.wait_for(lambda: len(sources(stage)) == 2, timeout=PATIENT, what="the second source")
        right = {one["sha256"] for one in stage.origins() if one["right"]}
        assert read_while_it_dies(stage, kind, **facts) in right
        assert stage.requests("cdn")[0]["status"] == 206, "the first service gave the beginning"
        taken_over = [row["range"] for row in stage.requests("alldebrid-cdn") if row["status"] == 206]
        # One byte is asked for while the lost source is mended, to see whether there are any.
        taken_over = [asked for asked in taken_over if asked != "bytes=0-0"]
        places = [int(asked.removeprefix("bytes=").partition("-")[0]) for asked in taken_over]
        assert 0 < min(places) <= 150_000, "the other took over at that place"
        assert state_of(stage) == "Completed"


def test_with_no_other_service_the_error_comes_in_time_and_the_film_is_back_with_the_service(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, ALONE) as stage:
        before = detail(stage)
        dies(stage, "status", status=503)
        began = time.monotonic()
        assert read_error(film(stage), 200_000) == errno.EIO
        assert time.monotonic() - began < 6 + 4
        assert state_of(stage) == "Completed"
        assert detail(stage)["files"] == before["files"]
        stage.control("/faults", method="DELETE")
        stage.wait_for(lambda: is_readable(stage), timeout=PATIENT, what="the film again")
        assert is_right(stage, film(stage))


def is_readable(stage: Stage) -> bool:
    try:
        return is_right(stage, film(stage))
    except OSError:
        return False


def test_a_film_whose_torrent_the_service_lost_can_be_read_soon_after_the_first_try(tmp_path: Path) -> None:
    with staged(tmp_path, ALONE) as stage:
        for torrent in stage.account():
            stage.control("/account/remove", {"id": torrent["id"]})
        assert read_error(film(stage), 0) == errno.EIO
        stage.wait_for(lambda: is_readable(stage), timeout=PATIENT, what="the film again")
        told = [row["outcome"] for row in stage.api("GET", "/items/1/timeline").data["timeline"]]
        assert told[-2:] == ["lost", "added_again"]
