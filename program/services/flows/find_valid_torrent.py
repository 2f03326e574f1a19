"""Queues `download-item.find-valid-torrent` and `download-item.rank-streams`: the first candidate that a provider holds
and that fits.

Candidates are tried best first, each at every provider. Before a provider is asked to add a torrent, the intent is
written down, so that a crash
leaves nothing unowned on the account. What a provider refuses is blocked for that provider alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from program.db import entries, streams, torrents
from program.errors import Misconfigured
from program.events import DownloadRequested, TorrentRemoveRequested
from program.media.entry import FetchedTorrent, FileMatch
from program.media.release import Block, Candidate
from program.media.wanted import wanted_for
from program.queues import ChildPolicy, Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import names
from program.services.flows.context import FlowContext, ItemJob, missing_leaves
from program.services.flows.plugin_hook import Paused, said_by
from program.services.flows.torrent_files import Checked
from program.services.matching.rank import order
from program.services.matching.sandbox import MapTask, ValidateTask
from program.services.plugin import DownloadRefused

# How long a provider's "I do not hold it" is believed.
NOT_CACHED = timedelta(hours=24)
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
    """Data of `find-valid-torrent`. phase: `rank`, `ranked`, `try`, `asked`, `checked`, `removed`. candidates None: not
    ranked yet.

    turn: place of the provider asked now in the list of providers. paused: providers that asked to wait. unusable: those of
    which a person has to change a setting.
    """

    job: ItemJob
    phase: str = "rank"
    candidates: tuple[Candidate, ...] = ()
    turn: int = 0
    torrent: FetchedTorrent | None = None
    attempts: tuple[Attempt, ...] = ()
    paused: tuple[tuple[str, Paused], ...] = ()
    unusable: tuple[str, ...] = ()

    @property
    def silent(self) -> frozenset[str]:
        """Return the providers that need not be asked about further candidates."""
        return frozenset((*(key for key, _ in self.paused), *self.unusable))

    def then(self, attempt: Attempt | None = None) -> "Hunt":
        """Return the hunt at the next provider."""
        more = (*self.attempts, attempt) if attempt else self.attempts
        return replace(self, phase="try", turn=self.turn + 1, torrent=None, attempts=more)


def rank(ctx: FlowContext, job: Job) -> Outcome:
    """Return the usable candidates of an item, best first."""
    data = job.data_as(ItemJob)
    with ctx.db.read() as tx:
        usable = streams.candidates(tx, data.item_id, ctx.clock.now(), ctx.providers(), usable_only=True)
    return Done(tuple(order(usable, ctx.settings().ranking.plain())))


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
        case "asked":
            return _answered(ctx, hunt, job)
        case "checked":
            return _checked(ctx, hunt, job)
        case "removed":
            return _removed(ctx, hunt, job)
        case _:
            return _try(ctx, hunt)


def _try(ctx: FlowContext, hunt: Hunt) -> Outcome:
    providers = ctx.providers()
    if not hunt.candidates:
        return Done(_empty_handed(hunt))
    if hunt.turn >= len(providers):
        return Next(replace(hunt, candidates=hunt.candidates[1:], turn=0))
    candidate, provider = hunt.candidates[0], providers[hunt.turn]
    if provider in hunt.silent or any(block.provider == provider for block in candidate.blocks):
        return Next(hunt.then())
    infohash, now = candidate.release.infohash, ctx.clock.now()
    with ctx.db.write(hunt.job.root_id) as tx:
        ctx.check_intent(tx, hunt.job)
        refusal = streams.refusal(tx, provider, infohash, ABOUT_THE_TORRENT, now)
        if refusal is not None:
            streams.block(tx, candidate.item_id, infohash, refusal, now)
            return Next(hunt.then(Attempt(candidate.release.raw_title, provider, refusal.sentence)))
        intended_at = torrents.unanswered(tx, provider, infohash)
        known = torrents.intend(tx, provider, infohash, hunt.job.item_id, now)
    return WaitFor(
        (_ask(hunt, provider, DownloadRequested(infohash, known, intended_at)),),
        data=replace(hunt, phase="asked"),
    )


def _ask(hunt: Hunt, provider: str, event: DownloadRequested | TorrentRemoveRequested) -> JobSpec:
    return JobSpec(
        queue=names.plugin_queue(event.type, provider),
        name=hunt.job.title,
        data=event,
        policy=ChildPolicy.IGNORE,
    )


def _empty_handed(hunt: Hunt) -> NoCatch:
    if not hunt.paused:
        return NoCatch(hunt.attempts)
    key, soonest = min(hunt.paused, key=lambda pair: pair[1].until)
    return NoCatch(hunt.attempts, soonest.until, said_by(key, soonest.reason))


def _answered(ctx: FlowContext, hunt: Hunt, job: Job) -> Outcome:
    provider = ctx.providers()[hunt.turn]
    value = next((value for _, _, value in job.children.values()), None)
    if isinstance(value, FetchedTorrent):
        return _check(ctx, hunt, value)
    if isinstance(value, Paused):
        return Next(replace(hunt.then(), paused=(*hunt.paused, (provider, value))))
    error = next((error for _, _, error in job.children.failures()), None)
    return _refused(ctx, hunt, provider, error)


def _refused(ctx: FlowContext, hunt: Hunt, provider: str, error: object) -> Outcome:
    candidate = hunt.candidates[0]
    infohash, now = candidate.release.infohash, ctx.clock.now()
    with ctx.db.write(hunt.job.root_id) as tx:
        if isinstance(error, DownloadRefused):
            until = error.retry_at or (now + NOT_CACHED if error.code == "not_cached" else None)
            block = Block(provider=provider, code=error.code, sentence=error.reason, until=until)
            streams.block(tx, candidate.item_id, infohash, block, now)
        if isinstance(error, DownloadRefused) and error.torrent_id is None:
            torrents.forget(tx, provider, infohash)
    sentence = str(error) if error else "no answer"
    tried = hunt.then(Attempt(candidate.release.raw_title, provider, sentence))
    if isinstance(error, Misconfigured):
        tried = replace(tried, unusable=(*tried.unusable, provider))
    return Next(tried)


def _check(ctx: FlowContext, hunt: Hunt, torrent: FetchedTorrent) -> Outcome:
    """Have the files mapped and the result judged."""
    job, now = hunt.job, ctx.clock.now()
    with ctx.db.write(job.root_id) as tx:
        torrents.record(
            tx, torrent.provider, torrent.infohash, torrent.torrent_id, now, is_foreign=torrent.is_foreign
        )
        root = ctx.tree(tx, job.root_id)
    missing = missing_leaves(root)
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
    if answer is not None and answer.verdict.is_useful:
        candidate = hunt.candidates[0]
        return Done(
            Catch(torrent, answer.matches, candidate.release.resolution, hunt.candidates[1:], hunt.attempts)
        )
    sentence = "its files could not be judged"
    if answer is not None and answer.verdict.rejection is not None:
        sentence = answer.verdict.rejection.sentence
    return _unsuitable(ctx, hunt, torrent, sentence)


def _unsuitable(ctx: FlowContext, hunt: Hunt, torrent: FetchedTorrent, sentence: str) -> Outcome:
    candidate, now = hunt.candidates[0], ctx.clock.now()
    block = Block(provider=torrent.provider, code="wrong_files", sentence=sentence)
    with ctx.db.write(hunt.job.root_id) as tx:
        streams.block(tx, candidate.item_id, torrent.infohash, block, now)
        is_ours = not torrent.is_foreign and not entries.uses_torrent(
            tx, torrent.provider, torrent.torrent_id
        )
        if torrent.is_foreign:
            torrents.forget(tx, torrent.provider, torrent.infohash)
    tried = replace(
        hunt, attempts=(*hunt.attempts, Attempt(candidate.release.raw_title, torrent.provider, sentence))
    )
    if not is_ours:
        return Next(tried.then())
    removal = _ask(hunt, torrent.provider, TorrentRemoveRequested(torrent.torrent_id))
    return WaitFor((removal,), data=replace(tried, phase="removed"))


def _removed(ctx: FlowContext, hunt: Hunt, job: Job) -> Outcome:
    """Forget the torrent once the provider has; otherwise it stays written down and is cleared up later."""
    torrent = hunt.torrent
    is_gone = any(not isinstance(value, Paused) for _, _, value in job.children.values())
    if torrent is not None and is_gone:
        with ctx.db.write(hunt.job.root_id) as tx:
            torrents.forget(tx, torrent.provider, torrent.infohash)
    return Next(hunt.then())
