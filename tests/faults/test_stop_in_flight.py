"""Stopping in the thick of it: fifty searches that do not end, somebody who reads from the library, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from program.demo.inspect_mount import files_below
from program.demo.launch import is_mounted
from tests.support.stage import Stage
from tests.support.wait import until

# What a container manager is told to wait before it kills.
STOP_SECONDS = 30.0
AT_ONCE_SECONDS = 5.0
SINTEL = 45745
NO_SERVERS = {"updaters.plex.enabled": False, "updaters.jellyfin.enabled": False}
NUMBERS = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"]
HARBOURS = ["Amber", "Birch", "Cobalt", "Dune", "Ember"]
FIFTY = [f"{first} {number}" for first in HARBOURS for number in NUMBERS]
# Keeps a film open and plays it over and over; prints the hash of what came each time.
PLAY = """
import hashlib, sys, time
kept = open(sys.argv[1], "rb", buffering=0)
while True:
    with open(sys.argv[1], "rb", buffering=0) as film:
        print(hashlib.sha256(film.read()).hexdigest(), flush=True)
    time.sleep(0.02)
"""


def publish_fifty(stage: Stage) -> list[str]:
    """Put fifty films into the catalog, each with one release that fits; return their ids."""
    ids = []
    for place, title in enumerate(FIFTY):
        tmdb = 9_300_000 + place
        release = {
            "name": f"{title.replace(' ', '.')}.2019.1080p.WEB-DL.AAC2.0.H.264-OPEN",
            "right": True,
            "shared_clip": True,
        }
        row = {"title": title, "year": 2019, "tmdb": tmdb, "imdb": f"tt{tmdb}", "premiere": "2019-01-01"}
        stage.change("add_film", row={**row, "digital": "2019-02-01", "releases": [release]})
        ids.append(str(tmdb))
    return ids


@contextmanager
def in_full_flight(stage: Stage) -> Iterator[subprocess.Popen[str]]:
    """Have a film in the library and read, and the searches of fifty others begun that do not end; give the reader."""
    ids = publish_fifty(stage)
    stage.start_program()
    stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [str(SINTEL)]})
    [file] = stage.wait_for(lambda: list(files_below(stage.mount)), what="the film")
    command = [sys.executable, "-c", PLAY, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        try:
            stage.fault("torrentio", "slow", seconds=60)
            assert stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": ids}).status == 200
            stage.wait_for(lambda: in_flight(stage) >= len(ids), what="fifty jobs in flight")
            yield reader
        finally:
            reader.kill()


def in_flight(stage: Stage) -> int:
    """Return how many searches have begun and not ended."""
    counts = stage.api("GET", "/queues").data["queues"]["process-media-item"]
    return sum(number for state, number in counts.items() if state not in ("completed", "failed"))


def what_was_read(reader: subprocess.Popen[str], stage: Stage) -> tuple[int, str]:
    """Return how often the film was read to its end, each time right to the last byte, and how the reading ended."""
    out, err = reader.communicate(timeout=STOP_SECONDS)
    right = {one["sha256"] for one in stage.origins()}
    assert set(out.split()) <= right, "a wrong byte"
    return len(out.split()), err.strip().rpartition("\n")[2]


def go_on(stage: Stage) -> Counter[str]:
    """Start again without the fault and return the states of all films once none is on its way any more."""
    stage.control("/faults", method="DELETE")
    stage.start_program()
    films = len(FIFTY) + 1

    def states() -> Counter[str]:
        reply = stage.api("GET", "/items?type=movie&limit=100")
        return Counter(row["state"] for row in reply.data["items"])

    stage.wait_for(lambda: states()["Completed"] >= films, 150.0, "the completion of every film")
    return states()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_stop_in_full_flight_ends_in_order_and_nothing_is_lost(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=NO_SERVERS) as stage:
        with in_full_flight(stage) as reader:
            begin = time.monotonic()
            assert stage.program.child.stop() == 0
            assert time.monotonic() - begin < STOP_SECONDS
            assert not is_mounted(stage.mount)
            times, end = what_was_read(reader, stage)
        assert times > 0
        assert end.startswith(("OSError:", "FileNotFoundError:")), "never an end of file that is none"
        assert "Traceback" not in stage.log_text()
        assert go_on(stage) == {"Completed": len(FIFTY) + 1}


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_second_signal_in_full_flight_ends_it_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=NO_SERVERS) as stage:
        with in_full_flight(stage) as reader:
            pid = stage.program.child.pid
            os.kill(pid, signal.SIGTERM)
            until(lambda: "stopping" in stage.log_text(), STOP_SECONDS, "the stop")
            assert stage.program.child.code() is None, "fifty searches hold it up"
            os.kill(pid, signal.SIGTERM)
            stage.wait_killed(AT_ONCE_SECONDS)
            what_was_read(reader, stage)
        assert go_on(stage) == {"Completed": len(FIFTY) + 1}
