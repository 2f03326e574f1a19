"""Releases: what scrapers find, what the rules say about it, and what is kept as a candidate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

# A parsed release name as plain JSON values, so that it can be stored and sent to a sandbox process.
JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class FoundRelease:
    """One answer of one scraper.

    infohash: 40 hex digits, lower case. size: bytes of the torrent or file, None when not told. file_index: 0-based place of
    the file in the torrent. cached_at: keys of providers that are said to hold it (a hint only).
    """

    infohash: str
    raw_title: str
    source: str
    size: int | None = None
    seeders: int | None = None
    file_name: str | None = None
    file_index: int | None = None
    cached_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why not. code: stable word for machines; sentence: for people; permanent: asking again cannot change it."""

    code: str
    sentence: str
    permanent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRelease:
    """A release with the verdict of the rules and, when it passed, its rank.

    rank: higher is better. score: the terms that add up to the rank, by name. resolution: `2160p`, `1080p`, … or `unknown`.
    similarity: 0 to 1, how close the title is. sources: the scrapers that named it.
    """

    infohash: str
    raw_title: str
    sources: tuple[str, ...]
    size: int | None = None
    seeders: int | None = None
    cached_at: tuple[str, ...] = ()
    parsed: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    rejection: Rejection | None = None
    rank: int = 0
    score: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    resolution: str = "unknown"
    similarity: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One provider's refusal of one release for one item. until None: for good."""

    provider: str
    code: str
    sentence: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored release of an item (a row of `stream`) with its blocks. blacklisted: a person said no."""

    id: int
    item_id: int
    release: JudgedRelease
    found_at: datetime
    blocks: tuple[Block, ...] = ()
    blacklisted: str | None = None
