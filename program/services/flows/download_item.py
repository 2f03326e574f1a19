"""Queue `download-item`: gets the wanted files of one row, from as many torrents as add something.

download-item ← find-valid-torrent, again and again while a pack still lacks episodes and a candidate adds one. Each
catch is committed at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from program.db import entries, streams, torrents
from program.db.decisions import Decision
from program.db.engine import Tx
from program.db.entries import NewEntry
from program.db.views import NewCompanion
from program.events import DownloadError, DownloadIncorrectState, DownloadPartialSuccess, DownloadSuccess
from program.media.entry import FileMatch
from program.media.item import Item, Node
from program.media.naming import NameFacts, edition_of, part_tail, render, split_extension, tag_of
from program.media.outcomes import SUCCESS, Changes, job_delayed, job_failed
from program.media.release import JsonValue
from program.media.templates import Templates
from program.queues import Done, Job, JobSpec, Outcome, WaitFor
from program.services.flows import names, tidy_account
from program.services.flows.context import (
    FlowContext,
    ItemJob,
    check_answered,
    item_of,
    missing_leaves,
)
from program.services.flows.find_valid_torrent import Attempt, Catch, Hunt, NoCatch
from program.services.flows.torrent_files import useful

# A timeline row keeps at most this many attempts.
SHOWN = 20
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Download:
    """Data of `download-item` after its first hunt. gained: files committed so far."""

    job: ItemJob
    gained: int = 0


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Hunt, commit what was caught, and hunt on while it helps."""
    data = job.data if isinstance(job.data, Download) else Download(job.data_as(ItemJob))
    called_off = DownloadIncorrectState(item_id=data.job.item_id, title=data.job.title)
    with ctx.telling_when_called_off(called_off):
        return _go_on(ctx, data, job)


def _go_on(ctx: FlowContext, data: Download, job: Job) -> Outcome:
    answer = next(
        (value for _, _, value in job.children.values() if isinstance(value, (Catch, NoCatch))), None
    )
    if answer is None:
        check_answered(job)
        return _hunt(Hunt(data.job), data)
    if isinstance(answer, NoCatch):
        return _nothing(ctx, data, answer)
    return _take(ctx, data, answer, began=job.created_at)


def _take(ctx: FlowContext, data: Download, answer: Catch, *, began: datetime) -> Outcome:
    """Commit what was caught; go on while something is lacking and another candidate is left."""
    gained, left = _keep(ctx, data.job, answer, began=began)
    data = Download(data.job, data.gained + gained)
    if left and answer.rest:
        rest = Hunt(data.job, phase="try", candidates=answer.rest, is_rest=data.gained > 0)
        return _hunt(rest, data)
    if left:
        return _nothing(ctx, data, NoCatch(answer.attempts, reason="what was found is not needed any more"))
    return Done(data.gained)


def _hunt(hunt: Hunt, data: Download) -> Outcome:
    spec = JobSpec(queue=names.FIND_VALID_TORRENT, name=hunt.job.title, data=hunt)
    return WaitFor((spec,), data=data)


def _keep(ctx: FlowContext, data: ItemJob, catch: Catch, *, began: datetime) -> tuple[int, int]:
    """Store the caught files; return how many leaves they filled and how many the row still lacks."""
    torrent = catch.torrent
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        root = ctx.tree(tx, data.root_id)
        missing = missing_leaves(root)
        matches = useful(catch.matches, missing - streams.ruled_out(tx, missing, torrent.infohash))
        if matches:
            root = _store(ctx, tx, root, data, catch, matches)
    ctx.in_hand.drop(torrent.provider, torrent.infohash, data.item_id)
    left = _lacking(root, data.item_id)
    if not left:
        # What was begun for the title on the way and could not be finished or deleted is not needed any more.
        ctx.engine.add(tidy_account.job())
    if matches:
        _tell(ctx, data, catch, left=left, began=began)
    return sum(len(match.item_ids) for match in matches), left


def _store(
    ctx: FlowContext, tx: Tx, root: Node, data: ItemJob, catch: Catch, matches: tuple[FileMatch, ...]
) -> Node:
    now, torrent = ctx.clock.now(), catch.torrent
    for match in matches:
        entries.create(tx, entry_for(root, match, catch, ctx.settings().vfs.naming.templates()), now)
    torrents.keep(tx, torrent.provider, torrent.infohash)
    streams.set_active(tx, data.item_id, torrent.infohash)
    filled = [item_id for match in matches for item_id in match.item_ids]
    decisions = [_kept(item_id, match, catch) for match in matches for item_id in match.item_ids]
    if data.item_id not in filled:
        decisions.append(_kept_as_pack(root, data.item_id, filled, catch))
    return ctx.commit(tx, data.root_id, dict.fromkeys((data.item_id, *filled), SUCCESS), decisions)


def _lacking(root: Node, item_id: int) -> int:
    node = root.find(item_id)
    return len(missing_leaves(node)) if node else 0


def entry_for(root: Node, match: FileMatch, catch: Catch, templates: Templates) -> NewEntry:
    """Return the file of a catch as it is to stand in the library."""
    name = match.file.path.rpartition("/")[2]
    return NewEntry(
        infohash=catch.torrent.infohash,
        path_in_torrent=match.file.path,
        original_name=name,
        size=match.file.size,
        path=render(_name_facts(root, match, catch.resolution, name), templates),
        version=catch.resolution,
        item_ids=match.item_ids,
        provider=catch.torrent.provider,
        torrent_id=catch.torrent.torrent_id,
        file_id=match.file.file_id,
        link=match.file.link,
        companions=tuple(companions_of(match)),
    )


def companions_of(match: FileMatch) -> Iterator[NewCompanion]:
    """Yield what is to stand beside a file: the further parts of its film, the subtitles."""
    for number, part in enumerate(match.parts, 2):
        ending = split_extension(part.path.rpartition("/")[2])[1].lower()
        yield NewCompanion(part.path, part.size, part.file_id, part.link, part_tail(number, ending))
    for one in match.subtitles:
        file = one.file
        yield NewCompanion(file.path, file.size, file.file_id, file.link, one.tail, one.language)


def _name_facts(root: Node, match: FileMatch, resolution: str, name: str) -> NameFacts:
    item = root.item
    leaves = [item_of(root, item_id) for item_id in match.item_ids]
    path = root.path_to(match.item_ids[0])
    season = path[1].item.number if len(path) > 1 else None
    return NameFacts(
        title=item.title,
        year=item.year,
        tmdb_id=item.ids.tmdb,
        tvdb_id=item.ids.tvdb,
        imdb_id=item.ids.imdb,
        season=season,
        episodes=tuple(leaf.number or 0 for leaf in leaves) if season is not None else (),
        extension=name.rpartition(".")[2],
        tag=tag_of(resolution),
        edition=edition_of(name),
        episode_title=leaves[0].title if season is not None else "",
        original_title=item.original_title or "",
        part=1 if match.parts else 0,
        original_name=split_extension(name)[0],
        absolute=leaves[0].absolute_number if season is not None else None,
    )


def _kept(item_id: int, match: FileMatch, catch: Catch) -> Decision:
    sentence = f"{catch.torrent.provider} holds “{catch.torrent.name}”; the file is {match.file.path}."
    if match.parts:
        sentence = sentence[:-1] + f", the first of {len(match.parts) + 1} parts."
    before = tried(catch.attempts)
    if catch.attempts:
        count = len(catch.attempts)
        sentence += " Another one was tried before." if count == 1 else f" {count} others were tried before."
    data: dict[str, JsonValue] = {
        "infohash": catch.torrent.infohash,
        "file": match.file.path,
        "size": match.file.size,
        "tried": before,
    }
    return Decision(item_id, "download", "taken", sentence, data=data, provider=catch.torrent.provider)


def _kept_as_pack(root: Node, item_id: int, filled: list[int], catch: Catch) -> Decision:
    """Return the story of a season or show whose episodes came in one torrent."""
    torrent = catch.torrent
    lacked = _lacking(root, item_id)
    sentence = f"{torrent.provider} holds “{torrent.name}”; it brings {len(filled)} of {lacked} episodes."
    return Decision(
        item_id,
        "download",
        "taken",
        sentence,
        data={"infohash": torrent.infohash, "tried": tried(catch.attempts)},
        provider=torrent.provider,
    )


def tried(attempts: tuple[Attempt, ...]) -> list[JsonValue]:
    """Return what was tried and why it was not taken, for a timeline."""
    return [
        {"release": attempt.release, "provider": attempt.provider, "why": attempt.sentence}
        for attempt in attempts[:SHOWN]
    ]


def _tell(ctx: FlowContext, data: ItemJob, catch: Catch, *, left: int, began: datetime) -> None:
    event = DownloadPartialSuccess if left else DownloadSuccess
    ctx.tell(
        event(
            item_id=data.item_id,
            title=data.title,
            sentence=catch.torrent.name,
            provider=catch.torrent.provider,
            duration_ms=(ctx.clock.now() - began) // timedelta(milliseconds=1),
        )
    )


def _nothing(ctx: FlowContext, data: Download, answer: NoCatch) -> Outcome:
    job = data.job
    with ctx.db.write(job.root_id) as tx:
        ctx.check_intent(tx, job)
        item = item_of(ctx.tree(tx, job.root_id), job.item_id)
        if data.gained:
            facts: Changes = SUCCESS
            decision = _rest(item, answer)
        else:
            facts, outcome = _after_nothing(ctx, tx, item, answer)
            decision = _refusal(job.title, item, answer, outcome)
        ctx.commit(tx, job.root_id, {item.id: facts}, [decision])
    if not data.gained:
        ctx.tell(DownloadError(item_id=job.item_id, title=job.title, sentence=decision.sentence))
    return Done(data.gained)


def _rest(item: Item, answer: NoCatch) -> Decision:
    """Return the story of a pack that lacked something which no other torrent adds."""
    sentence = "No other torrent adds what is still lacking; it is searched one by one."
    return Decision(item.id, "download", "rest_singly", sentence, data={"tried": tried(answer.attempts)})


def _after_nothing(ctx: FlowContext, tx: Tx, item: Item, answer: NoCatch) -> tuple[Changes, str]:
    """Return the facts after a hunt without a catch: search again, wait for the provider, or try again after an error."""
    now = ctx.clock.now()
    usable = streams.candidates(tx, item.id, now, ctx.providers(), usable_only=True)
    if not usable:
        streams.set_active(tx, item.id, None)
        return SUCCESS, "none_available"
    if answer.until is not None:
        return job_delayed(answer.until, answer.reason or "a provider asked to wait"), "waiting"
    return job_failed(item, now, _reasons(answer)), "error"


def _reasons(answer: NoCatch) -> str:
    """Return what went wrong, each trouble once."""
    reasons = {attempt.sentence for attempt in answer.attempts} or {
        answer.reason or "no debrid service is set up or usable"
    }
    return "; ".join(sorted(reasons))[:LONGEST_REASON]


def _none_of(title: str, answer: NoCatch) -> str:
    match len({attempt.release for attempt in answer.attempts}):
        case 0:
            return f"No candidate of {title} is left to try"
        case 1:
            return f"The only candidate of {title} cannot be had"
        case tried:
            return f"None of the {tried} candidates of {title} can be had"


def _refusal(title: str, item: Item, answer: NoCatch, outcome: str) -> Decision:
    sentences = {
        "none_available": f"{_none_of(title, answer)}; searching again.",
        "waiting": f"Waiting: {answer.reason}.",
        "error": f"No answer to rely on: {_reasons(answer)}.",
    }
    return Decision(
        item.id,
        "download",
        outcome,
        sentences[outcome],
        data={"tried": tried(answer.attempts)},
        next_at=answer.until,
    )
