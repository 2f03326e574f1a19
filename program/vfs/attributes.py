"""What `stat` says of files and folders; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from stat import S_IFDIR, S_IFREG

from program.settings.vfs import VfsSettings
from program.vfs.tree import Directory, Node

BLOCK = 512
STATFS_BLOCK = 4096
MAX_NAME = 255

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Attributes:
    """Modes, owner and times, by the user's settings."""

    def __init__(self, settings: VfsSettings) -> None:
        keep = ~settings.umask
        self._uid, self._gid = settings.uid, settings.gid
        self._file_mode = S_IFREG | (settings.file_mode & keep)
        self._dir_mode = S_IFDIR | (settings.dir_mode & keep)
        self._file_kind, self._dir_kind = {"st_mode": self._file_mode}, {"st_mode": self._dir_mode}

    def of(self, node: Node) -> Mapping[str, int]:
        """Return the attributes of a node, times in nanoseconds."""
        moment = (node.modified - _EPOCH) // _MICROSECOND * 1000
        if isinstance(node, Directory):
            mode, links, size = self._dir_mode, 2 + node.folders, 0
        else:
            mode, links, size = self._file_mode, 1, node.size
        return {
            "st_mode": mode,
            "st_nlink": links,
            "st_size": size,
            "st_blocks": -(-size // BLOCK),
            "st_mtime": moment,
            "st_ctime": moment,
            "st_atime": moment,
            "st_uid": self._uid,
            "st_gid": self._gid,
        }

    def kind(self, node: Node) -> Mapping[str, int]:
        """Return what a listing says of a node."""
        return self._dir_kind if isinstance(node, Directory) else self._file_kind


def file_system(files: int, size: int) -> Mapping[str, int]:
    """Return what `statfs` says of a library: as large as its files, nothing free."""
    blocks = -(-size // STATFS_BLOCK)
    return {
        "f_bsize": STATFS_BLOCK,
        "f_frsize": STATFS_BLOCK,
        "f_blocks": blocks,
        "f_files": files,
        "f_namemax": MAX_NAME,
    }
