"""The state that the stand-ins share: what exists, who may ask, and the knobs that tests turn."""

import random
import threading
from dataclasses import dataclass, field, fields
from typing import Any

from program.clock import Clock
from program.demo.catalog import Catalog, load_catalog
from program.demo.clips import ClipStore
from program.demo.servers.journal import Journal


@dataclass(slots=True)
class Options:
    """How the stand-ins behave where the real services differ from day to day. Set by `POST /options` of the control server.

    realdebrid_conversion_polls: how many looks at a new magnet still say magnet_conversion. realdebrid_download_seconds:
    how long something uncached takes. realdebrid_rate_per_minute, alldebrid_rate_per_second: 0 switches the limit off.
    realdebrid_active_limit: slots.
    realdebrid_archive_when_mixed: a choice with files that are not video becomes one archive. link_seconds: life of a CDN link.
    cdn_bytes_per_second: per connection, 0 for no limit. cdn_expired_status: how an expired link answers.
    plex_ignore_first_scan: the first partial scan of a folder that is not known finds nothing. plex_scan_seconds: how
    long a scan takes. jellyfin_delay: seconds between the last report and the walk. jellyfin_legacy_auth: the old ways to
    send a key work. tvdb_page_size: episodes per page. walk_seconds: how long a media server waits for the file system.
    """

    realdebrid_conversion_polls: int = 0
    realdebrid_download_seconds: float = 3600.0
    realdebrid_rate_per_minute: int = 250
    alldebrid_rate_per_second: int = 12
    realdebrid_active_limit: int = 30
    realdebrid_archive_when_mixed: bool = False
    link_seconds: float = 3600.0
    cdn_bytes_per_second: int = 0
    cdn_expired_status: int = 404
    plex_ignore_first_scan: bool = False
    plex_scan_seconds: float = 0.0
    jellyfin_delay: float = 0.1
    jellyfin_legacy_auth: bool = False
    tvdb_page_size: int = 500
    walk_seconds: float = 10.0

    def change(self, facts: dict[str, Any]) -> None:
        """Set what is named. Raises ValueError for an unknown name or a value of another type."""
        kinds = {one.name: type(getattr(self, one.name)) for one in fields(self)}
        for name, value in facts.items():
            kind = kinds.get(name)
            if kind is None:
                raise ValueError(f"no option {name}")
            if not isinstance(value, kind | int) or isinstance(value, bool) != (kind is bool):
                raise ValueError(f"{name} must be {kind.__name__}")
            setattr(self, name, kind(value))

    def public(self) -> dict[str, Any]:
        """Return all options."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True)
class Keys:
    """What each service asks for. tmdb_token: the bearer form; tvdb_token: what a login answers."""

    tmdb: str
    tmdb_token: str
    tvdb: str
    tvdb_token: str
    realdebrid: str
    alldebrid: str
    torbox: str
    plex: str
    jellyfin: str
    overseerr: str


def make_keys(seed: int) -> Keys:
    """Return keys in the forms of the real services; the same seed gives the same keys."""
    source = random.Random(f"keys-{seed}")

    def hexes(count: int) -> str:
        return f"{source.getrandbits(count * 4):0{count}x}"

    def letters(count: int) -> str:
        return "".join(source.choices("ABCDEFGHJKLMNPQRSTUVWXYZ234567", k=count))

    return Keys(
        tmdb=hexes(32),
        tmdb_token=f"eyJ{letters(20)}.eyJ{letters(60)}.{letters(43)}",
        tvdb="-".join(hexes(count) for count in (8, 4, 4, 4, 12)),
        tvdb_token=f"eyJ{letters(20)}.eyJ{letters(60)}.{letters(43)}",
        realdebrid=letters(52),
        plex=letters(20),
        jellyfin=hexes(32),
        overseerr=letters(68),
        alldebrid=letters(20),
        torbox="-".join(hexes(count) for count in (8, 4, 4, 4, 12)),
    )


@dataclass(slots=True)
class World:
    """Everything the servers look at. `lock` guards the catalog; the other parts guard themselves.

    lacking: by provider, the torrents that it does not hold although others do.
    """

    clock: Clock
    clips: ClipStore
    keys: Keys
    journal: Journal
    mount_root: str
    catalog: Catalog
    options: Options = field(default_factory=Options)
    latency: dict[str, float] = field(default_factory=dict)
    lacking: dict[str, set[str]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def reset(self) -> None:
        """Bring back the catalog and the options as they were at the start."""
        with self.lock:
            self.catalog = load_catalog(self.clock.now())
            self.options = Options()
            self.latency.clear()
            self.lacking.clear()
