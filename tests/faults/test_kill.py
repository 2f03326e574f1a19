"""The program is killed at the n-th outside request, started again, and in the end nothing is missing, twice or left over.

What must hold is the list `INVARIANTS` of `killing.py`, with the files read through the mount, the titles of the API and the
torrents on the account.

One window is wider than what the answer says: a torrent whose adding was answered into the void (`lost` at `addMagnet`). It is
not added a second time, since the account is looked at before anything is added, and it is known as ours, since the wish to
add it was written down before. Only where a service carries an adding out after the restarted program has looked at the
account could a torrent be there twice; the stand-ins, like the service, answer in order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.killing import play

# About as many as the library takes; the media server is asked more often on a slow machine. A point behind the end kills nothing.
LAST = 88
MOMENTS = ("before", "after", "lost")


@pytest.mark.slow
@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("at", range(1, LAST + 1))
def test_a_library_is_complete_after_a_kill(tmp_path: Path, at: int, when: str) -> None:
    run = play(tmp_path, at, when)
    assert run.problems == ()
    assert run.request is not None or run.total < at


@pytest.mark.parametrize(
    ("at", "when", "alike"),
    [
        pytest.param(1, "before", {"provider": "overseerr"}, marks=pytest.mark.slow),
        pytest.param(3, "after", {"provider": "tmdb", "path": "/movie/"}, marks=pytest.mark.slow),
        (2, "lost", {"path": "/torrents/addMagnet"}),
        (1, "lost", {"path": "/torrents/selectFiles"}),
        pytest.param(1, "lost", {"path": "/torrents/delete"}, marks=pytest.mark.slow),
        pytest.param(1, "after", {"path": "/refresh"}, marks=pytest.mark.slow),
    ],
    ids=["the first", "looked up", "a torrent added", "files selected", "a torrent deleted", "a scan begun"],
)
def test_a_library_is_complete_after_a_kill_when_this_was_under_way(
    tmp_path: Path, at: int, when: str, alike: dict[str, str]
) -> None:
    run = play(tmp_path, at, when, not_held=False, **alike)
    assert run.request is not None
    assert run.problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("path", ["/torrents/addMagnet", "/torrents/delete"])
def test_what_is_not_held_is_left_behind_by_no_kill(tmp_path: Path, path: str, at: int, when: str) -> None:
    run = play(tmp_path, at, when, not_held=True, path=path)
    assert run.request is not None
    assert run.problems == ()
