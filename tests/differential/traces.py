"""What was seen of each scenario on both engines, kept as data in `traces/`, one file each.

`python -m tests.differential.traces` plays everything on both engines and writes the files anew; it needs Redis and BullMQ
(`tools/setup all-tests`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.differential.ours import play
from tests.differential.redis_server import redis_server
from tests.differential.scenarios import SCENARIOS, Scenario

FOLDER = Path(__file__).with_name("traces")
ROOT = Path(__file__).parents[2]
# A machine with busy cores may see something late once; not three times.
TRIES = 3


@dataclass(frozen=True)
class Trace:
    """What was seen of a scenario. departure: why it is not the same; None when it is."""

    scenario: str
    ours: list[str]
    bullmq: list[str]
    departure: str | None


def file_of(scenario: Scenario) -> Path:
    """Return where a scenario's trace is kept."""
    return FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', scenario.name.lower()).strip('-')}.json"


def kept(scenario: Scenario) -> Trace:
    """Return what was seen when the trace was taken."""
    return Trace(**json.loads(file_of(scenario).read_text(encoding="utf-8")))


def on_bullmq(port: int, scenarios: Iterable[Scenario]) -> dict[str, list[str]]:
    """Return what is seen of scenarios on BullMQ now, by name."""
    command = [
        sys.executable,
        "-m",
        "tests.differential.on_bullmq",
        str(port),
        *(one.name for one in scenarios),
    ]
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    found: dict[str, list[str]] = json.loads(run.stdout)
    return found


def departing(
    port: int, expected: dict[str, list[str]], scenarios: Iterable[Scenario]
) -> dict[str, list[str]]:
    """Return the scenarios of which BullMQ shows something else than expected, each time they are played."""
    left, found = tuple(scenarios), dict[str, list[str]]()
    for _ in range(TRIES):
        seen = on_bullmq(port, left)
        found = {name: trace for name, trace in seen.items() if trace != expected[name]}
        left = tuple(one for one in left if one.name in found)
        if not left:
            break
    return found


def record() -> None:
    """Play every scenario on both engines and write the traces; what differs without a reason is refused."""
    ours = {one.name: play(one) for one in SCENARIOS}
    alike = [one for one in SCENARIOS if one.departure is None]
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder)) as port:
        theirs = {**ours, **on_bullmq(port, [one for one in SCENARIOS if one.departure is not None])}
        unlike = departing(port, ours, alike)
    assert not unlike, f"these differ and give no reason: {unlike}"
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for one in SCENARIOS:
        trace = {
            "scenario": one.name,
            "ours": ours[one.name],
            "bullmq": theirs[one.name],
            "departure": one.departure,
        }
        file_of(one).write_text(json.dumps(trace, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
