"""Answers of services kept on disk for a while, with what a conditional request needs. Nothing is pickled."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import diskcache
from loguru import logger

from program.bytes_disk import TROUBLES, open_cache

# Metadata of a few thousand titles.
SIZE_LIMIT = 64 * 1024 * 1024
# An expired answer is kept this much longer, since "not modified" makes it good again.
KEPT_AFTER_EXPIRY = timedelta(days=7)
_KEPT_HEADERS = ("content-type", "etag", "last-modified")


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A kept answer. is_fresh: may be used without asking; else its `conditions` may be sent."""

    headers: Mapping[str, str]
    body: bytes
    is_fresh: bool

    @property
    def conditions(self) -> dict[str, str]:
        """Return the headers that ask "only if it changed"; empty when the service gave nothing to ask by."""
        asked = {
            "If-None-Match": self.headers.get("etag"),
            "If-Modified-Since": self.headers.get("last-modified"),
        }
        return {name: value for name, value in asked.items() if value}


class AnswerCache:
    """Keeps answers in `directory`. A cache that cannot be read or written is a miss, never a failure."""

    def __init__(self, directory: Path) -> None:
        self._cache: diskcache.Cache | None = None
        try:
            self._cache = open_cache(directory, size_limit=SIZE_LIMIT, timeout=5)
        except TROUBLES as error:
            logger.warning("answers are not kept in {}: {}", directory, error)

    def get(self, address: str, now: datetime) -> CachedAnswer | None:
        """Return what is kept of `address`, fresh or not; None when nothing is."""
        if self._cache is None:
            return None
        try:
            raw = self._cache.get(_key(address))
            if not isinstance(raw, bytes):
                return None
            head, _, body = raw.partition(b"\n")
            kept = cast("dict[str, str]", json.loads(head))
            return CachedAnswer(kept, body, now < datetime.fromisoformat(kept["expires"]))
        except (ValueError, KeyError, *TROUBLES) as error:
            logger.debug("a cached answer is unusable: {}", type(error).__name__)
            return None

    def put(
        self, address: str, headers: Mapping[str, str], body: bytes, now: datetime, seconds: float
    ) -> None:
        """Keep an answer that is fresh for `seconds`."""
        if self._cache is None:
            return
        kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
        kept["expires"] = (now + timedelta(seconds=seconds)).isoformat()
        raw = json.dumps(kept).encode() + b"\n" + body
        try:
            self._cache.set(_key(address), raw, expire=seconds + KEPT_AFTER_EXPIRY.total_seconds())
        except TROUBLES as error:
            logger.warning("an answer could not be cached: {}", type(error).__name__)

    def close(self) -> None:
        """Close the database of this thread; the others end with their threads."""
        if self._cache is not None:
            self._cache.close()


def _key(address: str) -> str:
    # An address may hold a key; its hash does not.
    return hashlib.sha256(address.encode()).hexdigest()
