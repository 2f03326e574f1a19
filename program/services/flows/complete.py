"""Step `complete` of `process-media-item`: the file appears in the tree.

Then each media server is asked to scan its folder and for the title.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from program.db import confirmations, entries, replacements
from program.db.decisions import Decision
from program.errors import sentence_of
from program.events import ItemCompleted, LibraryScanRequested, ScanAnswer
from program.media.entry import Entry
from program.media.item import Item, Node, States
from program.media.naming import folder_of
from program.media.outcomes import SUCCESS, Changes, confirmed, registered
from program.media.schedule import (
    NO_SERVER,
    UNCONFIRMED,
    confirming,
    next_question,
    next_question_at,
    questions_so_far,
    wants_scan,
)
from program.media.state import Policy
from program.queues import Delay, Done, Job, JobSpec, Next, Outcome, WaitFor
from program.services.flows import copies, names, second_sources, tidy_account
from program.services.flows.context import FlowContext, ItemJob, item_of, label
from program.services.flows.plugin_hook import Paused, ask, said_by
from program.services.flows.shown import shown_at

COMPLETE = "complete"


def handle(ctx: FlowContext, job: Job) -> Outcome:
    """Register the file, ask the servers that are due, or store what they answered."""
    data = job.data_as(ItemJob)
    if job.has_waited:
        answers = {names.plugin_key(queue): value for _, queue, value in job.children.values()}
        silent = {names.plugin_key(queue): sentence_of(error) for _, queue, error in job.children.failures()}
        return _store(ctx, data, answers, silent)
    root = ctx.load(data.root_id)
    item = item_of(root, data.item_id)
    if item.last_state is States.Downloaded:
        return _register(ctx, data)
    if item.last_state not in (States.Symlinked, States.Completed):
        return Done(None)
    return _ask(ctx, data, root, item)


def _register(ctx: FlowContext, data: ItemJob) -> Outcome:
    """Write `registered_at`, then show the file: after a crash in between, the tree is built from the database.

    The siblings that wait for the same are registered with it, so that a season fetched as a pack is scanned once.
    """
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        root = ctx.tree(tx, data.root_id)
        ready = [
            leaf.item for leaf in _siblings(root, data.item_id) if leaf.item.last_state is States.Downloaded
        ]
        files = {item.id: entries.for_items(tx, [item.id]) for item in ready}
        files = {item_id: found for item_id, found in files.items() if found}
        shown = {found[0].id: found[0] for found in files.values()}
        entries.register(tx, list(shown), now)
        hidden = replacements.supersede(tx, files, ctx.library.is_open)
        chosen = copies.rankings(ctx.settings(), tx, data.root_id)
        facts = {
            item_id: {
                **registered(now),
                "upgrade_at": copies.next_look(chosen, found, now, now, is_first=True),
            }
            for item_id, found in files.items()
        }
        story = [
            _registered(item_id, shown_at(ctx, tx, found[0].id, found[0].path))
            for item_id, found in files.items()
        ]
        ctx.commit(tx, data.root_id, facts, story)
    _show(ctx, shown, hidden)
    if hidden:
        ctx.engine.add(tidy_account.job())
    if len(ctx.providers()) > 1:
        second_sources.begin(ctx)
    return Next(data)


def _show(ctx: FlowContext, shown: Mapping[int, Entry], hidden: Iterable[int]) -> None:
    """Change the tree; what a person removed since the commit was not there yet to be taken away."""
    ctx.library.apply(shown.values(), hidden)
    with ctx.db.read() as tx:
        gone = shown.keys() - entries.known(tx, shown.keys())
    ctx.library.apply((), gone)


def _siblings(root: Node, item_id: int) -> Iterable[Node]:
    """Return the leaves of the season that `item_id` belongs to, or the film itself."""
    path = root.path_to(item_id)
    return path[-2].leaves() if len(path) > 1 else root.leaves()


def _registered(item_id: int, path: str) -> Decision:
    return Decision(item_id, COMPLETE, "registered", f"In the library as {path}.")


def _ask(ctx: FlowContext, data: ItemJob, root: Node, item: Item) -> Outcome:
    policy, now = ctx.policy(), ctx.clock.now()
    with ctx.db.read() as tx:
        files = entries.for_items(tx, [item.id])
    if not files:
        return _lost(ctx, data)
    due = [server for server in policy.servers if _is_due(item, server, now)]
    if not due:
        is_open = item.last_state is States.Symlinked and next_question(item, now, policy) is None
        return _store(ctx, data, {}, {}) if is_open else Done(None)
    usable = [server for server in due if server in ctx.registry.hooks_for(LibraryScanRequested.type)]
    scans = {server: _scan_at(ctx, item, files[0], server, now) for server in usable}
    later = [at for at in scans.values() if at is not None and at > now]
    ready = {server: at is not None for server, at in scans.items() if at is None or at <= now}
    if ready:
        return WaitFor(
            tuple(
                scan_question(ctx, root, item, files[0], server, scan=scan) for server, scan in ready.items()
            )
        )
    if later:
        return Delay(min(later), "the folder was scanned a moment ago")
    return _store(ctx, data, {}, dict.fromkeys(due, "cannot be used at the moment"))


def _lost(ctx: FlowContext, data: ItemJob) -> Outcome:
    """Write down that a file which stood in the tree is not known any more, so that it is fetched again."""
    facts = {"registered_at": None, "confirmed_at": None, "confirmed_by": None}
    sentence = "Its file was lost; it is fetched again."
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        ctx.commit(
            tx, data.root_id, {data.item_id: facts}, [Decision(data.item_id, COMPLETE, "lost", sentence)]
        )
    return Done(None)


def _scan_at(ctx: FlowContext, item: Item, entry: Entry, server: str, now: datetime) -> datetime | None:
    """Return when the server is to scan the file's folder before it is asked; None when it has done so."""
    asked = questions_so_far(item, server)
    return ctx.scans.claim(
        server,
        folder_of(ctx.library.places(entry)[0]),
        now,
        changed_at=item.facts.registered_at or now,
        again=asked > 0 and wants_scan(asked),
    )


def _is_due(item: Item, server: str, now: datetime) -> bool:
    at = next_question_at(item, server)
    return at is not None and at <= now


def scan_question(
    ctx: FlowContext, root: Node, item: Item, entry: Entry, server: str, *, scan: bool = True
) -> JobSpec:
    """Return the job that has a media server scan the folder of a file, and asks it for the title."""
    numbers = {node.item.type.value: node.item.number for node in root.path_to(item.id)}
    file, *further = ctx.library.places(entry)
    event = LibraryScanRequested(
        media_type=item.type,
        ids=root.item.ids,
        title=root.item.title,
        year=root.item.year,
        season=numbers.get("season"),
        episode=numbers.get("episode"),
        folder=folder_of(file),
        file=file,
        also=tuple((folder_of(path), path) for path in further),
        scan=scan,
    )
    return ask(server, event, label(root, item.id))


def _store(
    ctx: FlowContext, data: ItemJob, answers: Mapping[str, object], silent: Mapping[str, str]
) -> Outcome:
    """Write what each server answered, and who was silent and why; the first that lists the title completes it."""
    now = ctx.clock.now()
    with ctx.db.write(data.root_id) as tx:
        ctx.check_intent(tx, data)
        for server in (*answers, *silent):
            confirmations.asked(tx, data.item_id, server, now, scanned=False)
        for server, answer in answers.items():
            if isinstance(answer, ScanAnswer) and answer.has_title:
                confirmations.confirmed(tx, data.item_id, server, now)
        item = item_of(ctx.tree(tx, data.root_id), data.item_id)
        facts = _facts(item, now, ctx.policy())
        decision = _decision(item, facts, answers, silent)
        ctx.commit(tx, data.root_id, {item.id: facts}, [decision])
    if "confirmed_at" in facts:
        ctx.tell(ItemCompleted(item_id=item.id, title=data.title, sentence=decision.sentence))
    return Done(None)


def _facts(item: Item, now: datetime, policy: Policy) -> Changes:
    """Return what follows from all that the servers have said so far: whether the question is settled, and by whom."""
    if item.last_state is States.Completed:
        return SUCCESS
    having = confirming(item, policy)
    if having:
        return confirmed(having[0], now)
    if not policy.servers:
        return confirmed(NO_SERVER, now)
    return SUCCESS if next_question(item, now, policy) else confirmed(UNCONFIRMED, now)


def _decision(
    item: Item, facts: Changes, answers: Mapping[str, object], silent: Mapping[str, str]
) -> Decision:
    said = [*_said(answers), *(said_by(server, error) for server, error in silent.items())]
    by = facts.get("confirmed_by")
    if by == NO_SERVER:
        sentence = "No media server is set up, so being in the folder is enough."
        return Decision(item.id, COMPLETE, "completed", sentence)
    if by == UNCONFIRMED:
        sentence = "No media server confirmed it in time; it is in the folder and counts as completed. "
        return Decision(item.id, "confirm", UNCONFIRMED, sentence + "; ".join(said))
    outcome = "completed" if by or item.last_state is States.Completed else "waiting"
    sentence = "; ".join(said) or f"{by} has it"
    return Decision(item.id, "confirm", outcome, f"{sentence.removesuffix('.')}.")


def _said(answers: Mapping[str, object]) -> Iterable[str]:
    for server, answer in answers.items():
        if isinstance(answer, ScanAnswer):
            yield answer.sentence
        elif isinstance(answer, Paused):
            yield said_by(server, answer.reason)
