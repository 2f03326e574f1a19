"""Queues `scrape-item` and `scrape-item.parse-scrape-results`: one search, its verdicts, and what follows from them.

scrape-item ← parse-scrape-results ← one job per scraper. The search waits for its scrapers up to the flow deadline and
then goes on
without the late ones, and says so.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from program.db import streams
from program.db.decisions import Decision
from program.db.engine import Tx
from program.db.lookup import shared_names
from program.errors import NotFound, sentence_of
from program.events import (
    NoStreamsFound,
    ScrapeError,
    ScrapeIncorrectState,
    ScrapeRequested,
    ScrapeSuccess,
    Told,
)
from program.media.item import Item, Node
from program.media.outcomes import (
    Changes,
    first_found_at,
    job_delayed,
    job_failed,
    search_found,
    search_missed,
    search_waits,
)
from program.media.release import FoundRelease, JsonValue, JudgedRelease, Rejection
from program.media.wanted import Wanted, wanted_for
from program.queues import Done, Job, JobSpec, Outcome, WaitFor
from program.services.flows import copies, names
from program.services.flows.context import (
    NO_OVERRIDES,
    FlowContext,
    ItemJob,
    Overrides,
    check_answered,
    item_of,
    missing_leaves,
)
from program.services.flows.plugin_hook import PARK, Paused, ask_all, said_by
from program.services.matching.rank import order, resolution_place
from program.services.matching.sandbox import ParseTask
from program.settings.ranking import RankingRules

# A timeline row keeps at most this many refused names; all of them are in the item's streams.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Search:
    """Data of `parse-scrape-results`. asked: keys of the scrapers; empty before they are asked. only: ask just these."""

    wanted: Wanted
    title: str
    asked: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    overrides: Overrides = NO_OVERRIDES


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Value of `parse-scrape-results`: every release with its verdict, who answered, who did not and why.

    until: all who did not answer asked to wait, the first of them until then.
    """

    judged: tuple[JudgedRelease, ...]
    answered: tuple[str, ...]
    troubles: tuple[str, ...]
    until: datetime | None = None


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Have the item searched, then store what came back."""
    data = job.data_as(ItemJob)
    answers = [value for _, _, value in job.children.values() if isinstance(value, SearchAnswer)]
    if answers:
        return _store(ctx, data, answers[0])
    check_answered(job)
    with ctx.db.read() as tx:
        root = ctx.tree(tx, data.root_id)
        others = shared_names(tx, root.item)
        ranking = data.overrides.ranking or copies.rankings(ctx.settings(), tx, data.root_id).usual.plain()
    item_of(root, data.item_id)
    wanted = wanted_for(root, data.item_id, missing=missing_leaves(root), other_titles=others)
    search = Search(wanted, data.title, overrides=replace(data.overrides, ranking=ranking))
    return WaitFor((JobSpec(queue=names.PARSE_SCRAPE_RESULTS, name=data.title, data=search),), data=data)


def parse(ctx: FlowContext, job: Job) -> Outcome:
    """Ask every scraper, then judge what they found in the sandbox."""
    data = job.data_as(Search)
    if not data.asked:
        return _ask(ctx, data)
    heard = _heard(job)
    silent = [key for key in data.asked if key not in heard.answered and key not in heard.troubles]
    resting = {key: rest for key in silent if (rest := _resting(ctx, key)) is not None}
    troubles = {**heard.troubles, **dict.fromkeys(silent, "no answer in time")}
    troubles |= {key: rest.reason for key, rest in resting.items()}
    waits = {**heard.waits, **{key: rest.until for key, rest in resting.items()}}
    ranking = data.overrides.ranking or ctx.settings().ranking.plain()
    task = ParseTask(
        data.wanted, heard.releases, ranking, ctx.clock.now(), data.overrides.any_part, ctx.names_kept_in
    )
    judged = _judged(job.in_sandbox(task, len(heard.releases)) if heard.releases else ())
    sentences = tuple(said_by(key, trouble) for key, trouble in troubles.items())
    until = min(waits.values()) if waits and waits.keys() == troubles.keys() else None
    return Done(SearchAnswer(_sized(judged, data.overrides), heard.answered, sentences, until))


def _resting(ctx: FlowContext, key: str) -> Paused | None:
    """Return until when and why a scraper is left alone whose service is in trouble; None when nothing is known against it."""
    try:
        standing = ctx.registry.get(key).http.statistics()
    except NotFound:
        return None
    soonest = ctx.clock.now() + PARK
    if standing.paused_until is None and not standing.level:
        return None
    return Paused(max(standing.paused_until or soonest, soonest), standing.reason)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the scrapers brought: their releases, who answered; by scraper what went wrong, and who asked to wait until when."""

    releases: tuple[FoundRelease, ...]
    answered: tuple[str, ...]
    troubles: Mapping[str, str]
    waits: Mapping[str, datetime]


def _heard(job: Job) -> Heard:
    """Return what the scrapers brought. One whose whole answer is no releases has not answered."""
    releases: list[FoundRelease] = []
    answered: list[str] = []
    troubles = {names.plugin_key(queue): sentence_of(error) for _, queue, error in job.children.failures()}
    waits: dict[str, datetime] = {}
    for _, queue, value in job.children.values():
        key = names.plugin_key(queue)
        if isinstance(value, Paused):
            troubles[key], waits[key] = value.reason, value.until
            continue
        rows = value if isinstance(value, tuple) else ()
        good = [row for row in rows if _is_release(row)]
        if len(good) < len(rows):
            troubles[key] = f"{len(rows) - len(good)} of the {len(rows)} rows of its answer are no releases"
        if good or not rows:
            answered.append(key)
        releases += good
    return Heard(tuple(releases), tuple(answered), troubles, waits)


def _is_release(row: object) -> bool:
    """Return whether a plugin's row is one; plugins of others are not type-checked, and one must not spoil a search for all."""
    if not isinstance(row, FoundRelease) or not isinstance(row.size, int | None):
        return False
    return all(isinstance(text, str) for text in (row.infohash, row.raw_title, row.source))


def _ask(ctx: FlowContext, data: Search) -> Outcome:
    questions = tuple(
        question
        for question in ask_all(ctx, ScrapeRequested(data.wanted), data.title)
        if not data.only or names.plugin_key(question.queue) in data.only
    )
    if not questions:
        return Done(SearchAnswer((), (), ("no search service is set up or usable",)))
    asked = tuple(names.plugin_key(question.queue) for question in questions)
    deadline = timedelta(seconds=ctx.settings().scraping.flow_deadline_seconds)
    return WaitFor(questions, data=replace(data, asked=asked), deadline=deadline)


def _judged(value: object) -> tuple[JudgedRelease, ...]:
    return (
        tuple(release for release in value if isinstance(release, JudgedRelease))
        if isinstance(value, tuple)
        else ()
    )


def _sized(judged: tuple[JudgedRelease, ...], limits: Overrides) -> tuple[JudgedRelease, ...]:
    """Return the releases, those refused whose size is beyond what a person said for this search."""
    return tuple(
        replace(release, rejection=Rejection("size", "is not of the size that was asked for"))
        if release.rejection is None and release.size and not _fits(release.size, limits)
        else release
        for release in judged
    )


def _fits(size: int, limits: Overrides) -> bool:
    return (limits.least or 0) <= size and (limits.most is None or size <= limits.most)


def _store(ctx: FlowContext, data: ItemJob, answer: SearchAnswer) -> Outcome:
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        streams.store(tx, data.item_id, answer.judged, now)
        if not ctx.same_intent(tx, data):
            root, best = None, None
        else:
            root, best = _judge(ctx, tx, data, answer)
    _tell(ctx, data, answer, best, wanted=root is not None)
    return Done(item_of(root, data.item_id).last_state if root is not None else None)


def _judge(ctx: FlowContext, tx: Tx, data: ItemJob, answer: SearchAnswer) -> tuple[Node, str | None]:
    """Write what the search came to; return the settled title and the name of the best release."""
    item, now = item_of(ctx.tree(tx, data.root_id), data.item_id), ctx.clock.now()
    ranking = copies.rankings(ctx.settings(), tx, data.root_id).usual
    usable = order(
        streams.candidates(tx, data.item_id, now, ctx.providers(), usable_only=True), ranking.plain()
    )
    best = usable[0].release.raw_title if usable else None
    until = (
        _waits_until(ctx, ranking, item, usable[0].release)
        if usable and data.overrides == NO_OVERRIDES
        else None
    )
    streams.set_active(tx, data.item_id, usable[0].release.infohash if usable and until is None else None)
    facts = _facts(ctx, item, answer, found=bool(usable))
    if until is not None and answer.answered:
        facts = search_waits(first_found_at(item, now), until)
    root = ctx.commit(tx, data.root_id, {item.id: facts}, [_decision(item, answer, best, facts)])
    return root, best


def _waits_until(ctx: FlowContext, ranking: RankingRules, item: Item, best: JudgedRelease) -> datetime | None:
    """Return until when better releases than `best` may appear before one is taken, None to take it now."""
    last = ranking.upgrade_until
    is_last = last is not None and resolution_place(best.resolution) >= resolution_place(last)
    if not ranking.delay_minutes or is_last:
        return None
    now = ctx.clock.now()
    until = first_found_at(item, now) + timedelta(minutes=ranking.delay_minutes)
    return until if until > now else None


def _facts(ctx: FlowContext, item: Item, answer: SearchAnswer, *, found: bool) -> Changes:
    now = ctx.clock.now()
    if not answer.answered and answer.until is not None:
        return job_delayed(answer.until, "; ".join(answer.troubles))
    if not answer.answered:
        return job_failed(item, now, "; ".join(answer.troubles))
    return search_found(now) if found else search_missed(item, now, ctx.policy())


def _decision(item: Item, answer: SearchAnswer, best: str | None, facts: Changes) -> Decision:
    refused = [release for release in answer.judged if release.rejection]
    reasons = Counter(release.rejection.code for release in refused if release.rejection)
    data: dict[str, JsonValue] = {
        "answered": list(answer.answered),
        "troubles": list(answer.troubles),
        "considered": len(answer.judged),
        "refused": dict(reasons),
        "examples": [
            {"release": release.raw_title, "why": release.rejection.sentence}
            for release in refused[:SHOWN]
            if release.rejection
        ],
    }
    outcome, sentence = _story(answer, best, reasons, facts)
    return Decision(item.id, "scrape", outcome, sentence, data=data)


def _story(answer: SearchAnswer, best: str | None, reasons: Counter[str], facts: Changes) -> tuple[str, str]:
    seen = f"{len(answer.judged)} releases from {', '.join(answer.answered) or 'nobody'}"
    trouble = f" Not answered: {'; '.join(answer.troubles)}." if answer.troubles else ""
    if not answer.answered and answer.until is not None:
        return "waiting", f"Every search service asked to wait.{trouble}"
    if not answer.answered:
        return "error", f"No search service answered.{trouble}"
    if best:
        return "found", f"{seen}; {sum(reasons.values())} refused; the best is {best}.{trouble}"
    why = ", ".join(f"{count} {code}" for code, count in reasons.most_common()) or "none offered"
    ended = " No more searches by itself." if facts.get("failed_at") else ""
    return ("failed" if ended else "nothing_fits"), f"{seen}, none fits: {why}.{ended}{trouble}"


def _tell(ctx: FlowContext, data: ItemJob, answer: SearchAnswer, best: str | None, *, wanted: bool) -> None:
    """Tell what the search came to; a search that was put off is told when it has been made."""
    event: type[Told] = ScrapeSuccess if best else NoStreamsFound
    if not wanted:
        event = ScrapeIncorrectState
    elif not answer.answered:
        event = ScrapeError
    if event is not ScrapeError or answer.until is None:
        sentence = best or "; ".join(answer.troubles)
        ctx.tell(event(item_id=data.item_id, title=data.title, sentence=sentence))
