"""Queue `process-item-request`: a title's metadata is asked for and stored.

Children: one job per metadata service that knows this kind of title. A title that no service knows is asked for again at growing
intervals; a service that does not answer costs nothing but time.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from program.db import items
from program.db.decisions import Decision
from program.errors import Cancelled
from program.events import (
    Event,
    IndexFailed,
    IndexIncorrectState,
    IndexSuccess,
    MovieIndexRequested,
    ShowIndexRequested,
    ShowRatingRequested,
)
from program.media.facts import lacks_metadata
from program.media.item import Contradiction, Ids, Item, MediaType, Node
from program.media.metadata import Metadata
from program.media.outcomes import Changes, index_delayed, index_failed, index_found, index_missed
from program.queues import Done, Job, JobSpec, Next, Outcome, Priority, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext, ItemJob, label, revisions
from program.services.flows.plugin_hook import Paused, ask_all, said_by


class RequestStep(StrEnum):
    """The steps of the job."""

    REQUEST = "request"
    PROCESS = "process"
    # What nobody knows as a film may be a show, and the other way round.
    OTHER_KIND = "other-kind"
    # Who knows a show's episodes need not know how it is rated.
    RATE = "rate"


# What is known is stored without a rating when that does not come within this time.
RATED_WITHIN = timedelta(seconds=6)


@dataclass(frozen=True, slots=True)
class RequestJob(ItemJob):
    """Data of the job. step: where it stands. metadata: what is to be stored once the rating is there."""

    step: RequestStep = RequestStep.REQUEST
    metadata: Metadata | None = None


def job(root: Node, priority: Priority) -> JobSpec:
    """Return the job that looks a title up."""
    root_id, title = root.item.id, label(root, root.item.id)
    return JobSpec(
        queue=names.PROCESS_ITEM_REQUEST,
        name=title,
        data=RequestJob(root_id, root_id, title, revisions(root, root_id)),
        dedup_id=names.process_item_request_id(root_id),
        priority=priority,
    )


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Ask the metadata services, then store what they say."""
    data = job.data_as(RequestJob)
    if data.step is RequestStep.REQUEST:
        return _request(ctx, data)
    if data.step is RequestStep.RATE and data.metadata is not None:
        rating = next((value for _, _, value in job.children.values() if isinstance(value, float)), None)
        return _finish(ctx, data, replace(data.metadata, rating=rating))
    answers = [value for _, _, value in job.children.values() if isinstance(value, Metadata)]
    with ctx.telling_when_called_off(IndexIncorrectState(item_id=data.root_id, title=data.title)):
        if data.step is RequestStep.OTHER_KIND:
            silence = Silence(1, ())
            return _store_other(ctx, data, _merge(answers)) if answers else _nothing(ctx, data, silence)
        if answers:
            metadata = _merge(answers)
            return _rate(ctx, data, metadata) or _store(ctx, data, metadata)
        silence = _silence(job)
        return _request_other(ctx, data, silence) or _nothing(ctx, data, silence)


@dataclass(frozen=True, slots=True)
class Silence:
    """Why nobody gave metadata.

    asked: how many services were. until: all who did not answer asked to wait, the first of them until then.
    """

    asked: int
    troubles: tuple[str, ...]
    until: datetime | None = None


def _silence(job: Job) -> Silence:
    failed = [said_by(names.plugin_key(queue), error) for _, queue, error in job.children.failures()]
    paused = [value for _, _, value in job.children.values() if isinstance(value, Paused)]
    return Silence(
        asked=len(job.children.values()) + len(failed),
        troubles=(*failed, *(pause.reason for pause in paused)),
        until=min(pause.until for pause in paused) if paused and not failed else None,
    )


def _request(ctx: FlowContext, data: RequestJob) -> Outcome:
    item = ctx.load(data.root_id).item
    then = replace(data, step=RequestStep.PROCESS)
    children = ask_all(ctx, _event(item.type, item.ids), data.title)
    return WaitFor(children, data=then) if children else Next(then)


def _request_other(ctx: FlowContext, data: RequestJob, silence: Silence) -> Outcome | None:
    """Ask whether the IMDb id is that of the other kind: it is the one id that films and shows share."""
    item = ctx.load(data.root_id).item
    if not silence.asked or silence.troubles or not lacks_metadata(item.facts) or item.ids.imdb is None:
        return None
    children = ask_all(ctx, _event(_other(item.type), Ids(imdb=item.ids.imdb)), data.title)
    return WaitFor(children, data=replace(data, step=RequestStep.OTHER_KIND)) if children else None


def _event(kind: MediaType, ids: Ids) -> Event:
    return MovieIndexRequested(ids) if kind is MediaType.MOVIE else ShowIndexRequested(ids)


def _other(kind: MediaType) -> MediaType:
    return MediaType.SHOW if kind is MediaType.MOVIE else MediaType.MOVIE


def _merge(answers: list[Metadata]) -> Metadata:
    """Return the first complete answer; a title without a name is worth less than one with."""
    return next((answer for answer in answers if answer.title), answers[0])


def _rate(ctx: FlowContext, data: RequestJob, metadata: Metadata) -> Outcome | None:
    """Ask how a show is rated; None when there is nobody to ask, or no need."""
    if metadata.rating is not None or ctx.load(data.root_id).item.type is MediaType.MOVIE:
        return None
    children = ask_all(ctx, ShowRatingRequested(metadata.ids), data.title)
    then = replace(data, step=RequestStep.RATE, metadata=metadata)
    return WaitFor(children, data=then, deadline=RATED_WITHIN) if children else None


def _finish(ctx: FlowContext, data: RequestJob, metadata: Metadata) -> Outcome:
    with ctx.telling_when_called_off(IndexIncorrectState(item_id=data.root_id, title=data.title)):
        return _store(ctx, data, metadata)


def _store_other(ctx: FlowContext, data: RequestJob, metadata: Metadata) -> Outcome:
    """Make the title what it is, then store what is known of it."""
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        root_id = items.change_kind(tx, data.root_id, ctx.clock.now())
    return _store(ctx, replace(data, root_id=root_id, item_id=root_id), metadata)


def _store(ctx: FlowContext, data: ItemJob, metadata: Metadata) -> Outcome:
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        root = ctx.tree(tx, data.root_id)
        before, doubt = root.item, _doubt(root, metadata)
        if doubt is not None:
            facts = index_failed(before, now, doubt)
            sentence = f"Looked up: {doubt}; what is known is kept."
            ctx.commit(tx, before.id, {before.id: facts}, [Decision(before.id, "index", "error", sentence)])
            ctx.tell(IndexFailed(item_id=before.id, title=data.title, sentence=doubt))
            return Done(None)
        if not metadata.title:
            reason = "the metadata has no title"
            facts = {
                **index_missed(before, now, reason),
                "contradiction": Contradiction(reason, with_metadata=False),
            }
            ctx.commit(
                tx,
                data.root_id,
                {before.id: facts},
                [Decision(before.id, "index", "contradictory", f"Looked up: {reason}.")],
            )
            ctx.tell(IndexFailed(item_id=before.id, title=data.title, sentence=reason))
            return Done(None)
        stored = items.store_metadata(tx, data.root_id, metadata, now)
        root = ctx.commit(
            tx,
            stored.root_id,
            {stored.root_id: index_found(now)},
            [_indexed(stored.root_id, metadata, stored)],
        )
    ctx.library.apply((), stored.removed_entries)
    ctx.library.refresh([leaf.item.id for leaf in root.leaves()])
    ctx.tell(
        IndexSuccess(item_id=stored.root_id, title=label(root, stored.root_id), sentence="Metadata stored")
    )
    return Done(stored.root_id)


def _doubt(root: Node, metadata: Metadata) -> str | None:
    """Return why an answer is not believed: a show's episodes do not go all at once, but a service at fault lists none."""
    known = sum(len(season.children) for season in root.children)
    if known and not any(season.episodes for season in metadata.seasons):
        return f"the answer lists no episodes, although {known} are known"
    return None


def _indexed(root_id: int, metadata: Metadata, stored: items.Stored) -> Decision:
    episodes = sum(len(season.episodes) for season in metadata.seasons)
    what = (
        f"{len(metadata.seasons)} seasons, {episodes} episodes"
        if metadata.seasons
        else f"year {metadata.year}"
    )
    new = f"; {len(stored.added_episodes)} episodes are new" if stored.added_episodes else ""
    return Decision(root_id, "index", "indexed", f"Found “{metadata.title}”: {what}{new}.")


def _nothing(ctx: FlowContext, data: ItemJob, silence: Silence) -> Outcome:
    """Nobody gave metadata: because nobody could be asked, or because nobody knows the title."""
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        item = ctx.tree(tx, data.root_id).item
        facts, outcome, sentence = _without_metadata(item, now, silence)
        ctx.commit(tx, item.id, {item.id: facts}, [Decision(item.id, "index", outcome, sentence)])
    if outcome != "waiting":
        ctx.tell(IndexFailed(item_id=item.id, title=data.title, sentence=sentence))
    return Done(None)


def _without_metadata(item: Item, now: datetime, silence: Silence) -> tuple[Changes, str, str]:
    if not silence.asked:
        reason = f"no metadata service for a {item.type.value} is set up or usable"
        return index_failed(item, now, reason), "no_service", f"Not looked up: {reason}."
    reason = "; ".join(silence.troubles)
    if silence.until is not None:
        return index_delayed(silence.until, reason), "waiting", f"Looked up later: {reason}."
    if silence.troubles:
        return index_failed(item, now, reason), "error", f"The metadata could not be asked for: {reason}."
    reason = "no metadata service knows this id"
    if item.facts.indexed_at is not None:
        return (
            index_found(now),
            "not_found",
            f"Looked up again: {reason} at the moment; what is known is kept.",
        )
    facts = index_missed(item, now, reason)
    return facts, "failed" if facts.get("failed_at") else "not_found", f"Looked up: {reason}."


def on_failed(ctx: FlowContext, data: ItemJob, error: str) -> None:
    """Write down a job that ended without an outcome: the next attempt comes later each time."""
    try:
        with ctx.db.write(data.root_id) as tx:
            item = ctx.tree(tx, data.root_id).item
            facts = index_failed(item, ctx.clock.now(), error)
            decision = Decision(item.id, "index", "error", f"Looking it up failed: {error}")
            ctx.commit(tx, item.id, {item.id: facts}, [decision])
    except Cancelled:
        return
    ctx.tell(IndexFailed(item_id=data.root_id, title=data.title, sentence=error))
