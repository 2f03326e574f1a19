"""What the demo needs of this machine."""

import ctypes.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

FUSE_DEVICE = Path("/dev/fuse")


def missing() -> list[str]:
    """Return one sentence for each thing that is missing, with how to get it; empty when all is there."""
    return [*_missing_tools(), *_missing_fuse()]


def _missing_tools() -> Iterator[str]:
    absent = [name for name in ("ffmpeg", "ffprobe") if shutil.which(name) is None]
    if absent:
        yield f"The demo makes its clips with ffmpeg, and {' and '.join(absent)} cannot be found: apt-get install ffmpeg"
    if shutil.which("fusermount3") is None and shutil.which("fusermount") is None:
        yield "The library is a FUSE mount, and fusermount cannot be found: apt-get install fuse3 libfuse2"


def _missing_fuse() -> Iterator[str]:
    if ctypes.util.find_library("fuse") is None:
        yield "The library is a FUSE mount, and libfuse 2 cannot be found: apt-get install libfuse2 (libfuse2t64 on Debian 13)"
    if not FUSE_DEVICE.exists():
        yield (
            "The library is a FUSE mount, and /dev/fuse is not there: modprobe fuse; "
            "in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN"
        )
    elif not os.access(FUSE_DEVICE, os.R_OK | os.W_OK):
        yield "The library is a FUSE mount, and this user may not open /dev/fuse: run the demo as root or as a member of its group"
