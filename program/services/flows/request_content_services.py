"""Queue `request-content-services`: asks one content service what people want and writes the wishes down.

One wish that cannot be stored is reported and does not keep the others back. The schedule asks again, also after a failure.
"""

from dataclasses import dataclass

from loguru import logger

from program.db import requests
from program.errors import RivuletError
from program.events import ContentAnswer, ContentServiceRequested, ItemRequestCreated, ItemRequestUpdated
from program.media.metadata import ContentRequest
from program.queues import ChildPolicy, Done, Job, JobSpec, Outcome, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext


@dataclass(frozen=True, slots=True)
class Poll:
    """Data of the job. key: the content service."""

    key: str
    step: str = "request"


@dataclass(frozen=True, slots=True)
class PollResult:
    """Value of the job: how many wishes there were, and what was new."""

    count: int
    new_items: int
    updated_items: int


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Ask the service, then store its wishes."""
    data = job.data_as(Poll)
    if data.step == "request":
        queue = names.plugin_queue(ContentServiceRequested.type, data.key)
        spec = JobSpec(queue=queue, name=data.key, data=ContentServiceRequested(), policy=ChildPolicy.IGNORE)
        return WaitFor((spec,), data=Poll(data.key, "process"))
    answers = [value for _, _, value in job.children.values() if isinstance(value, ContentAnswer)]
    for _, _, error in job.children.failures():
        logger.warning("{} could not be asked: {}", data.key, error)
    outcomes = [store(ctx, request) for answer in answers for request in answer.requests]
    return Done(PollResult(len(outcomes), outcomes.count("created"), outcomes.count("updated")))


def store(ctx: FlowContext, request: ContentRequest, *, by_person: bool = False) -> str:
    """Write one wish down; return what became of it: `created`, `updated`, `known`, …, or `error`."""
    try:
        with ctx.db.write() as tx:
            accepted = requests.accept(tx, request, ctx.clock.now(), by_person=by_person)
    except RivuletError as error:
        logger.warning("a wish of {} could not be stored: {}", request.source, error)
        return "error"
    if accepted.outcome == "created":
        ctx.tell(ItemRequestCreated(item_id=accepted.item_id, sentence=accepted.sentence))
    elif accepted.outcome == "updated":
        ctx.tell(ItemRequestUpdated(item_id=accepted.item_id, sentence=accepted.sentence))
    return accepted.outcome
