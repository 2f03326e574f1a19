"""Queue `request-content-services`: asks one content service what people want and writes the wishes down.

One wish that cannot be stored is reported and does not keep the others back. The schedule asks again, also after a failure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from loguru import logger

from program.db import decisions, requests
from program.db.decisions import Decision
from program.db.views import Accepted
from program.errors import Cancelled, RivuletError
from program.events import (
    ContentAnswer,
    ContentServiceRequested,
    ItemRequestConflict,
    ItemRequestCreated,
    ItemRequestFailed,
    ItemRequestUpdated,
    Told,
)
from program.media.metadata import ContentRequest
from program.queues import Done, Job, Outcome, WaitFor
from program.services.flows.by_person import call_off
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import ask

# Wishes in one transaction: a long list must not keep everybody else from writing.
AT_ONCE = 500
TOLD: Mapping[str, type[Told]] = {
    "created": ItemRequestCreated,
    "updated": ItemRequestUpdated,
    "retried": ItemRequestUpdated,
}
# What only a person wants to hear: a list says it again each time it is asked.
TOLD_TO_A_PERSON: Mapping[str, type[Told]] = {
    **TOLD,
    "known": ItemRequestConflict,
    "paused": ItemRequestConflict,
}

# How somebody asked who came through no content service.
BY_HAND: Mapping[str, str] = {"api": "over the API", "web": "on the pages"}
# A wish that changed what is wanted of a known title.
CHANGED = frozenset({"updated", "retried"})


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
        question = ask(data.key, ContentServiceRequested(), data.key)
        return WaitFor((question,), data=Poll(data.key, "process"))
    answers = [value for _, _, value in job.children.values() if isinstance(value, ContentAnswer)]
    for _, _, error in job.children.failures():
        logger.warning("{} could not be asked: {}", data.key, error)
    outcomes = [found.outcome for answer in answers for found in store(ctx, answer.requests, by_person=False)]
    return Done(PollResult(len(outcomes), outcomes.count("created"), outcomes.count("updated")))


def store(ctx: FlowContext, wishes: Sequence[ContentRequest], *, by_person: bool) -> list[Accepted]:
    """Write wishes down and tell about what is new; a wish without any id is reported and keeps no other back."""
    usable = [wish for wish in wishes if wish.ids]
    for wish in wishes:
        if not wish.ids:
            said = f"{wish.source} wants something without any id (its request {wish.external_id})"
            ctx.tell(ItemRequestFailed(sentence=said))
    accepted: list[Accepted] = []
    for start in range(0, len(usable), AT_ONCE):
        accepted += _store(ctx, usable[start : start + AT_ONCE], by_person=by_person)
    told = TOLD_TO_A_PERSON if by_person else TOLD
    for found in accepted:
        if found.outcome in CHANGED and found.item_id is not None:
            _call_off(ctx, found.item_id)
        if found.outcome in told:
            ctx.tell(told[found.outcome](item_id=found.item_id, sentence=found.sentence))
    return accepted


def _call_off(ctx: FlowContext, root_id: int) -> None:
    """End the work under way for a title that more is asked of now: it was begun for less, and what it brings is not kept."""
    with suppress(Cancelled):
        call_off(ctx, ctx.load(root_id), root_id)


def _store(ctx: FlowContext, wishes: Sequence[ContentRequest], *, by_person: bool) -> tuple[Accepted, ...]:
    now = ctx.clock.now()
    try:
        with ctx.db.write() as tx:
            answers = requests.accept_many(tx, wishes, now, by_person=by_person)
            decisions.write(tx, map(ctx.sayings.decision, _stories(wishes, answers)), now)
    except RivuletError as error:
        ctx.tell(ItemRequestFailed(sentence=f"{len(wishes)} wishes could not be written down: {error}"))
        raise
    return answers


def _stories(wishes: Iterable[ContentRequest], accepted: Iterable[Accepted]) -> Iterator[Decision]:
    """Yield who asked for what, for each wish that brought something new or that waits for a person."""
    for wish, found in zip(wishes, accepted, strict=True):
        if found.item_id is not None and found.outcome != "known":
            yield Decision(found.item_id, "request", found.outcome, _sentence(wish, found))


def _sentence(wish: ContentRequest, found: Accepted) -> str:
    by_source = BY_HAND.get(wish.source, f"by {wish.source}")
    who = f"by {wish.requested_by} ({wish.source})" if wish.requested_by else by_source
    sentence = f"Asked for {who}"
    if wish.seasons:
        numbers = ", ".join(str(number) for number in wish.seasons)
        sentence += f": season{'s' if len(wish.seasons) > 1 else ''} {numbers}"
    later = {"retried": "; it had failed and is tried again", "paused": "; it is paused and waits for you"}
    return f"{sentence}{later.get(found.outcome, '')}."
