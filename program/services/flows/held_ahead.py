"""What a provider says that it holds, asked once for all candidates of a hunt, so that none is added only to learn that."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from program.db import streams
from program.events import CacheCheckRequested
from program.media.release import Block, Candidate
from program.queues import JobSpec
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import ask

# How long a provider's "I do not hold it" is believed.
NOT_CACHED = timedelta(hours=24)
LACKS_IT = "does not hold it"


def question(
    ctx: FlowContext, provider: str, candidates: tuple[Candidate, ...], title: str
) -> JobSpec | None:
    """Return the job that asks a provider which candidates it holds, None for one that cannot say."""
    if provider not in ctx.registry.hooks_for(CacheCheckRequested.type):
        return None
    hashes = dict.fromkeys(one.release.infohash for one in candidates if not _is_blocked(one, provider))
    return ask(provider, CacheCheckRequested(tuple(hashes)), title, attempts=1)


def marked(
    ctx: FlowContext,
    root_id: int,
    provider: str,
    candidates: tuple[Candidate, ...],
    held: Mapping[object, object],
) -> tuple[Candidate, ...]:
    """Block, for this provider and a while, the candidates that it does not hold; return all of them with their blocks."""
    now = ctx.clock.now()
    block = Block(provider=provider, code="not_cached", sentence=LACKS_IT, until=now + NOT_CACHED)
    lacking = {
        place
        for place, one in enumerate(candidates)
        if one.release.infohash not in held and not _is_blocked(one, provider)
    }
    with ctx.db.write(root_id) as tx:
        for place in lacking:
            streams.block(tx, candidates[place].item_id, candidates[place].release.infohash, block, now)
    return tuple(
        replace(one, blocks=(*one.blocks, block)) if place in lacking else one
        for place, one in enumerate(candidates)
    )


def _is_blocked(candidate: Candidate, provider: str) -> bool:
    return any(block.provider == provider for block in candidate.blocks)
