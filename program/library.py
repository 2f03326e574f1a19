"""Entries as the files of the mounted tree, and links for whoever reads them."""

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

from loguru import logger

from program.db import companions, entries, shelves
from program.db.engine import Database
from program.db.views import StandingFile
from program.errors import Transient
from program.media.entry import Companion, Entry, Link
from program.media.naming import folder_of, render
from program.media.profiles import Profile, matching, roots_of
from program.media.templates import DEFAULTS, Templates
from program.queues import JobSpec, Priority
from program.queues.engine import Engine
from program.services.flows import names
from program.services.flows.moved_files import covering
from program.services.flows.request_stream_link import LinkWish
from program.settings.profiles import enabled_profiles
from program.settings.store import replace_file
from program.settings.vfs import VfsSettings
from program.vfs.tree import STANDARD_FOLDERS, TreeFile
from program.vfs.vfs import Vfs

# Which templates the names in the database were made with.
NAMES_FILE = "naming.json"
# A little less than a read may take in all, so that the reader learns why.
LINK_TIMEOUT = timedelta(seconds=25)
# What is told of a file that stands, or is to stand, in the tree.
Standing: TypeAlias = Entry | StandingFile


class MountedLibrary:
    """Shows entries in the virtual file system, in the folders that the user's profiles say."""

    def __init__(self, vfs: Vfs, db: Database, settings: Callable[[], VfsSettings], folder: Path) -> None:
        """Take what is handed in; settings: those in force, asked for each time; folder: keeps how the files are called."""
        self._vfs = vfs
        self._db = db
        self._settings = settings
        self._names_file = folder / NAMES_FILE
        # Held while the tree is changed, so that what was read from the database is not older than what is shown.
        self._lock = threading.Lock()
        self._tell: Callable[[Collection[str]], None] | None = None
        # Folders in which files have moved while nothing was mounted yet; a scan then would find nothing at all.
        self._untold: tuple[str, ...] = ()

    def tell_moves(self, tell: Callable[[Collection[str]], None]) -> None:
        """Tell from now on which folders on this machine files have left and come to."""
        self._tell = tell

    def load(self) -> list[TreeFile]:
        """Return every file that belongs in the tree: the database wins."""
        renamed = self._rename()
        files = self._shelved(self._registered(), None)
        roots = {file.entry_id: file.roots for file in files} if renamed else {}
        moved = [
            f"{root}{path}"
            for entry_id, paths in renamed.items()
            for path in paths
            for root in roots.get(entry_id, ())
        ]
        there = {folder_of(f"{root}{file.path}") for file in files for root in file.roots} if moved else set()
        self._untold = covering(moved, there.__contains__)
        return files

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Show the entries in `added` and take the entry ids in `removed` away."""
        with self._lock:
            added = list(added)
            self._vfs.apply(self._shelved(added, [entry.id for entry in added]), removed)

    def refresh(self, item_ids: Collection[int]) -> None:
        """Look again in which folders the files of these items belong: what is known of their title has changed."""
        if not self._profiles() or not item_ids:
            return
        with self._lock:
            with self._db.read() as tx:
                found = [
                    entry for entry in entries.for_items(tx, item_ids) if entry.registered_at is not None
                ]
            self._move(self._changed(self._shelved(found, [entry.id for entry in found])))

    def rearrange(self) -> None:
        """Look again where every file belongs; what is at its place already is not touched."""
        with self._lock:
            self._rename()
            files = self._changed(self._shelved(self._registered(), None))
            self._move(files, standing=standing_folders(self._settings()))
            untold, self._untold = self._untold, ()
            self._say(untold)
        if files:
            logger.info("{} files of the library have other places now", len(files))

    def real_path(self, path: str) -> str:
        """Return the absolute path on this machine of a path in the tree."""
        return f"{str(self._vfs.mount_path).rstrip('/')}{path}"

    def places(self, entry: Entry) -> tuple[str, ...]:
        """Return the absolute paths on this machine of an entry's file, the main one first; at least one."""
        shown = self._vfs.paths_of(entry.id) or (entry.path,)
        settings = self._settings()
        folder = settings.folder.rstrip("/")
        return tuple(f"{folder}{settings.shown_as(path)}" for path in shown)

    def is_open(self, entry_id: int) -> bool:
        """Return whether somebody has the file of an entry open."""
        return self._vfs.open_handles(entry_id) > 0

    def trouble_at(self, link: Link, size: int) -> str | None:
        """Return why an address does not give a file of that size, None when it does; raise Transient when it may later."""
        return self._vfs.trouble_at(link.url, size)

    def _move(self, files: list[TreeFile], standing: Iterable[str] | None = None) -> None:
        """Show files at their new places, and tell the folders that they left and came to."""
        before = {path for file in files for path in self._vfs.paths_of(file.entry_id)}
        self._vfs.apply(files, standing=standing)
        after = {path for file in files for path in self._vfs.paths_of(file.entry_id)}
        self._say(covering(before ^ after, lambda folder: self._vfs.lookup(folder) is not None))

    def _say(self, folders: Iterable[str]) -> None:
        """Tell folders of the library as those of this machine."""
        top = self._settings().folder.rstrip("/")
        if self._tell is not None:
            self._tell([f"{top}{folder}" for folder in folders])

    def _profiles(self) -> Mapping[str, Profile]:
        return enabled_profiles(self._settings().profiles)

    def _rename(self) -> Mapping[int, tuple[str, str]]:
        """Give every file the name that the templates make of it, when they are others than those its name was made with.

        Returns, by entry, the path that it had and the one that it has, where those differ and it stands in the tree.
        """
        templates = self._settings().naming.templates()
        if templates == self._last_templates():
            return {}
        with self._db.read() as tx:
            facts = shelves.name_facts(tx)
            before = {one.id: one.path for one in entries.registered(tx)}
        paths = {entry_id: render(one, templates) for entry_id, one in facts.items()}
        with self._db.write() as tx:
            shelves.set_paths(tx, paths)
        replace_file(self._names_file, json.dumps(asdict(templates)).encode())
        logger.info("{} files are called by the new templates", len(paths))
        moved = ((entry_id, path, paths.get(entry_id, path)) for entry_id, path in before.items())
        return {entry_id: (old, new) for entry_id, old, new in moved if old != new}

    def _last_templates(self) -> Templates:
        """Return the templates that the names of the files were made with; the defaults when nothing was written down."""
        try:
            return Templates(**json.loads(self._names_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return DEFAULTS

    def _registered(self) -> Iterator[StandingFile]:
        with self._db.read() as tx:
            yield from entries.registered(tx)

    def _shelved(self, found: Iterable[Standing], entry_ids: Collection[int] | None) -> list[TreeFile]:
        """Return what the tree shows of entries, in the folders that they belong to now, and write that down.

        entry_ids: theirs; None for all that there are.
        """
        profiles = self._profiles()
        keys: dict[int, tuple[str, ...]] = {}
        if profiles:
            found = list(found)
            keys = self._keys(found, profiles)
        with self._db.read() as tx:
            beside = companions.of(tx, entry_ids)
        languages = self._settings().subtitle_languages
        changed: dict[int, tuple[str, ...]] = {}
        files: list[TreeFile] = []
        # One after the other: of a large library only what the tree keeps is ever in memory.
        for entry in found:
            its = keys.get(entry.id, ())
            if entry.profiles != its:
                changed[entry.id] = its
            chosen = [one for one in beside.get(entry.id, ()) if one.is_wanted(languages)]
            files.append(tree_file(entry, roots_of(its, profiles), chosen))
        if changed:
            with self._db.write() as tx:
                shelves.set_profiles(tx, changed)
        return files

    def _keys(
        self, found: Collection[Standing], profiles: Mapping[str, Profile]
    ) -> dict[int, tuple[str, ...]]:
        """Return, by entry, the keys of the profiles that it belongs to."""
        with self._db.read() as tx:
            facts = shelves.title_facts(tx, [entry.id for entry in found])
        # All files of a show have the same facts.
        by_title = {title: matching(profiles.values(), title) for title in set(facts.values())}
        return {entry_id: by_title[title] for entry_id, title in facts.items()}

    def _changed(self, files: Iterable[TreeFile]) -> list[TreeFile]:
        """Return those of the files that are not in the tree as they are here."""
        return [file for file in files if self._vfs.tree.file(file.entry_id) != file]


def standing_folders(settings: VfsSettings) -> tuple[str, ...]:
    """Return the folders that are listed even when nothing is in them."""
    roots = ("", *(profile.root for profile in enabled_profiles(settings.profiles).values()))
    return tuple(f"{root}{folder}" for root in roots for folder in STANDARD_FOLDERS)


def tree_file(entry: Standing, roots: tuple[str, ...], beside: Iterable[Companion] = ()) -> TreeFile:
    """Return what the tree shows of an entry, and beside it."""
    modified = entry.registered_at or entry.created_at
    return TreeFile(
        path=entry.path,
        entry_id=entry.id,
        size=entry.size,
        modified=modified,
        identity=f"{entry.infohash}/{entry.path_in_torrent}",
        roots=roots,
        beside=tuple(
            TreeFile(one.tail, one.entry_id, one.size, modified, one.identity, owner=entry.id)
            for one in beside
        ),
    )


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
