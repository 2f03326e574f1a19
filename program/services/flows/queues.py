"""Every queue of the pipeline with its input, its children and what it does, in one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from types import UnionType

from program.events import Event
from program.plugins import Registry
from program.queues import MAP_SHARE, PARSE_SHARE, VALIDATE_SHARE, Job, Outcome, QueueDef
from program.queues.engine import Engine
from program.services.flows import (
    download_item,
    find_valid_torrent,
    names,
    plugin_hook,
    post_process,
    process_item_request,
    process_media_item,
    request_content_services,
    request_stream_link,
    scrape_item,
    tidy_account,
    torrent_files,
)
from program.services.flows.context import FlowContext, ItemJob
from program.services.matching.sandbox import (
    MapTask,
    ValidateTask,
    map_items_to_files,
    parse_scrape_results,
    validate_torrent_files,
)
from program.services.plugin import Plugin

Handler = Callable[[FlowContext, Job], Outcome]

# A trailing star stands for the queues of all plugins.
_INDEX = "riven.media-item.index.requested.*"
_SCRAPE = "riven.media-item.scrape.requested.*"
_DOWNLOAD = "riven.media-item.download.*"
_LINK = "riven.media-item.stream-link.requested.*"
_SCAN = "riven.media-item.library-scan.requested.*"
_SUBTITLE = "riven.media-item.subtitle.requested.*"
_CONTENT = "riven.content-service.requested.*"

FLOWS: Mapping[str, tuple[Handler, type | UnionType, frozenset[str]]] = {
    names.PROCESS_ITEM_REQUEST: (process_item_request.handle, ItemJob, frozenset({_INDEX})),
    names.PROCESS_MEDIA_ITEM: (
        process_media_item.handle,
        ItemJob,
        frozenset({names.SCRAPE_ITEM, names.DOWNLOAD_ITEM, _SCAN}),
    ),
    names.REQUEST_CONTENT_SERVICES: (
        request_content_services.handle,
        request_content_services.Poll,
        frozenset({_CONTENT}),
    ),
    names.SCRAPE_ITEM: (scrape_item.handle, ItemJob, frozenset({names.PARSE_SCRAPE_RESULTS})),
    names.DOWNLOAD_ITEM: (
        download_item.handle,
        ItemJob | download_item.Download,
        frozenset({names.FIND_VALID_TORRENT}),
    ),
    names.RANK_STREAMS: (find_valid_torrent.rank, ItemJob, frozenset()),
    names.FIND_VALID_TORRENT: (
        find_valid_torrent.handle,
        find_valid_torrent.Hunt,
        frozenset({names.RANK_STREAMS, names.VALIDATE_TORRENT_FILES, _DOWNLOAD}),
    ),
    names.REQUEST_STREAM_LINK: (request_stream_link.handle, request_stream_link.LinkWish, frozenset({_LINK})),
    names.REQUEST_SUBTITLES: (post_process.subtitles, ItemJob, frozenset({_SUBTITLE})),
    names.TIDY_ACCOUNT: (tidy_account.handle, tidy_account.Tidy, frozenset({_DOWNLOAD})),
    names.POST_PROCESS_MEDIA_ITEM: (post_process.handle, ItemJob, frozenset({names.REQUEST_SUBTITLES})),
}


@dataclass(frozen=True, slots=True)
class Sandboxed:
    """A queue whose handler gathers and whose function computes in the sandbox. share: of the machine's parallelism."""

    handler: Handler
    input: type
    children: frozenset[str]
    share: float
    function: Callable[..., object]


SANDBOXED: Mapping[str, Sandboxed] = {
    names.PARSE_SCRAPE_RESULTS: Sandboxed(
        scrape_item.parse, scrape_item.Search, frozenset({_SCRAPE}), PARSE_SHARE, parse_scrape_results
    ),
    names.MAP_ITEMS_TO_FILES: Sandboxed(
        torrent_files.map_files, MapTask, frozenset(), MAP_SHARE, map_items_to_files
    ),
    names.VALIDATE_TORRENT_FILES: Sandboxed(
        torrent_files.validate,
        ValidateTask,
        frozenset({names.MAP_ITEMS_TO_FILES}),
        VALIDATE_SHARE,
        validate_torrent_files,
    ),
}
# One search may bring a few thousand names.
SANDBOX_TIME_LIMIT = timedelta(minutes=2)


def define_flows(engine: Engine, ctx: FlowContext) -> None:
    """Define the ten flow queues, our own, and the three sandbox queues."""
    for name, (handler, kind, children) in FLOWS.items():
        engine.define(QueueDef(name=name, input=kind, handler=partial(handler, ctx), children=children))
    for name, queue in SANDBOXED.items():
        engine.define(
            QueueDef(
                name=name,
                input=queue.input,
                handler=partial(queue.handler, ctx),
                share=queue.share,
                children=queue.children,
                sandbox=queue.function,
                time_limit=SANDBOX_TIME_LIMIT,
            )
        )


def define_plugins(engine: Engine, ctx: FlowContext, registry: Registry, limits: Mapping[str, int]) -> None:
    """Define one queue per event that a plugin answers; `limits` overrides a plugin's own concurrency by key."""
    adding = plugin_hook.Adding()
    for plugin in registry.of(Plugin):
        for event_type in plugin.hooks():
            engine.define(
                QueueDef(
                    name=names.plugin_queue(event_type, plugin.key),
                    input=Event,
                    handler=partial(plugin_hook.handle, ctx, adding, plugin.key),
                    concurrency=limits.get(plugin.key, plugin.concurrency),
                )
            )
