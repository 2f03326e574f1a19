"""A torrent of a person's choice, from the first debrid service that holds it."""

from program.db import torrents
from program.errors import NotPossible, RivuletError
from program.events import DownloadRequested
from program.media.entry import FetchedTorrent
from program.services.flows import tidy_account
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import Paused, ask, said_by
from program.services.plugin import DownloadRefused

# How long one debrid service may take while somebody waits.
FETCH_SECONDS = 60.0


def fetch(ctx: FlowContext, infohash: str, name: str, item_id: int | None, holder: int) -> FetchedTorrent:
    """Return the torrent; the intent is written down first, as for any other. Raises NotPossible with what each service said."""
    reasons = []
    for key in ctx.providers():
        answer = _ask(ctx, key, infohash, name, item_id, holder)
        if isinstance(answer, FetchedTorrent):
            return answer
        ctx.in_hand.drop(key, infohash, holder)
        reasons.append(answer)
    raise NotPossible("; ".join(reasons) or "no debrid service is set up or usable")


def _ask(
    ctx: FlowContext, key: str, infohash: str, name: str, item_id: int | None, holder: int
) -> FetchedTorrent | str:
    """Return the torrent from one service, or why not."""
    now = ctx.clock.now()
    with ctx.db.write() as tx:
        intended_at = torrents.unanswered(tx, key, infohash)
        known = torrents.intend(tx, key, infohash, item_id, now)
    ctx.in_hand.take(key, infohash, holder)
    question = ask(key, DownloadRequested(infohash, known, intended_at), name, attempts=1)
    try:
        found = ctx.engine.call(question, FETCH_SECONDS)
    except DownloadRefused as error:
        if error.torrent_id is None:
            with ctx.db.write() as tx:
                torrents.forget(tx, key, infohash)
        return str(error)
    except RivuletError as error:
        return said_by(key, error)
    if not isinstance(found, FetchedTorrent):
        return said_by(key, found.reason if isinstance(found, Paused) else "no answer")
    with ctx.db.write() as tx:
        torrents.intend(tx, key, infohash, item_id, now)
        torrents.record(tx, key, infohash, found.torrent_id, now, is_foreign=found.is_foreign)
    return found


def let_go(ctx: FlowContext, torrent: FetchedTorrent, holder: int) -> None:
    """Give a torrent up that nobody took a file of; the account is tidied in the background."""
    ctx.in_hand.drop(torrent.provider, torrent.infohash, holder)
    if torrent.is_foreign:
        with ctx.db.write() as tx:
            torrents.forget(tx, torrent.provider, torrent.infohash)
        return
    ctx.engine.add(tidy_account.job())
