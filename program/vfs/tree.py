"""The library as an immutable tree of folders and files; pure.

One writer changes the claims behind it (`claims.py`) and publishes new folders; readers take the published root and never lock.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeAlias

from program.media.naming import safe_name
from program.vfs.claims import Directory, Folder, Node, TreeFile, Version

__all__ = ["STANDARD_FOLDERS", "Directory", "Frozen", "Node", "Tree", "TreeFile", "Version"]

STANDARD_FOLDERS = ("/movies", "/shows")

# Paths whose file is open, with the version that is open.
Frozen: TypeAlias = Mapping[str, Version]


class Tree:
    """The tree of the whole library. Reading never locks."""

    def __init__(
        self, files: Iterable[TreeFile] = (), standard_folders: Iterable[str] = STANDARD_FOLDERS
    ) -> None:
        """Build the tree in one go; `standard_folders` are listed even when nothing is in them."""
        self._lock = threading.Lock()
        self._top = Folder(None, "")
        self._files: dict[int, TreeFile] = {}
        # Whose file it stands beside, by the id of each that stands beside another.
        self._owners: dict[int, int] = {}
        self._total = 0
        # Open files that were removed: by path, the folder that they keep.
        self._ghosts: dict[str, tuple[str, ...]] = {}
        self._standing: tuple[str, ...] = ()
        self._stand(standard_folders, [])
        for file in files:
            self._remove(file.entry_id, [], {})
            self._add(file)
        self._top.publish({}, None, None)

    @property
    def root(self) -> Directory:
        """The root as it is now."""
        return self._top.published

    def lookup(self, path: str) -> Node | None:
        """Return what is at an absolute path as shown, or None."""
        node: Node | None = self._top.published
        for part in path.split("/"):
            if part:
                node = node.children.get(part) if isinstance(node, Directory) else None
        return node

    def names(self, path: str) -> tuple[str, ...] | None:
        """Return the names in a folder, or None when there is no such folder."""
        node = self.lookup(path)
        return tuple(node.children) if isinstance(node, Directory) else None

    def file(self, entry_id: int) -> TreeFile | None:
        """Return the file of an entry as it was added, or None."""
        return self._files.get(entry_id)

    def path_of(self, entry_id: int) -> str | None:
        """Return where the file of an entry is shown, None when it is not (unknown, or waiting for an open file to close)."""
        return next(iter(self._places_of(entry_id)), None)

    def paths_of(self, entry_id: int) -> tuple[str, ...]:
        """Return every path at which the file of an entry is shown, the main one first."""
        return tuple(self._places_of(entry_id))

    def _places_of(self, entry_id: int) -> Iterator[str]:
        """Yield where the file of an entry is shown."""
        owner = self._files.get(self._owners.get(entry_id, entry_id))
        if owner is None:
            return
        file = next((one for one in owner.beside if one.entry_id == entry_id), owner)
        for root in owner.roots:
            shown = self._shown_at(file, root + owner.path)
            if shown is not None:
                yield shown

    def _shown_at(self, file: TreeFile, wanted: str) -> str | None:
        """Return where a file is shown in the folder of the path `wanted`, None when it is not."""
        node, path = self._top.published, ""
        for part in _parts(wanted)[:-1]:
            # Nearly always the name as it is; a folder may be shown in another spelling.
            name = part if part in node.children else _spelled(node, part)
            child = node.children.get(name)
            if not isinstance(child, Directory):
                return None
            node, path = child, f"{path}/{name}"
        shown = (
            name for name, child in node.children.items() if isinstance(child, TreeFile) and child is file
        )
        return next((f"{path}/{name}" for name in shown), None)

    def totals(self) -> tuple[int, int]:
        """Return the number of files and the sum of their sizes."""
        return len(self._files), self._total

    def apply(
        self,
        added: Iterable[TreeFile] = (),
        removed: Iterable[int] = (),
        *,
        standing: Iterable[str] | None = None,
        frozen: Frozen | None = None,
        at: datetime | None = None,
    ) -> set[str]:
        """Remove entries by id, add files (one whose id is known replaces it), and return every path that changed.

        standing: the folders that are to be listed even when nothing is in them; None leaves those as they are.

        A frozen path keeps the file that is open there, or stays empty once that was removed, until `thaw`; its folder stays
        until then too, since the kernel goes on with what it knows of an open file when its folder comes back. at: the time
        that changed folders get when it is later than that of their files.
        """
        changed: set[str] = set()
        left: list[Folder] = []
        open_paths: dict[Version, list[str]] = {}
        for path, version in (frozen or {}).items():
            open_paths.setdefault(version, []).append(path)
        with self._lock:
            for entry_id in removed:
                self._remove(entry_id, left, open_paths)
            for file in added:
                self._remove(file.entry_id, left, open_paths)
                self._add(file)
            if standing is not None:
                self._stand(standing, left)
            for folder in left:
                folder.prune()
            self._top.publish(frozen or {}, at, changed)
        return changed

    def thaw(self, path: str, frozen: Frozen, at: datetime | None = None) -> set[str]:
        """Show at `path` what ought to be there, now that it is no longer open; return every path that changed."""
        changed: set[str] = set()
        with self._lock:
            parts = self._ghosts.pop(path, None)
            folder = self._top.descend(parts, -1) if parts else self._top.find(_parts(path)[:-1])
            if folder is not None:
                folder.recompute()
                folder.prune()
                self._top.publish(frozen, at, changed)
        return changed

    def _add(self, file: TreeFile) -> None:
        """Let the file claim its name. Call with the lock held."""
        for parts in _places(file):
            self._top.descend(parts[:-1], 1).claim(parts[-1], file)
        self._files[file.entry_id] = file
        self._owners.update((one.entry_id, file.entry_id) for one in file.beside)
        self._total += file.size

    def _stand(self, standing: Iterable[str], left: list[Folder]) -> None:
        """Have exactly these folders listed when they are empty, noting those that no longer are. Call with the lock held."""
        before, self._standing = self._standing, tuple(dict.fromkeys(standing))
        for path in self._standing:
            if path not in before:
                self._top.descend(_parts(path), 1)
        left.extend(self._top.descend(_parts(path), -1) for path in before if path not in self._standing)

    def _remove(self, entry_id: int, left: list[Folder], open_paths: Mapping[Version, list[str]]) -> None:
        """Give up the claims of an entry, if it has any, noting the folders it left. Call with the lock held."""
        file = self._files.pop(entry_id, None)
        if file is None:
            return
        self._total -= file.size
        for one in file.beside:
            self._owners.pop(one.entry_id, None)
        opened = [path for version in file.versions for path in open_paths.get(version, ())]
        for parts in _places(file):
            ghost = _open_in(parts[:-1], opened)
            is_new_ghost = ghost is not None and ghost not in self._ghosts
            if ghost is not None and is_new_ghost:
                self._ghosts[ghost] = parts[:-1]
            folder = self._top.descend(parts[:-1], 0 if is_new_ghost else -1)
            folder.give_up(parts[-1], file)
            left.append(folder)


def _parts(path: str) -> tuple[str, ...]:
    """Return the path's components, each made safe; a path without any is one nameless file's."""
    return tuple(safe_name(part) for part in path.split("/") if part) or (safe_name(""),)


def _places(file: TreeFile) -> Iterator[tuple[str, ...]]:
    """Yield the components of each path that the file asks for."""
    for root in file.roots:
        yield _parts(root + file.path)


def _open_in(folder: tuple[str, ...], paths: Iterable[str]) -> str | None:
    """Return the one of the open paths that is in the folder, None when there is none."""
    wanted = [part.casefold() for part in folder]
    return next((path for path in paths if [part.casefold() for part in _parts(path)[:-1]] == wanted), None)


def _spelled(folder: Directory, name: str) -> str:
    """Return the name of a child that differs in letter case at most."""
    return next((shown for shown in folder.children if shown.casefold() == name.casefold()), name)
