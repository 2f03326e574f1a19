"""Ready mixes of faults. The same seed gives the same mix."""

import random
from typing import Any

MIXES = ("none", "mild", "heavy")

# How many of each provider's requests a heavy mix spoils: one in so many.
HEAVY_EVERY = (7, 15)


def mix(name: str, seed: int) -> list[dict[str, Any]]:
    """Return the faults of a mix, as the fault plan takes them. Raises ValueError for an unknown name.

    `mild` is what one repetition heals: a 429 with a short Retry-After, a 5xx, one expired link. `heavy` spoils a share of
    all requests in most of the ways there are, and keeps on.
    """
    source = random.Random(f"faults-{name}-{seed}")
    if name == "none":
        return []
    if name == "mild":
        return _mild(source)
    if name == "heavy":
        return _heavy(source)
    raise ValueError(f"faults must be one of {', '.join(MIXES)}")


def _mild(source: random.Random) -> list[dict[str, Any]]:
    def once(provider: str, low: int, high: int, status: int, **more: Any) -> dict[str, Any]:
        place = {"method": "GET", "count": 1, "nth": source.randint(low, high)}
        return {"provider": provider, "kind": "status", "status": status, **place, **more}

    return [
        once("torrentio", 2, 4, 429, retry_after=source.randint(1, 3)),
        once("tmdb", 1, 3, 503),
        once("realdebrid", 2, 5, 502, path="/torrents/info/"),
        once("plex", 2, 5, 500),
        once("cdn", 2, 6, 410),
    ]


def _heavy(source: random.Random) -> list[dict[str, Any]]:
    def often() -> int:
        return source.randint(*HEAVY_EVERY)

    wait = source.randint(1, 2)
    return [
        {"provider": "tmdb", "every": often(), "kind": "status", "status": 429, "retry_after": wait},
        {"provider": "tmdb", "every": often(), "kind": "truncated_json"},
        {"provider": "tvdb", "every": often(), "kind": "status", "status": 401},
        {"provider": "tvdb", "every": often(), "kind": "reset"},
        {"provider": "torrentio", "every": often(), "kind": "html"},
        {"provider": "torrentio", "every": often(), "kind": "status", "status": 429},
        {"provider": "torrentio", "every": often(), "kind": "cut"},
        {"provider": "realdebrid", "every": often(), "kind": "status", "status": 503},
        {"provider": "realdebrid", "every": often(), "kind": "status", "status": 429, "retry_after": wait},
        {"provider": "realdebrid", "every": often(), "kind": "empty", "path": "/torrents/info/"},
        {"provider": "cdn", "every": often(), "kind": "status", "status": 410},
        {"provider": "cdn", "every": often(), "kind": "cut"},
        {"provider": "cdn", "every": often(), "kind": "html"},
        {"provider": "plex", "every": often(), "kind": "status", "status": 503},
        {"provider": "jellyfin", "every": often(), "kind": "slow", "seconds": 1.0},
        {"provider": "overseerr", "every": often(), "kind": "status", "status": 500},
    ]
