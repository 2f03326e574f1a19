"""`python -m bench.bullmq_jobs PORT JOBS FLOWS CHILDREN`: empty jobs through BullMQ for Python; prints jobs a second, as JSON.

A process of its own: it is an event loop's world, and its packages are none of the program's.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

from bullmq import FlowProducer, Job, Queue, Worker

CONCURRENCY = 16
LONGEST = 120
# An idle worker looks for more at least this often (seconds).
DRAIN_DELAY = 0.05


async def main(port: int, jobs: int, flows: int, children: int) -> list[float]:
    """Return jobs a second, of single jobs and of parents with their children."""
    connection = {"host": "127.0.0.1", "port": port}
    queue, producer = Queue("work", {"connection": connection}), FlowProducer(connection)

    async def single() -> None:
        for number in range(jobs):
            await queue.add("job", {}, {"deduplication": {"id": f"job-{number}"}})

    async def grown() -> None:
        for number in range(flows):
            beneath = [
                {"name": f"{number}-{child}", "queueName": "work", "data": {}} for child in range(children)
            ]
            await producer.add({"name": str(number), "queueName": "work", "data": {}, "children": beneath})

    try:
        return [
            jobs / await _seconds(connection, single, jobs),
            flows * (1 + children) / await _seconds(connection, grown, flows * (1 + children)),
        ]
    finally:
        await queue.close()
        await producer.close()


async def _seconds(connection: dict[str, object], add: Callable[[], Awaitable[None]], total: int) -> float:
    """Return how long it takes from the first job that is added to the last that has ended."""
    all_ended, ended = asyncio.Event(), 0

    async def work(job: Job, _token: str) -> object:
        return job.data

    def count(_job: Job, _result: object) -> None:
        nonlocal ended
        ended += 1
        if ended == total:
            all_ended.set()

    worker = Worker(
        "work", work, {"connection": connection, "concurrency": CONCURRENCY, "drainDelay": DRAIN_DELAY}
    )
    worker.on("completed", count)
    start = time.perf_counter()
    try:
        await add()
        await asyncio.wait_for(all_ended.wait(), LONGEST)
        return time.perf_counter() - start
    finally:
        await worker.close(force=True)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*map(int, sys.argv[1:])))))
