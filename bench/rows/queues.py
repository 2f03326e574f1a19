"""What the engine itself costs: jobs that do nothing, alone and as a parent with its children."""

import heapq
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Sequence

from bench import Family, Row, Stage, Trial, seconds
from program.clock import SystemClock
from program.demo.launch import free_port
from program.queues import Done, Engine, Job, JobSpec, JobView, Outcome, QueueDef

WORKERS = 16
CHILDREN = 10
PARENT, CHILD = "parent", "child"
BARE = f"a bare heapq with {WORKERS} threads"
# Whoever waits longer than this for the last job meets a fault.
LONGEST = 120.0


class Queues(Family):
    """Jobs a second, from the first that is added to the last that has ended."""

    key = "queues"
    title = "Jobs a second through the engine"
    seconds = 600

    def trials(self, stage: Stage) -> Generator[Trial]:
        """Yield single jobs, then flows."""
        jobs = stage.size(10_000, tiny=50)
        yield Trial(
            (Row(f"a queue: {jobs:,} jobs with dedup ids", "jobs/s", BARE),),
            ours=lambda: (jobs / seconds(_through_engine, _single(jobs), jobs),),
            reference=lambda: (jobs / seconds(_through_heap, range(jobs)),),
        )
        flows = stage.size(1_000, tiny=5)
        total = flows * (1 + CHILDREN)
        yield Trial(
            (Row(f"flows: {flows:,} parents with {CHILDREN} children each", "jobs/s", BARE),),
            ours=lambda: (total / seconds(_through_engine, _flows(flows), total),),
            reference=lambda: (total / seconds(_through_heap, range(total)),),
        )
        if importlib.util.find_spec("bullmq") and _redis():
            yield _beside_bullmq(stage)


def _redis() -> str | None:
    # Debian's redis-tools holds the server's executable under the name of a tool; what it does goes by the name it is called by.
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


def _beside_bullmq(stage: Stage) -> Trial:
    """Return the trial beside what the queues are modelled on, which `tools/setup all-tests` installs."""
    jobs, flows = stage.size(2_000, tiny=20), stage.size(200, tiny=2)
    port, server = free_port(), stage.folder / "redis-server"
    server.symlink_to(str(_redis()))
    stage.start([str(server), "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"])
    command = [sys.executable, "-m", "bench.bullmq_jobs", *map(str, (port, jobs, flows, CHILDREN))]
    total = flows * (1 + CHILDREN)

    def reference() -> Sequence[float]:
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * LONGEST)
        return tuple(map(float, json.loads(answer.stdout)))

    def ours() -> Sequence[float]:
        single = jobs / seconds(_through_engine, _single(jobs), jobs)
        return single, total / seconds(_through_engine, _flows(flows), total)

    rows = (
        Row(f"a queue: {jobs:,} jobs with dedup ids", "jobs/s", "BullMQ for Python on Redis"),
        Row(
            f"flows: {flows:,} parents with {CHILDREN} children each", "jobs/s", "BullMQ for Python on Redis"
        ),
    )
    return Trial(rows, ours, reference)


def _single(jobs: int) -> Iterable[JobSpec]:
    return (_job(CHILD, f"job {number}", number) for number in range(jobs))


def _flows(flows: int) -> Iterable[JobSpec]:
    for number in range(flows):
        children = tuple(_job(CHILD, f"child {number}-{child}", child) for child in range(CHILDREN))
        yield _job(PARENT, f"parent {number}", number, children)


def _job(queue: str, name: str, data: int, children: tuple[JobSpec, ...] = ()) -> JobSpec:
    return JobSpec(queue=queue, name=name, data=data, dedup_id=name, children=children)


def _through_engine(specs: Iterable[JobSpec], total: int) -> None:
    """Add the jobs to a running engine and wait until all have ended."""
    all_ended, ended = threading.Event(), 0
    lock = threading.Lock()

    def count(_view: JobView) -> None:
        nonlocal ended
        with lock:
            ended += 1
            if ended == total:
                all_ended.set()

    engine = Engine(SystemClock(), workers=WORKERS)
    engine.define(QueueDef(name=CHILD, input=int, output=int, handler=_echo, concurrency=WORKERS))
    engine.define(
        QueueDef(
            name=PARENT,
            input=int,
            output=int,
            handler=_echo,
            concurrency=WORKERS,
            children=frozenset({CHILD}),
        )
    )
    engine.on_finished(count)
    engine.start()
    try:
        for spec in specs:
            engine.add(spec)
        if not all_ended.wait(LONGEST):
            raise RuntimeError(f"{ended} of {total} jobs ended")
    finally:
        engine.close(1.0)


def _echo(job: Job) -> Outcome:
    return Done(job.data)


def _through_heap(numbers: range) -> None:
    """Do as many empty jobs with the least that can do it: a heap, a condition, threads that take from it."""
    heap: list[tuple[int, int]] = []
    ready = threading.Condition()
    is_over = False

    def work() -> None:
        while True:
            with ready:
                while not heap:
                    if is_over:
                        return
                    ready.wait()
                heapq.heappop(heap)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for number in numbers:
        with ready:
            heapq.heappush(heap, (0, number))
            ready.notify()
    with ready:
        is_over = True
        ready.notify_all()
    for thread in threads:
        thread.join(LONGEST)
