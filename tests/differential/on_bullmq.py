"""The scenarios on BullMQ for Python with a real Redis: `python -m tests.differential.on_bullmq PORT [NAME…]` prints JSON.

A unit is half a second of real time. Nothing of ours is used but the scenarios.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from typing import Any

from bullmq import DelayedError, FlowProducer, Queue, UnrecoverableError, Worker
from bullmq import Job as Run

from tests.differential.scenarios import SCENARIOS, Add, Job, Limit, Pass, Remove, Scenario, Start

UNIT = 0.5
# Everything that may run has run when nothing happened for so long, and nothing waits; a limited queue keeps waiting.
QUIET, LONGEST = 0.15, 2.0
# An idle worker looks for what became due at least this often (seconds).
DRAIN = UNIT / 5
POLICIES = {
    None: {},
    "fail-parent": {"failParentOnFailure": True},
    "ignore": {"ignoreDependencyOnFailure": True},
    "continue-now": {"continueParentOnFailure": True},
    "forget": {"removeDependencyOnFailure": True},
}
LIVE = ("wait", "active", "prioritized")
NAMES = {"prioritized": "waiting", "wait": "waiting"}


class Bull:
    """One scenario on BullMQ. seen: what could be observed, in its order."""

    def __init__(self, scenario: Scenario, port: int, prefix: str) -> None:
        self.seen: list[str] = []
        self._scenario = scenario
        self._connection = {"host": "127.0.0.1", "port": port}
        self._opts: dict[str, Any] = {"connection": self._connection, "prefix": prefix}
        self._queue = Queue("work", self._opts)
        self._flows = FlowProducer(self._connection, {"prefix": prefix})
        self._worker: Worker | None = None
        self._ids: dict[str, str] = {}
        self._runs: dict[str, int] = {}
        self._something = asyncio.Event()

    async def play(self) -> list[str]:
        """Return what was seen, and at the end where every job stands."""
        try:
            for step in self._scenario.steps:
                await self._do(step)
            return [*self.seen, *await self._ends()]
        finally:
            if self._worker is not None:
                await self._worker.close(force=True)
            await self._queue.close()
            await self._flows.close()

    async def _ends(self) -> list[str]:
        found = []
        for name, job_id in sorted(self._ids.items()):
            state = await self._queue.getJobState(job_id)
            if state != "unknown":
                found.append(f"{name} is {NAMES.get(state, state)}")
        return found

    async def _do(self, step: object) -> None:
        match step:
            case Add(job):
                await self._add(job)
            case Start():
                self._start()
            case Limit(units):
                await self._queue.setGlobalRateLimit(1, int(units * UNIT * 1000))
            case Remove(key, name):
                await self._remove(key, name)
            case Pass(units):
                await self._settle()
                end = time.monotonic() + units * UNIT
                while (left := end - time.monotonic()) > 0:
                    await self._happens(left)
                await self._settle()

    def _start(self) -> None:
        self._worker = Worker("work", self._run, {**self._opts, "concurrency": 1, "drainDelay": DRAIN})
        self._worker.on("completed", lambda job, _result: self._see(f"completed {job.name}"))
        self._worker.on("failed", self._failed)

    async def _settle(self) -> None:
        """Return once nothing has happened for a while, and nothing is left that may."""
        if self._worker is None:
            return
        began = time.monotonic()
        while await self._happens(QUIET) or await self._is_busy(began):
            pass

    async def _happens(self, seconds: float) -> bool:
        """Wait until something happens; False when nothing has in time."""
        self._something.clear()
        try:
            await asyncio.wait_for(self._something.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _is_busy(self, began: float) -> bool:
        counts = await self._queue.getJobCounts(*LIVE)
        is_limited = time.monotonic() - began > LONGEST
        return counts["active"] > 0 or (not is_limited and any(counts.values()))

    def _see(self, what: str) -> None:
        self.seen.append(what)
        self._something.set()

    def _failed(self, job: Run, error: Exception) -> None:
        is_over = isinstance(error, UnrecoverableError) or job.attemptsMade >= (job.attempts or 1)
        if is_over:
            self._see(f"failed {job.name}")

    async def _add(self, job: Job) -> None:
        if job.children:
            node = await self._flows.add(self._node(job))
            self._note(job, node)
            self._see(f"add {job.name}")
            return
        added = await self._queue.add(job.name, job.name, self._options(job))
        is_new = added.id not in self._ids.values()
        if is_new:
            self._ids[job.name] = added.id
        self._see(f"{'add' if is_new else 'have'} {job.name}")

    def _note(self, job: Job, node: dict[str, Any]) -> None:
        self._ids[job.name] = node["job"].id
        for child, below in zip(job.children, node.get("children", ()), strict=True):
            self._note(child, below)

    def _node(self, job: Job) -> dict[str, Any]:
        return {
            "name": job.name,
            "queueName": "work",
            "data": job.name,
            "opts": self._options(job),
            "children": [self._node(child) for child in job.children],
        }

    def _options(self, job: Job) -> dict[str, Any]:
        options: dict[str, Any] = {"attempts": job.attempts, **POLICIES[job.policy]}
        if job.attempts > 1:
            options["backoff"] = {"type": "fixed", "delay": int(job.backoff * UNIT * 1000)}
        if job.delay:
            options["delay"] = int(job.delay * UNIT * 1000)
        if job.rank is not None:
            options["priority"] = job.rank + 1
        if job.to_front:
            options["lifo"] = True
        if job.job_id is not None:
            options["jobId"] = job.job_id
        if job.key is not None:
            options["deduplication"] = {"id": job.key}
            if job.ttl is not None:
                options["deduplication"]["ttl"] = int(job.ttl * UNIT * 1000)
        return options

    async def _remove(self, key: str | None, name: str | None) -> None:
        job_id = self._ids[name] if name else await self._queue.getDeduplicationJobId(key or "")
        removed = await self._queue.remove(job_id, {"removeChildren": True}) if job_id else 0
        self._see(f"{'removed' if removed else 'not there:'} {key or name}")

    async def _run(self, run: Run, token: str) -> str:
        name = run.name
        job = self._scenario.jobs[name]
        heard = sorted((await run.getChildrenValues()).values())
        self._see(f"run {name}" + (f" with {' '.join(heard)}" if heard else ""))
        number = self._runs[name] = self._runs.get(name, 0) + 1
        what, _, more = job.script[min(number, len(job.script)) - 1].partition(" ")
        match what:
            case "fail":
                raise RuntimeError("as scripted")
            case "final":
                raise UnrecoverableError("as scripted")
            case "delay":
                await run.moveToDelayed(int(time.time() * 1000 + int(more) * UNIT * 1000), token)
                raise DelayedError
            case "add":
                await self._add(self._scenario.jobs[more])
        return name


async def play_all(port: int, names: list[str]) -> dict[str, list[str]]:
    """Return what is seen of each scenario, by name."""
    seen = {}
    for number, scenario in enumerate(SCENARIOS):
        if not names or scenario.name in names:
            with contextlib.suppress(asyncio.CancelledError):
                # A prefix of its own: nothing is shared with the scenario before, nor with an earlier run.
                seen[scenario.name] = await Bull(scenario, port, f"{time.time_ns()}-{number}").play()
    return seen


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(play_all(int(sys.argv[1]), sys.argv[2:])), indent=1))
