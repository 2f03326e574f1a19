"""Reading from a mount as programs do, each way timed; the kernel's own copy of the file is dropped before."""

import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

from bench.timing import MIB, percentile, seconds

MEGA = 1_000_000
MILLI = 1000
FIRST = 64 * 1024


def drop(path: Path) -> None:
    """Have the kernel forget the file's pages."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def read_through(path: Path, count: int) -> None:
    """Read the first `count` bytes from start to end, a MiB at a time."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        done = 0
        while done < count:
            got = len(os.read(descriptor, min(MIB, count - done)))
            if not got:
                raise EOFError(path)
            done += got
    finally:
        os.close(descriptor)


def streams(paths: Sequence[Path], count: int) -> float:
    """Return the megabytes a second of all files read through at the same time."""
    for path in paths:
        drop(path)
    with ThreadPoolExecutor(len(paths)) as pool:
        spent = seconds(lambda: list(pool.map(lambda path: read_through(path, count), paths)))
    return count * len(paths) / spent / MEGA


def first_bytes(path: Path) -> float:
    """Return the milliseconds from the open to the first bytes."""

    def start() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.pread(descriptor, FIRST, 0)
        finally:
            os.close(descriptor)

    return seconds(start) * MILLI


def at_random(path: Path, size: int, length: int, count: int, seed: int) -> list[float]:
    """Return the milliseconds of each of `count` reads at random places, on one handle."""
    dice = random.Random(seed)
    drop(path)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return [
            seconds(os.pread, descriptor, length, dice.randrange(size - length)) * MILLI for _ in range(count)
        ]
    finally:
        os.close(descriptor)


def read_at(path: Path, places: Sequence[int]) -> None:
    """Open a file, read a little at each place, close it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for place in places:
            os.pread(descriptor, FIRST, place)
    finally:
        os.close(descriptor)


def middle(values: Sequence[float]) -> float:
    """Return the median as the budgets mean it: what half of the values do not exceed."""
    return percentile(values, 0.5)


def direct(port: int, path: str, start: int, length: int) -> float:
    """Return the milliseconds of one request for a range, on a connection that is open."""
    connection = HTTPConnection("127.0.0.1", port)
    try:
        connection.connect()

        def ask() -> None:
            connection.request("GET", path, headers={"Range": f"bytes={start}-{start + length - 1}"})
            connection.getresponse().read()

        return seconds(ask) * MILLI
    finally:
        connection.close()
