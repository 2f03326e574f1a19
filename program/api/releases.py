"""What a person has against releases of an item, or has no more."""

from pydantic import Field

from program.actions import ItemResult
from program.api.answers.base import MessageBody
from program.api.context import ApiContext
from program.api.items import our_id
from program.api.routes import Payload, Route
from program.api.scrape import release_of

TAG = "items"
LONGEST_REASON = 200


class BlacklistQuery(Payload):
    """Why; it stands in the item's story."""

    reason: str = Field(default="not wanted", min_length=1, max_length=LONGEST_REASON)


def blacklist(context: ApiContext, item_id: str, stream_id: str, query: BlacklistQuery) -> MessageBody:
    """Never use a release for an item again; where it is in use, another is searched."""
    number = our_id(item_id)
    infohash, _ = release_of(context, number, our_id(stream_id))
    return _said(context.actions.blacklist(number, infohash, query.reason))


def unblacklist(context: ApiContext, item_id: str, stream_id: str) -> MessageBody:
    """Allow a release again."""
    number = our_id(item_id)
    infohash, _ = release_of(context, number, our_id(stream_id))
    return _said(context.actions.unblacklist(number, infohash))


def reset(context: ApiContext, item_id: str) -> MessageBody:
    """Allow every release of an item again, also those that a debrid service refused."""
    return _said(context.actions.allow_all(our_id(item_id)))


def _said(result: ItemResult) -> MessageBody:
    return MessageBody(message=f"{result.title}: {result.sentence}")


ROUTES = (
    Route(
        method="POST",
        rule="/items/<item_id>/streams/<stream_id>/blacklist",
        handle=blacklist,
        summary="Rule a release out for an item",
        tag=TAG,
        query=BlacklistQuery,
        answer=MessageBody,
    ),
    Route(
        method="POST",
        rule="/items/<item_id>/streams/<stream_id>/unblacklist",
        handle=unblacklist,
        summary="Allow a release again",
        tag=TAG,
        answer=MessageBody,
    ),
    Route(
        method="POST",
        rule="/items/<item_id>/streams/reset",
        handle=reset,
        summary="Allow every release of an item again",
        tag=TAG,
        answer=MessageBody,
    ),
)
