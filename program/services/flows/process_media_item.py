"""Queue `process-media-item`: moves one row on, one step at a time.

scrape → validate-scrape → download → validate-download → complete. Each step commits its outcome before the job goes
on, so that a kill
between two steps loses nothing: the loop reads `last_state` and starts at the right step.
"""

from program.db.decisions import Decision
from program.errors import Cancelled
from program.media.item import States
from program.media.outcomes import job_failed
from program.queues import Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import complete, names
from program.services.flows.context import FlowContext, ItemJob, item_of

SCRAPE = "scrape"
VALIDATE_SCRAPE = "validate-scrape"
DOWNLOAD = "download"
VALIDATE_DOWNLOAD = "validate-download"
COMPLETE = "complete"
STEPS = (SCRAPE, VALIDATE_SCRAPE, DOWNLOAD, VALIDATE_DOWNLOAD, COMPLETE)

# What a row's state must be for the next step to make sense within the same job.
_HAS_STREAM = frozenset({States.Scraped})
_HAS_FILE = frozenset({States.Downloaded, States.Symlinked})


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Run the step that the job stands at."""
    data = job.data_as(ItemJob)
    if data.step == SCRAPE:
        return _child(names.SCRAPE_ITEM, data, then=VALIDATE_SCRAPE)
    if data.step == VALIDATE_SCRAPE:
        return _go_on(ctx, data, _HAS_STREAM, DOWNLOAD)
    if data.step == DOWNLOAD:
        return _child(names.DOWNLOAD_ITEM, data, then=VALIDATE_DOWNLOAD)
    if data.step == VALIDATE_DOWNLOAD:
        return _go_on(ctx, data, _HAS_FILE, COMPLETE)
    return complete.handle(ctx, job)


def _child(queue: str, data: ItemJob, *, then: str) -> Outcome:
    return WaitFor((JobSpec(queue=queue, name=data.title, data=data),), data=data.at(then))


def _go_on(ctx: FlowContext, data: ItemJob, states: frozenset[States], step: str) -> Outcome:
    """Take the next step when the row itself has come so far; otherwise its date brings it back.

    A season or show never goes on to `complete`: that is a matter of its episodes.
    """
    item = item_of(ctx.load(data.root_id), data.item_id)
    goes_on = item.last_state in states and (step != COMPLETE or item.type.is_leaf)
    return Next(data.at(step)) if goes_on else Done(None)


def on_failed(ctx: FlowContext, data: ItemJob, error: str) -> None:
    """Write down a job that ended without an outcome: the next attempt comes later each time."""
    try:
        with ctx.db.write(data.root_id) as tx:
            item = item_of(ctx.tree(tx, data.root_id), data.item_id)
            facts = job_failed(item, ctx.clock.now(), error)
            sentence = f"The step {data.step} ended with an error: {error}"
            ctx.commit(tx, data.root_id, {item.id: facts}, [Decision(item.id, data.step, "error", sentence)])
    except Cancelled:
        return
