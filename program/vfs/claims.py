"""Which file gets which name: the model that the tree is published from; pure.

The answer depends only on the set of files, so it is the same after a restart. Of two files that want one name (letter case
aside, for Windows clients) the one with the lower entry id gets it, the other gets ` (2)` before its extension; a folder keeps
its name against a file, and of two spellings of one folder the first in alphabetical order is shown.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import TypeAlias

from program.media.naming import beside, numbered, safe_name

# The time of a folder in which nothing has ever been; constant, since media servers take a change for news.
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

Version: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file. entry_id: its identity; size: bytes; modified: aware UTC.

    identity: what tells contents of equal size apart (an infohash and a path, for example); blob: the contents themselves,
    for small files such as subtitles, whose ids are the caller's to keep apart (negative ones, say). roots: folders under which
    `path` appears, the main one first; `""` is the top.

    beside: what appears beside it and goes with it, such as its subtitles; the `path` of each is how its name goes on after that of
    this file (`.en.srt`, ` - part2.avi`), and `owner` is this file's id.
    """

    path: str
    entry_id: int
    size: int
    modified: datetime
    identity: str = ""
    blob: bytes | None = None
    roots: tuple[str, ...] = ("",)
    beside: tuple["TreeFile", ...] = ()
    owner: int | None = None

    @property
    def version(self) -> Version:
        """What two files must share for bytes of one to be bytes of the other."""
        return (self.entry_id, self.size, self.identity)

    @property
    def versions(self) -> tuple[Version, ...]:
        """The versions of this file and of those beside it."""
        return (self.version, *(file.version for file in self.beside))


@dataclass(frozen=True, slots=True)
class Directory:
    """One folder as published; `children` is never changed afterwards. folders: how many of the children are folders."""

    children: Mapping[str, "Node"]
    modified: datetime
    folders: int = 0


Node: TypeAlias = TreeFile | Directory


NOTHING = Directory({}, EPOCH)

# Up to this many, looking at all again costs less than remembering who is called what: most folders are small.
SMALL_FOLDER = 64

# What most folders have below them; never written to.
_NO_FOLDERS: dict[str, "Folder"] = {}


@dataclass(slots=True, eq=False)
class Folder:
    """The writer's side of one folder. Nothing here locks; the tree does.

    spelling: the folder's name as it is shown; below: how many files below (and standing folders) spell it so; others: the same
    for further spellings. files: what is to be here;
    touched: names to look at again. claims, shown: in large folders, which files want a name, and the name that each key has.
    accompanied: how many files have others beside them.
    """

    parent: "Folder | None"
    key: str
    spelling: str = ""
    below: int = 0
    others: dict[str, int] | None = None
    folders: dict[str, "Folder"] = field(default_factory=lambda: _NO_FOLDERS)
    files: tuple[TreeFile, ...] = ()
    claims: dict[str, tuple[TreeFile, ...]] | None = None
    touched: set[str] | None = None
    shown: dict[str, str] | None = None
    accompanied: int = 0
    published: Directory = NOTHING

    def find(self, parts: tuple[str, ...]) -> "Folder | None":
        """Return the folder below this one, or None."""
        folder: Folder | None = self
        for part in parts:
            folder = folder.folders.get(_key(part)) if folder else None
        return folder

    def descend(self, parts: tuple[str, ...], count: int) -> "Folder":
        """Return the folder below this one, made when missing, with `count` files more on each spelling of the way."""
        folder = self
        for part in parts:
            key = _key(part)
            child = folder.folders.get(key)
            if child is None:
                child = Folder(folder, key)
                if not folder.folders:
                    folder.folders = {}
                folder.folders[key] = child
            shown = child.spelling
            child.spell(part, count)
            if child.spelling != shown:
                folder.touch(key)
            folder = child
        return folder

    def spell(self, spelling: str, more: int) -> None:
        """Note that so many more files below spell the name so; the first spelling in alphabetical order is shown."""
        if spelling == self.spelling and self.below + more > 0:
            self.below += more
            return
        counts = {self.spelling: self.below, **(self.others or {})}
        counts[spelling] = counts.get(spelling, 0) + more
        left = {one: count for one, count in counts.items() if count > 0}
        self.spelling = min(left, default="")
        self.below = left.pop(self.spelling, 0)
        self.others = left or None

    def claim(self, name: str, file: TreeFile) -> None:
        """Note that the file wants the name."""
        if self.claims is None and len(self.files) == SMALL_FOLDER:
            self.claims, self.files = _by_key(self.files), ()
        if self.claims is None:
            self.files = (*self.files, file)
        else:
            key = _key(name)
            self.claims[key] = _in_order((*self.claims.get(key, ()), file))
        self.accompanied += bool(file.beside)
        self._touch_name(name)

    def give_up(self, name: str, file: TreeFile) -> None:
        """Note that the file no longer wants the name."""
        if self.claims is None:
            self.files = _without(self.files, file)
        else:
            key = _key(name)
            left = _without(self.claims.pop(key), file)
            if left:
                self.claims[key] = left
        self.accompanied -= bool(file.beside)
        self._touch_name(name)

    def prune(self) -> None:
        """Take this folder, and those above it, out of the model when no file is below."""
        folder = self
        while folder.parent and not folder.below and folder.parent.folders.get(folder.key) is folder:
            del folder.parent.folders[folder.key]
            folder.parent.touch(folder.key)
            folder = folder.parent

    def touch(self, key: str) -> None:
        """Have a name looked at again by the next `publish`, and with it the folders on the way down to it."""
        folder: Folder | None = self
        while folder is not None:
            if folder.touched is None:
                folder.touched = set()
            folder.touched.add(key)
            key, folder = folder.key, folder.parent

    def _touch_name(self, name: str) -> None:
        """Have the name looked at again; in a folder that does not remember its names, all of them will be."""
        self.touch(_key(name) if self.shown is not None else "")

    def recompute(self) -> None:
        """Have the whole folder looked at again by the next `publish`."""
        self.shown = None
        self.touch("")

    def publish(
        self, frozen: Mapping[str, Version], at: datetime | None, changed: set[str] | None, path: str = ""
    ) -> None:
        """Publish this folder and those below it that were touched, adding every path that changed to `changed`.

        changed: None when nobody asks; for a whole library it would be as large as the tree.
        """
        touched = self.touched or set()
        self.touched = None
        for key in touched:
            child = self.folders.get(key)
            if child is not None and child.touched:
                child.publish(frozen, at, changed, f"{path}/{child.spelling}")
        before = self.published.children
        if self.shown is None or self.accompanied or any(self._wanted(key) > 1 for key in touched):
            children, names = self._all_children(), None
        else:
            children, names = self._patched_children(self.shown, touched)
        self._keep_open_files(children, frozen, path)
        if (self.accompanied or frozen) and _add_beside(children):
            self._keep_open_files(children, frozen, path)
            self.shown, names = None, None
        names = before.keys() | children.keys() if names is None else names
        differing = {name for name in names if before.get(name) is not children.get(name)}
        if differing:
            if changed is not None:
                changed.add(path or "/")
                changed.update(f"{path}/{name}" for name in differing)
            self.published = self._directory(children, differing, at)

    def _wanted(self, key: str) -> int:
        """Return how many want the name."""
        return len(self._claims().get(key, ())) + (key in self.folders)

    def _claims(self) -> Mapping[str, tuple[TreeFile, ...]]:
        """Return by key which files want a name, the one that gets it first."""
        return _by_key(self.files) if self.claims is None else self.claims

    def _all_children(self) -> dict[str, Node]:
        """Return every child under the name it gets; remember the names of a large folder without collisions."""
        shown = {key: child.spelling for key, child in self.folders.items()}
        children: dict[str, Node] = {shown[key]: child.published for key, child in self.folders.items()}
        late: list[TreeFile] = []
        for key, files in self._claims().items():
            if key in shown:
                late.extend(files)
                continue
            shown[key] = _own_name(files[0])
            children[shown[key]] = files[0]
            late.extend(files[1:])
        taken = set(shown)
        for file in sorted(late, key=lambda file: file.entry_id):
            name = next(name for name in _numbered_names(_own_name(file)) if _key(name) not in taken)
            taken.add(_key(name))
            children[name] = file
        self.shown = shown if not late and len(shown) > SMALL_FOLDER else None
        return children

    def _patched_children(self, shown: dict[str, str], touched: set[str]) -> tuple[dict[str, Node], set[str]]:
        """Return the published children with the touched names looked at again, and the names that may differ."""
        children = dict(self.published.children)
        claims = self._claims()
        names: set[str] = set()
        for old in [shown.pop(key) for key in touched if key in shown]:
            children.pop(old, None)
            names.add(old)
        for key in touched:
            folder, files = self.folders.get(key), claims.get(key)
            if folder is not None:
                shown[key] = folder.spelling
                children[shown[key]] = folder.published
            elif files is not None:
                shown[key] = _own_name(files[0])
                children[shown[key]] = files[0]
            else:
                continue
            names.add(shown[key])
        return children, names

    def _keep_open_files(self, children: dict[str, Node], frozen: Mapping[str, Version], path: str) -> None:
        """Let a path whose file is open keep it, or keep it empty once that file was removed."""
        for open_path, version in frozen.items():
            folder, _, name = open_path.rpartition("/")
            wanted = children.get(name)
            if folder != path or not isinstance(wanted, TreeFile) or wanted.version == version:
                continue
            current = self.published.children.get(name)
            if isinstance(current, TreeFile) and current.version == version:
                children[name] = current
            else:
                del children[name]

    def _directory(self, children: dict[str, Node], differing: set[str], at: datetime | None) -> Directory:
        """Return the folder as it is now, not older than before, than what is new in it, and than `at`."""
        times = [children[name].modified for name in differing if name in children]
        modified = max([self.published.modified, *times, *([at] if at else [])])
        return Directory(children, modified, len(self.folders))


def _key(name: str) -> str:
    """Return what two names share that a Windows client cannot tell apart."""
    return name.casefold()


def _by_key(files: Iterable[TreeFile]) -> dict[str, tuple[TreeFile, ...]]:
    """Return files by what they are called, in the order of those that have one name."""
    found: dict[str, tuple[TreeFile, ...]] = {}
    for file in files:
        key = _key(_own_name(file))
        found[key] = _in_order((*found.get(key, ()), file))
    return found


def _in_order(files: tuple[TreeFile, ...]) -> tuple[TreeFile, ...]:
    """Return the files with the one first that gets the name."""
    return files if len(files) == 1 else tuple(sorted(files, key=lambda file: file.entry_id))


def _without(files: tuple[TreeFile, ...], gone: TreeFile) -> tuple[TreeFile, ...]:
    return tuple(file for file in files if file.entry_id != gone.entry_id)


def _own_name(file: TreeFile) -> str:
    """Return the name that the file asks for."""
    return safe_name(file.path.rstrip("/").rpartition("/")[2])


def _add_beside(children: dict[str, Node]) -> bool:
    """Add what stands beside files to a folder's children, under the names that those are shown by; return whether there is any."""
    owners = [
        (file.entry_id, name, file)
        for name, file in children.items()
        if isinstance(file, TreeFile) and file.beside
    ]
    taken = {_key(name) for name in children} if owners else set()
    for _, name, file in sorted(owners, key=lambda owner: owner[:2]):
        for one in file.beside:
            wanted = beside(name, one.path)
            free = next(way for way in chain((wanted,), _numbered_names(wanted)) if _key(way) not in taken)
            taken.add(_key(free))
            children[free] = one
    return bool(owners)


def _numbered_names(name: str) -> Iterator[str]:
    number = 2
    while True:
        yield numbered(name, number)
        number += 1
