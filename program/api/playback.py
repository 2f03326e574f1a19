"""Playing a title without the mount: its file with ranges, or as HLS."""

from contextlib import ExitStack
from itertools import chain

from flask import Response
from pydantic import Field

from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.files import send
from program.api.items import our_id
from program.api.places import RETRY_SECONDS
from program.api.routes import Handler, Payload, Route
from program.db import entries, items
from program.media.entry import Entry
from program.media.item import Node
from program.playback.hls import SEGMENT_SECONDS, Form, Height, Level, PixelFormat, Profile, count, playlist
from program.vfs.tree import TreeFile

TAG = "playback"
PLAYLIST, SEGMENT = "application/vnd.apple.mpegurl", "video/mp2t"


class HlsQuery(Payload):
    """What the player can show."""

    pix_fmt: PixelFormat = "yuv420p"
    profile: Profile = "high"
    level: Level = "4.1"
    resolution: Height | None = Field(
        default=None, description="Height of the picture; as it is when left out"
    )

    def form(self) -> Form:
        """Return it for the converter."""
        return Form(pix_fmt=self.pix_fmt, profile=self.profile, level=self.level, height=self.resolution)


def entry_of(context: ApiContext, item_id: str) -> Entry:
    """Return the file of an item; of a show or a season, of its first episode that has one. Raises ApiError 404, 422."""
    number = our_id(item_id)
    with context.db.read() as tx:
        root_id = items.root_of(tx, [number]).get(number, 0)
        root = items.tree(tx, root_id, context.clock.now(), context.providers())
        node = root.find(number) if root else None
        if node is None:
            raise ApiError(404, f"no item has the id {item_id}")
        for leaf in _in_order(node):
            for entry in entries.for_items(tx, [leaf.item.id]):
                if entry.registered_at is not None:
                    return entry
    raise ApiError(404, f"item {item_id} has no file in the library yet")


def _in_order(node: Node) -> list[Node]:
    """Return the leaves in the order in which they are watched: specials last."""
    seasons = sorted(node.children, key=lambda child: (not child.item.number, child.item.number or 0))
    return [leaf for season in seasons for leaf in season.leaves()] if node.children else [node]


def file(context: ApiContext, item_id: str) -> Response:
    """Send a title's file, or the range of it that is asked for."""
    path = context.files.path_of(entry_of(context, item_id).id)
    node = context.files.lookup(path) if path is not None else None
    if path is None or not isinstance(node, TreeFile):
        raise ApiError(503, "the file is not in the library just now", {"Retry-After": str(RETRY_SECONDS)})
    return send(context, path, node)


def index(context: ApiContext, item_id: str, query: HlsQuery) -> Response:
    """Send the list of a title's segments."""
    seconds = context.converter.duration(entry_of(context, item_id).id)
    return Response(playlist(seconds, query.form()), mimetype=PLAYLIST)


def segment(context: ApiContext, item_id: str, number: str, query: HlsQuery) -> Response:
    """Send a segment as it is made."""
    entry, wanted = entry_of(context, item_id), our_number(number)
    converter = context.converter
    if wanted >= count(converter.duration(entry.id)):
        raise ApiError(404, f"there is no segment {number}; each is {SEGMENT_SECONDS} seconds long")
    with ExitStack() as stack:
        context.places.take()
        stack.callback(context.places.give_back)
        made = converter.segment(entry.id, wanted, query.form())
        # The process ends with whoever listens to it.
        stack.callback(made.close)
        # The first piece comes before the answer begins, so that a failure is told.
        answer = Response(chain((next(made, b""),), made), mimetype=SEGMENT)
        answer.call_on_close(stack.pop_all().close)
    return answer


def our_number(text: str) -> int:
    """Return the number of a segment; raise ApiError 422 when it is none."""
    return 0 if text == "0" else our_id(text)


def _route(rule: str, handle: Handler, summary: str, media: str, query: type[Payload] | None = None) -> Route:
    return Route(method="GET", rule=rule, handle=handle, summary=summary, tag=TAG, media=media, query=query)


ROUTES = (
    _route("/stream/file/<item_id>", file, "Send a title's file, with ranges", "video/*"),
    _route("/stream/hls/<item_id>/index.m3u8", index, "List a title's segments (HLS)", PLAYLIST, HlsQuery),
    _route("/stream/hls/<item_id>/segment/<number>.ts", segment, "Send a segment (HLS)", SEGMENT, HlsQuery),
)
