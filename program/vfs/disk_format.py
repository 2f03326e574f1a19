"""How a chunk is stored on disk: with a header that says what it belongs to."""

import hashlib
import struct
import zlib
from typing import TypeAlias

# What is kept of a chunk: where in it the bytes begin, and the bytes; None when nothing usable is kept.
Loaded: TypeAlias = tuple[int, bytes] | None

# Another size of chunks, or another header, needs another word here.
_MAGIC = b"RVE1"
# magic, digest of the key, where the bytes begin in the chunk, how many, checksum
_HEADER = struct.Struct("<4s16sIII")


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
