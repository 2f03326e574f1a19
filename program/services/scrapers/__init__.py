"""Scrapers: they find releases. One file per service.

What they share is here: info hashes in the forms that occur, and numbers that stream add-ons write into text.
"""

import base64
import binascii
import re

_HEX = re.compile(r"[0-9a-f]{40}")
_SIZE = re.compile(r"(?:💾|📦)\s*([\d.,]+)\s*([kKMGTP]?)i?B")
_SEEDERS = re.compile(r"👤\s*(\d+)")
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_BASE32_LENGTH, _HEX_OF_TEXT_LENGTH = 32, 80


def normal_infohash(text: str) -> str | None:
    """Return an info hash as 40 lower-case hex digits (from hex, base32, or hex of hex); None when it is none."""
    text = text.strip().lower()
    try:
        if len(text) == _BASE32_LENGTH:
            text = base64.b32decode(text.upper()).hex()
        elif len(text) == _HEX_OF_TEXT_LENGTH:
            text = bytes.fromhex(text).decode("ascii").lower()
    except (binascii.Error, ValueError):
        return None
    return text if _HEX.fullmatch(text) else None


def size_in(text: str) -> int | None:
    """Return the bytes that a stream's text names (`💾 1.37 GB`; units are 1024-based); None when it names none."""
    found = _SIZE.search(text)
    if found is None:
        return None
    try:
        return int(float(found[1].replace(",", "")) * 1024 ** _UNITS[found[2].upper()])
    except ValueError:
        return None


def seeders_in(text: str) -> int | None:
    """Return the seeders that a stream's text names (`👤 42`); None when it names none."""
    found = _SEEDERS.search(text)
    return int(found[1]) if found else None
