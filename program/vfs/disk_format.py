"""How a chunk is stored on disk: never as a pickle, and with a header that says what it belongs to."""

import hashlib
import struct
import zlib
from typing import TypeAlias

import diskcache

# What is kept of a chunk: where in it the bytes begin, and the bytes; None when nothing usable is kept.
Loaded: TypeAlias = tuple[int, bytes] | None

# Another size of chunks, or another header, needs another word here.
_MAGIC = b"RVE1"
# magic, digest of the key, where the bytes begin in the chunk, how many, checksum
_HEADER = struct.Struct("<4s16sIII")


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


def pack(key: str, start: int, data: bytes) -> bytes:
    """Return the bytes with a header that says what they belong to."""
    return _HEADER.pack(_MAGIC, _digest(key), start, len(data), zlib.crc32(data)) + data


def unpack(key: str, value: bytes) -> Loaded:
    """Return what `pack` was given, or None when the value is damaged or another key's."""
    if len(value) < _HEADER.size:
        return None
    magic, digest, start, length, checksum = _HEADER.unpack_from(value)
    data = value[_HEADER.size :]
    is_ours = (
        magic == _MAGIC and digest == _digest(key) and len(data) == length and zlib.crc32(data) == checksum
    )
    return (start, data) if is_ours else None


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
