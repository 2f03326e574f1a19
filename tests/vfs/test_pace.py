"""How many connections a reader is worth: more only as long as more bring more, one as soon as one will do."""

from collections.abc import Callable

from program.vfs.pace import CONTENT_INTERVALS, FIRST_PAUSE, INTERVAL, Pace

PIECE = 128 * 1024


def run(
    pace: Pace, source: Callable[[int], float], seconds: float, wish: float = 1e12, at: float = 0.0
) -> float:
    """Read for a while from a source that gives `source(width)` bytes a second, at most as fast as wished; return the end."""
    now, end, arrived = at + 1000.0, at + 1000.0 + seconds, 0
    while now < end:
        took, wants = PIECE / source(pace.width), PIECE / wish
        now += max(took, wants)
        arrived += PIECE
        pace.waited(max(took - wants, 0.0))
        pace.read(PIECE, now, arrived)
    return now - 1000.0


def capped(width: int) -> float:
    """Twenty megabytes a second for each connection."""
    return 20e6 * width


def test_a_reader_that_waits_for_a_capped_connection_soon_has_all_it_may_have():
    pace = Pace(6, 1000.0)
    run(pace, capped, 4)
    assert pace.width == 6


def test_a_player_keeps_its_one_connection():
    pace = Pace(6, 1000.0)
    run(pace, capped, 60, wish=8e6)
    assert pace.width == 1


def test_a_full_line_is_not_shared_among_more_connections():
    pace = Pace(6, 1000.0)
    at = run(pace, lambda _: 12e6, FIRST_PAUSE / 2)
    assert pace.width == 1
    run(pace, capped, FIRST_PAUSE * 2, at=at)
    assert pace.width == 6, "a line that became free is noticed"


def test_the_step_that_brought_nothing_is_taken_back():
    pace = Pace(6, 1000.0)
    run(pace, lambda width: 20e6 * min(width, 2), 20)
    assert pace.width == 2


def test_a_connection_that_is_fast_stays_alone():
    pace = Pace(6, 1000.0)
    run(pace, lambda _: 400e6, 10)
    assert pace.width == 1


def test_whoever_no_longer_waits_goes_back_to_one():
    pace = Pace(6, 1000.0)
    at = run(pace, capped, 5)
    assert pace.width > 1
    run(pace, capped, 60 + CONTENT_INTERVALS * INTERVAL, wish=8e6, at=at)
    assert pace.width == 1


def test_a_reader_that_may_have_one_connection_has_one():
    pace = Pace(1, 1000.0)
    run(pace, capped, 10)
    assert pace.width == 1
