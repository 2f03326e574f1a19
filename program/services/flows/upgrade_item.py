"""Step `upgrade` of `process-media-item`: a better copy in the place of the one that is there, or a further copy beside it.

One search per copy that is open, then the candidates that would be a gain, best first. Whatever goes wrong, the file that
is there stays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from program.db import entries, replacements, streams, torrents
from program.db.decisions import Decision
from program.db.engine import Tx
from program.db.lookup import shared_names
from program.events import LibraryScanRequested
from program.media.entry import Entry
from program.media.item import Item, Node
from program.media.naming import split_extension, without_part
from program.media.outcomes import SUCCESS
from program.media.release import Candidate, JsonValue, JudgedRelease
from program.media.wanted import wanted_for
from program.queues import Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import copies, names, tidy_account
from program.services.flows.complete import scan_question
from program.services.flows.context import FlowContext, ItemJob, Overrides, item_of
from program.services.flows.copies import USUAL
from program.services.flows.download_item import entry_for, tried
from program.services.flows.find_valid_torrent import Catch, Hunt, NoCatch
from program.services.flows.scrape_item import Search, SearchAnswer
from program.services.flows.shown import shown_at
from program.services.matching.parse import parse
from program.services.matching.rank import order, score_of
from program.services.matching.upgrade import is_better

UPGRADE = "upgrade"
# A background search does not go through a whole list.
MOST_TRIED = 10


@dataclass(frozen=True, slots=True)
class CopyJob(ItemJob):
    """Data of the step. profile: the copy at hand; left: those after it; phase: `search`, `searched` or `hunted`.

    better: the candidates of the hunt, best first.
    """

    profile: str = USUAL
    left: tuple[str, ...] = ()
    phase: str = "search"
    better: tuple[Candidate, ...] = ()


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Search for the copy at hand, hunt for what would be a gain, take it."""
    data = job.data_as(ItemJob)
    if not isinstance(data, CopyJob):
        return _begin(ctx, data)
    match data.phase:
        case "search":
            return _search(ctx, data)
        case "searched":
            return _searched(ctx, data, job)
        case _:
            return _hunted(ctx, data, job)


def _begin(ctx: FlowContext, data: ItemJob) -> Outcome:
    """Go through the copies that are open, one after the other."""
    with ctx.db.read() as tx:
        item = item_of(ctx.tree(tx, data.root_id), data.item_id)
        chosen = copies.rankings(ctx.settings(), tx, data.root_id)
        wanted = copies.to_look_for(chosen, entries.for_items(tx, [item.id]))
    if not wanted:
        return _end(ctx, data)
    return Next(
        CopyJob(data.root_id, data.item_id, data.title, data.revisions, profile=wanted[0], left=wanted[1:])
    )


def _search(ctx: FlowContext, data: CopyJob) -> Outcome:
    with ctx.db.read() as tx:
        root = ctx.tree(tx, data.root_id)
        others = shared_names(tx, root.item)
        ranking = copies.rankings(ctx.settings(), tx, data.root_id).of(data.profile).plain()
    wanted = wanted_for(root, data.item_id, missing=frozenset({data.item_id}), other_titles=others)
    search = Search(wanted, data.title, overrides=Overrides(ranking=ranking))
    spec = JobSpec(queue=names.PARSE_SCRAPE_RESULTS, name=data.title, data=search)
    return WaitFor((spec,), data=replace(data, phase="searched"))


def _searched(ctx: FlowContext, data: CopyJob, job: Job) -> Outcome:
    answer = next((value for _, _, value in job.children.values() if isinstance(value, SearchAnswer)), None)
    if answer is None or not answer.answered:
        return _next(ctx, data, "error", "No search service answered; the copy that is there stays.")
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        if data.profile == USUAL:
            streams.store(tx, data.item_id, answer.judged, ctx.clock.now())
        better = _gains(ctx, tx, data, answer.judged)
    if not better:
        return _next(ctx, data, "nothing_better", f"{len(answer.judged)} releases, none of them a gain.")
    return _hunt(data, better)


def _hunt(data: CopyJob, better: tuple[Candidate, ...]) -> Outcome:
    hunt = Hunt(_plain(data), phase="try", candidates=better, again=frozenset({data.item_id}))
    spec = JobSpec(queue=names.FIND_VALID_TORRENT, name=data.title, data=hunt)
    return WaitFor((spec,), data=replace(data, phase="hunted", better=better))


def _gains(ctx: FlowContext, tx: Tx, data: CopyJob, judged: Iterable[JudgedRelease]) -> tuple[Candidate, ...]:
    """Return the accepted releases that would be a gain for the copy at hand, best first."""
    now, ranking = ctx.clock.now(), copies.rankings(ctx.settings(), tx, data.root_id).of(data.profile)
    files = entries.for_items(tx, [data.item_id])
    out = {file.infohash for file in files} | streams.never(tx, data.item_id)
    file, blocks = copies.held(files, data.profile), streams.blocks(tx, data.item_id, now)
    present = None if file is None else _release_of(tx, data, file, ctx)
    taken = [
        Candidate(
            id=0,
            item_id=data.item_id,
            release=replace(release, parsed={}, score={}),
            found_at=now,
            blocks=blocks.get(release.infohash, ()),
        )
        for release in judged
        if release.rejection is None
        and release.infohash not in out
        and (
            present is None or _is_gain(release, present, ranking.upgrade_until, ranking.upgrade_minimum_gain)
        )
    ]
    return tuple(order(taken, ranking.plain())[:MOST_TRIED])


def _is_gain(release: JudgedRelease, present: JudgedRelease, until: str | None, gain: int) -> bool:
    return until is not None and is_better(release, present, until=until, gain=gain)


def _release_of(tx: Tx, data: CopyJob, file: Entry, ctx: FlowContext) -> JudgedRelease:
    """Return the release that a file came with; read anew from the file's name when no search knows it."""
    known = streams.of_title(tx, data.root_id, file.infohash)
    if known is not None:
        return known
    parsed = parse(file.original_name)
    ranking = copies.rankings(ctx.settings(), tx, data.root_id).of(data.profile).plain()
    score = score_of(parsed, ranking)
    return JudgedRelease(
        infohash=file.infohash,
        raw_title=file.original_name,
        sources=(),
        size=file.size,
        seeders=None,
        cached_at=(),
        parsed=parsed.as_json(),
        rejection=None,
        rank=sum(score.values()),
        score=score,
        resolution=file.version,
        similarity=1.0,
    )


def _hunted(ctx: FlowContext, data: CopyJob, job: Job) -> Outcome:
    answer = next(
        (value for _, _, value in job.children.values() if isinstance(value, (Catch, NoCatch))), None
    )
    if not isinstance(answer, Catch):
        attempts = answer.attempts if answer else ()
        return _next(ctx, data, "nothing_better", "What is better cannot be had.", tried(attempts))
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        root = ctx.tree(tx, data.root_id)
        shown, hidden = _take(ctx, tx, root, data, answer)
    ctx.in_hand.drop(answer.torrent.provider, answer.torrent.infohash, data.item_id)
    if shown is None:
        ctx.engine.add(tidy_account.job())
        hashes = [one.release.infohash for one in data.better]
        tried_last = (
            hashes.index(answer.torrent.infohash) if answer.torrent.infohash in hashes else len(hashes)
        )
        if rest := data.better[tried_last + 1 :]:
            return _hunt(data, rest)
        return _next(ctx, data, "nothing_better", "The better copy does not hold what the file has.")
    ctx.library.apply((shown,), hidden)
    ctx.engine.add(tidy_account.job())
    for server in ctx.registry.hooks_for(LibraryScanRequested.type):
        ctx.engine.add(scan_question(ctx, root, item_of(root, data.item_id), shown, server))
    return _next(ctx, data)


def _take(
    ctx: FlowContext, tx: Tx, root: Node, data: CopyJob, catch: Catch
) -> tuple[Entry | None, tuple[int, ...]]:
    """Put the file in its place; return it, and the entries that go out of the tree for it.

    A file of two episodes is replaced by one that holds both.
    """
    old = copies.file_of(entries.for_items(tx, [data.item_id]), data.profile)
    held = (data.item_id,) if old is None else tuple(old.item_ids)
    match = next((one for one in catch.matches if {*held} <= {*one.item_ids}), None)
    if match is None:
        return None, ()
    templates = ctx.settings().vfs.naming.templates()
    made = entry_for(root, replace(match, item_ids=held), catch, templates)
    new = replace(made, ranking_profile=data.profile)
    if old is not None:
        new = replace(new, path=_same_place(old.path, new.path))
    done = replacements.replace(tx, new, ctx.clock.now(), ctx.library.is_open)
    torrents.keep(tx, catch.torrent.provider, catch.torrent.infohash)
    if data.profile == USUAL:
        for item_id in held:
            streams.set_active(tx, item_id, catch.torrent.infohash)
    path = shown_at(ctx, tx, done.entry_id, new.path)
    ctx.commit(
        tx,
        data.root_id,
        {data.item_id: SUCCESS},
        [_taken(item_id, data.profile, old, path, catch) for item_id in held],
    )
    return entries.get(tx, done.entry_id), done.hidden


def _same_place(old: str, new: str) -> str:
    """Return the old path, with the new file's extension, and with or without the number of a part as the new one has it."""
    before, after = split_extension(old)[0], split_extension(new)[0]
    tail = new[len(without_part(after)) :]
    return without_part(before) + tail


def _taken(item_id: int, profile: str, old: Entry | None, path: str, catch: Catch) -> Decision:
    what = f"“{catch.torrent.name}” from {catch.torrent.provider}"
    if old is None:
        sentence = f"A further copy ({profile}): {what}, in the library as {path}."
    else:
        sentence = f"A better copy: {what} in the place of {old.original_name}, at the same path."
    facts = {"infohash": catch.torrent.infohash, "profile": profile}
    return Decision(item_id, UPGRADE, "taken", sentence, data=dict(facts), provider=catch.torrent.provider)


def _next(
    ctx: FlowContext, data: CopyJob, outcome: str = "", sentence: str = "", attempts: Sequence[JsonValue] = ()
) -> Outcome:
    """Go on with the next copy, or end with the date of the next look."""
    if data.left:
        return Next(replace(data, profile=data.left[0], left=data.left[1:], phase="search"))
    return _end(ctx, data, outcome, sentence, attempts)


def _end(
    ctx: FlowContext, data: ItemJob, outcome: str = "", sentence: str = "", attempts: Sequence[JsonValue] = ()
) -> Outcome:
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        item = item_of(ctx.tree(tx, data.root_id), data.item_id)
        chosen = copies.rankings(ctx.settings(), tx, data.root_id)
        at = copies.next_look(
            chosen, entries.for_items(tx, [item.id]), _since(item, ctx), now, is_first=False
        )
        facts: dict[str, JsonValue] = {"tried": [*attempts]} if attempts else {}
        story = [Decision(item.id, UPGRADE, outcome, sentence, data=facts, next_at=at)] if outcome else []
        ctx.commit(tx, data.root_id, {item.id: {**SUCCESS, "upgrade_at": at}}, story)
    return Done(None)


def _since(item: Item, ctx: FlowContext) -> datetime:
    return item.facts.registered_at or ctx.clock.now()


def _plain(data: CopyJob) -> ItemJob:
    return ItemJob(data.root_id, data.item_id, data.title, data.revisions)
