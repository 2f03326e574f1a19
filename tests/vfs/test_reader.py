"""Reading: right bytes in bounded time whatever the CDN does, and few requests."""

import itertools
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from program.clock import SystemClock
from program.errors import Final, RetryLater, Transient
from program.media.entry import Link
from program.vfs.reader import FileReader, ReadFailed
from tests.support.cdn import HONEST, Manner, Request, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library


def read(reader: FileReader, offset: int, size: int, handle: int = 1) -> bytes:
    return b"".join(reader.read(handle, offset, size))


def read_all(reader: FileReader, size: int, piece: int = 128 * 1024) -> bytes:
    return b"".join(read(reader, offset, piece) for offset in range(0, size, piece))


def test_a_file_read_from_start_to_end_is_right(library: Library):
    size = 30 * MIB + 12345
    reader = library.reader("a.mkv", size, library.readers(connections=1))
    assert read_all(reader, size) == content("a.mkv", 0, size)
    assert len(library.cdn.requests) <= 5
    assert library.cdn.connections <= 3
    assert len(library.resolved) == 1


@pytest.mark.parametrize(
    ("offset", "size"), [(900, 4096), (1000, 4096), (5000, 10), (0, 0), (999, 1), (0, 1000)]
)
def test_reads_end_at_the_end_of_the_file(library: Library, offset: int, size: int):
    reader = library.reader("a.mkv", 1000)
    assert read(reader, offset, size) == content("a.mkv", offset, min(offset + size, 1000))
    assert not library.cdn.requests if offset >= 1000 or size == 0 else True


def test_offsets_beyond_four_gigabytes_are_right(library: Library):
    size = 42163830784
    reader = library.reader("a.mkv", size)
    for offset in (2147483648, 4294967296, size - 131072, size - 10):
        assert read(reader, offset, 131072) == content("a.mkv", offset, min(offset + 131072, size))


def test_nothing_is_asked_before_the_first_read(library: Library):
    reader = library.reader("a.mkv", MIB)
    reader.drop_handle(1)
    assert not library.resolved
    assert not library.cdn.requests


def test_random_reads_of_many_threads_are_right(library: Library):
    size = 20 * MIB + 777
    readers = library.readers(memory=16 * MIB)
    reader = library.reader("a.mkv", size, readers)

    def some(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - repeatable
        for _ in range(150):
            offset = dice.choice(
                [dice.randrange(size), dice.randrange(0, size, 4096), size - dice.randrange(1, 70000)]
            )
            length = dice.choice([1, 100, 4096, 65536, 131072])
            assert read(reader, offset, length) == content("a.mkv", offset, min(offset + length, size))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(some, range(6)))
    assert readers.supplies.store.statistics().size <= 16 * MIB + 8 * MIB


def test_a_probe_costs_one_small_request(library: Library):
    size = 100 * MIB
    reader = library.reader("a.mkv", size)
    assert read(reader, 50 * MIB, 4096) == content("a.mkv", 50 * MIB, 50 * MIB + 4096)
    (request,) = library.cdn.requests
    assert request.stop - request.start <= MIB


def test_a_probe_is_answered_before_its_request_is_complete(library: Library):
    library.cdn.behave = lambda _: Manner(rate=400_000)
    reader = library.reader("a.mkv", 100 * MIB)
    before = monotonic()
    read(reader, 50 * MIB, 4096)
    assert monotonic() - before < 0.6


def test_a_scan_of_head_and_tail_costs_two_requests(library: Library):
    size = 10_000_000_000
    reader = library.reader("a.mkv", size)
    for offset in range(0, 768 * 1024, 128 * 1024):
        read(reader, offset, 128 * 1024)
    for offset in range(size - 158 * 1024, size, 64 * 1024):
        read(reader, offset, 64 * 1024)
    reader.drop_handle(1)
    assert len(library.cdn.requests) == 2
    assert len(library.resolved) == 1


def test_reading_stops_after_the_close(library: Library):
    library.cdn.behave = lambda _: Manner(rate=4_000_000)
    reader = library.reader("a.mkv", 500 * MIB)
    for offset in range(0, 6 * MIB, 128 * 1024):
        read(reader, offset, 128 * 1024)
    reader.drop_handle(1)
    until(reader.is_idle, what="the lanes' end")
    sent = library.cdn.bytes_sent
    threading.Event().wait(0.3)
    assert library.cdn.bytes_sent - sent <= 256 * 1024


def test_a_stray_read_does_not_end_the_stream(library: Library):
    size = 200 * MIB
    reader = library.reader("a.mkv", size, library.readers(connections=1))
    for offset in range(0, 40 * MIB, 128 * 1024):
        assert read(reader, offset, 128 * 1024) == content("a.mkv", offset, offset + 128 * 1024)
        if offset % (8 * MIB) == 0:
            read(reader, 150 * MIB + offset // 2, 4096)
    streams = [
        request for request in library.cdn.requests if request.stop == size and request.start < 100 * MIB
    ]
    assert len(streams) == 1


def test_readers_of_one_place_share_one_fetch(library: Library):
    library.cdn.behave = lambda _: Manner(latency=0.1)
    reader = library.reader("a.mkv", 10 * MIB)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: read(reader, 0, 65536), range(8)))
    assert answers == [content("a.mkv", 0, 65536)] * 8
    assert len(library.cdn.requests) == 1
    assert len(library.resolved) == 1


def test_many_readers_of_many_places_resolve_one_link(library: Library):
    gate = threading.Event()

    def slow(entry_id: int, dead: str | None) -> Link:
        gate.wait(5)
        return library.link(entry_id, dead)

    library.resolver = slow
    reader = library.reader("a.mkv", 100 * MIB)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(read, reader, n * 10 * MIB, 4096) for n in range(8)]
        until(lambda: len(library.resolved) == 1)
        gate.set()
        assert [job.result(10) for job in jobs] == [
            content("a.mkv", n * 10 * MIB, n * 10 * MIB + 4096) for n in range(8)
        ]
    assert len(library.resolved) == 1


def dead_then(manner: Manner) -> Callable[[Request], Manner]:
    """The first link answers so, its replacement is honest."""
    return lambda request: manner if request.token == "t0" else HONEST


@pytest.mark.parametrize(
    "manner",
    [
        *(Manner(status=status, body=b"<html>no</html>") for status in (401, 403, 404, 410, 451, 503, 509)),
        Manner(content_type="text/html; charset=utf-8"),
        Manner(shift=4096),
        Manner(total=MIB),
        Manner(status=416),
        Manner(status=200, body=b"<html>expired</html>", headers=(("Content-Type", "text/html"),)),
        Manner(status=206, body=b"x" * 10),
        Manner(status=204),
        Manner(status=302),
        Manner(status=302, headers=(("Location", "ftp://demo.example/x"),)),
        Manner(headers=(("Content-Encoding", "gzip"),)),
        Manner(status=503, headers=(("X-Error", "link_expired"), ("Retry-After", "60"))),
    ],
    ids=str,
)
def test_a_dead_link_is_replaced_without_the_reader_noticing(library: Library, manner: Manner):
    library.cdn.behave = dead_then(manner)
    reader = library.reader("a.mkv", 20 * MIB)
    before = monotonic()
    assert read(reader, 10 * MIB, 65536) == content("a.mkv", 10 * MIB, 10 * MIB + 65536)
    assert library.resolved == [(1, None), (1, library.cdn.url("a.mkv", "t0"))]
    assert monotonic() - before < 2


@pytest.mark.parametrize(
    "manner",
    [
        Manner(status=500),
        Manner(status=502),
        Manner(status=504),
        Manner(status=447),
        Manner(status=429, headers=(("Retry-After", "1"),)),
        Manner(status=429),
        Manner(cut_after=1000),
        Manner(cut_after=0),
    ],
    ids=str,
)
def test_a_passing_failure_is_tried_again_with_the_same_link(library: Library, manner: Manner):
    library.cdn.behave = lambda request: manner if request.number == 0 else HONEST
    reader = library.reader("a.mkv", 20 * MIB)
    assert read(reader, 10 * MIB, 65536) == content("a.mkv", 10 * MIB, 10 * MIB + 65536)
    assert library.resolved == [(1, None)]


def test_a_link_that_expires_in_mid_file_is_replaced_at_that_offset(library: Library):
    size = 40 * MIB
    spent: dict[str, int] = {}

    def expiring(request: Request) -> Manner:
        used = spent.get(request.token, 0)
        if used >= 5 * MIB:
            return Manner(status=410)
        spent[request.token] = used + min(request.stop - request.start, 5 * MIB - used)
        return Manner(cut_after=5 * MIB - used)

    library.cdn.behave = expiring
    reader = library.reader("a.mkv", size)
    assert read_all(reader, size) == content("a.mkv", 0, size)
    assert 8 <= len(library.resolved) <= 20


def test_bodies_that_are_cut_again_and_again_still_give_the_file(library: Library):
    library.cdn.behave = lambda _: Manner(cut_after=200_000)
    reader = library.reader("a.mkv", 5 * MIB)
    assert read_all(reader, 5 * MIB) == content("a.mkv", 0, 5 * MIB)


def test_a_server_that_answers_shorter_ranges_is_asked_for_the_rest(library: Library):
    library.cdn.behave = lambda request: Manner(shorter=min(100_000, (request.stop - request.start) // 2))
    reader = library.reader("a.mkv", 3 * MIB)
    assert read_all(reader, 3 * MIB) == content("a.mkv", 0, 3 * MIB)


def test_a_server_without_ranges_gives_the_beginning_only(library: Library):
    library.cdn.behave = lambda _: Manner(ignores_range=True)
    reader = library.reader("a.mkv", 60 * MIB)
    assert read(reader, 0, 65536) == content("a.mkv", 0, 65536)
    assert read(reader, 3 * MIB, 65536) == content("a.mkv", 3 * MIB, 3 * MIB + 65536)
    with pytest.raises(ReadFailed):
        read(reader, 50 * MIB, 65536)


def test_a_file_shorter_than_announced_is_an_error_and_never_wrong_bytes(library: Library):
    reader = library.reader("a.mkv", 10 * MIB)
    library.cdn.sizes["a.mkv"] = 6 * MIB
    for offset in (0, 5 * MIB, 8 * MIB, 10 * MIB - 100):
        with pytest.raises(ReadFailed):
            read(reader, offset, 65536)


def test_bodies_shorter_than_their_header_are_an_error(library: Library):
    library.cdn.behave = lambda request: Manner(cut_after=max(3 * MIB - request.start, 0))
    reader = library.reader("a.mkv", 10 * MIB, library.readers(timeout=1.5))
    assert read(reader, 0, 65536) == content("a.mkv", 0, 65536)
    with pytest.raises(ReadFailed):
        read(reader, 3 * MIB - 1000, 65536)


def test_a_server_that_hangs_costs_a_bounded_wait(library: Library):
    library.cdn.behave = lambda _: Manner(hang_after=1000)
    reader = library.reader("a.mkv", 10 * MIB, library.readers(timeout=1.5, stall=0.5))
    before = monotonic()
    with pytest.raises(ReadFailed):
        read(reader, 0, 65536)
    assert monotonic() - before < 2.5


def test_a_server_that_hangs_is_left_for_another(library: Library):
    library.cdn.behave = dead_then(Manner(hang_after=1000))
    reader = library.reader("a.mkv", 10 * MIB, library.readers(timeout=10, stall=0.5))
    assert read(reader, 0, 65536) == content("a.mkv", 0, 65536)


def test_a_resolver_that_hangs_costs_a_bounded_wait(library: Library):
    gate = threading.Event()

    def hang(entry_id: int, dead: str | None) -> Link:
        gate.wait(20)
        return library.link(entry_id, dead)

    library.resolver = hang
    reader = library.reader("a.mkv", 10 * MIB, library.readers(timeout=0.5))
    with pytest.raises(ReadFailed):
        read(reader, 0, 65536)
    gate.set()
    assert until(lambda: read(reader, 0, 65536)) == content("a.mkv", 0, 65536)


@pytest.mark.parametrize(
    "error",
    [
        Final("no source has this file"),
        ValueError("a bug"),
        RetryLater(datetime.now(UTC) + timedelta(days=1), "later"),
    ],
)
def test_a_refused_link_is_an_error_at_once_and_may_work_later(library: Library, error: Exception):
    def refuse(entry_id: int, dead: str | None) -> Link:
        raise error

    library.resolver = refuse
    reader = library.reader("a.mkv", 10 * MIB)
    before = monotonic()
    with pytest.raises(ReadFailed):
        read(reader, 0, 65536)
    assert monotonic() - before < 1
    library.resolver = library.link
    assert read(reader, 0, 65536) == content("a.mkv", 0, 65536)


def test_a_passing_failure_of_the_resolver_is_tried_again(library: Library):
    def flaky(entry_id: int, dead: str | None) -> Link:
        if len(library.resolved) < 3:
            raise Transient("the database is busy")
        return library.link(entry_id, dead)

    library.resolver = flaky
    reader = library.reader("a.mkv", 10 * MIB)
    assert read(reader, 0, 65536) == content("a.mkv", 0, 65536)


def test_an_expired_link_is_renewed_before_it_is_used(library: Library):
    def short(entry_id: int, dead: str | None) -> Link:
        url = library.link(entry_id, dead).url
        return Link(url, datetime.now(UTC) + timedelta(seconds=0.3), "demo")

    library.resolver = short
    reader = library.reader("a.mkv", 100 * MIB)
    read(reader, 0, 4096)
    read(reader, 20 * MIB, 4096)
    assert len(library.resolved) == 1
    threading.Event().wait(0.4)
    read(reader, 40 * MIB, 4096)
    assert library.resolved[1] == (1, library.cdn.url("a.mkv", "t0"))


class JumpingClock(SystemClock):
    """A machine whose date is set again and again, by days."""

    def __init__(self) -> None:
        self._days = itertools.cycle((0, 3, -2, 400, -400))

    def now(self) -> datetime:
        """Return the time as somebody has just set it."""
        return super().now() + timedelta(days=next(self._days))


def test_a_date_that_jumps_harms_no_reader(library: Library):
    def lasting(entry_id: int, dead: str | None) -> Link:
        return Link(library.link(entry_id, dead).url, datetime.now(UTC) + timedelta(hours=3), "demo")

    library.resolver = lasting
    readers = library.readers()
    readers.supplies.clock = readers.supplies.links.clock = JumpingClock()
    library.cdn.behave = lambda request: Manner(cut_after=300_000) if request.number % 3 else HONEST
    reader = library.reader("a.mkv", 12 * MIB, readers)
    assert read_all(reader, 12 * MIB) == content("a.mkv", 0, 12 * MIB)


def test_a_redirect_is_followed_once_and_remembered(library: Library):
    def moved(request: Request) -> Manner:
        if request.token == "t0":
            return Manner(status=302, headers=(("Location", "/final/a.mkv?x=1"),))
        return HONEST

    library.cdn.behave = moved
    reader = library.reader("a.mkv", 100 * MIB)
    for place in range(4):
        assert read(reader, place * 20 * MIB, 4096) == content(
            "a.mkv", place * 20 * MIB, place * 20 * MIB + 4096
        )
    assert [request.token for request in library.cdn.requests] == ["t0", *["final"] * 4]


def test_redirects_without_end_are_an_error(library: Library):
    library.cdn.behave = lambda _: Manner(status=302, headers=(("Location", "/t0/a.mkv"),))
    reader = library.reader("a.mkv", MIB, library.readers(timeout=1))
    with pytest.raises(ReadFailed):
        read(reader, 0, 4096)


def test_credentials_are_shown_to_the_links_host_only(library: Library):
    def moved(request: Request) -> Manner:
        location = library.cdn.url("a.mkv", "final", host="localhost")
        return Manner(status=302, headers=(("Location", location),)) if request.token == "t0" else HONEST

    library.cdn.behave = moved
    url = library.cdn.url("a.mkv", "t0").replace("http://", "http://demo:s3cret@")
    library.resolver = lambda *_: Link(url, None, "demo")
    reader = library.reader("a.mkv", MIB)
    assert read(reader, 0, 4096) == content("a.mkv", 0, 4096)
    first, second = library.cdn.requests
    assert first.headers["Authorization"] == "Basic ZGVtbzpzM2NyZXQ="
    assert "Authorization" not in second.headers


def test_idle_connections_are_closed(library: Library):
    readers = library.readers()
    reader = library.reader("a.mkv", 500 * MIB, readers)
    for offset in range(0, 16 * MIB, 128 * 1024):
        read(reader, offset, 128 * 1024)
    assert library.cdn.open_connections > 0
    reader.drop_handle(1)
    readers.supplies.sources.close_idle(max_age=0)
    until(lambda: library.cdn.open_connections == 0)


def test_stopping_wakes_whoever_waits(library: Library):
    library.cdn.behave = lambda _: Manner(hang_after=0)
    readers = library.readers(timeout=30, stall=20)
    reader = library.reader("a.mkv", 10 * MIB, readers)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(read, reader, 0, 4096)
        until(lambda: library.cdn.requests)
        before = monotonic()
        assert readers.stop(5)
        with pytest.raises(ReadFailed):
            job.result(5)
        assert monotonic() - before < 3
    with pytest.raises(ReadFailed):
        read(reader, 0, 4096)


def test_the_memory_limit_holds_over_all_files(library: Library):
    readers = library.readers(memory=16 * MIB)
    opened = [library.reader(f"{n}.mkv", 30 * MIB, readers, entry_id=n) for n in range(6)]
    for offset in range(0, 30 * MIB, 128 * 1024):
        for n, reader in enumerate(opened):
            assert read(reader, offset, 128 * 1024) == content(f"{n}.mkv", offset, offset + 128 * 1024)
    assert readers.supplies.store.statistics().size <= (16 + 6) * MIB


def test_a_scan_of_many_files_leaves_memory_and_connections_free(library: Library):
    readers = library.readers(memory=32 * MIB)
    files = [library.file(f"{n}.mkv", 40 * MIB, n) for n in range(60)]

    def scan(number: int) -> None:
        reader = readers.open(files[number], number)
        for offset in [*range(0, MIB, 128 * 1024), 40 * MIB - 65536]:
            got = b"".join(reader.read(number, offset, 65536))
            assert got == content(f"{number}.mkv", offset, offset + 65536)
        reader.drop_handle(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(scan, range(60)))
    assert readers.supplies.store.statistics().size <= 40 * MIB
    assert len(library.cdn.requests) <= 2 * 60 + 6
    assert library.cdn.connections < 60
    assert len(library.resolved) == 60


def test_an_ipv6_address_and_a_name_with_spaces_can_be_asked(library: Library):
    library.resolver = lambda *_: Link(f"{library.cdn.url('a b.mkv')}?x=1 2", None, "demo")
    reader = library.reader("a%20b.mkv", MIB)
    assert read(reader, 0, 4096) == content("a%20b.mkv", 0, 4096)
    library.resolver = lambda *_: Link("http://[::1]/x.mkv", None, "demo")
    dead = library.reader("b.mkv", MIB, library.readers(timeout=0.5), entry_id=2)
    with pytest.raises(ReadFailed, match=r"connection failed|no data"):
        read(dead, 0, 4096)
