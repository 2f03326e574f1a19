"""Stopping: in order, soon, with nothing left mounted, and nothing lost for the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from program.demo.inspect_mount import files_below
from program.demo.launch import is_mounted
from tests.faults.killing import SETTINGS, ask_for_everything, is_complete, wrong_in_the_end
from tests.support.stage import Stage
from tests.support.wait import until

# What a container manager is told to wait before it kills.
STOP_SECONDS = 30.0
READ_TO_THE_END = "import sys; print(len(open(sys.argv[1], 'rb').read()))"


def stop(stage: Stage) -> tuple[int, float]:
    """Send SIGTERM; return the exit code and how many seconds it took."""
    begin = time.monotonic()
    code = stage.program.child.stop()
    return code, time.monotonic() - begin


def test_a_busy_program_ends_in_order_and_the_next_start_goes_on(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=SETTINGS) as stage:
        ask_for_everything(stage)
        stage.start_program()
        stage.wait_for(lambda: len(stage.account()) > 1, what="torrents on the account")
        code, seconds = stop(stage)
        assert (code, is_mounted(stage.mount)) == (0, False)
        assert seconds < STOP_SECONDS
        assert "Traceback" not in stage.log_text()
        stage.start_program()
        assert not is_complete(stage), "there was something left to do"
        assert wrong_in_the_end(stage) == []


@pytest.mark.parametrize(
    "reached", ["the database is at revision", "API on", "the library is mounted", "ready: "], ids=str.split
)
def test_a_program_that_is_told_to_end_while_it_starts_ends_in_order(tmp_path: Path, reached: str) -> None:
    with Stage(tmp_path, settings=SETTINGS) as stage:
        ask_for_everything(stage)
        stage.start_program(wait=False)
        stage.wait_for(lambda: reached in stage.log_text(), what=reached)
        code, seconds = stop(stage)
        assert (code, is_mounted(stage.mount)) == (0, False)
        assert seconds < STOP_SECONDS
        assert "Traceback" not in stage.log_text()


def test_a_reader_that_waits_gets_an_answer_and_does_not_keep_the_program(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=SETTINGS) as stage:
        ask_for_everything(stage)
        stage.start_program()
        stage.wait_for(lambda: is_complete(stage), 60.0, "the library")
        stage.fault("cdn", "slow", seconds=60)
        file = max(files_below(stage.mount))
        reader = subprocess.Popen(
            [sys.executable, "-c", READ_TO_THE_END, str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        stage.wait_for(lambda: stage.requests("cdn"), what="a read that waits")
        code, seconds = stop(stage)
        said = reader.communicate(timeout=STOP_SECONDS)[1]
        assert (code, is_mounted(stage.mount)) == (0, False)
        assert seconds < STOP_SECONDS
        assert reader.returncode != 0
        assert "Error" in said, "never an end of file that is none"


def test_a_second_signal_ends_it_at_once_and_the_next_start_clears_up(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=SETTINGS) as stage:
        ask_for_everything(stage)
        stage.start_program()
        pid = stage.program.child.pid
        os.kill(pid, signal.SIGTERM)
        until(lambda: "stopping" in stage.log_text(), STOP_SECONDS, "the stop")
        os.kill(pid, signal.SIGTERM)
        stage.wait_killed(5.0)
        stage.start_program()
        assert wrong_in_the_end(stage) == []
