"""Measures that rows share: seconds, percentiles, memory and processor time of a process."""

import math
import os
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec

P = ParamSpec("P")

MIB = 1024 * 1024
# Where they stand in /proc/PID/stat behind the name: the session, and user and system time of itself and of those waited for.
SESSION, TIMES = 3, slice(11, 15)
TICKS = os.sysconf("SC_CLK_TCK")


def seconds(work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    """Return how long a call took."""
    start = time.perf_counter()
    work(*args, **kwargs)
    return time.perf_counter() - start


def cpu_seconds(work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    """Return the processor time that this process spent in a call, all its threads together."""
    start = time.process_time()
    work(*args, **kwargs)
    return time.process_time() - start


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value that `part` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def rss_mib(pid: int) -> float:
    """Return the memory that a process holds resident, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MIB


def spent_cpu(pid: int) -> float:
    """Return the processor time that a process has spent, with the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[TIMES])) / TICKS


def session_cpu(leader: int) -> float:
    """Return the processor time of a session: of its processes that live, and of those that they have waited for."""
    spent = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while it is looked at.
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[SESSION]) == leader:
                spent += sum(int(field) for field in fields[TIMES])
    return spent / TICKS
