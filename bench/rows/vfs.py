"""Reading through the mount, beside rclone's mount of the same files: a fast server, and a CDN as providers have them."""

import itertools
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

from bench import Bar, Family, Row, Stage, Trial, percentile
from bench.mounts import Mount, Origin, cdn, most_memory, nginx, ours, rclone
from bench.reading import FIRST, MEGA, MILLI, at_random, direct, drop, first_bytes, middle, read_at, streams
from bench.timing import MIB, rss_mib, spent_cpu

GIB = 1024**3
BESIDE = "rclone mount, cache off"
ALONE = "one request on an open connection"
NAMES = 400
P95 = 0.95


def source(stage: Stage, size: int) -> Path:
    """Return a file of bytes that nothing can make smaller."""
    path = stage.folder / "source.mkv"
    with Path("/dev/urandom").open("rb") as random, path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(random.read(MIB))
    return path


def beside(
    rows: tuple[Row, ...],
    mine: Mount,
    theirs: Mount,
    work: Callable[[Mount], Sequence[float]],
    most_rounds: int | None = None,
) -> Trial:
    """Return a trial that measures the same thing on both mounts."""
    return Trial(rows, lambda: work(mine), lambda: work(theirs), most_rounds)


class Fast(Family):
    """A server that is faster than any mount."""

    key = "vfs"
    title = "Mount, fast server (nginx on loopback)"
    seconds = 420
    needs = ("rclone", "nginx")

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield memory first, while nothing was read; then one stream, then several."""
        size = stage.size(GIB, tiny=8 * MIB)
        origin = nginx(stage, source(stage, size), 12)
        mine, theirs = ours(stage, origin, "mine"), rclone(stage, origin, "theirs")
        yield Trial(
            (Row("memory, nothing read yet", "MiB"),), ours=lambda: (rss_mib(mine.pid),), most_rounds=1
        )
        yield _memory(mine, theirs, size // 2)
        yield _sequential(mine, theirs, size)
        yield _streams(mine, theirs, size // 2)


def _memory(mine: Mount, theirs: Mount, size: int) -> Trial:
    """One round: what a process once held it seldom gives back."""
    counts = (1, 4, 8)
    idle = {mount.pid: rss_mib(mount.pid) for mount in (mine, theirs)}

    def read(mount: Mount) -> Sequence[float]:
        paths = [mount.film(number) for number in range(max(counts))]
        held = [most_memory(mount.pid, partial(streams, paths[:count], size)) for count in counts]
        return [memory - idle[mount.pid] for memory in held]

    bars = {1: Bar.value(64)}
    rows = tuple(
        Row(f"memory for {count} streams, beyond that", "MiB", BESIDE, bars.get(count)) for count in counts
    )
    return beside(rows, mine, theirs, read, most_rounds=1)


def _sequential(mine: Mount, theirs: Mount, size: int) -> Trial:
    def read(mount: Mount) -> Sequence[float]:
        before = spent_cpu(mount.pid)
        speed = streams([mount.film(0)], size)
        return speed, (spent_cpu(mount.pid) - before) * GIB / size

    rows = (
        Row("one stream", "MB/s", BESIDE, Bar.ratio(1.3, at_least=True)),
        Row("processor time of the mount", "s/GiB", BESIDE, Bar.ratio(0.75)),
    )
    return beside(rows, mine, theirs, read)


def _streams(mine: Mount, theirs: Mount, size: int) -> Trial:
    row = Row("four streams together", "MB/s", BESIDE, Bar.ratio(0.9, at_least=True))
    return beside((row,), mine, theirs, lambda mount: (streams([mount.film(n) for n in range(4)], size),))


class Cdn(Family):
    """A CDN: 40 ms before every answer, 20 MB/s on each connection."""

    key = "vfs-cdn"
    title = "Mount, CDN (40 ms, 20 MB/s for each connection)"
    seconds = 420
    needs = ("rclone",)

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield a stream, starts and seeks, random reads."""
        size = stage.size(512 * MIB, tiny=8 * MIB)
        origin = cdn(stage, source(stage, size), NAMES)
        mine, theirs = ours(stage, origin, "mine"), rclone(stage, origin, "theirs")
        # Each name once: what was read of a film is kept.
        fresh = {mount.pid: itertools.count() for mount in (mine, theirs)}

        def film(mount: Mount) -> Path:
            return mount.film(next(fresh[mount.pid]))

        yield _stream(origin, mine, film, stage.size(256 * MIB, tiny=6 * MIB))
        yield _starts(origin, mine, film, stage.size(10, tiny=2))
        reads = stage.size(30, tiny=2)
        for length, limit in ((4096, 0.3), (MIB, 0.4)):
            name = f"{length // 1024} KiB at random, p95"

            def read(mount: Mount, length: int = length) -> Sequence[float]:
                return (percentile(at_random(film(mount), size, length, reads, seed=length), P95),)

            yield beside((Row(name, "ms", BESIDE, Bar.ratio(limit)),), mine, theirs, read)

        yield _asked(origin, mine, theirs, film)


Next = Callable[[Mount], Path]

# What is done with a film, as places (of a thousandth of it) that are read one after the other.
USES = {
    "opening a film": [0],
    "its beginning and its end": [0, 1, 999],
    "25 seeks": [*range(20, 995, 39)],
}


def _asked(origin: Origin, mine: Mount, theirs: Mount, film: Next) -> Trial:
    """What each use asks of the CDN. The numbers are pinned in tests/vfs/test_costs.py; here they stand beside rclone's."""

    def use(mount: Mount) -> Sequence[float]:
        numbers: list[float] = []
        for places in USES.values():
            path = film(mount)
            for _ in range(2):
                before = origin.settled()
                read_at(path, [origin.size // 1000 * place for place in places])
                after = origin.settled()
                numbers += [after[0] - before[0], (after[1] - before[1]) / MIB]
                drop(path)
        return numbers

    rows = [
        Row(f"{what}{again}", unit, BESIDE)
        for what in USES
        for again in ("", ", once more")
        for unit in ("requests", "MiB")
    ]
    return beside(tuple(rows), mine, theirs, use, most_rounds=1)


def _stream(origin: Origin, mine: Mount, film: Next, size: int) -> Trial:
    row = Row("one stream", "MB/s", "one connection", Bar.ratio(3, at_least=True))

    def alone() -> Sequence[float]:
        return (size / direct(origin.port, "/films/0.mkv", 0, size) * MILLI / MEGA,)

    return Trial((row,), ours=lambda: (streams([film(mine)], size),), reference=alone)


def _starts(origin: Origin, mine: Mount, film: Next, count: int) -> Trial:
    """First bytes of films that nobody opened before, the same films again, and seeks to where nobody was."""

    def read() -> Sequence[float]:
        films = [film(mine) for _ in range(count)]
        first = [first_bytes(path) for path in films]
        for path in films:
            drop(path)
        again = [first_bytes(path) for path in films]
        seeks = [spent for path in films for spent in at_random(path, origin.size, 4096, 2, seed=count)]
        return middle(first), middle(again), middle(seeks)

    def alone() -> Sequence[float]:
        first = [direct(origin.port, "/films/0.mkv", 0, FIRST) for _ in range(count)]
        seeks = [direct(origin.port, "/films/0.mkv", origin.size // 2, 4096) for _ in range(count)]
        # The second visit is held against nothing: it must not ask at all.
        return middle(first), middle(first), middle(seeks)

    rows = (
        Row("first bytes of a new film, p50", "ms", ALONE, Bar.beyond(10)),
        Row("the same once more, p50", "ms", ALONE, Bar.value(5)),
        Row("a seek, p50", "ms", ALONE, Bar.beyond(10)),
    )
    return Trial(rows, ours=read, reference=alone)
