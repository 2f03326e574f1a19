"""Names of the queues and of the dedup ids, in one place so that every room spells them alike."""

import re
from collections.abc import Iterable

from program.media.item import MediaType
from program.queues.queue import PLUGIN_MARK

PROCESS_ITEM_REQUEST = "process-item-request"
PROCESS_MEDIA_ITEM = "process-media-item"
REQUEST_CONTENT_SERVICES = "request-content-services"
SCRAPE_ITEM = "scrape-item"
PARSE_SCRAPE_RESULTS = "scrape-item.parse-scrape-results"
DOWNLOAD_ITEM = "download-item"
RANK_STREAMS = "download-item.rank-streams"
FIND_VALID_TORRENT = "download-item.find-valid-torrent"
MAP_ITEMS_TO_FILES = "download-item.map-items-to-files"
VALIDATE_TORRENT_FILES = "download-item.validate-torrent-files"
REQUEST_STREAM_LINK = "request-stream-link"
REQUEST_SUBTITLES = "request-subtitles"
POST_PROCESS_MEDIA_ITEM = "post-process-media-item"
# Not the specification's: clears up after ourselves; does what a person asked for the whole library.
TIDY_ACCOUNT = "tidy-account"
RETRY_LIBRARY = "retry-library"
# Nor are these: they keep files readable.
MEND_ENTRY = "mend-entry"
SECOND_SOURCES = "second-sources"
# Media servers look again where names or folders have changed.
SCAN_MOVED_FILES = "scan-moved-files"

# The queues whose jobs belong to one row of the library; while one is held, the row is in flight.
ITEM_QUEUES = (PROCESS_ITEM_REQUEST, PROCESS_MEDIA_ITEM, POST_PROCESS_MEDIA_ITEM)
_ITEM_ID = re.compile(r"-(\d+)$")


def process_item_request_id(root_id: int) -> str:
    """Return the dedup id of indexing a title."""
    return f"process-item-request-{root_id}"


def process_media_item_id(media_type: MediaType, item_id: int) -> str:
    """Return the dedup id of moving an item on."""
    return f"process-{media_type.value}-{item_id}"


def post_process_id(media_type: MediaType, item_id: int) -> str:
    """Return the dedup id of post-processing an item."""
    return f"post-process-{media_type.value}-{item_id}"


def stream_link_id(entry_id: int) -> str:
    """Return the dedup id of resolving an entry's link."""
    return f"request-stream-link-{entry_id}"


def mend_entry_id(entry_id: int) -> str:
    """Return the dedup id of looking after a file."""
    return f"mend-entry-{entry_id}"


def second_sources_id(key: str) -> str:
    """Return the dedup id of asking a provider for the torrents of others."""
    return f"second-sources-{key}"


def content_service_id(key: str) -> str:
    """Return the dedup id of polling a content service."""
    return f"request-content-service-{key}"


def plugin_queue(event_type: str, key: str) -> str:
    """Return the name of a plugin's own queue for an event."""
    return f"{event_type}{PLUGIN_MARK}{key}]"


def plugin_key(queue: str) -> str:
    """Return the key of the plugin whose queue this is."""
    return queue.rpartition(PLUGIN_MARK)[2].removesuffix("]")


def item_ids(dedup_ids: Iterable[str]) -> frozenset[int]:
    """Return the item ids that dedup ids of the item queues end in."""
    return frozenset(int(match[1]) for match in map(_ITEM_ID.search, dedup_ids) if match)


def all_item_keys(media_type: MediaType, item_id: int) -> tuple[tuple[str, str], ...]:
    """Return (queue, dedup id) of every job that an item can have of its own."""
    keys = [
        (PROCESS_MEDIA_ITEM, process_media_item_id(media_type, item_id)),
        (POST_PROCESS_MEDIA_ITEM, post_process_id(media_type, item_id)),
    ]
    if media_type.is_root:
        keys.append((PROCESS_ITEM_REQUEST, process_item_request_id(item_id)))
    return tuple(keys)
