"""Several connections for one reader: when one is too slow, and never longer than that helps."""

import threading
from dataclasses import dataclass, field

from program.clock import SystemClock
from program.vfs.reader import PARKED_SECONDS, FileReader
from tests.support.cdn import HONEST, Manner, Request, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library

SIZE = 400 * MIB
PIECE = 128 * 1024
# Each connection's share, far below what a loaded machine reads in memory.
SLOW = 12_000_000


def read_on(reader: FileReader, start: int, stop: int, handle: int = 1) -> None:
    """Read a range as a copy does, every byte compared."""
    for offset in range(start, stop, PIECE):
        got = b"".join(reader.read(handle, offset, PIECE))
        assert got == content("a.mkv", offset, min(offset + PIECE, stop)), offset


@dataclass
class AtOnce:
    """Answers slowly, and notes how many connections were open when each request came."""

    library: Library
    seen: list[int] = field(default_factory=list)

    def __call__(self, request: Request) -> Manner:
        with self.library.cdn.lock:
            self.seen.append(self.library.cdn.open_connections)
        return Manner(rate=SLOW)


def quiet(library: Library) -> int:
    """Return how many bytes were sent, once no more come."""
    pause = threading.Event()
    sent, before = library.cdn.bytes_sent, -1
    while sent != before:
        pause.wait(0.2)
        sent, before = library.cdn.bytes_sent, sent
    return sent


def test_a_reader_that_one_connection_holds_up_gets_several_and_right_bytes(library: Library):
    library.cdn.behave = watched = AtOnce(library)
    reader = library.reader("a.mkv", SIZE)
    read_on(reader, 0, 48 * MIB)
    assert max(watched.seen) >= 3
    # What the six of them fetch ahead, and little twice.
    assert library.cdn.bytes_sent <= (48 + 6 * 4 + 12) * MIB


def test_a_reader_has_no_more_connections_than_the_settings_allow(library: Library):
    library.cdn.behave = AtOnce(library)
    reader = library.reader("a.mkv", SIZE, library.readers(connections=1))
    read_on(reader, 0, 16 * MIB)
    # The head's, which is given back, and the stream's.
    assert library.cdn.connections <= 2


def test_the_connections_of_a_reader_end_with_its_close(library: Library):
    library.cdn.behave = AtOnce(library)
    readers = library.readers()
    reader = library.reader("a.mkv", SIZE, readers)
    read_on(reader, 0, 40 * MIB)
    reader.drop_handle(1)
    until(reader.is_idle, what="the lanes' end")
    readers.supplies.sources.close_idle(max_age=0)
    until(lambda: library.cdn.open_connections == 0)


class LaterClock(SystemClock):
    """A clock that can be put forward."""

    later = 0.0

    def monotonic(self) -> float:
        """Return seconds."""
        return super().monotonic() + self.later


def test_a_paused_player_keeps_no_connection_and_goes_on_afterwards(library: Library):
    readers = library.readers()
    clock = readers.supplies.clock = LaterClock()
    reader = library.reader("a.mkv", SIZE, readers)
    read_on(reader, 0, 12 * MIB)
    quiet(library)
    assert library.cdn.answering > 0
    clock.later = PARKED_SECONDS + 1
    readers.tidy()
    until(lambda: library.cdn.answering == 0, what="the end of the parked connection")
    read_on(reader, 12 * MIB, 24 * MIB)


def test_the_close_of_one_handle_leaves_the_other_its_connections(library: Library):
    library.cdn.behave = AtOnce(library)
    reader = library.reader("a.mkv", SIZE)
    reader.add_handle(2)
    read_on(reader, 0, 40 * MIB)
    reader.read(2, 300 * MIB, 4096)
    before = len(library.cdn.requests)
    reader.drop_handle(2)
    read_on(reader, 40 * MIB, 48 * MIB)
    asked = library.cdn.requests[before:]
    assert all(request.start >= 40 * MIB for request in asked), "what was on its way was asked for again"


def test_links_that_expire_and_bodies_that_end_early_are_not_noticed_on_several_connections(library: Library):
    def faulty(request: Request) -> Manner:
        if request.number % 5 == 4:
            return Manner(status=410)
        return Manner(rate=SLOW, cut_after=MIB if request.number % 3 == 2 else None)

    library.cdn.behave = faulty
    read_on(library.reader("a.mkv", SIZE), 0, 48 * MIB)


def test_a_stream_does_not_run_to_a_reader_far_ahead(library: Library):
    library.cdn.behave = lambda request: HONEST if request.start < 200 * MIB else Manner(rate=SLOW)
    reader = library.reader("a.mkv", SIZE)
    read_on(reader, 0, 12 * MIB)
    sent = quiet(library)
    reader.add_handle(2)
    read_on(reader, 300 * MIB, 312 * MIB, handle=2)
    assert quiet(library) - sent <= (12 + 24 + 12) * MIB


def test_a_server_that_takes_few_connections_gets_few_and_keeps_its_link(library: Library):
    served: list[Request] = []

    def crowded(request: Request) -> Manner:
        with library.cdn.lock:
            at_work = library.cdn.answering
        if at_work > 2:
            return Manner(status=429)
        served.append(request)
        return Manner(rate=SLOW)

    library.cdn.behave = crowded
    read_on(library.reader("a.mkv", SIZE), 0, 64 * MIB)
    refused = len(library.cdn.requests) - len(served)
    assert refused <= 12, "the server was asked again and again for what it refuses"
    assert len(library.resolved) == 1, "a link that works was given up"
