"""4 KiB reads at random places of a mounted file, by a process of its own: `reading(path)` starts and ends it.

The kernel's own copy is dropped before each read, so that every one goes through the file system; and it is another process than
the one that serves the mount, so that whatever keeps that busy is seen as a player would see it.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

BLOCK = 4096
WHOLE = 1 << 20
# As many reads as some players together would make.
PAUSE_SECONDS = 0.005
END_SECONDS = 30


@contextmanager
def reading(path: Path) -> Generator[list[float]]:
    """Read a file while the block runs; the list then holds the seconds that each read took. The whole file is read once before."""
    command = [sys.executable, "-m", "bench.mounted_reads", str(path)]
    times: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "reading\n":
                raise RuntimeError(f"{path} cannot be read")
            yield times
            process.terminate()
            times += json.loads(process.communicate(timeout=END_SECONDS)[0])
        finally:
            process.kill()


def main(path: str) -> None:
    """Read until told to end, then print the times."""
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: over.set())
    chance = random.Random(1)
    handle = os.open(path, os.O_RDONLY)
    size = os.fstat(handle).st_size
    while os.read(handle, WHOLE):
        pass
    sys.stdout.write("reading\n")
    sys.stdout.flush()
    times = []
    while not over.wait(PAUSE_SECONDS):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        place = chance.randrange(max(1, size - BLOCK))
        start = time.perf_counter()
        os.pread(handle, BLOCK, place)
        times.append(time.perf_counter() - start)
    sys.stdout.write(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1])
