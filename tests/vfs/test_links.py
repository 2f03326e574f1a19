"""Links: asked once however many want one."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from program.clock import ManualClock
from program.errors import Transient
from program.media.entry import Link
from program.vfs.counters import Counters
from program.vfs.links import Links
from tests.support.wait import until

JUNE = datetime(2031, 6, 1, tzinfo=UTC)


class Resolver:
    """Gives numbered links that live for `life` seconds."""

    def __init__(self, clock: ManualClock, life: float | None = None) -> None:
        self.clock = clock
        self.life = life
        self.asked: list[tuple[int, str | None]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, entry_id: int, dead_url: str | None) -> Link:
        self.asked.append((entry_id, dead_url))
        number = len(self.asked)
        self.gate.wait(10)
        expires = None if self.life is None else self.clock.now() + timedelta(seconds=self.life)
        return Link(f"http://demo.example/{entry_id}/{number}", expires, "demo")


def make(life: float | None = None) -> tuple[Links, Resolver, ManualClock]:
    clock = ManualClock(JUNE)
    resolver = Resolver(clock, life)
    return Links(resolver, clock, Counters()), resolver, clock


def test_a_link_without_an_end_is_asked_for_once():
    links, resolver, clock = make()
    first = links.get(1)
    clock.advance(timedelta(days=300))
    assert links.get(1) == first
    assert resolver.asked == [(1, None)]


@pytest.mark.parametrize(("life", "still_good", "over"), [(3600, 3539, 3541), (100, 89, 91)])
def test_a_link_is_renewed_a_margin_before_it_expires(life: int, still_good: int, over: int):
    links, resolver, clock = make(life)
    first = links.get(1)
    clock.advance(still_good)
    assert links.get(1) == first
    clock.advance(over - still_good)
    assert links.get(1) != first
    assert resolver.asked == [(1, None), (1, first.url)]


def test_a_dead_link_is_replaced_once_for_all_who_met_it():
    links, resolver, _ = make()
    first = links.get(1)
    second = links.get(1, first.url)
    assert second != first
    assert links.get(1, first.url) == second
    assert links.get(1) == second
    assert len(resolver.asked) == 2


def test_all_who_ask_at_once_share_one_answer():
    links, resolver, _ = make()
    resolver.gate.clear()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(links.get, 1) for _ in range(8)]
        until(lambda: resolver.asked)
        resolver.gate.set()
        assert len({job.result(10) for job in jobs}) == 1
    assert len(resolver.asked) == 1


def test_a_failure_is_told_to_all_who_wait_and_asked_again_later():
    clock = ManualClock(JUNE)
    gate = threading.Event()
    calls: list[int] = []

    def failing(entry_id: int, _: str | None) -> Link:
        calls.append(entry_id)
        gate.wait(10)
        raise Transient("busy")

    links = Links(failing, clock, Counters())
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(links.get, 1) for _ in range(4)]
        until(lambda: calls)
        threading.Event().wait(0.05)
        gate.set()
        for job in jobs:
            with pytest.raises(Transient):
                job.result(10)
    with pytest.raises(Transient):
        links.get(1)
    assert 2 <= len(calls) <= 5


def test_entries_do_not_wait_for_one_another():
    links, resolver, _ = make()
    resolver.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(links.get, entry) for entry in (1, 2)]
        until(lambda: len(resolver.asked) == 2)
        resolver.gate.set()
        assert {job.result(10).url.split("/")[3] for job in jobs} == {"1", "2"}


def test_an_answer_for_a_forgotten_entry_is_not_kept():
    links, resolver, _ = make()
    resolver.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(links.get, 1)
        until(lambda: resolver.asked)
        links.forget(1)
        resolver.gate.set()
        old = job.result(10)
    assert links.get(1) != old
