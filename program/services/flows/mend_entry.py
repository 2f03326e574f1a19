"""Queue `mend-entry`: a file whose source gave no bytes. Is it so, and who can give them?

Asked are, in this order: the sources that it has (a byte must come), the same provider for the torrent again, the other providers
for it. Only when all of them said no, and the first ones over a while (`program.media.health`), another release is searched. The
file stays listed and is replaced once the new one is ready; should it come back before, it is kept. A provider that does not answer
has said nothing: everything stays as it is until it does.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from program.db import entries, sources
from program.errors import Final, Transient
from program.media.entry import Entry, EntrySource, Link, Trouble
from program.media.health import (
    AFTER_SILENCE,
    DEAD_LINK,
    LOOK_FOR_RETURN,
    LOST,
    is_confirmed,
    next_look,
)
from program.queues import Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import names, source_questions
from program.services.flows.context import FlowContext
from program.services.flows.giving_up import come_back, give_up, tell
from program.services.flows.plugin_hook import Paused, said_by
from program.services.flows.source_questions import Taken
from program.services.plugin import DownloadRefused


@dataclass(frozen=True, slots=True)
class Word:
    """What a provider said about a file. until: it did not answer, and can be asked again then."""

    provider: str
    code: str
    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mend:
    """Data of the job. plan: what is still to be done, as (`look` | `again` | `other`, provider); words: what was said so far.

    taken: (provider, `added_again` | `other_provider`) of the torrents that were had meanwhile; whether they help is looked at too.
    """

    entry_id: int
    plan: tuple[tuple[str, str], ...] | None = None
    is_asked: bool = False
    has_looked: bool = False
    words: tuple[Word, ...] = ()
    taken: tuple[tuple[str, str], ...] = ()

    def then(self, word: Word) -> "Mend":
        """Return the job at its next question."""
        return replace(self, plan=(self.plan or ())[1:], is_asked=False, words=(*self.words, word))

    def refused(self) -> tuple[Word, ...]:
        """Return every no."""
        return tuple(word for word in self.words if word.until is None)

    def silent(self) -> tuple[Word, ...]:
        """Return who did not answer."""
        return tuple(word for word in self.words if word.until is not None)


def soon(ctx: FlowContext, entry_id: int) -> None:
    """Have a file looked after now, unless a date for that is written down already."""
    with ctx.db.write() as tx:
        is_news = sources.mend_soon(tx, entry_id, ctx.clock.now())
    if is_news:
        ctx.engine.add(job(entry_id))


def is_at_work(ctx: FlowContext, entry_id: int) -> bool:
    """Return whether a file is being looked after right now."""
    return names.mend_entry_id(entry_id) in ctx.engine.held(names.MEND_ENTRY)


def job(entry_id: int) -> JobSpec:
    """Return the job that looks after one file."""
    return JobSpec(
        queue=names.MEND_ENTRY,
        name=f"entry {entry_id}",
        data=Mend(entry_id),
        dedup_id=names.mend_entry_id(entry_id),
    )


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Take the next step of the plan."""
    mend = job.data_as(Mend)
    with ctx.db.read() as tx:
        entry = entries.get(tx, mend.entry_id)
    if entry is None:
        return Done(None)
    if mend.plan is None:
        held = tuple(("look", key) for key in ctx.providers() if _source(entry, key))
        return Next(replace(mend, plan=held))
    if mend.is_asked:
        return _answered(ctx, mend, entry, job)
    if mend.plan:
        return _ask(ctx, mend, entry, *mend.plan[0])
    return _conclude(ctx, mend, entry) if mend.has_looked else _looked(ctx, mend, entry)


def _source(entry: Entry, provider: str) -> EntrySource | None:
    return next((source for source in entry.sources if source.provider == provider), None)


# Asking ---------------------------------------------------------------------------------------------------------------------


def _ask(ctx: FlowContext, mend: Mend, entry: Entry, what: str, provider: str) -> Outcome:
    source = _source(entry, provider)
    if what == "look":
        question = source_questions.address(entry, source) if source else None
    else:
        question = source_questions.torrent(ctx, provider, entry.infohash, -entry.id)
    if question is None:
        return Next(replace(mend, plan=(mend.plan or ())[1:]))
    return WaitFor((question,), data=replace(mend, is_asked=True))


def _answered(ctx: FlowContext, mend: Mend, entry: Entry, job: Job) -> Outcome:
    what, provider = (mend.plan or (("", ""),))[0]
    if what != "look":
        return _fetched(
            ctx, mend, entry, source_questions.answer(ctx, provider, entry.infohash, -entry.id, job)
        )
    source = _source(entry, provider)
    value = next((value for _, _, value in job.children.values()), None)
    error = next((error for _, _, error in job.children.failures()), None)
    word = _bytes_of(ctx, entry, value) if isinstance(value, Link) else _word(ctx, provider, value or error)
    if source is None or word is not None:
        return Next(_noted(ctx, mend, entry, source, word or Word(provider, "gone", "not a source any more")))
    if isinstance(value, Link):
        with ctx.db.write() as tx:
            sources.set_url(tx, source.id, value.url, value.expires_at)
    return _healed(ctx, mend, entry, provider)


def _bytes_of(ctx: FlowContext, entry: Entry, link: Link) -> Word | None:
    """Return None when a byte of the file comes from an address, else what is wrong."""
    try:
        trouble = ctx.library.trouble_at(link, entry.size)
    except Transient as error:
        return Word(link.provider, "silent", str(error), ctx.clock.now() + AFTER_SILENCE)
    return Word(link.provider, DEAD_LINK, f"a new address does not work: {trouble}") if trouble else None


def _word(ctx: FlowContext, provider: str, said: object) -> Word:
    """Return what an answer says that is neither an address nor a torrent."""
    soonest = ctx.clock.now() + AFTER_SILENCE
    if isinstance(said, DownloadRefused):
        return Word(provider, said.code, said.reason, said.retry_at)
    if isinstance(said, Paused):
        return Word(provider, "silent", said.reason, max(said.until, soonest))
    # A key that is refused or an answer that cannot be read is no word about the file either.
    code = "unusable" if isinstance(said, Final) else "silent"
    return Word(provider, code, str(said or "no answer"), soonest)


def _noted(ctx: FlowContext, mend: Mend, entry: Entry, source: EntrySource | None, word: Word) -> Mend:
    """Write a no down; silence leaves no trace."""
    if word.until is None:
        with ctx.db.write() as tx:
            if source is not None:
                sources.fail_source(tx, source.id, word.code, word.reason, ctx.clock.now())
        tell(ctx, entry, "lost" if source else "refused", _sentence(word), provider=word.provider)
    return mend.then(word)


def _fetched(ctx: FlowContext, mend: Mend, entry: Entry, found: object) -> Outcome:
    """Look at a torrent that a provider holds; go on when it does not."""
    what, provider = (mend.plan or (("", ""),))[0]
    if isinstance(found, Taken) and entry.id in found.entry_ids:
        plan = (("look", provider), *(mend.plan or ())[1:])
        taken = (*mend.taken, (provider, "added_again" if what == "again" else "other_provider"))
        return Next(replace(mend, plan=plan, is_asked=False, taken=taken))
    if isinstance(found, Taken):
        found = DownloadRefused(provider, "wrong_files", "its torrent of this hash has no such file")
    return Next(_noted(ctx, mend, entry, None, _word(ctx, provider, found)))


# What follows ---------------------------------------------------------------------------------------------------------------


def _looked(ctx: FlowContext, mend: Mend, entry: Entry) -> Outcome:
    """Go on to who could have the torrent, unless nobody has said anything yet."""
    enabled, refused = ctx.providers(), mend.refused()
    if mend.plan == () and mend.words and not refused:
        return _later(ctx, mend, entry)
    again = tuple(("again", word.provider) for word in refused if word.code in LOST)
    others = tuple(("other", key) for key in enabled if _source(entry, key) is None)
    return Next(replace(mend, plan=(*again, *others), has_looked=True))


def _later(ctx: FlowContext, mend: Mend, entry: Entry) -> Outcome:
    """Look again when those who were silent can be asked; nothing else is written down."""
    at = max(word.until for word in mend.silent() if word.until is not None)
    with ctx.db.write() as tx:
        sources.mend_later(tx, (entry.id,), at)
    return Done(None)


def _conclude(ctx: FlowContext, mend: Mend, entry: Entry) -> Outcome:
    """Nobody gives the bytes: wait until that is certain, then have another release searched."""
    now = ctx.clock.now()
    held = {key for key in ctx.providers() if _source(entry, key)}
    if not held or any(word.provider in held for word in mend.silent()):
        # What a source that is down would say is not known, nor what one would that a person has switched off.
        at = max((word.until for word in mend.silent() if word.until), default=now + LOOK_FOR_RETURN)
        return _wait(ctx, entry, max(at, now + AFTER_SILENCE), "not every source of it can be asked")
    known = _troubles(ctx, entry, held)
    if not all(is_confirmed(troubles) for troubles in known):
        return _wait(ctx, entry, next_look(min(known, key=len), now), "looking again to be sure")
    if entry.given_up_at is None:
        refusals = {(word.provider, word.code, word.reason) for word in mend.refused()}
        give_up(ctx, entry, refusals)
    with ctx.db.write() as tx:
        sources.mend_later(tx, (entry.id,), now + LOOK_FOR_RETURN)
    return Done(None)


def _troubles(ctx: FlowContext, entry: Entry, held: set[str]) -> list[tuple[Trouble, ...]]:
    ids = [source.id for source in entry.sources if source.provider in held]
    with ctx.db.read() as tx:
        return list(sources.troubles(tx, ids).values())


def _wait(ctx: FlowContext, entry: Entry, at: datetime, why: str) -> Outcome:
    with ctx.db.write() as tx:
        sources.mend_later(tx, (entry.id,), at)
    tell(ctx, entry, "waiting", f"The file stays as it is; {why}.", next_at=at)
    return Done(None)


def _healed(ctx: FlowContext, mend: Mend, entry: Entry, provider: str) -> Outcome:
    """Write down that the file can be read; the others of its torrent are looked at as well when it had to be added again."""
    outcome = dict(mend.taken).get(provider, "sound")
    sentences = {
        "added_again": f"{provider} had lost the torrent and holds it again.",
        "other_provider": f"{provider} holds the same torrent; the file is read from there.",
        "sound": f"{provider} gives its bytes again.",
    }
    with ctx.db.write() as tx:
        sources.mend_later(tx, (entry.id,), None)
    if mend.words or entry.given_up_at is not None:
        tell(ctx, entry, outcome, sentences[outcome], provider=provider)
    if entry.given_up_at is not None:
        come_back(ctx, entry)
    return Done(None)


def _sentence(word: Word) -> str:
    return f"{said_by(word.provider, word.reason)} ({word.code})."
