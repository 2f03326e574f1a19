"""When a file is given up: failures at several times over a while, never fewer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from program.media.entry import Trouble, is_same_file
from program.media.health import is_confirmed, next_look

NOW = datetime(2031, 6, 1, tzinfo=UTC)


def at(*minutes: int) -> tuple[Trouble, ...]:
    return tuple(
        Trouble(NOW + timedelta(minutes=minute), "gone", "the torrent is gone") for minute in minutes
    )


@pytest.mark.parametrize("minutes", [(), (0,), (0, 60), (0, 1, 2, 3, 4, 5), (0, 30, 59)])
def test_few_failures_or_failures_close_together_give_nothing_up(minutes: tuple[int, ...]) -> None:
    assert not is_confirmed(at(*minutes))


@pytest.mark.parametrize("minutes", [(0, 30, 60), (0, 1, 60), (0, 20, 60, 120, 180)])
def test_three_failures_over_an_hour_do(minutes: tuple[int, ...]) -> None:
    assert is_confirmed(at(*minutes))


def test_the_looks_of_a_file_that_stays_dead_are_enough_to_give_it_up() -> None:
    troubles, now = at(0), NOW
    while not is_confirmed(troubles):
        now = next_look(troubles, now)
        troubles = (*troubles, Trouble(now, "gone", "still"))
    assert now - NOW == timedelta(hours=1)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a.mkv", "a.mkv", True),
        ("Film.2031/a.mkv", "a.mkv", True),
        ("S01/a.mkv", "Show/S01/a.mkv", True),
        ("S01/a.mkv", "S02/a.mkv", False),
        ("ba.mkv", "a.mkv", False),
    ],
)
def test_files_are_one_by_their_path_but_for_the_torrents_own_folder(
    one: str,
    other: str,
    is_same: bool,  # noqa: FBT001
) -> None:
    assert is_same_file(one, 7, other, 7) is is_same
    assert not is_same_file(one, 7, other, 8)
