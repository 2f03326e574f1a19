"""The threads that answer the kernel, with a pair of sockets in the kernel's place: nobody waits behind another."""

import ctypes
import socket
import threading
from collections.abc import Iterator

import pytest

from program.vfs.serving import SPARE_THREADS, Serving
from tests.support.wait import until

# More than any home has readers that wait at the same time.
MANY = 100


class Kernel:
    """The other end: asks, and sees what was answered; a request that begins with `wait` is answered once that is allowed."""

    def __init__(self) -> None:
        self.end, self.server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.answered: list[bytes] = []
        self.allowed = threading.Event()
        self.serving = Serving(self.server.fileno(), 1000, self._answer)

    def ask(self, *requests: bytes) -> None:
        for request in requests:
            self.end.send(request)

    def _answer(self, buffer: "ctypes.Array[ctypes.c_char]", count: int) -> None:
        request = buffer[:count]
        if request.startswith(b"wait"):
            self.allowed.wait(10)
        self.answered.append(request)


def serving_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fuse")]


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    kernel = Kernel()
    kernel.serving.start()
    yield kernel
    kernel.allowed.set()
    kernel.end.close()
    kernel.serving.join(10)
    kernel.server.close()
    assert not kernel.serving.is_alive()
    assert serving_threads() == []


def test_each_request_is_answered_once_with_its_own_bytes(kernel: Kernel):
    requests = [b"%d" % number * 10 for number in range(200)]
    kernel.ask(*requests)
    until(lambda: len(kernel.answered) == len(requests))
    assert sorted(kernel.answered) == sorted(requests)


def test_nobody_waits_behind_those_who_wait_for_bytes(kernel: Kernel):
    kernel.ask(*[b"wait"] * MANY, b"at once")
    until(lambda: kernel.answered == [b"at once"])
    kernel.allowed.set()
    until(lambda: len(kernel.answered) == MANY + 1)


def test_threads_that_have_nothing_to_do_any_more_end_but_for_some(kernel: Kernel):
    kernel.ask(*[b"wait"] * MANY)
    until(lambda: len(serving_threads()) > MANY)
    kernel.allowed.set()
    until(lambda: len(kernel.answered) == MANY and len(serving_threads()) <= SPARE_THREADS + 1)
    kernel.ask(b"still there")
    until(lambda: kernel.answered[-1] == b"still there")


def test_it_ends_when_the_mount_is_gone_once_the_last_request_is_answered(kernel: Kernel):
    kernel.ask(b"wait")
    until(lambda: len(serving_threads()) > 1)
    kernel.end.shutdown(socket.SHUT_WR)
    kernel.serving.join(0.1)
    assert kernel.serving.is_alive()
    kernel.allowed.set()
    kernel.serving.join(10)
    assert not kernel.serving.is_alive()
    assert kernel.answered == [b"wait"]
