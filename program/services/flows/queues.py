"""Every queue of the pipeline with its input, its output, its children and what it does, in one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from types import NoneType, UnionType
from typing import get_origin

from program.events import ASKED, CATALOGUE, Event
from program.media.entry import Link
from program.media.item import States
from program.plugins import Hooked
from program.queues import (
    FLOW_SHARE,
    MAP_SHARE,
    PARSE_SHARE,
    VALIDATE_SHARE,
    Job,
    Outcome,
    QueueDef,
    back_off_calls,
)
from program.queues.engine import Engine
from program.services.flows import (
    download_item,
    find_valid_torrent,
    mend_entry,
    moved_files,
    names,
    plugin_hook,
    post_process,
    process_item_request,
    process_media_item,
    request_content_services,
    request_stream_link,
    retry_library,
    scrape_item,
    second_sources,
    tidy_account,
    torrent_files,
    upgrade_item,
)
from program.services.flows.context import FlowContext, ItemJob
from program.services.flows.plugin_hook import Paused
from program.services.matching.sandbox import (
    MapTask,
    ValidateTask,
    map_items_to_files,
    parse_scrape_results,
    validate_torrent_files,
)

Handler = Callable[[FlowContext, Job], Outcome]
Kind = type | UnionType

# A trailing star stands for the queues of all plugins.
_INDEX = "riven.media-item.index.requested.*"
_SCRAPE = "riven.media-item.scrape.requested.*"
_DOWNLOAD = "riven.media-item.download.*"
_LINK = "riven.media-item.stream-link.requested.*"
_SCAN = "riven.media-item.library-scan.requested.*"
_FOLDER_SCAN = "riven.library.folder-scan.requested.*"
_SUBTITLE = "riven.media-item.subtitle.requested.*"
_CONTENT = "riven.content-service.requested.*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A queue: what it does, what its jobs take and give, which queues they may wait for.

    share: of the machine's parallelism. function: computes in the sandbox what the handler has gathered.
    """

    handler: Handler
    input: Kind
    output: Kind
    children: frozenset[str] = frozenset()
    share: float = FLOW_SHARE
    function: Callable[..., object] | None = None


FLOWS: Mapping[str, Flow] = {
    names.PROCESS_ITEM_REQUEST: Flow(
        handler=process_item_request.handle,
        input=process_item_request.RequestJob,
        output=int | NoneType,
        children=frozenset({_INDEX}),
    ),
    names.PROCESS_MEDIA_ITEM: Flow(
        handler=process_media_item.handle,
        input=process_media_item.MediaItemJob | upgrade_item.CopyJob,
        output=NoneType,
        children=frozenset(
            {
                names.SCRAPE_ITEM,
                names.DOWNLOAD_ITEM,
                names.PARSE_SCRAPE_RESULTS,
                names.FIND_VALID_TORRENT,
                _SCAN,
            }
        ),
    ),
    names.REQUEST_CONTENT_SERVICES: Flow(
        handler=request_content_services.handle,
        input=request_content_services.Poll,
        output=request_content_services.PollResult,
        children=frozenset({_CONTENT}),
    ),
    names.SCRAPE_ITEM: Flow(
        handler=scrape_item.handle,
        input=ItemJob,
        output=States | NoneType,
        children=frozenset({names.PARSE_SCRAPE_RESULTS}),
    ),
    names.DOWNLOAD_ITEM: Flow(
        handler=download_item.handle,
        input=ItemJob | download_item.Download,
        output=int,
        children=frozenset({names.FIND_VALID_TORRENT}),
    ),
    names.RANK_STREAMS: Flow(handler=find_valid_torrent.rank, input=ItemJob, output=tuple),
    names.FIND_VALID_TORRENT: Flow(
        handler=find_valid_torrent.handle,
        input=find_valid_torrent.Hunt,
        output=find_valid_torrent.Catch | find_valid_torrent.NoCatch,
        children=frozenset({names.RANK_STREAMS, names.VALIDATE_TORRENT_FILES, _DOWNLOAD}),
    ),
    names.REQUEST_STREAM_LINK: Flow(
        handler=request_stream_link.handle,
        input=request_stream_link.LinkWish,
        output=Link,
        children=frozenset({_LINK}),
    ),
    names.REQUEST_SUBTITLES: Flow(
        handler=post_process.subtitles, input=ItemJob, output=int, children=frozenset({_SUBTITLE})
    ),
    names.POST_PROCESS_MEDIA_ITEM: Flow(
        handler=post_process.handle,
        input=ItemJob,
        output=NoneType,
        children=frozenset({names.REQUEST_SUBTITLES}),
    ),
    names.TIDY_ACCOUNT: Flow(
        handler=tidy_account.handle, input=tidy_account.Tidy, output=int, children=frozenset({_DOWNLOAD})
    ),
    names.MEND_ENTRY: Flow(
        handler=mend_entry.handle,
        input=mend_entry.Mend,
        output=NoneType,
        children=frozenset({_LINK, _DOWNLOAD}),
    ),
    names.SECOND_SOURCES: Flow(
        handler=second_sources.handle,
        input=second_sources.SecondSources,
        output=NoneType,
        children=frozenset({_DOWNLOAD}),
    ),
    names.SCAN_MOVED_FILES: Flow(
        handler=moved_files.handle,
        input=moved_files.Moved,
        output=NoneType,
        children=frozenset({_FOLDER_SCAN}),
    ),
    names.RETRY_LIBRARY: Flow(handler=retry_library.handle, input=retry_library.Retry, output=int, share=0),
    names.PARSE_SCRAPE_RESULTS: Flow(
        handler=scrape_item.parse,
        input=scrape_item.Search,
        output=scrape_item.SearchAnswer,
        children=frozenset({_SCRAPE}),
        share=PARSE_SHARE,
        function=parse_scrape_results,
    ),
    names.MAP_ITEMS_TO_FILES: Flow(
        handler=torrent_files.map_files,
        input=MapTask,
        output=tuple,
        share=MAP_SHARE,
        function=map_items_to_files,
    ),
    names.VALIDATE_TORRENT_FILES: Flow(
        handler=torrent_files.validate,
        input=ValidateTask,
        output=torrent_files.Checked,
        children=frozenset({names.MAP_ITEMS_TO_FILES}),
        share=VALIDATE_SHARE,
        function=validate_torrent_files,
    ),
}
# One search may bring a few thousand names.
SANDBOX_TIME_LIMIT = timedelta(minutes=2)


def define_flows(engine: Engine, ctx: FlowContext) -> None:
    """Define the ten flow queues, our own, and the three sandbox queues."""
    for name, flow in FLOWS.items():
        engine.define(
            QueueDef(
                name=name,
                input=flow.input,
                output=flow.output,
                handler=partial(flow.handler, ctx),
                share=flow.share,
                children=flow.children,
                sandbox=flow.function,
                time_limit=SANDBOX_TIME_LIMIT,
            )
        )


def define_plugins(engine: Engine, ctx: FlowContext, hooked: Hooked, limits: Mapping[str, int]) -> None:
    """Define one queue per event that a plugin answers; `limits` overrides a plugin's own concurrency by key."""
    for plugin, event_types in hooked:
        for event_type in event_types:
            event = CATALOGUE.get(event_type, Event)
            engine.define(
                QueueDef(
                    name=names.plugin_queue(event_type, plugin.key),
                    input=event,
                    output=answer_of(event),
                    handler=partial(plugin_hook.handle, ctx, plugin.key),
                    concurrency=limits.get(plugin.key, plugin.concurrency),
                    backoff=back_off_calls,
                )
            )


def answer_of(event: type[Event]) -> Kind | None:
    """Return what a plugin may answer, or that it is paused; None for what it is only told, whose answer counts for nothing.

    What is inside a list or a mapping is looked at where the hook is called.
    """
    if event not in ASKED:
        return None
    answer = event.answer
    if isinstance(answer, UnionType):
        return answer | Paused
    kind = NoneType if answer is None else get_origin(answer) or answer
    return kind | Paused
