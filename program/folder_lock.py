"""One program per config folder: two would take each other's jobs, and the second might wipe what the first works on."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loguru import logger

from program.errors import StartupError

FILE_NAME = "rivulet.lock"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder for the block; raise StartupError when another program holds it.

    The system lets go of it when the process ends, however it ends, so nothing is ever left to clean up.
    """
    try:
        file = (folder / FILE_NAME).open("a", encoding="ascii")
    except OSError as error:
        raise StartupError(f"cannot use the config folder {folder}: {error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartupError(
                f"another Rivulet runs with the config folder {folder}: end it, or set RIVULET_CONFIG to another folder"
            ) from None
        except OSError as error:
            # Some network file systems know no locks; that is no reason not to run.
            logger.warning("the config folder {} cannot be locked: {}", folder, error.strerror)
        yield
