"""Queue `second-sources`: asks the other providers whether they hold the torrents of the library as well.

Then one of them stands in when another fails, in the middle of a film. It is done in the background, a few torrents at a time, each
once per provider; a provider that can be asked without adding is asked about many at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from program.db import entries, items, sources
from program.db.decisions import Decision
from program.events import CacheCheckRequested
from program.queues import Done, Job, JobSpec, Next, Outcome, Priority, WaitFor
from program.services.flows import names, source_questions
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import ask
from program.services.flows.source_questions import Taken
from program.services.plugin import DownloadRefused

STEP = "second_source"
# So many torrents are asked for in one run where asking means adding, and so many at once where it does not.
ADDED_PER_RUN, CHECKED_PER_RUN = 3, 100
# Who holds the torrents that are looked through here; items and entries have positive ids.
HOLDER = -1


@dataclass(frozen=True, slots=True)
class SecondSources:
    """Data of the job. left: the torrents to ask for, None: not chosen yet. asked: the one that is asked for now."""

    provider: str
    left: tuple[str, ...] | None = None
    is_checked: bool = False
    asked: str | None = None


def begin(ctx: FlowContext) -> None:
    """Have each provider asked for what it was not asked for yet, unless a person does not want it.

    One that is alone is asked as well: it may have taken the place of another, whose torrents are all that the library has.
    """
    if not ctx.settings().downloaders.second_sources:
        return
    for provider in ctx.providers():
        spec = JobSpec(
            queue=names.SECOND_SOURCES,
            name=provider,
            data=SecondSources(provider),
            dedup_id=names.second_sources_id(provider),
            priority=Priority.BACKGROUND,
        )
        ctx.engine.add(spec)


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Choose torrents, and ask for one after the other."""
    data = job.data_as(SecondSources)
    if data.left is None:
        return _begin(ctx, data)
    if not data.is_checked:
        return _checked(ctx, data, data.left, job)
    if data.asked is not None:
        return _answered(ctx, data, data.asked, job)
    if not data.left:
        return Done(None)
    infohash, *left = data.left
    question = source_questions.torrent(ctx, data.provider, infohash, HOLDER)
    following = replace(data, left=tuple(left), asked=infohash)
    return WaitFor((question,), data=following) if question else Next(replace(following, asked=None))


def _begin(ctx: FlowContext, data: SecondSources) -> Outcome:
    """Choose what to ask for; where the provider can be asked without adding, that comes first."""
    can_check = data.provider in ctx.registry.hooks_for(CacheCheckRequested.type)
    limit = CHECKED_PER_RUN if can_check else ADDED_PER_RUN
    with ctx.db.read() as tx:
        left = sources.not_offered(tx, data.provider, ctx.clock.now(), limit)
    chosen = replace(data, left=left, is_checked=not can_check)
    if not left or not can_check:
        return Next(chosen) if left else Done(None)
    question = ask(data.provider, CacheCheckRequested(left), data.provider, attempts=1)
    return WaitFor((question,), data=chosen)


def _checked(ctx: FlowContext, data: SecondSources, left: tuple[str, ...], job: Job) -> Outcome:
    """Go on with those that the provider holds; without an answer they are asked for another time."""
    held = next((value for _, _, value in job.children.values() if isinstance(value, Mapping)), None)
    if held is None:
        return Done(None)
    with ctx.db.write() as tx:
        for infohash in left:
            if infohash not in held:
                sources.offered(tx, data.provider, infohash, "not_cached", ctx.clock.now())
    return Next(replace(data, left=tuple(one for one in left if one in held), is_checked=True))


def _answered(ctx: FlowContext, data: SecondSources, infohash: str, job: Job) -> Outcome:
    """Write down what the provider said; one that did not answer is left alone until the next run."""
    found = source_questions.answer(ctx, data.provider, infohash, HOLDER, job)
    if not isinstance(found, Taken | DownloadRefused):
        return Done(None)
    with ctx.db.write() as tx:
        said = found.code if isinstance(found, DownloadRefused) else "held"
        sources.offered(tx, data.provider, infohash, said, ctx.clock.now())
    if isinstance(found, Taken):
        _tell(ctx, found)
    return Next(replace(data, asked=None))


def _tell(ctx: FlowContext, taken: Taken) -> None:
    """Write into the stories of the titles that they can be read from one more provider."""
    sentence = f"{taken.torrent.provider} holds the same torrent and stands in when it is needed."
    with ctx.db.read() as tx:
        item_ids = entries.items_of(tx, taken.entry_ids)
        roots = items.root_of(tx, item_ids)
    for root_id in sorted(set(roots.values())):
        decisions = [
            Decision(item_id, STEP, "held", sentence, provider=taken.torrent.provider)
            for item_id in sorted(item_ids)
            if roots.get(item_id) == root_id
        ]
        with ctx.db.write(root_id) as tx:
            ctx.commit(tx, root_id, {}, decisions)
