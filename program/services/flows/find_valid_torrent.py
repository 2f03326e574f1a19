"""Queues `download-item.find-valid-torrent` and `download-item.rank-streams`: the first candidate that a provider holds
and that fits.

Candidates are tried best first, each at every provider. Before a provider is asked to add a torrent, the intent is written down, so
that a crash leaves nothing unowned on the account. What a provider refuses is blocked for that provider alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from program.db import entries, streams, torrents
from program.errors import Misconfigured
from program.events import DownloadRequested, TorrentRemoveRequested
from program.media.entry import FetchedTorrent, FileMatch
from program.media.release import Block, Candidate
from program.media.wanted import wanted_for
from program.queues import ChildPolicy, Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import copies, held_ahead, names
from program.services.flows.context import FlowContext, ItemJob, missing_leaves
from program.services.flows.plugin_hook import Paused, ask, said_by
from program.services.flows.torrent_files import Checked
from program.services.matching.rank import order
from program.services.matching.sandbox import MapTask, ValidateTask
from program.services.plugin import DownloadRefused

# Refusals that hold for every item the torrent was found for; the files of a torrent may be wrong for one and right for another.
ABOUT_THE_TORRENT = ("not_cached", "infringing", "dead", "no_video")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One candidate at one provider, and why it was not taken."""

    release: str
    provider: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Catch:
    """A torrent with the files that are wanted from it. rest: the candidates not tried yet."""

    torrent: FetchedTorrent
    matches: tuple[FileMatch, ...]
    resolution: str
    rest: tuple[Candidate, ...]
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class NoCatch:
    """No candidate could be had. until: a provider asked to wait until then."""

    attempts: tuple[Attempt, ...]
    until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Hunt:
    """Data of `find-valid-torrent`.

    phase: `rank`, `ranked`, `try`, `held`, `asked`, `checked`, `removed`. candidates: the best first; the first is the one at hand.
    provider: who is asked for it now; tried: who was asked before. paused: providers that asked to wait. unusable: those of which a
    person has to change a setting. is_rest: some of the wanted files were had before; this is for the others. again: leaves
    that have a file and are to get another one. asked_ahead: who was asked for all candidates at once which of them it holds.
    """

    job: ItemJob
    phase: str = "rank"
    candidates: tuple[Candidate, ...] = ()
    provider: str = ""
    tried: tuple[str, ...] = ()
    torrent: FetchedTorrent | None = None
    attempts: tuple[Attempt, ...] = ()
    paused: tuple[tuple[str, Paused], ...] = ()
    unusable: tuple[str, ...] = ()
    is_rest: bool = False
    again: frozenset[int] = frozenset()
    asked_ahead: tuple[str, ...] = ()

    @property
    def silent(self) -> frozenset[str]:
        """Return the providers that need not be asked about further candidates."""
        return frozenset((*(key for key, _ in self.paused), *self.unusable))

    def next_provider(self, providers: tuple[str, ...]) -> str | None:
        """Return who is to be asked for the candidate at hand, None when nobody is left."""
        out = {*self.tried, *self.silent, *(block.provider for block in self.candidates[0].blocks)}
        return next((key for key in providers if key not in out), None)

    def then(self, sentence: str | None = None) -> "Hunt":
        """Return the hunt at the next provider; sentence: why this one was not taken."""
        more = self.attempts
        if sentence is not None:
            more = (*more, Attempt(self.candidates[0].release.raw_title, self.provider, sentence))
        return replace(
            self, phase="try", tried=(*self.tried, self.provider), provider="", torrent=None, attempts=more
        )

    def with_next_candidate(self) -> "Hunt":
        """Return the hunt at the next candidate, with those who said ahead that they do not hold this one."""
        at_hand = self.candidates[0]
        said_no = tuple(
            Attempt(at_hand.release.raw_title, block.provider, said_by(block.provider, block.sentence))
            for block in at_hand.blocks
            if block.code == "not_cached" and block.provider in self.asked_ahead
        )
        return replace(self, candidates=self.candidates[1:], tried=(), attempts=(*self.attempts, *said_no))


def rank(ctx: FlowContext, job: Job) -> Outcome:
    """Return the usable candidates of an item, best first."""
    data = job.data_as(ItemJob)
    with ctx.db.read() as tx:
        usable = streams.candidates(tx, data.item_id, ctx.clock.now(), ctx.providers(), usable_only=True)
        ranking = copies.rankings(ctx.settings(), tx, data.root_id).usual.plain()
    return Done(tuple(map(_lean, order(usable, ranking))))


def _lean(candidate: Candidate) -> Candidate:
    """Return a candidate without what only its ranking needed: jobs are kept for the lists long after they ended."""
    return replace(candidate, release=replace(candidate.release, parsed={}, score={}))


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Go on with the hunt at the phase it stands at."""
    hunt = job.data_as(Hunt)
    match hunt.phase:
        case "rank":
            spec = JobSpec(queue=names.RANK_STREAMS, name=hunt.job.title, data=hunt.job)
            return WaitFor((spec,), data=replace(hunt, phase="ranked"))
        case "ranked":
            ranked = next((value for _, _, value in job.children.values() if isinstance(value, tuple)), ())
            return Next(replace(hunt, phase="try", candidates=ranked))
        case "held":
            return _held(ctx, hunt, job)
        case "asked":
            return _answered(ctx, hunt, job)
        case "checked":
            return _checked(ctx, hunt, job)
        case _:
            # Also after a removal: what could not be deleted now stays written down and is cleared up later.
            return _try(ctx, hunt)


def _try(ctx: FlowContext, hunt: Hunt) -> Outcome:
    if not hunt.candidates:
        return Done(_empty_handed(hunt))
    provider = hunt.next_provider(ctx.providers())
    if provider is None:
        return Next(hunt.with_next_candidate())
    question = None
    if provider not in hunt.asked_ahead:
        question = held_ahead.question(ctx, provider, hunt.candidates, hunt.job.title)
        hunt = replace(hunt, asked_ahead=(*hunt.asked_ahead, provider))
    hunt = replace(hunt, provider=provider)
    return WaitFor((question,), data=replace(hunt, phase="held")) if question else _ask(ctx, hunt, provider)


def _held(ctx: FlowContext, hunt: Hunt, job: Job) -> Outcome:
    """Leave out what the provider does not hold; where it did not say, each is asked for by itself."""
    held = next((value for _, _, value in job.children.values() if isinstance(value, Mapping)), None)
    if held is not None:
        candidates = held_ahead.marked(ctx, hunt.job.root_id, hunt.provider, hunt.candidates, held)
        hunt = replace(hunt, candidates=candidates)
    return Next(replace(hunt, phase="try", provider=""))


def _ask(ctx: FlowContext, hunt: Hunt, provider: str) -> Outcome:
    """Have the candidate at hand put on the account."""
    candidate, item_id, now = hunt.candidates[0], hunt.job.item_id, ctx.clock.now()
    infohash = candidate.release.infohash
    with ctx.db.write(hunt.job.root_id) as tx:
        ctx.check_intent(tx, hunt.job)
        refusal = streams.refusal(tx, provider, infohash, ABOUT_THE_TORRENT, now)
        if refusal is not None:
            streams.block(tx, candidate.item_id, infohash, refusal, now)
            return Next(hunt.then(refusal.sentence))
        intended_at = torrents.unanswered(tx, provider, infohash)
        known = torrents.intend(tx, provider, infohash, item_id, now)
    ctx.in_hand.take(provider, infohash, item_id)
    return WaitFor(
        (ask(provider, DownloadRequested(infohash, known, intended_at), hunt.job.title),),
        data=replace(hunt, phase="asked"),
    )


def _empty_handed(hunt: Hunt) -> NoCatch:
    if not hunt.paused:
        return NoCatch(hunt.attempts)
    key, soonest = min(hunt.paused, key=lambda pair: pair[1].until)
    return NoCatch(hunt.attempts, soonest.until, said_by(key, soonest.reason))


def _answered(ctx: FlowContext, hunt: Hunt, job: Job) -> Outcome:
    value = next((value for _, _, value in job.children.values()), None)
    if isinstance(value, FetchedTorrent):
        return _check(ctx, hunt, value)
    ctx.in_hand.drop(hunt.provider, hunt.candidates[0].release.infohash, hunt.job.item_id)
    if isinstance(value, Paused):
        return Next(replace(hunt.then(), paused=(*hunt.paused, (hunt.provider, value))))
    error = next((error for _, _, error in job.children.failures()), None)
    return _refused(ctx, hunt, error)


def _refused(ctx: FlowContext, hunt: Hunt, error: object) -> Outcome:
    candidate, now = hunt.candidates[0], ctx.clock.now()
    infohash = candidate.release.infohash
    if isinstance(error, DownloadRefused):
        with ctx.db.write(hunt.job.root_id) as tx:
            # A torrent that vanished while it was looked at says nothing about the next attempt.
            if error.code != "gone":
                until = error.retry_at or (
                    now + held_ahead.NOT_CACHED if error.code == "not_cached" else None
                )
                block = Block(provider=hunt.provider, code=error.code, sentence=error.reason, until=until)
                streams.block(tx, candidate.item_id, infohash, block, now)
            if error.torrent_id is None:
                torrents.forget(tx, hunt.provider, infohash)
    tried = hunt.then(str(error) if error else "no answer")
    if isinstance(error, Misconfigured):
        tried = replace(tried, unusable=(*tried.unusable, hunt.provider))
    return Next(tried)


def _check(ctx: FlowContext, hunt: Hunt, torrent: FetchedTorrent) -> Outcome:
    """Have the files mapped and the result judged."""
    job, now = hunt.job, ctx.clock.now()
    with ctx.db.write(job.root_id) as tx:
        # Written down anew: another title's refusal may have struck it out meanwhile.
        torrents.intend(tx, torrent.provider, torrent.infohash, job.item_id, now)
        torrents.record(
            tx, torrent.provider, torrent.infohash, torrent.torrent_id, now, is_foreign=torrent.is_foreign
        )
        root = ctx.tree(tx, job.root_id)
    missing = missing_leaves(root) | hunt.again
    everything = wanted_for(root, job.item_id, missing=missing, with_siblings=True)
    mapping = JobSpec(
        queue=names.MAP_ITEMS_TO_FILES,
        name=job.title,
        data=MapTask(everything, torrent.name, torrent.files),
    )
    validation = JobSpec(
        queue=names.VALIDATE_TORRENT_FILES,
        name=job.title,
        data=ValidateTask(wanted_for(root, job.item_id, missing=missing), (), torrent.files),
        policy=ChildPolicy.IGNORE,
        children=(mapping,),
    )
    return WaitFor((validation,), data=replace(hunt, phase="checked", torrent=torrent))


def _checked(ctx: FlowContext, hunt: Hunt, job: Job) -> Outcome:
    torrent = hunt.torrent
    answer = next((value for _, _, value in job.children.values() if isinstance(value, Checked)), None)
    if torrent is None:
        return Next(hunt.then())
    if answer is None:
        # That is no verdict on the torrent: it stays where it is for the next attempt.
        ctx.in_hand.drop(torrent.provider, torrent.infohash, hunt.job.item_id)
        return Next(hunt.then("its files could not be judged"))
    if answer.verdict.is_useful:
        resolution = hunt.candidates[0].release.resolution
        return Done(Catch(torrent, answer.matches, resolution, hunt.candidates[1:], hunt.attempts))
    rejection = answer.verdict.rejection
    return _unsuitable(ctx, hunt, torrent, rejection.sentence if rejection else "none of its files fits")


def _unsuitable(ctx: FlowContext, hunt: Hunt, torrent: FetchedTorrent, sentence: str) -> Outcome:
    """Go on with the next candidate; a torrent that nobody else uses or is looking through is deleted."""
    provider, infohash, now = torrent.provider, torrent.infohash, ctx.clock.now()
    ctx.in_hand.drop(provider, infohash, hunt.job.item_id)
    with ctx.db.write(hunt.job.root_id) as tx:
        # Of a pack that adds nothing to what is there already it is not known whether it would do by itself.
        if not hunt.is_rest:
            block = Block(provider=provider, code="wrong_files", sentence=sentence)
            streams.block(tx, hunt.candidates[0].item_id, infohash, block, now)
        is_left = not torrent.is_foreign and not entries.uses_torrent(tx, provider, torrent.torrent_id)
        if torrent.is_foreign:
            torrents.forget(tx, provider, infohash)
        elif is_left:
            torrents.release(tx, provider, infohash)
    tried = hunt.then(sentence)
    if not is_left or ctx.in_hand.is_held(provider, infohash):
        return Next(tried)
    return WaitFor(
        (ask(provider, TorrentRemoveRequested(torrent.torrent_id, infohash), hunt.job.title),),
        data=replace(tried, phase="removed"),
    )
