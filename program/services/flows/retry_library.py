"""Queue `retry-library`: starts every unfinished title afresh, some at a time, so that whoever asked is answered at once.

Not one of the specification's queues. Each title is one transaction; how far it is stands beside the job in the lists.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from program.errors import Cancelled
from program.queues import Done, Job, JobSpec, Next, Outcome, Priority
from program.services.flows import names
from program.services.flows.by_person import changed, start_afresh
from program.services.flows.context import FlowContext

# Titles of one run of the job: others get their turn in between, and see how far it is.
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Retry:
    """Data of the job. left: the films and shows still to be started afresh; total: how many there were."""

    left: tuple[int, ...]
    total: int


def job(root_ids: tuple[int, ...]) -> JobSpec:
    """Return the job for these films and shows; while it goes on another one is the same."""
    return JobSpec(
        queue=names.RETRY_LIBRARY,
        name="the whole library",
        data=Retry(root_ids, len(root_ids)),
        dedup_id=names.RETRY_LIBRARY,
        priority=Priority.FRONT,
    )


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Start some titles afresh and go on with the rest; return how many there were."""
    data = job.data_as(Retry)
    for root_id in data.left[:AT_ONCE]:
        job.raise_if_cancelled()
        # One that was removed meanwhile needs nothing.
        with suppress(Cancelled), changed(ctx, root_id, root_id) as (tx, root, now):
            start_afresh(ctx, tx, root, root_id, now)
    left = data.left[AT_ONCE:]
    if not left:
        return Done(data.total)
    return Next(replace(data, left=left), reason=f"{data.total - len(left)} of {data.total} titles")
