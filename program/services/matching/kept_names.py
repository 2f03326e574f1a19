"""What names say, kept on disk by raw title: the program and its sandbox processes read a name once.

Plain JSON, never a pickle. A new version of the parser begins anew: its own source is part of every key.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path

import diskcache

from program.bytes_disk import TROUBLES, open_cache
from program.services.matching.parse import Parsed, parse
from program.services.matching.titles import TitleReading

# Some thirty thousand names.
SIZE_LIMIT = 32 * 1024 * 1024
# A search of many scrapers and the one after it.
IN_MEMORY = 4096
_FIELDS = tuple(field.name for field in fields(Parsed))


class KeptNames:
    """The names in a folder. What cannot be read or written is read from the name again; writes go together, at the end.

    Threads and processes may share a folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cache: diskcache.Cache | None = None
        self._new: dict[str, bytes] = {}
        self._memory: dict[str, Parsed] = {}

    def read(self, name: str, *, of_film: bool) -> Parsed:
        """Return what a name says, from memory, from the disk or from the name itself."""
        key = _key(name, of_film=of_film)
        known = self._memory.get(key) or self._kept(key)
        if known is None:
            known = parse(name, of_film=of_film)
            self._new[key] = _raw(known)
        if len(self._memory) >= IN_MEMORY:
            self._memory.clear()
        self._memory[key] = known
        return known

    def _kept(self, key: str) -> Parsed | None:
        try:
            raw = self._opened().get(key)
            return _parsed(raw) if isinstance(raw, bytes) else None
        except (*TROUBLES, ValueError, KeyError, TypeError):
            return None

    def flush(self) -> None:
        """Write what is new, in one go; the oldest go when there is no room."""
        new, self._new = self._new, {}
        with suppress(*TROUBLES):
            if new:
                opened = self._opened()
                with opened.transact():
                    for key, raw in new.items():
                        opened.set(key, raw)

    def _opened(self) -> diskcache.Cache:
        if self._cache is None:
            self._cache = open_cache(
                self._folder, size_limit=SIZE_LIMIT, timeout=1, eviction_policy="least-recently-stored"
            )
        return self._cache


_in_use: ContextVar[KeptNames | None] = ContextVar("kept_names", default=None)


def read(name: str, *, of_film: bool) -> Parsed:
    """Return what a release name says, by what is kept where a folder is in use."""
    names = _in_use.get()
    return names.read(name, of_film=of_film) if names is not None else parse(name, of_film=of_film)


@contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """Read names from a folder, and keep new ones there; None: without one."""
    if folder is None:
        yield
        return
    names = _names_in(folder)
    before = _in_use.set(names)
    try:
        yield
    finally:
        _in_use.reset(before)
        names.flush()


@cache
def _names_in(folder: Path) -> KeptNames:
    return KeptNames(folder)


@cache
def _version() -> str:
    """Return what changes when any part of the parser does."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    whole = b"".join(path.read_bytes() for path in sources) + version("parsett").encode()
    return hashlib.sha256(whole).hexdigest()[:16]


def _key(name: str, *, of_film: bool) -> str:
    return f"{_version()} {'film' if of_film else 'any'} {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()}"


def _raw(parsed: Parsed) -> bytes:
    values: dict[str, object] = {name: getattr(parsed, name) for name in _FIELDS}
    values["readings"] = [(one.text, one.year, one.country, one.is_year_behind) for one in parsed.readings]
    values["flags"] = sorted(parsed.flags)
    values["air_date"] = parsed.air_date.isoformat() if parsed.air_date else None
    return json.dumps(values).encode()


def _parsed(raw: bytes) -> Parsed:
    values = json.loads(raw)
    found: dict[str, object] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    found["readings"] = tuple(TitleReading(*row) for row in values["readings"])
    found["flags"] = frozenset(values["flags"])
    found["air_date"] = date.fromisoformat(values["air_date"]) if values["air_date"] else None
    return Parsed(**found)  # type: ignore[arg-type]
