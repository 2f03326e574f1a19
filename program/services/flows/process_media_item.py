"""Queue `process-media-item`: moves one row on, one step at a time.

scrape → validate-scrape → download → validate-download → complete; upgrade, long after that. Each step commits its outcome
before the job goes on, so that a kill between two steps loses nothing: the loop reads `last_state` and starts at the right step.
"""

from dataclasses import dataclass, replace

from program.db.decisions import Decision
from program.errors import Cancelled
from program.media.facts import waits_for_better
from program.media.item import States
from program.media.outcomes import job_failed
from program.queues import Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import complete, names, upgrade_item
from program.services.flows.context import FlowContext, ItemJob, item_of
from program.state_transition import ItemStep

# What a row's state must be for the next step to make sense within the same job.
_HAS_STREAM = frozenset({States.Scraped})
_HAS_FILE = frozenset({States.Downloaded, States.Symlinked})


@dataclass(frozen=True, slots=True)
class MediaItemJob(ItemJob):
    """Data of the job. step: where it stands."""

    step: ItemStep = ItemStep.SCRAPE

    def at(self, step: ItemStep) -> "MediaItemJob":
        """Return the same job at another step."""
        return replace(self, step=step)


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Run the step that the job stands at."""
    data = job.data_as(ItemJob)
    if not isinstance(data, MediaItemJob) or data.step is ItemStep.UPGRADE:
        return upgrade_item.handle(ctx, job)
    match data.step:
        case ItemStep.SCRAPE:
            return _child(names.SCRAPE_ITEM, data, then=ItemStep.VALIDATE_SCRAPE)
        case ItemStep.VALIDATE_SCRAPE:
            return _go_on(ctx, data, _HAS_STREAM, ItemStep.DOWNLOAD)
        case ItemStep.DOWNLOAD:
            return _child(names.DOWNLOAD_ITEM, data, then=ItemStep.VALIDATE_DOWNLOAD)
        case ItemStep.VALIDATE_DOWNLOAD:
            return _go_on(ctx, data, _HAS_FILE, ItemStep.COMPLETE)
        case ItemStep.COMPLETE:
            return complete.handle(ctx, job)


def _child(queue: str, data: MediaItemJob, *, then: ItemStep) -> Outcome:
    return WaitFor((JobSpec(queue=queue, name=data.title, data=data),), data=data.at(then))


def _go_on(ctx: FlowContext, data: MediaItemJob, states: frozenset[States], step: ItemStep) -> Outcome:
    """Take the next step when the row itself has come so far; otherwise its date brings it back.

    A season or show never goes on to `complete`: that is a matter of its episodes.
    """
    item = item_of(ctx.load(data.root_id), data.item_id)
    goes_on = item.last_state in states and (step is not ItemStep.COMPLETE or item.type.is_leaf)
    goes_on = goes_on and not (step is ItemStep.DOWNLOAD and waits_for_better(item.facts))
    return Next(data.at(step)) if goes_on else Done(None)


def on_failed(ctx: FlowContext, data: ItemJob, error: str) -> None:
    """Write down a job that ended without an outcome: the next attempt comes later each time."""
    step = data.step if isinstance(data, MediaItemJob) else ItemStep.UPGRADE
    try:
        with ctx.db.write(data.root_id) as tx:
            item = item_of(ctx.tree(tx, data.root_id), data.item_id)
            facts = job_failed(item, ctx.clock.now(), error)
            sentence = f"The step {step} ended with an error: {error}"
            ctx.commit(tx, data.root_id, {item.id: facts}, [Decision(item.id, step, "error", sentence)])
    except Cancelled:
        return
