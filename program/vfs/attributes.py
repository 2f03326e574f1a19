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


class Attributes:
    """Modes, owner and times, by the user's settings."""

    def __init__(self, settings: VfsSettings) -> None:
        keep = ~settings.umask
        self._owner = {"st_uid": settings.uid, "st_gid": settings.gid}
        self._file_mode = S_IFREG | (settings.file_mode & keep)
        self._dir_mode = S_IFDIR | (settings.dir_mode & keep)

    def of(self, node: Node) -> Mapping[str, int]:
        """Return the attributes of a node, times in nanoseconds."""
        moment = (node.modified - _EPOCH) // timedelta(microseconds=1) * 1000
        times = {"st_mtime": moment, "st_ctime": moment, "st_atime": moment}
        if isinstance(node, Directory):
            return {
                "st_mode": self._dir_mode,
                "st_nlink": 2 + node.folders,
                "st_size": 0,
                **times,
                **self._owner,
            }
        size = {"st_size": node.size, "st_blocks": -(-node.size // BLOCK)}
        return {"st_mode": self._file_mode, "st_nlink": 1, **size, **times, **self._owner}

    def kind(self, node: Node) -> Mapping[str, int]:
        """Return what a listing says of a node."""
        return {"st_mode": self._dir_mode if isinstance(node, Directory) else self._file_mode}


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
