"""How diskcache keeps bytes under names: nothing is pickled, and a planted pickle is never opened."""

import shutil
import sqlite3
from pathlib import Path

import diskcache
from loguru import logger

# What a cache raises that cannot be read or written.
TROUBLES = (OSError, sqlite3.Error, diskcache.Timeout)


class BytesDisk(diskcache.Disk):  # type: ignore[misc] # the library is not typed
    """How the cache stores: `str` keys and `bytes` values, nothing else and never a pickle."""

    def put(self, key: object) -> tuple[str, bool]:
        """Return the key as the database holds it. Raises TypeError for other kinds."""
        if type(key) is not str:
            raise TypeError("keys are str")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return the key from the database. Raises ValueError for one that we did not write."""
        if type(key) is not str or not raw:
            raise ValueError("not a key of ours")
        return key

    def store(self, value: object, read: object, key: object = diskcache.UNKNOWN) -> object:
        """Return the row of a value. Raises TypeError for other kinds."""
        if type(value) is not bytes or read:
            raise TypeError("values are bytes")
        return super().store(value, read, key=key)

    def fetch(self, mode: int, filename: object, value: object, read: object) -> bytes:
        """Return a value. Raises ValueError for a row that we did not write; a pickle is never opened."""
        if mode not in (diskcache.core.MODE_RAW, diskcache.core.MODE_BINARY):
            raise ValueError("not a value of ours")
        fetched = super().fetch(mode, filename, value, read)
        if type(fetched) is not bytes:
            raise ValueError("not a value of ours")
        return fetched


def open_cache(folder: Path, **options: object) -> diskcache.Cache:
    """Return the cache in a folder; one that is broken, as after a power cut, is begun anew. Raises one of `TROUBLES`."""
    try:
        return _open(folder, options)
    except sqlite3.OperationalError:
        # A full disk, or somebody else at work: what is kept may be sound.
        raise
    except sqlite3.DatabaseError as error:
        logger.warning("the cache in {} is broken and begun anew: {}", folder, error)
    shutil.rmtree(folder)
    return _open(folder, options)


def _open(folder: Path, options: dict[str, object]) -> diskcache.Cache:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return diskcache.Cache(str(folder), disk=BytesDisk, **options)
