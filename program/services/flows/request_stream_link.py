"""Queue `request-stream-link`: an address that an entry's bytes can be read from now.

The reader's own ranged answer is the health check: it comes back here with the address that failed, and gets another one of the
same provider, then of another provider that holds the same file. The loop is bounded: a job asks each source once, and a source
whose new addresses fail as well is left out for a while (`MAX_RENEWALS`).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from program.db import entries, sources
from program.errors import Final, RetryLater, RivuletError
from program.media.entry import Entry, EntrySource, Link
from program.pacing import KNOCK_SECONDS
from program.queues import Done, Fail, Job, Next, Outcome, WaitFor
from program.services.flows import mend_entry, source_questions
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import Paused, said_by
from program.services.plugin import DownloadRefused

# A service that rests may be knocked at this often for somebody who waits.
KNOCK = timedelta(seconds=KNOCK_SECONDS)
# A provider that has not answered by then is gone on without while another one is left; the one who reads waits 30 s in all.
ANSWER_WITHIN = timedelta(seconds=6)
# Somebody who reads a file that is being looked after asks again then.
MENDED_IN = timedelta(seconds=2)
# A link this close to its end is not handed out any more.
EXPIRY_MARGIN = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class LinkWish:
    """Data of the job.

    dead_url: the address that failed. asked: id of the source asked now; out: those that do not do, reasons: why.
    again_at: one of them may do in a moment; it can be asked again then.
    """

    entry_id: int
    dead_url: str | None = None
    asked: int | None = None
    out: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    again_at: datetime | None = None

    def after(self, source_id: int, reason: str, again_at: datetime | None = None) -> "LinkWish":
        """Return the wish without a source, with the reason why that one does not do."""
        soonest = min((at for at in (self.again_at, again_at) if at is not None), default=None)
        out, reasons = (*self.out, source_id), (*self.reasons, reason)
        return replace(self, asked=None, out=out, reasons=reasons, again_at=soonest)

    def failure(self) -> RivuletError:
        """Return what whoever reads the file is told when no source is left to ask."""
        reason = "; ".join(self.reasons) or "no source of this file is left"
        return Final(reason) if self.again_at is None else RetryLater(self.again_at, reason)


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Return a stored address that still holds, or have the sources asked one after the other."""
    wish = job.data_as(LinkWish)
    entry = _entry(ctx, wish)
    if entry is not None and wish.asked is not None:
        return _answer(ctx, wish, entry, wish.asked, job)
    # Settings may have changed, or a source have come, since the last one was asked.
    usable = [one for one in _usable(entry, ctx.providers()) if one.id not in wish.out] if entry else []
    if entry is None or not usable:
        return Fail(wish.failure() if entry is None or wish.out else _no_source_in_use(ctx, entry))
    source = usable[0]
    now = ctx.clock.now()
    stored = _stored(source, wish.dead_url, now)
    if stored is not None:
        return Done(stored)
    if wish.dead_url is not None and not ctx.renewals.may_ask(source.id, ctx.clock.monotonic()):
        mend_entry.soon(ctx, wish.entry_id)
        return Next(wish.after(source.id, f"{source.provider}: its new addresses do not work either"))
    return _ask(entry, source, wish, is_last=len(usable) == 1)


def _entry(ctx: FlowContext, wish: LinkWish) -> Entry | None:
    """Return the file; the address that failed is forgotten, or a reader of two dead ones would be sent from one to the other."""
    with ctx.db.read() as tx:
        entry = entries.get(tx, wish.entry_id)
    dead = wish.dead_url
    if entry is not None and dead is not None and any(source.url == dead for source in entry.sources):
        with ctx.db.write() as tx:
            sources.forget_url(tx, wish.entry_id, dead)
    return entry


def _usable(entry: Entry, providers: tuple[str, ...]) -> list[EntrySource]:
    """Return the sources at enabled providers, in the order of the providers."""
    known = [source for source in entry.sources if source.provider in providers]
    return sorted(known, key=lambda source: (providers.index(source.provider), source.id))


def _no_source_in_use(ctx: FlowContext, entry: Entry) -> RivuletError:
    """Have those services asked that are in use now: a person may have changed one for another."""
    if not ctx.providers():
        return Final("no debrid service is in use")
    mend_entry.soon(ctx, entry.id)
    if mend_entry.is_at_work(ctx, entry.id):
        return RetryLater(ctx.clock.now() + MENDED_IN, "the services in use are asked for this file")
    return Final("no service in use has this file")


def _stored(source: EntrySource, dead_url: str | None, now: datetime) -> Link | None:
    if source.url is None or source.url == dead_url:
        return None
    if source.url_expires_at is not None and source.url_expires_at - EXPIRY_MARGIN <= now:
        return None
    return Link(source.url, source.url_expires_at, source.provider)


def _ask(entry: Entry, source: EntrySource, wish: LinkWish, *, is_last: bool) -> Outcome:
    deadline = None if is_last else ANSWER_WITHIN
    question = source_questions.address(entry, source)
    return WaitFor((question,), data=replace(wish, asked=source.id), deadline=deadline)


def _answer(ctx: FlowContext, wish: LinkWish, entry: Entry, source_id: int, job: Job) -> Outcome:
    source = next((one for one in entry.sources if one.id == source_id), None)
    if source is None:
        return Next(wish.after(source_id, "a source of the file was taken away meanwhile"))
    value = next((value for _, _, value in job.children.values()), None)
    if isinstance(value, Link) and value.url != wish.dead_url:
        with ctx.db.write() as tx:
            # After a dead address it is not known yet whether the new one is any better.
            sources.set_url(tx, source.id, value.url, value.expires_at, is_sound=wish.dead_url is None)
        return Done(value)
    now = ctx.clock.now()
    if job.children.late:
        late = f"{source.provider}: no answer within {ANSWER_WITHIN.total_seconds():g} s"
        return Next(wish.after(source.id, late, now))
    if isinstance(value, Paused):
        reason = said_by(source.provider, value.reason)
        return Next(wish.after(source.id, reason, min(value.until, now + KNOCK)))
    error = next((error for _, _, error in job.children.failures()), None)
    reason = str(error or f"{source.provider} gave the address again that failed")
    if isinstance(error, DownloadRefused):
        with ctx.db.write() as tx:
            sources.fail_source(tx, source.id, error.code, reason, now)
        mend_entry.soon(ctx, wish.entry_id)
    is_passing = error is not None and not isinstance(error, Final)
    return Next(wish.after(source.id, reason, now if is_passing else None))
