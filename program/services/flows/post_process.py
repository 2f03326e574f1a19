"""Queues `post-process-media-item` and `request-subtitles`: what is done once for a finished title."""

from program.db.decisions import Decision
from program.errors import Cancelled
from program.events import SubtitleRequested
from program.media.outcomes import post_done, post_failed
from program.media.schedule import POST_FAILURES_MAX
from program.queues import ChildPolicy, Done, Job, JobSpec, Outcome, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext, ItemJob, item_of
from program.services.flows.plugin_hook import ask_all


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Ask for subtitles where a service is set up, then mark the title as finished."""
    data = job.data_as(ItemJob)
    if not job.has_waited and ctx.registry.hooks_for(SubtitleRequested.type):
        spec = JobSpec(queue=names.REQUEST_SUBTITLES, name=data.title, data=data, policy=ChildPolicy.IGNORE)
        return WaitFor((spec,))
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        item = item_of(ctx.tree(tx, data.root_id), data.item_id)
        facts = post_done(ctx.clock.now())
        decision = Decision(item.id, "post-process", "done", "Nothing more is to be done for it.")
        ctx.commit(tx, data.root_id, {item.id: facts}, [decision])
    return Done(None)


def subtitles(ctx: FlowContext, job: Job) -> Outcome:
    """Ask every subtitle service; return how many subtitles came back."""
    data = job.data_as(ItemJob)
    if job.has_waited:
        return Done(sum(len(value) for _, _, value in job.children.values() if isinstance(value, tuple)))
    return WaitFor(ask_all(ctx, SubtitleRequested(data.item_id), data.title))


def on_failed(ctx: FlowContext, data: ItemJob, error: str) -> None:
    """Count a failure; after three the title is finished without it."""
    try:
        with ctx.db.write(data.root_id) as tx:
            item = item_of(ctx.tree(tx, data.root_id), data.item_id)
            facts = post_failed(item, ctx.clock.now(), error)
            outcome = "gave_up" if item.facts.post_failures + 1 >= POST_FAILURES_MAX else "error"
            decision = Decision(item.id, "post-process", outcome, f"Post-processing failed: {error}")
            ctx.commit(tx, data.root_id, {item.id: facts}, [decision])
    except Cancelled:
        return
