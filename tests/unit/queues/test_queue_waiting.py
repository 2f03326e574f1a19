"""The two structures of a queue against a sorted list."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from program.queues.waiting import Line, Schedule, Turn
from tests.support.queues import START

SECONDS = st.integers(0, 4000)


@settings(max_examples=60, deadline=None)
@given(st.lists(SECONDS, max_size=30), st.sets(st.integers(0, 29)))
def test_what_is_due_comes_in_the_order_of_time_and_then_of_pushing(
    seconds: list[int], gone: set[int]
) -> None:
    schedule: Schedule[int] = Schedule()
    for number, second in enumerate(seconds):
        schedule.push(number, START + timedelta(seconds=second))
    for number in gone:
        schedule.remove(number)
    left = [(second, number) for number, second in enumerate(seconds) if number not in gone]
    assert len(schedule) == len(left)
    assert schedule.next() == min((START + timedelta(seconds=second) for second, _ in left), default=None)
    due = list(schedule.due(START + timedelta(seconds=2000)))
    assert due == [number for second, number in sorted(left) if second <= 2000]
    assert len(schedule) == len(left) - len(due)


def test_a_thing_pushed_again_is_due_at_the_later_word() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.push("a", START)
    schedule.push("a", START + timedelta(seconds=5))
    assert list(schedule.due(START)) == []
    assert list(schedule.due(START + timedelta(seconds=5))) == ["a"]
    assert list(schedule.due(START + timedelta(days=1))) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SECONDS, st.integers(0, 3)), max_size=30), st.sets(st.integers(0, 29)))
def test_a_line_is_served_by_reached_class_and_then_by_arrival(
    arrivals: list[tuple[int, int]], gone: set[int]
) -> None:
    line: Line[int] = Line()
    arrivals = sorted(arrivals, key=lambda arrival: arrival[0])
    for order, (second, rank) in enumerate(arrivals):
        line.push(order, Turn(rank, order), START + timedelta(seconds=second))
    for order in gone:
        line.remove(order)
    end = 4000
    reached = [
        (max(0, rank - (end - second) // 600), order)
        for order, (second, rank) in enumerate(arrivals)
        if order not in gone
    ]
    served = []
    while (head := line.head(START + timedelta(seconds=end))) is not None:
        turn, order = head
        served.append((turn.rank, order))
        line.remove(order)
    assert served == sorted(reached)
    assert len(line) == 0
