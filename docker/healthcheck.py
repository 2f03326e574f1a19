"""Exit code 0 when the program in this container is ready and its own quick checks find nothing wrong; for Docker's HEALTHCHECK.

What only a person can set up (providers, settings) does not count: a container that waits for its first visitor is healthy.
"""

import json
import os
import sys
import urllib.request
from pathlib import Path

ADDRESS = f"http://127.0.0.1:{os.environ.get('RIVULET_API__PORT', '8484')}"
SETTINGS = Path(os.environ.get("RIVULET_CONFIG", "/config")) / "settings.json"
PERSONS_MATTER = ("providers", "settings")


def key() -> str:
    """Return the API key, empty when it cannot be read."""
    try:
        return os.environ.get("RIVULET_API_KEY") or str(
            json.loads(SETTINGS.read_text(encoding="utf-8"))["api_key"]
        )
    except (OSError, ValueError, KeyError):
        return ""


def wrong() -> list[str]:
    """Return what the quick checks find wrong; nothing when they cannot be asked for lack of the key."""
    if not key():
        return []
    request = urllib.request.Request(f"{ADDRESS}/api/v1/doctor?quick=true", headers={"X-Api-Key": key()})  # noqa: S310
    with urllib.request.urlopen(request, timeout=8) as answer:  # noqa: S310 - our own address
        checks = json.load(answer)["checks"]
    return [
        f"{one['name']}: {one['said']}"
        for one in checks
        if one["level"] == "wrong" and one["group"] not in PERSONS_MATTER
    ]


# An answer of 400 or above, and no answer, raise: then Python's exit code is 1.
urllib.request.urlopen(f"{ADDRESS}/health", timeout=8).close()  # noqa: S310 - our own address
found = wrong()
if found:
    sys.exit("; ".join(found))
