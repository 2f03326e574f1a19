"""What a provider is asked about a file that is in the library: an address of it, or its torrent once more."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from program.db import companions, entries, sources, torrents
from program.db.engine import Tx
from program.events import DownloadRequested, StreamLinkRequested
from program.media.entry import Entry, EntrySource, FetchedTorrent, FileMatch, is_same_file
from program.media.naming import folder_of
from program.queues import Job, JobSpec
from program.services.flows import moved_files, tidy_account
from program.services.flows.context import FlowContext
from program.services.flows.download_item import companions_of
from program.services.flows.plugin_hook import ask
from program.services.matching.map_files import add_subtitles
from program.services.plugin import DownloadRefused


@dataclass(frozen=True, slots=True)
class Taken:
    """A torrent that a provider holds. entry_ids: our files that can be read from it now; none: it has none of them."""

    torrent: FetchedTorrent
    entry_ids: tuple[int, ...]


def address(entry: Entry, source: EntrySource) -> JobSpec:
    """Return the job that asks a source for an address. A retry of its own would only hide the answer from who waits for it."""
    event = StreamLinkRequested(
        source.torrent_id, source.file_id, source.link, entry.original_name, entry.size
    )
    return ask(source.provider, event, entry.original_name, attempts=1)


def torrent(ctx: FlowContext, provider: str, infohash: str, holder: int) -> JobSpec | None:
    """Return the job that asks; None when we have no file of the torrent any more.

    The intent is written down first. holder: a negative number; nobody tidies the torrent up before `answer` has dropped it.
    """
    with ctx.db.write() as tx:
        item_id = entries.item_of_torrent(tx, infohash)
        if item_id is None:
            return None
        intended_at = torrents.unanswered(tx, provider, infohash)
        known = torrents.intend(tx, provider, infohash, item_id, ctx.clock.now())
    ctx.in_hand.take(provider, infohash, holder)
    return ask(provider, DownloadRequested(infohash, known, intended_at), infohash, attempts=1)


def answer(
    ctx: FlowContext, provider: str, infohash: str, holder: int, job: Job
) -> Taken | DownloadRefused | object:
    """Return what became of the torrent: taken, refused, or (anything else) the reason why there is no answer."""
    value = next((value for _, _, value in job.children.values()), None)
    error = next((error for _, _, error in job.children.failures()), None)
    try:
        if isinstance(value, FetchedTorrent):
            return Taken(value, _take(ctx, value))
        if isinstance(error, DownloadRefused) and error.torrent_id is None:
            with ctx.db.write() as tx:
                torrents.forget(tx, provider, infohash)
    finally:
        ctx.in_hand.drop(provider, infohash, holder)
    return value or error


def _take(ctx: FlowContext, found: FetchedTorrent) -> tuple[int, ...]:
    """Make a torrent a source of the files that we have of it; one that has none of them is cleared up, if it is ours."""
    now, provider, infohash = ctx.clock.now(), found.provider, found.infohash
    with ctx.db.write() as tx:
        torrents.record(tx, provider, infohash, found.torrent_id, now, is_foreign=found.is_foreign)
        entry_ids = sources.put_all(tx, found)
        if entry_ids:
            torrents.keep(tx, provider, infohash)
        elif found.is_foreign:
            torrents.forget(tx, provider, infohash)
        shown = _add_subtitles(tx, found, entry_ids, now)
    if not entry_ids:
        ctx.engine.add(tidy_account.job())
    if shown:
        ctx.library.apply(shown, ())
        moved_files.scan(ctx, {folder_of(ctx.library.places(entry)[0]) for entry in shown})
    return entry_ids


def _add_subtitles(
    tx: Tx, found: FetchedTorrent, entry_ids: Collection[int], now: datetime
) -> tuple[Entry, ...]:
    """Keep the subtitles of videos that have none, since who gave them gives none; return those that stand in the tree."""
    alone = [
        entry
        for entry_id in sorted(set(entry_ids) - companions.of(tx, entry_ids).keys())
        if (entry := entries.get(tx, entry_id)) is not None and entry.video_id is None
    ]
    matches = [
        (entry, FileMatch(file, entry.item_ids))
        for entry in alone
        for file in found.files
        if is_same_file(entry.path_in_torrent, entry.size, file.path, file.size)
    ]
    origin = companions.Origin(found.infohash, found.provider, found.torrent_id)
    told = add_subtitles([match for _, match in matches], found.files)
    given = [(entry, match) for (entry, _), match in zip(matches, told, strict=True) if match.subtitles]
    for entry, match in given:
        companions.put(tx, entry.id, origin, tuple(companions_of(match)), now)
    return tuple(entry for entry, _ in given if entry.registered_at is not None)
