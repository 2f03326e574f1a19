"""The library: lists, one item, its story, and what a person does with items."""

import math
from collections.abc import Callable, Iterator, Sequence

from program.actions import ItemResult
from program.api import shapes
from program.api.answers.items import ActionBody, DetailBody, ItemsBody
from program.api.answers.stories import StreamsBody, TimelineBody
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.explained import NO_REASONS, reasons
from program.api.payloads import (
    LARGEST_ID,
    AddBody,
    EditBody,
    IdsBody,
    ItemQuery,
    ListQuery,
    TimelineQuery,
    number_in,
)
from program.api.routes import Route
from program.api.where import where
from program.db import decisions, items, streams
from program.db.engine import Tx
from program.db.views import ItemDetail, ItemFilter, Sort
from program.edits import WrongEdit
from program.media.item import Ids, MediaType
from program.media.metadata import ContentRequest
from program.settings.problems import shown

TAG = "items"
# Who asks when somebody uses the API.
SOURCE = "api"


def library(context: ApiContext, query: ListQuery) -> ItemsBody:
    """Return a page of the library."""
    wanted = ItemFilter(
        states=query.wanted_states(),
        types=query.wanted_types(),
        anime=query.is_anime,
        search=query.search,
        ids=query.ids,
        requested_by=query.requested_by,
        sources=query.source,
        sort=query.sort[0] if query.sort else Sort.DATE_DESC,
        page=query.page,
        limit=query.limit,
    )
    with context.db.read() as tx:
        page = items.page(tx, wanted)
    return ItemsBody(
        items=[shapes.item(row) for row in page.rows],
        page=query.page,
        limit=query.limit,
        total_items=page.total,
        total_pages=math.ceil(page.total / query.limit),
    )


def one(context: ApiContext, item_id: str, query: ItemQuery) -> DetailBody:
    """Return one item, by our id or by one of a metadata service."""
    with context.db.read() as tx:
        found = _found(tx, item_id, query.media_type)
    return shapes.detail(found, where(context), extended=query.extended)


def _found(tx: Tx, item_id: str, media_type: str = "item") -> ItemDetail:
    """Return the item that an id in a path means; raise ApiError 404 or 422."""
    if media_type == "item":
        key: int | tuple[MediaType, Ids] = our_id(item_id)
    elif item_id.startswith("tt"):
        key = (_root_type(media_type), Ids(imdb=item_id))
    else:
        digits = str(our_id(item_id))
        key = (_root_type(media_type), Ids(tmdb=digits) if media_type == "movie" else Ids(tvdb=digits))
    found = items.detail(tx, key)
    if found is None:
        kind = "item" if media_type == "item" else {"movie": "film", "tv": "show"}[media_type]
        raise ApiError(404, f"no {kind} has the id {item_id}")
    return found


def _root_type(media_type: str) -> MediaType:
    return MediaType.MOVIE if media_type == "movie" else MediaType.SHOW


def our_id(text: str) -> int:
    """Return the number in a path; raise ApiError 422 when it is none."""
    number = number_in(text)
    if number is None or not 1 <= number <= LARGEST_ID:
        raise ApiError(422, f"id: must be a whole number of 1 or more, not {shown(text)}")
    return number


def timeline(context: ApiContext, item_id: str, query: TimelineQuery) -> TimelineBody:
    """Return an item's story."""
    with context.db.read() as tx:
        item = _found(tx, item_id).item
        rows = decisions.timeline(tx, item.id, query.limit, with_descendants=query.descendants)
    return TimelineBody(
        item_id=item.id,
        state=item.last_state,
        next_attempt_at=item.schedule.next_attempt_at,
        next_reason=item.schedule.next_reason,
        reindex_at=item.schedule.reindex_at,
        timeline=[shapes.step(row) for row in rows],
    )


def releases(context: ApiContext, item_id: str) -> StreamsBody:
    """Return the releases found for an item."""
    with context.db.read() as tx:
        item = _found(tx, item_id).item
        found = streams.candidates(tx, item.id, context.clock.now(), context.providers())
    why = reasons(context, item.id, found)
    bodies = [shapes.stream(candidate, item, why.get(candidate.id, NO_REASONS)) for candidate in found]
    return StreamsBody(
        message=f"{len(bodies)} releases",
        streams=[body for body in bodies if body.blacklisted is None],
        blacklisted_streams=[body for body in bodies if body.blacklisted is not None],
    )


def add(context: ApiContext, body: AddBody) -> ActionBody:
    """Ask for titles."""
    return shapes.done("Added", context.actions.add(list(_wishes(body)), by_person=True))


def _wishes(body: AddBody) -> Iterator[ContentRequest]:
    found = [Ids(tmdb=text) for text in body.tmdb_ids or ()]
    found += [Ids(tvdb=text) for text in body.tvdb_ids or ()]
    found += [Ids(imdb=text) for text in body.imdb_ids or ()]
    for ids in dict.fromkeys(found):
        yield ContentRequest(
            source=SOURCE,
            is_movie=body.media_type == "movie",
            ids=ids,
            seasons=None if body.seasons is None else tuple(sorted(set(body.seasons))),
        )


def edit(context: ApiContext, item_id: str, body: EditBody) -> ActionBody:
    """Choose seasons, names, ranking or folders of a title; it counts at once, and the story tells of it."""
    try:
        return shapes.done("Edited", [context.actions.edit(our_id(item_id), body.edit(), "over the API")])
    except WrongEdit as error:
        raise ApiError(422, str(error)) from None


def retry_library(context: ApiContext) -> ActionBody:
    """Begin to start every unfinished title afresh; the queues show how far it is."""
    return shapes.begun(context.actions.retry_library())


Act = Callable[[Sequence[int]], tuple[ItemResult, ...]]


def _action(
    rule: str, done: str, act: Callable[[ApiContext], Act], summary: str, method: str = "POST"
) -> Route:
    """Return the route of an action on items; done: the verb of its message."""

    def handle(context: ApiContext, body: IdsBody) -> ActionBody:
        return shapes.done(done, act(context)(body.distinct))

    return Route(
        method=method, rule=rule, handle=handle, summary=summary, tag=TAG, body=IdsBody, answer=ActionBody
    )


def _remove(method: str) -> Route:
    summary = "Take items out of the library; a list does not bring them back"
    return _action("/items/remove", "Removed", lambda context: context.actions.remove, summary, method)


ROUTES = (
    Route(
        method="GET",
        rule="/items",
        handle=library,
        summary="List items",
        tag=TAG,
        query=ListQuery,
        answer=ItemsBody,
    ),
    Route(
        method="GET",
        rule="/items/<item_id>",
        handle=one,
        summary="Show one item",
        tag=TAG,
        query=ItemQuery,
        answer=DetailBody,
    ),
    Route(
        method="PATCH",
        rule="/items/<item_id>",
        handle=edit,
        summary="Choose seasons, names, ranking or folders of a title",
        tag=TAG,
        body=EditBody,
        answer=ActionBody,
    ),
    Route(
        method="GET",
        rule="/items/<item_id>/timeline",
        handle=timeline,
        summary="Tell an item's story",
        tag=TAG,
        query=TimelineQuery,
        answer=TimelineBody,
    ),
    Route(
        method="GET",
        rule="/items/<item_id>/streams",
        handle=releases,
        summary="List the releases found for an item",
        tag=TAG,
        answer=StreamsBody,
    ),
    Route(
        method="POST",
        rule="/items/add",
        handle=add,
        summary="Ask for titles",
        tag=TAG,
        body=AddBody,
        answer=ActionBody,
    ),
    Route(
        method="POST",
        rule="/items/retry_library",
        handle=retry_library,
        summary="Start every unfinished title afresh",
        tag=TAG,
        answer=ActionBody,
    ),
    _action("/items/retry", "Retried", lambda context: context.actions.retry, "Start items afresh"),
    _action(
        "/items/reindex", "Looking up", lambda context: context.actions.reindex, "Look titles up again now"
    ),
    _action("/items/pause", "Paused", lambda context: context.actions.pause, "Stop working on items"),
    _action("/items/unpause", "Unpaused", lambda context: context.actions.unpause, "Let paused items go on"),
    _action("/items/reset", "Reset", lambda context: context.actions.reset, "Make items as new"),
    _remove("DELETE"),
    _remove("POST"),
)
