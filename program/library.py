"""Entries as the files of the mounted tree, and links for whoever reads them."""

from collections.abc import Iterable
from datetime import timedelta

from program.db import entries
from program.db.engine import Database
from program.errors import Transient
from program.media.entry import Entry, Link
from program.queues import JobSpec, Priority
from program.queues.engine import Engine
from program.services.flows import names
from program.services.flows.request_stream_link import LinkWish
from program.vfs.tree import TreeFile
from program.vfs.vfs import Vfs

# A little less than a read may take in all, so that the reader learns why.
LINK_TIMEOUT = timedelta(seconds=25)


class MountedLibrary:
    """Shows entries in the virtual file system."""

    def __init__(self, vfs: Vfs, mount_path: str) -> None:
        self._vfs = vfs
        self._mount_path = mount_path.rstrip("/")

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Show the entries in `added` and take the entry ids in `removed` away."""
        self._vfs.apply([tree_file(entry) for entry in added], removed)

    def real_path(self, path: str) -> str:
        """Return the absolute path on this machine of a path in the tree."""
        return f"{self._mount_path}{path}"

    def is_open(self, entry_id: int) -> bool:
        """Return whether somebody has the file of an entry open."""
        return self._vfs.open_handles(entry_id) > 0

    def trouble_at(self, link: Link, size: int) -> str | None:
        """Return why an address does not give a file of that size, None when it does; raise Transient when it may later."""
        return self._vfs.trouble_at(link.url, size)


def tree_file(entry: Entry) -> TreeFile:
    """Return what the tree shows of an entry."""
    return TreeFile(
        path=entry.path,
        entry_id=entry.id,
        size=entry.size,
        modified=entry.registered_at or entry.created_at,
        identity=f"{entry.infohash}/{entry.path_in_torrent}",
    )


def registered_files(db: Database) -> list[TreeFile]:
    """Return every file that belongs in the tree: the database wins."""
    with db.read() as tx:
        return [tree_file(entry) for entry in entries.registered(tx)]


class Links:
    """Gives the file system an address to read from, through the queue, so that many readers ask once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def resolve(self, entry_id: int, dead_url: str | None) -> Link:
        """Return an address of the entry other than `dead_url`; raise a RivuletError when there is none in time."""
        link = self._ask(entry_id, dead_url)
        # A job that began before the address died may have answered with it.
        return self._ask(entry_id, dead_url) if link.url == dead_url else link

    def _ask(self, entry_id: int, dead_url: str | None) -> Link:
        spec = JobSpec(
            queue=names.REQUEST_STREAM_LINK,
            name=f"link of entry {entry_id}",
            data=LinkWish(entry_id, dead_url),
            dedup_id=names.stream_link_id(entry_id),
            priority=Priority.INTERACTIVE,
            attempts=1,
        )
        link = self._engine.call(spec, LINK_TIMEOUT.total_seconds())
        if not isinstance(link, Link):
            raise Transient(f"no link for entry {entry_id}")
        return link
