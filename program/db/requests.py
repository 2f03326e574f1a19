"""Wishes: what people and lists ask for, and what becomes of it.

Nothing is decided twice: a list that repeats itself changes nothing, and a title that two ask for at once becomes one row.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select

from program.db import wishes
from program.db.engine import Tx, lock_roots
from program.db.lookup import TitleIndex
from program.db.newcomers import add_titles, kind_of
from program.db.retry import failed_rows, reset_for_retry
from program.db.seasons import ask_for
from program.db.tables import MediaItem
from program.db.views import Accepted
from program.db.wishes import Wish, key_of
from program.db.writes import bump_revision, look_again
from program.errors import Transient
from program.media.metadata import ContentRequest

__all__ = ["accept", "accept_many", "reset_for_retry"]


def accept(tx: Tx, request: ContentRequest, now: datetime, *, by_person: bool) -> Accepted:
    """Write a wish down and return what became of it; see `accept_many`."""
    return accept_many(tx, (request,), now, by_person=by_person)[0]


def accept_many(
    tx: Tx, requests: Sequence[ContentRequest], now: datetime, *, by_person: bool
) -> tuple[Accepted, ...]:
    """Write wishes down and return what became of each.

    A new title is created and due at once. A known one gets what is new in the wish and is due when that changed anything; Failed
    is tried again, a pause stays. What a list has asked for before changes nothing, and of a removed title it is told so; a
    person's wish always counts. Raises ValueError for a wish without any id, `Transient` when a title is removed in this instant.
    """
    known = wishes.load(tx, requests)
    answers: dict[int, Accepted] = {}
    if by_person:
        wishes.lift_tombstones(tx, requests)
    else:
        said_before = {place: _said_before(known, request) for place, request in enumerate(requests)}
        answers = {place: answer for place, answer in said_before.items() if answer is not None}
    left = {place: request for place, request in enumerate(requests) if place not in answers}
    titles = _titles(tx, list(left.values()), known, now) if left else []
    created = {item_id for item_id, is_new in titles if is_new}
    lock_roots(tx, {item_id for item_id, _ in titles} - created)
    for (place, request), (item_id, _) in zip(left.items(), titles, strict=True):
        if item_id in created:
            created.remove(item_id)
            answers[place] = Accepted(item_id, item_id, "created", f"{_name('', request)} is added")
        else:
            wish = None if by_person else known.get(key_of(request))
            answers[place] = _again(tx, item_id, request, wish, now)
    wishes.save(tx, zip(left.values(), (item_id for item_id, _ in titles), strict=True), known, now)
    return tuple(answers[place] for place in range(len(requests)))


def _said_before(known: dict[wishes.Key, Wish], request: ContentRequest) -> Accepted | None:
    wish = known.get(key_of(request))
    if wish is None:
        return None
    if wish.item_id is None:
        sentence = "was removed; only a person's wish brings it back"
        return Accepted(None, None, "tombstoned", f"{_name('', request)} {sentence}")
    if wish.covers(request):
        return Accepted(wish.item_id, wish.item_id, "known", f"{_name('', request)} is in the library")
    return None


def _titles(
    tx: Tx, requests: Sequence[ContentRequest], known: dict[wishes.Key, Wish], now: datetime
) -> list[tuple[int, bool]]:
    """Return the item of each request and whether it was added for it; the same new title twice is added once."""
    index = TitleIndex(tx, [(kind_of(request), request.ids) for request in requests])
    found: list[int] = []
    missing: list[ContentRequest] = []
    for request in requests:
        wish = known.get(key_of(request))
        item_id = index.get(kind_of(request), request.ids) or (wish.item_id if wish else None)
        if item_id is None:
            missing.append(request)
            # A stand-in until the row is there.
            item_id = -len(missing)
            index.add(kind_of(request), request.ids, item_id)
        found.append(item_id)
    added = add_titles(tx, missing, now)
    return [(item_id, False) if item_id > 0 else added[-item_id - 1] for item_id in found]


def _again(tx: Tx, item_id: int, request: ContentRequest, wish: Wish | None, now: datetime) -> Accepted:
    """Give a known, locked title what is new in the wish; `wish` is the list's earlier one, whose seasons are no news."""
    row = tx.connection.execute(
        select(MediaItem.title, MediaItem.paused_at).where(MediaItem.id == item_id)
    ).one_or_none()
    if row is None:
        # It was removed between the search for it and the lock on it.
        raise Transient("another write was first")
    name = _name(row.title, request)
    is_more = not request.is_movie and ask_for(tx, item_id, _new_seasons(request, wish))
    if row.paused_at is not None:
        return Accepted(item_id, item_id, "paused", f"{name} is paused; unpause it to go on")
    failed = failed_rows(tx, item_id)
    if is_more:
        bump_revision(tx, (item_id,))
    if failed:
        reset_for_retry(tx, failed, now)
    if failed or is_more:
        look_again(tx, (item_id,))
    if failed:
        return Accepted(item_id, item_id, "retried", f"{name} had failed and is tried again")
    if is_more:
        return Accepted(item_id, item_id, "updated", f"{name}: more of it is asked for now")
    return Accepted(item_id, item_id, "known", f"{name} is in the library")


def _new_seasons(request: ContentRequest, wish: Wish | None) -> set[int] | None:
    if request.seasons is None:
        return None
    return set(request.seasons) - set((wish.seasons if wish else None) or ())


def _name(title: str, request: ContentRequest) -> str:
    if title:
        return title
    ids = request.ids
    known = (("TMDB", ids.tmdb), ("TVDB", ids.tvdb), ("IMDb", ids.imdb))
    return next((f"{service} {value}" for service, value in known if value), "The title")
